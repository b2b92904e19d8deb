//! Is the memory of a GPU, of the machine or of the container nearly full?
//!
//! ```text
//! used      ·  40 ·  70 · 95 · 60   of 100: peak 95 %, limit 90 %: found, at the reading of 95
//! ```

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::readings::Figures;

pub(super) const RULE: Rule = Rule {
    id: "memory-pressure",
    category: Category::Memory,
    checks: "the memory of a GPU or of the machine is nearly full",
    limits: &["memory_ratio"],
    saves: "none: what fails saves nothing",
    of: &[Check::Run("memory of GPUs, or of the machine", check)],
};

/// So much more of the machine's memory than at first is no bookkeeping of the driver.
const SPILLED_BYTES: f64 = 268_435_456.0;

/// Memory of something.
struct Memory {
    name: String,
    /// Highest share of it that was in use.
    ratio: f64,
    used: Figures,
    /// What it took of the machine's beside it.
    borrowed: Option<Figures>,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let gpus = facts.telemetry.gpus.iter().flat_map(|gpus| &gpus.each);
    let mut known: Vec<Memory> = gpus
        .filter_map(|gpu| {
            let name = gpu.name.clone().unwrap_or_else(|| gpu.uuid.clone());
            let (ratio, used) = (gpu.peak_memory_ratio?, gpu.memory_used?);
            Some(Memory { name, ratio, used, borrowed: gpu.memory_borrowed() })
        })
        .collect();
    let host = facts.telemetry.memory.as_ref();
    known.extend(host.and_then(|host| {
        let bound = host.bound()?;
        let name = if bound.is_of_group { "the container" } else { "the machine" };
        let (name, ratio) = (name.to_owned(), host.peak_used_ratio()?);
        Some(Memory { name, ratio, used: bound.used, borrowed: None })
    }));
    if known.is_empty() {
        return Outcome::Unknown("no memory of a GPU or of the machine was sampled".into());
    }
    let limit = facts.thresholds.memory_ratio;
    let is_full = |memory: &&Memory| memory.ratio > limit;
    let full: Vec<Finding> =
        known.iter().filter(is_full).map(|memory| finding(memory, limit)).collect();
    if full.is_empty() {
        let highest = known.iter().map(|memory| memory.ratio).fold(0.0, f64::max);
        return Outcome::Passed(format!("at most {} was in use", rounded_percent(highest)));
    }
    Outcome::Found(full)
}

fn finding(memory: &Memory, limit: f64) -> Finding {
    let Memory { name, ratio, used, borrowed } = memory;
    let spilled = borrowed.map(|borrowed| borrowed.max - borrowed.min);
    let spilled = spilled.filter(|bytes| *bytes >= SPILLED_BYTES);
    let peak = rounded_percent(*ratio);
    let mut evidence = vec![
        Evidence::ratio("peak share in use", *ratio).against(limit),
        Evidence::new("peak in use", used.max, FigureUnit::Bytes),
    ];
    evidence.extend(
        spilled.map(|bytes| {
            Evidence::new("spilled into the machine's memory", bytes, FigureUnit::Bytes)
        }),
    );
    let rest = if spilled.is_some() { ", and spills into the machine's memory" } else { "" };
    Finding {
        severity: Severity::High,
        issue: format!("Memory of {name} was {peak} full at its peak{rest}"),
        remedy: "Decode in tiles or slices, offload models that are not in use, or work on fewer frames at once; \
                 the next larger input will not fit."
            .into(),
        evidence,
        intervals: vec![Interval {
            start_ns: used.peak.start_ns,
            end_ns: used.peak.end_ns,
        }],
        node: used.peak.node,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const GIB: f64 = 1_073_741_824.0;

    fn machine(used: &[(u64, f64)]) -> Run {
        RunBuilder::new()
            .section("decode", 20, 40, |_| {})
            .series(SeriesInfo::gauge("host.memory.used", "", Unit::Bytes), used)
            .with(|run| {
                let total = ("host.memory_bytes".into(), "107374182400".into());
                run.info.facts.push(total);
            })
            .finish(100)
    }

    #[test]
    fn a_machine_that_is_95_percent_full_while_decoding_is_named_with_that_moment() {
        let run = machine(&[(10, 40.0 * GIB), (30, 95.0 * GIB), (60, 60.0 * GIB)]);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "Memory of the machine was 95 % full at its peak");
        assert_eq!((found[0].intervals[0].start_ns, found[0].node), (30, Some(1)));
    }

    #[test]
    fn a_machine_at_90_percent_is_not_above_it() {
        let run = machine(&[(10, 40.0 * GIB), (30, 90.0 * GIB)]);
        let expected = Outcome::Passed("at most 90 % was in use".into());
        assert_eq!(check_run(&RULE, &run), expected);
    }

    /// A GPU whose own memory of 4 GiB is 97.5 % full, and that holds so many GiB of the machine's, at first and later; at most 28.
    fn gpu(shares_memory: bool, borrowed: &[(u64, f64)]) -> Run {
        let gauge = |name| SeriesInfo::gauge(name, "GPU-1", Unit::Bytes);
        let mut run = RunBuilder::new()
            .series(gauge("gpu.memory.used"), &[(10, 4_187_593_113.0), (30, 4_187_593_113.0)])
            .series(gauge("gpu.memory.total"), &[(10, 4.0 * GIB), (30, 4.0 * GIB)]);
        if !borrowed.is_empty() {
            run = run
                .series(gauge("gpu.memory.borrowed"), borrowed)
                .series(gauge("gpu.memory.borrowable"), &[(10, 28.0 * GIB), (30, 28.0 * GIB)]);
        }
        let facts = [
            ("gpu.0.uuid", "GPU-1".to_owned()),
            ("gpu.0.shares_memory", shares_memory.to_string()),
        ];
        let facts = facts.map(|(key, value)| (key.to_owned(), value));
        run.with(|run| run.info.facts.extend(facts)).finish(100)
    }

    #[test]
    fn a_gpu_that_borrows_is_as_full_as_its_own_memory_and_the_borrowed_together() {
        // 3.9 + 20 of 4 + 28 GiB.
        let expected = Outcome::Passed("at most 74.7 % was in use".into());
        let held = [(10, 20.0 * GIB), (30, 20.0 * GIB)];
        assert_eq!(check_run(&RULE, &gpu(true, &held)), expected);
    }

    #[test]
    fn of_a_gpu_that_uses_the_machines_memory_the_machines_is_judged() {
        let mut unified = gpu(true, &[]);
        assert!(matches!(check_run(&RULE, &unified), Outcome::Unknown(_)));
        let host = machine(&[(10, 40.0 * GIB), (30, 60.0 * GIB)]);
        unified.series.extend(host.series);
        unified.info.facts.extend(host.info.facts);
        let expected = Outcome::Passed("at most 60 % was in use".into());
        assert_eq!(check_run(&RULE, &unified), expected);
    }

    #[test]
    fn a_card_that_is_full_and_takes_the_machines_memory_spills() {
        let issue = |borrowed: &[(u64, f64)]| match check_run(&RULE, &gpu(false, borrowed)) {
            Outcome::Found(found) => found[0].issue.clone(),
            other => panic!("{other:?}"),
        };
        let full = "Memory of GPU-1 was 97.5 % full at its peak";
        assert_eq!(issue(&[(10, GIB), (30, GIB)]), full);
        let spills = format!("{full}, and spills into the machine's memory");
        assert_eq!(issue(&[(10, GIB), (30, 13.0 * GIB)]), spills);
    }
}
