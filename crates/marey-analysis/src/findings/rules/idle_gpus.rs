//! Does one of several GPUs do the work while others stand idle?
//!
//! ```text
//! GPU 0   ·  95 %  98 %  97 %        works
//! GPU 1   ·   0 %   0 %   0 %        idle
//! GPU 2   ·   2 %   0 %   0 %        idle: two of three, found
//! ```
//!
//! With one GPU, or where most of them work, there is nothing to say. While steps ran, or over the whole run where no steps are known.

mod job;

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::questions::during::each_during;

pub(super) const RULE: Rule = Rule {
    id: "idle-gpus",
    category: Category::Scaling,
    checks: "GPUs stand idle while others work",
    limits: &["gpu_utilization_ratio", "unused_gpu_ratio"],
    saves: "the time less an even split among all GPUs, as a bound",
    of: &[
        Check::Run("utilisation of several GPUs", check),
        Check::Job("utilisation of GPUs", job::check),
    ],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let run = facts.run;
    let times =
        facts.step_time().unwrap_or_else(|| vec![Interval { start_ns: 0, end_ns: run.wall_ns }]);
    let read = each_during(run, "gpu.utilization", &times);
    if read.is_empty() {
        return Outcome::Unknown(
            "no utilisation of a GPU was sampled (monitor_gpu_utilization)".into(),
        );
    }
    if read.len() == 1 {
        return Outcome::Passed("one GPU was read, and no other".into());
    }
    let means = read.iter().map(|(_, during)| during.map(|during| during.value));
    let means: Option<Vec<f64>> = means.collect();
    let Some(means) = means else {
        return Outcome::Unknown(
            "not every GPU was read often enough; lower gpu_monitor_interval".into(),
        );
    };
    let limit = facts.thresholds.unused_gpu_ratio;
    let n_idle = means.iter().filter(|mean| **mean < limit).count();
    let n_working = means.len() - n_idle;
    if n_working == 0 || n_idle < n_working {
        return Outcome::Passed(format!("{n_working} of {} worked", means.len()));
    }
    Outcome::Found(vec![finding(&means, n_working, &times, limit)])
}

fn finding(means: &[f64], n_working: usize, times: &[Interval], limit: f64) -> Finding {
    let highest = means.iter().copied().fold(0.0, f64::max);
    let n_gpus = means.len() as u64;
    let time_ns = times.iter().map(Interval::length_ns).fold(0, u64::saturating_add);
    let idle = means.iter().copied().filter(|mean| *mean < limit);
    let most_of_idle = idle.fold(0.0, f64::max);
    // Work that is split evenly among all, instead of among those that worked.
    let left_ns = u128::from(time_ns) * n_working as u128 / u128::from(n_gpus.max(1));
    let left_ns = u64::try_from(left_ns).unwrap_or(u64::MAX);
    Finding {
        severity: Severity::Low,
        issue: format!("{n_working} of {n_gpus} GPUs worked; the others were idle"),
        remedy: "Make several clips at once, a process for each GPU (accelerate launch, split_between_processes); or split one: \
                 guidance passes on two GPUs, or the sequence by enable_parallelism(config=ContextParallelConfig(…)) or xDiT. If \
                 they are not meant for this program, hide them with CUDA_VISIBLE_DEVICES."
            .into(),
        evidence: vec![
            Evidence::count("GPUs", n_gpus),
            Evidence::ratio("mean utilisation of the busiest", highest),
            Evidence::ratio("highest mean of the idle ones", most_of_idle).against(limit),
        ],
        saving: Some(Saving::of_time(
            None,
            time_ns.saturating_sub(left_ns),
            format!(
                "{} of the time looked at, if work were split evenly among all {n_gpus} with nothing to exchange",
                rounded_percent(float(time_ns - left_ns.min(time_ns)) / float(time_ns).max(1.0))
            ),
        )),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, steps};
    use marey::{Run, SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    fn run(gpus: &[[f64; 3]]) -> Run {
        let mut builder = RunBuilder::new();
        for (n, values) in gpus.iter().enumerate() {
            let info = SeriesInfo::gauge("gpu.utilization", &format!("GPU-{n}"), Unit::Ratio);
            let [a, b, c] = *values;
            builder = builder.series(info, &[(20, a), (50, b), (80, c)]);
        }
        builder.finish(100)
    }

    #[test]
    fn one_of_four_gpus_that_works_could_be_helped_by_three() {
        let idle = [0.0, 0.02, 0.0];
        let run = run(&[[0.9, 0.95, 0.9], idle, idle, idle]);
        // Steps from 10 to 90.
        let Outcome::Found(found) = check_made(&RULE, &run, &steps(10, &[40, 40])) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "1 of 4 GPUs worked; the others were idle");
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_ns, Some(60));
        assert!(saving.how.contains("75 %"), "{}", saving.how);
    }

    #[test]
    fn a_gpu_at_ten_percent_is_not_idle() {
        let run = run(&[[0.9; 3], [0.125, 0.125, 0.125]]);
        let expected = Outcome::Passed("2 of 2 worked".into());
        assert_eq!(check_run(&RULE, &run), expected);
    }

    #[test]
    fn where_most_gpus_work_or_none_does_there_is_nothing_to_say() {
        let most = check_run(&RULE, &run(&[[0.9; 3], [0.9; 3], [0.0; 3]]));
        assert!(matches!(most, Outcome::Passed(_)), "{most:?}");
        let none = check_run(&RULE, &run(&[[0.0; 3], [0.0; 3]]));
        assert!(matches!(none, Outcome::Passed(_)), "{none:?}");
        let alone = check_run(&RULE, &run(&[[0.9; 3]]));
        assert!(matches!(alone, Outcome::Passed(_)), "{alone:?}");
    }
}
