//! Did tasks wait for a processor?
//!
//! Two things say so: the kernel's pressure (some task could have run and had no processor), which is of the whole machine, and the time in
//! which the control group of the program was not let run, which is its own. Only of that a bound of the saving is known: who of the machine
//! waited is not, and a program that sleeps waits for nothing. Only of that a bound of the saving is known: who of the machine
//! waited is not, and a program that sleeps waits for nothing.

use crate::findings::words::percent;
use crate::findings::{
    Category, Confidence, Evidence, Facts, FigureUnit, Finding, Outcome, Rule, Saving, Severity,
};
use crate::intervals::Interval;
use crate::readings::{Figures, Growth};
use crate::stats::float;

pub(super) const RULE: Rule = Rule {
    id: "cpu-pressure",
    category: Category::Performance,
    checks: "tasks waited long for a processor",
    check,
};

fn check(facts: &Facts<'_>) -> Outcome {
    let waited = facts
        .telemetry
        .pressure
        .and_then(|pressure| pressure.cpu_some);
    let throttled = facts.telemetry.cpu.as_ref().and_then(|cpu| cpu.throttled);
    if waited.is_none() && throttled.is_none() {
        return Outcome::Unknown(
            "neither pressure (PSI) nor throttling of the CPU was sampled".into(),
        );
    }
    let held = throttled.map_or(0.0, throttled_ratio);
    let highest = waited.map_or(0.0, |waited| waited.mean).max(held);
    let limit = facts.thresholds.cpu_pressure_ratio;
    if highest <= limit {
        return Outcome::Passed(format!("{} of the time", percent(highest)));
    }
    Outcome::Found(vec![finding(facts, waited, throttled, limit)])
}

/// Share of the time in which the control group was not let run.
fn throttled_ratio(throttled: Growth) -> f64 {
    let seconds = float(throttled.over_ns) / 1e9;
    if seconds > 0.0 {
        (throttled.total / seconds).min(1.0)
    } else {
        0.0
    }
}

fn finding(
    facts: &Facts<'_>,
    waited: Option<Figures>,
    throttled: Option<Growth>,
    limit: f64,
) -> Finding {
    let held = throttled.map(throttled_ratio);
    let is_quota = held.is_some_and(|held| held > limit);
    let highest = waited
        .map_or(0.0, |waited| waited.mean)
        .max(held.unwrap_or(0.0));
    let share = |what, value| Evidence::new(what, value, FigureUnit::Ratio).against(limit);
    let mut evidence = Vec::new();
    evidence.extend(waited.map(|waited| {
        share(
            "share of the time that some task of the machine waited",
            waited.mean,
        )
    }));
    evidence.extend(held.map(|held| {
        share(
            "share of the time that the control group was not let run",
            held,
        )
    }));
    let cpu = facts.telemetry.cpu.as_ref();
    let busy = cpu.and_then(|cpu| cpu.busy_ratio);
    evidence.extend(busy.map(|busy| {
        Evidence::new(
            "mean share of all processors in use",
            busy.mean,
            FigureUnit::Ratio,
        )
    }));
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
    let peak = peak.or(waited.map(|waited| waited.peak));
    Finding {
        rule: RULE.id,
        category: RULE.category,
        severity: if is_quota { Severity::Medium } else { Severity::Low },
        issue: if is_quota {
            format!("The CPU quota of its control group held the program up for {} of the time", percent(highest))
        } else {
            format!("Tasks of this machine waited for a processor for {} of the time", percent(highest))
        },
        remedy: "Give the container more processors, or have fewer threads: OMP_NUM_THREADS, torch.set_num_threads() and num_workers \
                 at no more than there are. A step loop that launches kernels needs one processor for itself."
            .into(),
        evidence,
        intervals: peak
            .map(|peak| Interval {
                start_ns: peak.start_ns,
                end_ns: peak.end_ns,
            })
            .into_iter()
            .collect(),
        node: None,
        saving: held.filter(|_| is_quota).map(|held| saving(facts, held)),
        confidence: if is_quota { Confidence::Medium } else { Confidence::Low },
    }
}

fn saving(facts: &Facts<'_>, held: f64) -> Saving {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the wall time; casts saturate"
    )]
    let at_most_ns = (float(facts.run.wall_ns) * held) as u64;
    let how = "the time in which the control group was not let run; whether the program had work then was not measured";
    Saving::of_time(None, at_most_ns, how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{Run, RunBuilder, SeriesInfo, Unit};

    const SECOND: u64 = 1_000_000_000;

    /// Seconds that a counter grew by in 10 s.
    fn run(name: &str, seconds: f64) -> Run {
        RunBuilder::new()
            .series(
                SeriesInfo::cumulative(name, "", Unit::Seconds),
                &[(0, 7.0), (10 * SECOND, 7.0 + seconds)],
            )
            .finish(10 * SECOND)
    }

    #[test]
    fn five_of_ten_seconds_of_waiting_are_found() {
        let Outcome::Found(found) = check_run(&RULE, &run("pressure.cpu.some", 5.0)) else {
            panic!("not found");
        };
        assert_eq!(
            found[0].issue,
            "Tasks of this machine waited for a processor for 50 % of the time"
        );
        // Whether this program waited with them is not known.
        assert_eq!(found[0].saving, None);
        assert_eq!(found[0].severity, Severity::Low);
    }

    #[test]
    fn a_quota_is_the_programs_own() {
        let Outcome::Found(found) = check_run(&RULE, &run("cgroup.cpu.throttled", 5.0)) else {
            panic!("not found");
        };
        assert_eq!(
            found[0].issue,
            "The CPU quota of its control group held the program up for 50 % of the time"
        );
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_ns, Some(5 * SECOND));
        assert_eq!(found[0].severity, Severity::Medium);
    }

    #[test]
    fn processors_of_the_process_have_three_decimals() {
        let mut slept = run("pressure.cpu.some", 8.0);
        for (name, seconds) in [
            ("process.cpu.user", 0.07),
            ("process.cpu.system", 0.006_819_1),
        ] {
            slept.series.extend(run(name, seconds).series);
        }
        let Outcome::Found(found) = check_run(&RULE, &slept) else {
            panic!("not found");
        };
        // 0.0768191 s in 10 s.
        let figure = found[0].evidence.last().unwrap();
        assert_eq!(figure.what, "mean processors of this process");
        assert!((figure.figure.value - 0.008).abs() < 1e-12, "{figure:?}");
    }

    #[test]
    fn four_of_ten_seconds_are_not_more_than_the_limit() {
        let expected = Outcome::Passed("40 % of the time".into());
        assert_eq!(check_run(&RULE, &run("pressure.cpu.some", 4.0)), expected);
    }

    #[test]
    fn without_readings_nobody_can_tell() {
        let run = RunBuilder::new().finish(50);
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}
