//! Do denoising steps wait for the device before they are through?
//!
//! ```text
//! step       |---------- 0 ----------|---------- 1 ----------|
//!              |unet|  |.item()|        |unet|   |.item()|       waiting: both calls, as a share of the steps
//! sync=True    |<-->|                   |<-->|                   Marey waits at both ends: one a step
//! ```

mod trace;

use crate::findings::prelude::*;
use crate::intervals::{Interval, has_moment, intersection, length_ns, union};
use crate::quantity::{counted, rounded, rounded_percent};
use crate::questions::work::{Calls, Work, calls};
use crate::section_lookup::main_thread;

pub(super) const RULE: Rule = Rule {
    id: "synchronisation-points",
    category: Category::Performance,
    checks: "steps wait for the device before they are through",
    limits: &["synchronisation_ratio", "synchronised_per_step"],
    saves: "no estimate; at most the time waited within steps",
    of: &[
        Check::Run(
            "denoising steps; sections within them (`synchronize`, `.item`, `cuda_sync`), or `sync=True`",
            check,
        ),
        Check::Trace(
            "calls that wait for a device, as a share of the time of steps (denoising steps, else profiler steps)",
            trace::check,
        ),
    ],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(steps) = facts.steps() else {
        return Outcome::Unknown("no denoising steps are known".into());
    };
    let time = union(steps.clone());
    let sections = facts.run.sections.iter();
    let n_recorded = sections
        .filter(|s| has_moment(&time, s.start_ns) && !is_a_step(&steps, s.start_ns, s.end_ns))
        .count();
    let synchronised = synchronised(facts, &time);
    if n_recorded == 0 && synchronised.is_empty() {
        return Outcome::Unknown("no section was recorded within the steps".into());
    }
    let waits = calls(facts.run, |name| Work::Synchronising.is_of(name));
    let waits = waits.of_thread(main_thread(facts.run));
    let waited = intersection(&waits.time(), &time);
    let found: Vec<Finding> =
        [of_names(facts, &waits, waited, &time), of_attributes(facts, synchronised, steps.len())]
            .into_iter()
            .flatten()
            .collect();
    if found.is_empty() {
        let what = format!(
            "of {} within steps none that waits for the device takes more than {} of them",
            counted(n_recorded as u64, "section", "sections"),
            rounded_percent(facts.thresholds.synchronisation_ratio)
        );
        return Outcome::passed_without(waits.n_missing, what);
    }
    Outcome::Found(found)
}

/// A section from the beginning of a step to its end is the step.
fn is_a_step(steps: &[Interval], start_ns: u64, end_ns: u64) -> bool {
    steps.binary_search(&Interval { start_ns, end_ns }).is_ok()
}

/// Sections with `sync=True` that began within a step: their call paths and times.
fn synchronised(facts: &Facts<'_>, time: &[Interval]) -> Vec<(u32, Interval)> {
    let mut found = Vec::new();
    for given in &facts.run.section_attributes {
        let is_sync = |(name, value): &(String, marey::Value)| {
            name == "sync" && *value == marey::Value::Bool(true)
        };
        let Some(section) = facts.run.sections.get(given.section) else {
            continue;
        };
        if given.attributes.iter().any(is_sync) && has_moment(time, section.start_ns) {
            let call = Interval { start_ns: section.start_ns, end_ns: section.end_ns };
            found.push((section.node, call));
        }
    }
    found
}

fn of_names(
    facts: &Facts<'_>,
    waits: &Calls,
    waited: Vec<Interval>,
    time: &[Interval],
) -> Option<Finding> {
    let waited_ns = length_ns(&waited);
    let share = ratio(waited_ns.into(), length_ns(time).max(1).into());
    let limit = facts.thresholds.synchronisation_ratio;
    (share > limit).then(|| Finding {
        severity: Severity::of_share(facts.share_of_wall(waited_ns)),
        issue: format!(
            "Denoising steps spend {} of their time waiting for the device",
            rounded_percent(share)
        ),
        remedy: "Keep values on the device: no .item(), .cpu(), print or if on tensors within the loop, schedulers with their \
                 time steps on the host, and one synchronisation after the last step."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the time of steps", share).against(limit),
            Evidence::ns("time waited within steps", waited_ns),
        ],
        intervals: Finding::longest(waited),
        node: waits.longest_node(),
        saving: Some(Saving::of_time(
            None,
            waited_ns,
            "the time waited; where the device is the slower one, the wait moves to the end of the loop instead",
        )),
        confidence: Confidence::Medium,
        ..RULE.finding()
    })
}

