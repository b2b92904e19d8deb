//! What does guidance cost?
//!
//! Steps are split by the scale that they were reported with; sections by names with `cond` or `uncond` as a word.

use marey::{Run, Value};
use serde::Serialize;

use super::durations::Durations;
use super::named::Named;
use super::steps::StepPoint;
use crate::stats::{ratio, sum};

/// Conditional against unconditional work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Guidance {
    /// Steps with a guidance scale above 1, warm-up apart.
    pub guided: Option<Durations>,
    /// Steps with a scale of at most 1, which need no unconditional pass, warm-up apart.
    pub unguided: Option<Durations>,
    /// Time of sections that are named as conditional passes, of all threads added up; `None` when there are none.
    pub conditional_ns: Option<u64>,
    /// The same of unconditional passes.
    pub unconditional_ns: Option<u64>,
    /// Unconditional share of both; `None` unless both are known.
    pub unconditional_ratio: Option<f64>,
    /// How guidance was computed, as instrumented pipelines say, in the order in which they did.
    pub ways: Vec<GuidanceWay>,
}

/// One way of computing guidance, of the event `guidance`.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GuidanceWay {
    /// In words: `separate calls`, `one call with a doubled batch`.
    pub how: String,
    /// Calls of the network for an evaluation.
    pub calls_per_step: Option<u64>,
    /// How many times the batch of the latents the largest of these calls got; `None` when not known.
    pub batch_factor: Option<u64>,
    /// Generations that said so.
    pub n_generations: u64,
}

const EVENT: &str = "guidance";

fn ways(run: &Run) -> Vec<GuidanceWay> {
    let mut found: Vec<GuidanceWay> = Vec::new();
    for event in run.events.iter().filter(|event| event.name == EVENT) {
        let said = |name: &str| {
            let mut given = event.attributes.iter();
            given.find_map(|(given, value)| (given == name).then_some(value))
        };
        let count = |name| match said(name) {
            Some(Value::Int(count)) => u64::try_from(*count).ok(),
            _ => None,
        };
        let Some(Value::Text(how)) = said("how") else {
            continue;
        };
        let (calls_per_step, batch_factor) = (count("calls_per_step"), count("batch_factor"));
        let same = |known: &&mut GuidanceWay| {
            (&known.how, known.calls_per_step, known.batch_factor)
                == (how, calls_per_step, batch_factor)
        };
        match found.iter_mut().find(same) {
            Some(known) => known.n_generations += 1,
            None => found.push(GuidanceWay {
                how: how.clone(),
                calls_per_step,
                batch_factor,
                n_generations: 1,
            }),
        }
    }
    found
}

/// `None` when no steady step has a scale, no section is named so, and no pipeline said how.
pub(super) fn guidance(run: &Run, named: &Named, steps: &[StepPoint]) -> Option<Guidance> {
    let of = |is_wanted: fn(f64) -> bool| {
        let wanted = steps.iter().filter(|step| !step.is_warm_up);
        let wanted = wanted.filter(|step| step.guidance_scale.is_some_and(is_wanted));
        Durations::of(wanted.filter_map(|step| step.duration_ns))
    };
    let conditional_ns = total_ns(run, &named.conditional);
    let unconditional_ns = total_ns(run, &named.unconditional);
    let both = conditional_ns.zip(unconditional_ns);
    let both = both.map(|(with, without)| [with, without].map(u128::from));
    let found = Guidance {
        guided: of(|scale| scale > 1.0),
        unguided: of(|scale| scale <= 1.0),
        conditional_ns,
        unconditional_ns,
        unconditional_ratio: both
            .filter(|both| *both != [0, 0])
            .map(|[with, without]| ratio(without, with + without)),
        ways: ways(run),
    };
    (found != Guidance::default()).then_some(found)
}

/// All calls of these nodes, also those that were not recorded one by one.
fn total_ns(run: &Run, nodes: &[u32]) -> Option<u64> {
    let totals = nodes.iter().filter_map(|node| run.totals.get(*node as usize));
    let called: Vec<u64> = totals.filter(|t| t.count > 0).map(|t| t.sum_ns).collect();
    (!called.is_empty()).then(|| sum(called.into_iter()))
}

#[cfg(test)]
mod tests {
    use crate::{Guidance, Thresholds, diffusion};
    use marey::{DiffusionStep, Generation, Run};
    use marey_testing::RunBuilder;

    fn found(run: &Run) -> Option<Guidance> {
        diffusion(run, &Thresholds::default())?.guidance
    }

    #[test]
    fn steps_are_split_by_their_scale() {
        // A scale of 1 is none; NaN says nothing. The first step is the warm-up.
        let scales = [7.5, 7.5, 3.0, 1.0, 0.0, f64::NAN];
        let mut builder = RunBuilder::new();
        for (n, scale) in (0..).zip(scales) {
            let step = DiffusionStep {
                step: Some(n),
                computation_ns: Some(100 + n),
                guidance_scale: Some(scale),
                ..DiffusionStep::default()
            };
            builder = builder.generation(1000 * (n + 1), None, Generation::Step(step));
        }
        let found = found(&builder.finish(9000)).unwrap();
        let guided = found.guided.unwrap();
        assert_eq!((guided.count, guided.total_ns), (2, 101 + 102));
        let unguided = found.unguided.unwrap();
        assert_eq!((unguided.count, unguided.total_ns), (2, 103 + 104));
        assert_eq!(found.unconditional_ratio, None);
    }

    #[test]
    fn passes_are_split_by_their_names() {
        // |--------- step ---------|
        //  |-- cond --||- uncond -|
        //   |cond|                    within the other: counted once
        let run = RunBuilder::new()
            .iteration("denoising_step", 0, 100, |s| {
                s.section("transformer_cond", 0, 60, |s| {
                    s.section("cond", 5, 30, |_| {});
                });
                s.section("transformer_uncond", 60, 90, |_| {});
            })
            .finish(100);
        let found = found(&run).unwrap();
        assert_eq!(found.conditional_ns, Some(60));
        assert_eq!(found.unconditional_ns, Some(30));
        assert_eq!(found.unconditional_ratio, Some(1.0 / 3.0));
    }

    #[test]
    fn how_pipelines_compute_it_is_counted_by_generation() {
        let said = |how: &str, calls: i64, factor: Option<i64>| {
            let mut data =
                vec![("how".to_owned(), how.into()), ("calls_per_step".to_owned(), calls.into())];
            data.extend(factor.map(|factor| ("batch_factor".to_owned(), factor.into())));
            data
        };
        let run = RunBuilder::new()
            .event("guidance", 1, said("separate calls", 2, Some(1)))
            .event("guidance", 2, said("one call with a tripled batch", 1, Some(3)))
            .event("guidance", 3, said("separate calls", 2, Some(1)))
            .event("guidance", 4, vec![("how".to_owned(), 3i64.into())])
            .finish(10);
        let ways = found(&run).unwrap().ways;
        let each = ways
            .iter()
            .map(|way| (way.how.as_str(), way.calls_per_step, way.batch_factor, way.n_generations));
        let expected = [
            ("separate calls", Some(2), Some(1), 2),
            ("one call with a tripled batch", Some(1), Some(3), 1),
        ];
        assert_eq!(each.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn steps_without_a_scale_say_nothing_of_guidance() {
        let run = RunBuilder::new()
            .iteration("denoising_step", 0, 10, |_| {})
            .iteration("denoising_step", 10, 20, |_| {})
            .finish(20);
        assert_eq!(found(&run), None);
    }
}
