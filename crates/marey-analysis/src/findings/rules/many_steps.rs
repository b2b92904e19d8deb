//! Does a generation take more denoising steps than it has to?
//!
//! ```text
//! generation 0   |w|1|2|3| … |49|     50 steps of 10 after the warm-up: 20 beyond 30 are 200
//! generation 1   |0|1| … |19|         20 steps: none
//! ```
//!
//! The estimate is what the steps beyond the limit took, at the mean of the steps after the warm-up. The bound is all time of steps: each
//! moment of steps once, or what the steps of one thread add up to where that is more. It is more where durations were reported that did not
//! pass while the run was recorded:
//!
//! ```text
//! reported   0 |..............100 ms| 1 |..............100 ms| …     40 steps of 100 ms: 4 s
//! recorded   ||||                                                    40 reports within 1 ms
//! ```

use std::collections::BTreeMap;

use crate::findings::prelude::*;
use crate::intervals::{Interval, union, union_length_ns};
use crate::quantity::{counted, rounded};
use crate::{StepPoint, Steps};

pub(super) const RULE: Rule = Rule {
    id: "many-steps",
    category: Category::Diffusion,
    checks: "a generation takes more denoising steps than current schedulers need",
    limits: &["steps_per_generation"],
    saves: "the steps beyond the limit at their mean; bound: all time of steps, as reported where that is more than was recorded",
    of: &[Check::Run("denoising steps", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let steps = facts.diffusion.and_then(|found| found.steps.as_ref());
    let Some(steps) = steps else {
        return Outcome::Unknown(
            "no denoising steps are known; report them, or record each as an iteration".into(),
        );
    };
    let limit = facts.thresholds.steps_per_generation;
    let most = steps.per_loop_max;
    if float(most) <= limit {
        return Outcome::Passed(format!("at most {}", counted(most, "step", "steps")));
    }
    Outcome::Found(vec![finding(facts, steps, limit)])
}

fn finding(facts: &Facts<'_>, steps: &Steps, limit: f64) -> Finding {
    let most = float(steps.per_loop_max);
    let mut evidence = vec![
        Evidence::new("most steps of one generation", most, FigureUnit::Count).against(limit),
        Evidence::count("generations", steps.n_loops),
    ];
    let mean_ns = steps.steady.as_ref().map(|steady| steady.mean_ns);
    evidence
        .extend(mean_ns.map(|ns| Evidence::new("mean step after the first", ns, FigureUnit::Ns)));
    let together_ns = union_length_ns(facts.step_time().unwrap_or_default());
    let step_ns = together_ns.max(most_of_a_thread_ns(steps));
    let beyond_ns = mean_ns.map(|ns| ns * steps_beyond(steps, limit));
    let estimate_ns = beyond_ns.filter(|ns| *ns > 0.0).map(whole);
    Finding {
        severity: Severity::Medium,
        issue: format!("A generation took {} denoising steps", rounded(most)),
        remedy: "Try UniPCMultistepScheduler or DPMSolverMultistepScheduler at 20 to 30 steps, a step-distilled model or LoRA (LCM, \
                 Lightning, Turbo) with its scheduler at 4 to 8, or a step cache (FirstBlockCacheConfig, TeaCache); compare the \
                 pictures."
            .into(),
        evidence,
        intervals: long_loops(steps, limit),
        saving: (step_ns > 0).then(|| {
            Saving::of_time(
                estimate_ns.map(|ns| ns.min(step_ns)),
                step_ns,
                format!(
                    "the steps beyond {} of each generation, at the mean of the steps after the first; the bound is all time of steps",
                    rounded(limit)
                ),
            )
        }),
        // The count is certain; whether the picture allows fewer is not.
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

/// The most that the durations of the steps of one thread add up to.
fn most_of_a_thread_ns(steps: &Steps) -> u64 {
    let mut threads: BTreeMap<u32, u64> = BTreeMap::new();
    for step in &steps.each {
        let sum = threads.entry(step.thread).or_default();
        *sum = sum.saturating_add(step.duration_ns.unwrap_or(0));
    }
    threads.into_values().max().unwrap_or(0)
}

fn by_loop(steps: &Steps) -> BTreeMap<u64, Vec<&StepPoint>> {
    let mut loops: BTreeMap<u64, Vec<&StepPoint>> = BTreeMap::new();
    for step in &steps.each {
        loops.entry(step.loop_number).or_default().push(step);
    }
    loops
}

fn steps_beyond(steps: &Steps, limit: f64) -> f64 {
    let loops = by_loop(steps);
    let counts = loops.values().map(|steps| float(steps.len() as u64));
    counts.map(|count| (count - limit).max(0.0)).sum()
}

/// From the beginning of the first to the end of the last step of each generation with too many.
fn long_loops(steps: &Steps, limit: f64) -> Vec<Interval> {
    let loops = by_loop(steps);
    let long = loops.values().filter(|s| float(s.len() as u64) > limit);
    let times = long.filter_map(|steps| {
        let start = |s: &&StepPoint| s.end_ns.saturating_sub(s.duration_ns.unwrap_or(0));
        Some(Interval {
            start_ns: steps.iter().map(start).min()?,
            end_ns: steps.iter().map(|s| s.end_ns).max()?,
        })
    });
    Finding::longest(union(times.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, only, steps};
    use marey::{DiffusionStep, Generation};
    use marey_testing::RunBuilder;

    #[test]
    fn fifty_steps_are_twenty_more_than_needed() {
        let run = RunBuilder::new().finish(600);
        // One of 40, then 49 of 10: 530 in all.
        let mut durations = vec![40];
        durations.extend([10; 49]);
        let Outcome::Found(found) = check_made(&RULE, &run, &steps(0, &durations)) else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "A generation took 50 denoising steps");
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!((saving.estimate_ns, saving.at_most_ns), (Some(200), Some(530)));
        let time = found[0].intervals[0];
        assert_eq!((time.start_ns, time.end_ns), (0, 530));
    }

    #[test]
    fn durations_that_were_reported_count_although_less_time_was_recorded() {
        const MS: u64 = 1_000_000;
        // Fifty reports of 100 ms each, 1 ms apart in 50 ms: 20 steps of 100 ms too many, of 5 s.
        let report = |step| DiffusionStep {
            step: Some(step),
            computation_ns: Some(100 * MS),
            ..DiffusionStep::default()
        };
        let builder = (0..50).fold(RunBuilder::new(), |builder, step| {
            builder.generation((step + 1) * MS, None, Generation::Step(report(step)))
        });
        let found = only(check_run(&RULE, &builder.finish(51 * MS)));
        let saving = found.saving.unwrap();
        assert_eq!((saving.estimate_ns, saving.at_most_ns), (Some(2000 * MS), Some(5000 * MS)));
    }

    #[test]
    fn thirty_steps_are_not_more_than_thirty() {
        let run = RunBuilder::new().finish(600);
        let expected = Outcome::Passed("at most 30 steps".into());
        assert_eq!(check_made(&RULE, &run, &steps(0, &[10; 30])), expected);
    }
}
