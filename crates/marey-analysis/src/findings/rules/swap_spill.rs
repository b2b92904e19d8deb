//! Did memory spill to swap?
//!
//! ```text
//! swap out    4.0 ·  4.0  ·  5.5 ·  5.5   GiB since boot: 1.5 written during the run, in the second gap
//! swap used   9.0 ·  9.0  ·  9.0          what lay there before does not count
//! ```
//!
//! A kernel writes out some pages that nobody needs also when there is room; so a few are no spill.

use crate::findings::prelude::*;
use crate::intervals::{Interval, union};
use crate::quantity::{rounded_percent, size};
use crate::questions::during::stretches;
use crate::questions::telemetry::HostMemory;

pub(super) const RULE: Rule = Rule {
    id: "swap-spill",
    category: Category::Memory,
    checks: "memory spilled to swap",
    limits: &["swapped_bytes"],
    saves: "the time between readings in which pages moved, as a bound",
    of: &[Check::Run("swap of the machine or the process", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let Some((host, moved)) = facts.telemetry.memory.as_ref().and_then(|host| {
        let moved = [host.swapped_in, host.swapped_out].map(|g| g.map(|g| g.total));
        let known = moved.iter().any(Option::is_some) || host.process_swapped.is_some();
        known.then(|| (host, moved.iter().flatten().fold(0.0, |sum, one| sum + one)))
    }) else {
        return Outcome::Unknown("swap was not sampled (monitor_system_memory)".into());
    };
    let limit = facts.thresholds.swapped_bytes;
    let in_process = host.process_swapped.map_or(0.0, |swapped| swapped.max);
    if moved <= limit && in_process <= limit {
        let most = size(moved.max(in_process));
        return Outcome::Passed(format!("{most} at most"));
    }
    Outcome::Found(vec![finding(facts, host, in_process, limit)])
}

fn finding(facts: &Facts<'_>, host: &HostMemory, in_process: f64, limit: f64) -> Finding {
    let bytes = |what, value: f64| Evidence::new(what, value, FigureUnit::Bytes).against(limit);
    let mut evidence = Vec::new();
    evidence.extend(host.swapped_out.map(|g| bytes("written to swap by the machine", g.total)));
    evidence.extend(host.swapped_in.map(|g| bytes("read back by the machine", g.total)));
    evidence
        .extend(host.process_swapped.map(|_| bytes("most of this process in swap", in_process)));
    let pressure = facts.telemetry.pressure;
    let waited = pressure.and_then(|pressure| pressure.memory_some);
    evidence.extend(waited.map(|waited| {
        Evidence::ratio("share of the time that tasks waited for memory", waited.mean)
    }));
    let moving = moving(facts);
    let moving_ns = moving.iter().map(Interval::length_ns).fold(0, u64::saturating_add);
    let share = host.peak_used_ratio();
    Finding {
        severity: Severity::High,
        issue: match share {
            Some(ratio) => format!("Memory spilled to swap, with {} of it in use", rounded_percent(ratio)),
            None => "Memory spilled to swap".into(),
        },
        remedy: "Hold less in host memory: load weights in bfloat16 or float8 with low_cpu_mem_usage=True, quantise the text encoder, \
                 and drop models that are done. enable_model_cpu_offload keeps all weights in host memory; where they do not fit, \
                 enable_group_offload(offload_to_disk_path=…) reads them from disk, which is faster than swap."
            .into(),
        evidence,
        saving: (moving_ns > 0).then(|| {
            Saving::of_time(
                None,
                moving_ns,
                "the time between readings in which pages moved; the program may have worked meanwhile",
            )
        }),
        intervals: Finding::longest(moving),
        // Of the machine's pages it is not known whose they are.
        confidence: if in_process > limit { Confidence::High } else { Confidence::Medium },
        ..RULE.finding()
    }
}

/// Between which readings pages were written or read back.
fn moving(facts: &Facts<'_>) -> Vec<Interval> {
    let run = facts.run;
    let is_swap = |name: &str| ["host.swap.in", "host.swap.out"].contains(&name);
    let series = run.series.iter().filter(|s| is_swap(&s.info.name));
    let between = series.flat_map(|series| stretches(series, run.wall_ns));
    let moved = between.filter(|stretch| stretch.value > 0.0);
    union(moved.map(|stretch| stretch.time).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const MIB: f64 = 1_048_576.0;

    /// 4 GiB were written before the run; `out_mib` more between 20 and 30.
    fn run(out_mib: f64) -> Run {
        let before = 4096.0 * MIB;
        let after = before + out_mib * MIB;
        RunBuilder::new()
            .series(
                SeriesInfo::cumulative("host.swap.out", "", Unit::Bytes),
                &[(10, before), (20, before), (30, after), (40, after)],
            )
            .series(SeriesInfo::gauge("host.swap.used", "", Unit::Bytes), &[(10, 9000.0 * MIB)])
            .finish(50)
    }

    #[test]
    fn a_spill_is_found_with_the_time_in_which_pages_moved() {
        let Outcome::Found(found) = check_run(&RULE, &run(1536.0)) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "Memory spilled to swap");
        assert_eq!(found[0].confidence, Confidence::Medium);
        let time = found[0].intervals[0];
        assert_eq!((time.start_ns, time.end_ns), (20, 30));
        assert_eq!(found[0].saving.as_ref().unwrap().at_most_ns, Some(10));
    }

    #[test]
    fn a_process_that_lies_in_swap_is_certain() {
        let run = RunBuilder::new()
            .series(
                SeriesInfo::gauge("process.memory.swapped", "", Unit::Bytes),
                &[(10, 0.0), (20, 300.0 * MIB)],
            )
            .finish(50);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!((found[0].confidence, &found[0].saving), (Confidence::High, &None));
    }

    #[test]
    fn a_few_pages_are_no_spill() {
        let expected = Outcome::Passed("256 MiB at most".into());
        assert_eq!(check_run(&RULE, &run(256.0)), expected);
    }
}
