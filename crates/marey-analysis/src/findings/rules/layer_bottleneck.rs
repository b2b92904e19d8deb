//! Does one layer take most of the time that layers took?
//!
//! ```text
//! attention   60 of 100     more than 0.3, and than 1.25 times an even share of 1/3: found
//! mlp         25
//! norm        15
//! ```
//!
//! A layer is named where the program reported it. Few layers have large shares even when all are equal; hence the even share.

use marey::Generation;

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::questions::layers::{Layer, layers};

pub(super) const RULE: Rule = Rule {
    id: "layer-bottleneck",
    category: Category::Performance,
    checks: "one layer takes most of the time of all reported layers",
    limits: &["layer_ratio"],
    saves: "the layer's own time, as a bound",
    of: &[Check::Run("layers with their times", check)],
};

/// So much more than an even share a bottleneck takes.
const ABOVE_EVEN: f64 = 1.25;

/// More than this nobody reads.
const MAX_FINDINGS: usize = 3;

/// What a share was compared with.
struct Limit {
    ratio: f64,
    /// What the share is, with where the limit comes from unless it is `layer_ratio`.
    what: &'static str,
}

impl Limit {
    fn of(facts: &Facts<'_>, n_layers: u64) -> Self {
        let above_even = ABOVE_EVEN / float(n_layers);
        let given = facts.thresholds.layer_ratio;
        if above_even > given {
            Self {
                ratio: above_even,
                what: "share of the time of all layers; the limit is 1.25 times an even share",
            }
        } else {
            Self { ratio: given, what: "share of the time of all layers" }
        }
    }
}

fn check(facts: &Facts<'_>) -> Outcome {
    let found = layers(facts.run).unwrap_or_default();
    let timed: Vec<&Layer> = found.each.iter().filter(|it| it.n_timed > 0).collect();
    if timed.len() < 2 || found.total_ns == 0 {
        return Outcome::Unknown(
            "fewer than two layers were reported with their time (profile_layer)".into(),
        );
    }
    let limit = Limit::of(facts, timed.len() as u64);
    let share = |layer: &Layer| layer.share_ratio.unwrap_or(0.0);
    let above = timed.iter().filter(|layer| share(layer) > limit.ratio);
    let found: Vec<Finding> =
        above.take(MAX_FINDINGS).map(|layer| finding(facts, layer, share(layer), &limit)).collect();
    if found.is_empty() {
        let highest = timed.first().map_or(0.0, |layer| share(layer));
        return Outcome::Passed(format!(
            "the slowest of {} layers took {}",
            timed.len(),
            rounded_percent(highest)
        ));
    }
    Outcome::Found(found)
}

fn finding(facts: &Facts<'_>, layer: &Layer, share: f64, limit: &Limit) -> Finding {
    let (name, total_ns) = (layer.name.as_str(), layer.total_ns);
    let mut evidence = vec![
        Evidence::ratio(limit.what, share).against(limit.ratio),
        Evidence::ns("its time", total_ns),
        Evidence::count("its calls", layer.n_timed),
    ];
    evidence.extend(layer.parameters.map(|n| Evidence::count("its parameters", n)));
    Finding {
        severity: Severity::Medium,
        issue: format!("The layer {name} took {} of the time of all reported layers", rounded_percent(share)),
        remedy: "If it is attention, see which kernel ran: set_attention_backend(\"flash\") or \"sage\" instead of math, fused \
                 projections (fuse_qkv_projections). If it is a linear or a convolution: bfloat16 or float8 (torchao), \
                 channels_last, torch.compile of the repeated block (compile_repeated_blocks)."
            .into(),
        evidence,
        intervals: calls(facts, name),
        saving: Some(Saving::of_time(
            None,
            total_ns.min(facts.run.wall_ns),
            "its own time, if it took none at all",
        )),
        // Layers may lie within one another: then shares count time twice.
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

fn calls(facts: &Facts<'_>, name: &str) -> Vec<Interval> {
    let calls = facts.run.generation.iter().filter_map(|record| {
        let Generation::Layer(report) = &record.what else {
            return None;
        };
        let length_ns = report.computation_ns.filter(|_| report.name == name)?;
        Some(Interval { start_ns: record.at_ns.saturating_sub(length_ns), end_ns: record.at_ns })
    });
    Finding::longest(calls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::check_run;
    use marey::{LayerComputation, Run};
    use marey_testing::RunBuilder;

    fn run(layers: &[(&str, Option<u64>)]) -> Run {
        let mut builder = RunBuilder::new();
        let mut at_ns = 0;
        for (name, computation_ns) in layers {
            at_ns += computation_ns.unwrap_or(0);
            let layer = LayerComputation {
                name: (*name).into(),
                computation_ns: *computation_ns,
                parameters: None,
            };
            builder = builder.generation(at_ns, None, Generation::Layer(layer));
        }
        builder.finish(1000)
    }

    #[test]
    fn attention_that_takes_60_percent_is_found_with_its_calls() {
        let run = run(&[
            ("attention", Some(40)),
            ("mlp", Some(25)),
            ("norm", Some(15)),
            ("attention", Some(20)),
        ]);
        let Outcome::Found(found) = check_run(&RULE, &run) else {
            panic!("not found");
        };
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].issue,
            "The layer attention took 60 % of the time of all reported layers"
        );
        assert_eq!(found[0].saving.as_ref().unwrap().at_most_ns, Some(60));
        // 1.25 of a third is above 0.3.
        assert!(found[0].evidence[0].what.contains("1.25 times an even share"));
        assert_eq!(found[0].evidence[0].limit, Some(1.25 / 3.0));
        let times: Vec<(u64, u64)> =
            found[0].intervals.iter().map(|i| (i.start_ns, i.end_ns)).collect();
        assert_eq!(times, [(0, 40), (80, 100)]);
    }

    #[test]
    fn thirty_percent_of_five_layers_is_not_more_than_thirty() {
        let names = ["a", "b", "c", "d", "e"];
        let times = [30, 20, 20, 15, 15].map(Some);
        let layers: Vec<_> = names.into_iter().zip(times).collect();
        let expected = Outcome::Passed("the slowest of 5 layers took 30 %".into());
        assert_eq!(check_run(&RULE, &run(&layers)), expected);
    }

    #[test]
    fn three_layers_that_share_the_time_are_no_bottlenecks() {
        let even = run(&[("a", Some(35)), ("b", Some(33)), ("c", Some(32))]);
        let found = check_run(&RULE, &even);
        assert!(matches!(found, Outcome::Passed(_)), "{found:?}");
    }

    #[test]
    fn layers_without_times_and_single_ones_cannot_be_compared() {
        for layers in [
            vec![],
            vec![("a", Some(5))],
            vec![("a", None), ("b", None)],
            vec![("a", Some(0)), ("b", Some(0))],
        ] {
            let found = check_run(&RULE, &run(&layers));
            assert!(matches!(found, Outcome::Unknown(_)), "{found:?}");
        }
    }
}
