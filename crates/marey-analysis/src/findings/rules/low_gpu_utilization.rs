//! Did the GPU wait while denoising steps ran?
//!
//! ```text
//! steps                |=1=|--2--|--3--|--4--|        the first is warm-up: it may compile
//! utilisation   0   0    1   0.3   0.4   0.5   0      loading and the end do not count
//!                            |---------------|        from the second second on, mean 0.4: below 0.5, found
//! ```
//!
//! A run is not asked for the mean over all of it, as that of a short one is mostly loading. Of several GPUs the busiest counts: the
//! others are the business of another rule.

mod trace;

use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns, length_within, union};
use crate::quantity::rounded_percent;
use crate::questions::during::{Stretch, each_during, stretches};

pub(super) const RULE: Rule = Rule {
    id: "low-gpu-utilization",
    category: Category::Performance,
    checks: "the GPU has nothing to do for much of the time",
    limits: &["gpu_utilization_ratio"],
    saves: "the time of steps in which no kernel ran, as a bound",
    of: &[
        Check::Run(
            "utilisation of GPUs over two seconds of denoising steps and more, since drivers tell that of the second before",
            check,
        ),
        Check::Trace("the busiest device worked for less of its time", trace::check),
    ],
};

/// Fewer readings than this do not make a mean.
const MIN_READINGS: usize = 3;

/// A GPU during steps.
struct Read {
    mean: f64,
    /// What was read in a part of the time of steps at least.
    each: Vec<Stretch>,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let run = facts.run;
    if !run.series.iter().any(|s| s.info.name == "gpu.utilization") {
        return Outcome::Unknown(
            "no utilisation of a GPU was sampled (monitor_gpu_utilization)".into(),
        );
    }
    let Some(steps) = facts.steady_step_time() else {
        return Outcome::Unknown(
            "no denoising steps after the first are known; report them, or record each as an iteration".into(),
        );
    };
    let read = Facts::utilization_time(&steps);
    let each = each_during(run, "gpu.utilization", &read);
    let known = each.into_iter().filter_map(|(series, during)| {
        let mut each = stretches(series, run.wall_ns);
        each.retain(|stretch| length_within(stretch.time, &read) > 0);
        let mean = during.filter(|_| each.len() >= MIN_READINGS)?.value;
        Some(Read { mean, each })
    });
    let Some(busiest) = known.max_by(|a, b| a.mean.total_cmp(&b.mean)) else {
        return Outcome::Unknown(format!(
            "fewer than {MIN_READINGS} readings of the GPU are of steps alone: they lasted too short, or lower gpu_monitor_interval"
        ));
    };
    let limit = facts.thresholds.gpu_utilization_ratio;
    if busiest.mean >= limit {
        let mean = rounded_percent(busiest.mean);
        return Outcome::Passed(format!("it worked {mean} of the time of steps"));
    }
    Outcome::Found(vec![finding(&busiest, &steps, limit)])
}