fn of_attributes(
    facts: &Facts<'_>,
    synchronised: Vec<(u32, Interval)>,
    n_steps: usize,
) -> Option<Finding> {
    let per_step = ratio(synchronised.len() as u128, n_steps.max(1) as u128);
    let limit = facts.thresholds.synchronised_per_step;
    (per_step > limit).then(|| Finding {
        severity: Severity::Low,
        issue: format!("Measuring with sync=True waits for the device {} times a step", rounded(per_step)),
        remedy: "Take sync=True away from sections within steps, or keep it for a run of its own: it ends the overlap of host \
                 and device that the program has without it."
            .into(),
        evidence: vec![
            Evidence::new("sections with sync=True in a step", per_step, FigureUnit::Number).against(limit),
        ],
        node: synchronised.first().map(|(node, _)| *node),
        intervals: Finding::longest(synchronised.into_iter().map(|(_, time)| time)),
        ..RULE.finding()
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, only, steps_at};
    use marey::Run;
    use marey_testing::RunBuilder;

    const STEPS: [(u64, u64); 2] = [(0, 100), (100, 200)];

    /// Two steps of 100, each with a wait of `wait_ns` after its network.
    fn waiting(name: &str, wait_ns: u64) -> Run {
        let mut builder = RunBuilder::new();
        for (start_ns, end_ns) in STEPS {
            builder = builder.iteration("step", start_ns, end_ns, |s| {
                s.section("transformer", start_ns, start_ns + 50, |_| {});
                s.section(name, start_ns + 50, start_ns + 50 + wait_ns, |_| {});
            });
        }
        builder.finish(400)
    }

    #[test]
    fn waits_within_steps_are_found_with_their_share_of_them() {
        // 2 × 10 of 200.
        let run = waiting("latents.item()", 10);
        let found = only(check_made(&RULE, &run, &steps_at(&STEPS)));
        assert_eq!(found.evidence[0].figure.value, 0.1);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(20));
        assert_eq!(run.nodes[found.node.unwrap() as usize].name, "latents.item()");
        assert_eq!(found.intervals.len(), 2);
    }

    #[test]
    fn a_twentieth_of_the_steps_is_not_above_it() {
        let run = waiting("cuda_sync", 5);
        let passed = check_made(&RULE, &run, &steps_at(&STEPS));
        assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
    }

    fn synchronised(per_step: usize) -> Run {
        let mut builder = RunBuilder::new();
        for (start_ns, end_ns) in STEPS {
            builder = builder.iteration("step", start_ns, end_ns, |s| {
                for part in 0..per_step as u64 {
                    let at = start_ns + part * 10;
                    s.section("block", at, at + 9, |_| {});
                    s.attributes(vec![("sync".into(), true.into())]);
                }
            });
        }
        builder.finish(400)
    }

    #[test]
    fn two_synchronised_sections_a_step_are_too_many_and_one_is_not() {
        let check = |n| check_made(&RULE, &synchronised(n), &steps_at(&STEPS));
        let found = only(check(2));
        assert_eq!(found.evidence[0].figure.value, 2.0);
        assert_eq!((found.severity, found.saving), (Severity::Low, None));
        assert!(matches!(check(1), Outcome::Passed(_)));
    }

    #[test]
    fn a_run_without_steps_or_with_nothing_within_them_cannot_tell() {
        let no_steps = check_run(&RULE, &RunBuilder::new().finish(100));
        assert!(matches!(no_steps, Outcome::Unknown(_)));
        let bare = RunBuilder::new().iteration("step", 0, 100, |_| {}).finish(100);
        let nothing = check_made(&RULE, &bare, &steps_at(&[(0, 100)]));
        assert!(matches!(nothing, Outcome::Unknown(_)));
    }
}
