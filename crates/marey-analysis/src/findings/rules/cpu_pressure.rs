//! Did tasks wait for a processor?
//!
//! Two things say so, both of the program itself: the time in which its threads could have run and had no processor, and the time in
//! which its control group was not let run. The kernel's pressure is of the whole machine and says nothing of this program. Of what threads
//! waited no bound of a saving is known: others may have run meanwhile.

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::readings::Growth;

pub(super) const RULE: Rule = Rule {
    id: "cpu-pressure",
    category: Category::Performance,
    checks: "threads of the program waited long for a processor",
    limits: &["cpu_pressure_ratio"],
    saves: "the time in which the control group was not let run, as a bound; none where threads waited for others",
    of: &[Check::Run(
        "time in which threads of the process could have run and had no processor, or throttling of the control group",
        check,
    )],
};

/// Mean number of waiting threads that is worth a finding.
const WAITING_THREADS: f64 = 0.05;

fn check(facts: &Facts<'_>) -> Outcome {
    let cpu = facts.telemetry.cpu.as_ref();
    let waited = cpu.and_then(|cpu| Some((cpu.waited_ratio()?, cpu.waited?)));
    let throttled = cpu.and_then(|cpu| cpu.throttled);
    if waited.is_none() && throttled.is_none() {
        return Outcome::Unknown(
            "neither waiting of the program's threads nor throttling of the CPU was sampled".into(),
        );
    }
    let held = throttled.map_or(0.0, throttled_ratio);
    let waited = waited.filter(|(_, waited)| waited.per_second.mean > WAITING_THREADS);
    let highest = waited.map_or(0.0, |(ratio, _)| ratio).max(held);
    let limit = facts.thresholds.cpu_pressure_ratio;
    if highest <= limit {
        return Outcome::Passed(format!("{} of the time", rounded_percent(highest)));
    }
    Outcome::Found(vec![finding(facts, waited, throttled, limit)])
}

/// Share of the time in which the control group was not let run.
fn throttled_ratio(throttled: Growth) -> f64 {
    let seconds = float(throttled.over_ns) / 1e9;
    if seconds > 0.0 { (throttled.total / seconds).min(1.0) } else { 0.0 }
}