fn finding(busiest: &Read, steps: &[Interval], limit: f64) -> Finding {
    let step_ns = length_ns(steps);
    let idle_ns = part_of(step_ns, 1.0 - busiest.mean);
    let idle = busiest.each.iter().filter(|stretch| stretch.value < limit);
    let idle = union(idle.map(|stretch| stretch.time).collect());
    let n_readings = busiest.each.len() as u64;
    let mean = rounded_percent(busiest.mean);
    Finding {
        severity: Severity::Medium,
        issue: format!("The GPU worked only {mean} of the time in which denoising steps ran"),
        remedy: "Keep the step loop free of .item(), .cpu(), prints and other waits for the GPU, and use \
                 torch.compile(mode=\"reduce-overhead\") or CUDA graphs so that launching is no longer the limit; a larger batch \
                 fills the gaps, too. Where offloading is on, group offloading with use_stream=True hides its copies."
            .into(),
        evidence: vec![
            Evidence::ratio("mean utilisation during steps", busiest.mean).against(limit),
            Evidence::ns("time of steps after the first", step_ns),
            Evidence::count("readings during steps", n_readings),
        ],
        intervals: Finding::longest(idle),
        saving: Some(Saving::of_time(
            None,
            idle_ns,
            "the time of steps in which no kernel ran; how much of that can go was not measured",
        )),
        // Readings say that nothing ran, not why.
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diffusion;
    use crate::findings::rules::tests::{check_made, check_run, steps};
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    const S: u64 = 1_000_000_000;

    /// Seconds: loading up to 20, then steps of 10 each: warm-up, and four more from 30 to 70.
    fn run(values: [f64; 4]) -> Run {
        let [a, b, c, d] = values;
        let read = [
            (5 * S, 0.0),
            (15 * S, 0.0),
            (25 * S, 1.0),
            (35 * S, a),
            (45 * S, b),
            (55 * S, c),
            (65 * S, d),
            (75 * S, 0.0),
        ];
        RunBuilder::new()
            .series(SeriesInfo::gauge("gpu.utilization", "GPU-1", Unit::Ratio), &read)
            .finish(100 * S)
    }

    fn made() -> Diffusion {
        steps(20 * S, &[10 * S; 5])
    }

    #[test]
    fn a_gpu_that_works_40_percent_of_its_steps_is_found_with_the_time_that_it_idled() {
        let Outcome::Found(found) = check_made(&RULE, &run([0.3, 0.4, 0.6, 0.3]), &made()) else {
            panic!("not found");
        };
        let finding = &found[0];
        // From 31 to 70: (9 × 0.3 + 10 × 0.4 + 10 × 0.6 + 10 × 0.3) ÷ 39 = 15.7 ÷ 39
        assert_eq!(
            finding.issue,
            "The GPU worked only 40.3 % of the time in which denoising steps ran"
        );
        // 40 s of steps, of which 23.3 ÷ 39 idle.
        let idle_ns = finding.saving.as_ref().unwrap().at_most_ns;
        assert_eq!(idle_ns, Some(23_897_435_897));
        let times: Vec<(u64, u64)> =
            finding.intervals.iter().map(|i| (i.start_ns / S, i.end_ns / S)).collect();
        assert_eq!(times, [(30, 50), (60, 70)]);
    }

    #[test]
    fn a_gpu_that_works_half_of_its_steps_is_not_below_the_limit() {
        let expected = Outcome::Passed("it worked 50 % of the time of steps".into());
        assert_eq!(check_made(&RULE, &run([0.5; 4]), &made()), expected);
    }

    #[test]
    fn loading_alone_is_no_low_utilisation() {
        let found = check_made(&RULE, &run([1.0; 4]), &made());
        assert!(matches!(found, Outcome::Passed(_)), "{found:?}");
    }

    /// As on an H200: steps of 25 ms, readings each 0.5 s, of which each is of up to a second.
    #[test]
    fn steps_that_are_over_within_two_seconds_say_nothing() {
        const MS: u64 = 1_000_000;
        let read: Vec<(u64, f64)> = (0..8).map(|n| (n * 500 * MS, 0.17)).collect();
        let run = RunBuilder::new()
            .series(SeriesInfo::gauge("gpu.utilization", "GPU-1", Unit::Ratio), &read)
            .finish(4 * S);
        let short = check_made(&RULE, &run, &steps(S, &[25 * MS; 76]));
        assert!(matches!(short, Outcome::Unknown(_)), "{short:?}");
        let long = check_made(&RULE, &run, &steps(S, &[25 * MS; 100]));
        assert!(matches!(long, Outcome::Found(_)), "{long:?}");
    }

    #[test]
    fn without_steps_or_readings_nobody_can_tell() {
        let without_steps = check_run(&RULE, &run([0.1; 4]));
        assert!(matches!(without_steps, Outcome::Unknown(_)));
        let unread = check_made(&RULE, &RunBuilder::new().finish(100), &made());
        assert!(matches!(unread, Outcome::Unknown(_)));
        let short = steps(20, &[1, 1]);
        let too_few = check_made(&RULE, &run([0.1; 4]), &short);
        assert!(matches!(too_few, Outcome::Unknown(_)), "{too_few:?}");
    }
}