fn finding(
    facts: &Facts<'_>,
    waited: Option<(f64, Growth)>,
    throttled: Option<Growth>,
    limit: f64,
) -> Finding {
    let held = throttled.map(throttled_ratio);
    let is_quota = held.is_some_and(|held| held > limit);
    let waited_ratio = waited.map_or(0.0, |(ratio, _)| ratio);
    let share = |what, value| Evidence::ratio(what, value).against(limit);
    let mut evidence = Vec::new();
    evidence.extend(waited.map(|(ratio, _)| {
        share("share of the time in which threads wanted a processor that they had none", ratio)
    }));
    evidence.extend(waited.map(|(_, waited)| {
        let threads = waited.per_second.mean;
        Evidence::new("mean threads of this process that waited", threads, FigureUnit::Number)
    }));
    evidence.extend(
        held.map(|held| share("share of the time that the control group was not let run", held)),
    );
    let cpu = facts.telemetry.cpu.as_ref();
    let busy = cpu.and_then(|cpu| cpu.busy_ratio);
    evidence
        .extend(busy.map(|busy| Evidence::ratio("mean share of all processors in use", busy.mean)));
    let process = cpu.and_then(|cpu| cpu.process?.cores);
    evidence.extend(process.map(|cores| {
        Evidence::new(
            "mean processors of this process",
            // Thousandths of a processor are as fine as it is counted.
            (cores.mean * 1e3).round() / 1e3,
            FigureUnit::Number,
        )
    }));
    let peak = throttled.filter(|_| is_quota).map(|t| t.per_second.peak);
    let peak = peak.or(waited.map(|(_, waited)| waited.per_second.peak));
    Finding {
        severity: if is_quota { Severity::Medium } else { Severity::Low },
        issue: if is_quota {
            let held = rounded_percent(held.unwrap_or(0.0));
            format!("The CPU quota of its control group held the program up for {held} of the time")
        } else {
            format!("Threads of this program had no processor in {} of the time in which they wanted one", rounded_percent(waited_ratio))
        },
        remedy: if !is_quota && are_others(facts) {
            "Other programs had the processors: run beside fewer of them, or keep processors for this one (taskset, a cpuset)."
        } else {
            "Give the container more processors, or have fewer threads: OMP_NUM_THREADS, torch.set_num_threads() and num_workers at no \
             more than there are. A step loop that launches kernels needs one processor for itself."
        }
        .into(),
        evidence,
        intervals: peak
            .map(|peak| Interval {
                start_ns: peak.start_ns,
                end_ns: peak.end_ns,
            })
            .into_iter()
            .collect(),
        saving: held.filter(|_| is_quota).map(|held| saving(facts, held)),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

/// Other programs used more of the processors than this one and its children.
fn are_others(facts: &Facts<'_>) -> bool {
    let used = || {
        let cpu = facts.telemetry.cpu.as_ref()?;
        let busy = cpu.busy_ratio?.mean * float(cpu.n_cores?);
        let children = cpu.children_cores.map_or(0.0, |cores| cores.mean);
        Some((busy, cpu.process?.cores?.mean + children))
    };
    used().is_some_and(|(busy, own)| busy - own > own)
}

fn saving(facts: &Facts<'_>, held: f64) -> Saving {
    let at_most_ns = part_of(facts.run.wall_ns, held);
    let how = "the time in which the control group was not let run; whether the program had work then was not measured";
    Saving::of_time(None, at_most_ns, how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const SECOND: u64 = 1_000_000_000;

    /// Seconds that counters grew by in 10 s.
    fn run(counters: &[(&str, f64)]) -> Run {
        let mut builder = RunBuilder::new();
        for (name, seconds) in counters {
            builder = builder.series(
                SeriesInfo::cumulative(name, "", Unit::Seconds),
                &[(0, 7.0), (10 * SECOND, 7.0 + seconds)],
            );
        }
        builder.finish(10 * SECOND)
    }

    fn waiting(waited_s: f64, user_s: f64) -> Run {
        run(&[
            ("process.cpu.wait", waited_s),
            ("process.cpu.user", user_s),
            ("process.cpu.system", 0.0),
        ])
    }

    fn found(run: &Run) -> Finding {
        match check_run(&RULE, run) {
            Outcome::Found(mut found) => found.remove(0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn threads_that_had_a_processor_half_of_the_time_are_found() {
        let found = found(&waiting(12.0, 12.0));
        let expected =
            "Threads of this program had no processor in 50 % of the time in which they wanted one";
        assert_eq!(found.issue, expected);
        // Two of four threads ran at each moment: what they did would have taken as long one after the other.
        assert_eq!(found.saving, None);
        assert_eq!(found.severity, Severity::Low);
        let threads = found.evidence.iter().find(|e| e.what.contains("that waited"));
        assert!((threads.unwrap().figure.value - 1.2).abs() < 1e-9);
    }

    #[test]
    fn who_has_few_processors_beside_others_needs_no_fewer_threads() {
        // Of two processors others used 1.7 and this program 0.3, which waited as long.
        let mut beside = run(&[
            ("process.cpu.wait", 3.0),
            ("process.cpu.user", 3.0),
            ("process.cpu.system", 0.0),
            ("host.cpu.busy", 20.0),
        ]);
        beside.info.facts.push(("host.cpus".into(), "2".into()));
        assert!(found(&beside).remedy.starts_with("Other programs had the processors"));
        assert!(found(&waiting(12.0, 12.0)).remedy.contains("OMP_NUM_THREADS"));
    }

    #[test]
    fn what_the_machine_waited_is_not_the_programs() {
        // Others wait all the time; this program sleeps, and waits a moment when it wakes.
        let mut sleeping = waiting(0.3, 0.1);
        sleeping.series.extend(run(&[("pressure.cpu.some", 9.0)]).series);
        assert_eq!(check_run(&RULE, &sleeping), Outcome::Passed("0 % of the time".into()));
        assert!(matches!(
            check_run(&RULE, &run(&[("pressure.cpu.some", 9.0)])),
            Outcome::Unknown(_)
        ));
    }

    #[test]
    fn a_quota_is_the_programs_own() {
        let found = found(&run(&[("cgroup.cpu.throttled", 5.0)]));
        let expected =
            "The CPU quota of its control group held the program up for 50 % of the time";
        assert_eq!(found.issue, expected);
        assert_eq!(found.saving.as_ref().unwrap().at_most_ns, Some(5 * SECOND));
        assert_eq!(found.severity, Severity::Medium);
    }

    #[test]
    fn four_of_ten_seconds_are_not_more_than_the_limit() {
        let expected = Outcome::Passed("40 % of the time".into());
        assert_eq!(check_run(&RULE, &waiting(4.0, 6.0)), expected);
    }
}
