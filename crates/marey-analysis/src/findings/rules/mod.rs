//! The rules, one a file; where runs and traces tell one in different ways, the way of traces is a file of its own.

mod cache_memory_for_nothing;
mod cache_never_hits;
mod cpu_pressure;
mod data_bound;
mod dropped_frames;
mod eager_attention;
mod exposed_communication;
mod exposed_transfers;
mod failed_window;
mod first_compile;
mod fragmentation;
mod host_idle;
mod idle_gpus;
mod kept_memory;
mod large_blocks;
mod large_model;
mod late_compile;
mod late_gaps;
mod launch_bound;
mod layer_bottleneck;
mod lost_ranks;
mod low_gpu_utilization;
mod many_steps;
mod memory_pressure;
mod mixed_versions;
mod needless_offload;
mod rank_waiting;
mod repeated_encoding;
mod slow_blocks;
mod slow_frames;
mod slow_rank;
mod ssd_starvation;
mod stage_bottleneck;
mod step_outliers;
mod strict_threshold;
mod swap_spill;
mod synchronisation_points;
mod thermal_risk;
mod uneven_memory;

pub use lost_ranks::hang;

use super::rule::collect;
use super::{Findings, Rule, Thresholds};
use crate::RankCommunication;

/// Every rule, in the order in which they are checked.
pub const RULES: &[Rule] = &[
    memory_pressure::RULE,
    swap_spill::RULE,
    kept_memory::RULE,
    fragmentation::RULE,
    low_gpu_utilization::RULE,
    stage_bottleneck::RULE,
    layer_bottleneck::RULE,
    cpu_pressure::RULE,
    thermal_risk::RULE,
    dropped_frames::RULE,
    slow_frames::RULE,
    slow_blocks::RULE,
    large_blocks::RULE,
    many_steps::RULE,
    large_model::RULE,
    idle_gpus::RULE,
    ssd_starvation::RULE,
    data_bound::RULE,
    exposed_transfers::RULE,
    exposed_communication::RULE,
    synchronisation_points::RULE,
    launch_bound::RULE,
    host_idle::RULE,
    eager_attention::RULE,
    cache_never_hits::RULE,
    cache_memory_for_nothing::RULE,
    strict_threshold::RULE,
    step_outliers::RULE,
    late_compile::RULE,
    first_compile::RULE,
    needless_offload::RULE,
    repeated_encoding::RULE,
    failed_window::RULE,
    lost_ranks::RULE,
    slow_rank::RULE,
    rank_waiting::RULE,
    uneven_memory::RULE,
    mixed_versions::RULE,
];

/// Rules that became part of another one: what they were called, and which it is.
pub const FORMER_RULES: &[(&str, &str)] = &[("rank-skew", "rank-waiting")];

/// `rank-waiting` of ranks whose traces were read one by one.
pub(super) fn waiting_of_traces(
    ranks: &RankCommunication,
    span_ns: u64,
    thresholds: &Thresholds,
) -> Findings {
    let outcome = rank_waiting::trace::of_ranks(ranks, span_ns, thresholds);
    collect(std::iter::once((&rank_waiting::RULE, outcome)))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use marey::{BlockComputation, DiffusionStep, Generation, Run};
    use marey_testing::RunBuilder;

    use super::*;
    use crate::Diffusion;
    use crate::findings::{Facts, Finding, Outcome, Thresholds};

    /// What a rule says of a run whose diffusion was analysed so.
    pub(crate) fn check_made(rule: &Rule, run: &Run, diffusion: &Diffusion) -> Outcome {
        check_diffusion(rule, run, Some(diffusion))
    }

    /// What a run says that reported these denoising steps, from start to end.
    pub(crate) fn steps_at(times: &[(u64, u64)]) -> Diffusion {
        let mut builder = RunBuilder::new();
        for (step, (start_ns, end_ns)) in (0..).zip(times) {
            let report = DiffusionStep {
                step: Some(step),
                computation_ns: Some(end_ns - start_ns),
                ..DiffusionStep::default()
            };
            builder = builder.generation(*end_ns, None, Generation::Step(report));
        }
        made_by(builder)
    }

    /// The same for steps that follow one another from `start_ns` on.
    pub(crate) fn steps(start_ns: u64, durations: &[u64]) -> Diffusion {
        let mut end_ns = start_ns;
        let times = durations.iter().map(|duration_ns| {
            end_ns += duration_ns;
            (end_ns - duration_ns, end_ns)
        });
        steps_at(&times.collect::<Vec<_>>())
    }

    /// What a run says that reported these blocks, which follow one another from 0 on, all with as many latent frames.
    pub(crate) fn blocks(durations: &[u64], frames: Option<u64>) -> Diffusion {
        let (mut builder, mut end_ns) = (RunBuilder::new(), 0);
        for (index, duration_ns) in (0..).zip(durations) {
            end_ns += duration_ns;
            let report = BlockComputation {
                index: Some(index),
                size: frames,
                computation_ns: Some(*duration_ns),
                ..BlockComputation::default()
            };
            builder = builder.generation(end_ns, None, Generation::Block(report));
        }
        made_by(builder)
    }

    fn made_by(builder: RunBuilder) -> Diffusion {
        crate::diffusion(&builder.finish(u64::MAX), &Thresholds::default()).unwrap()
    }

    /// How many rules go by a kind of record.
    pub(crate) fn rules_of(kind: &str) -> usize {
        RULES.iter().filter(|rule| rule.goes_by().any(|(of, _)| of == kind)).count()
    }

    /// The only finding of an outcome.
    pub(crate) fn only(outcome: Outcome) -> Finding {
        match outcome {
            Outcome::Found(mut found) if found.len() == 1 => found.remove(0),
            other => panic!("not one finding: {other:?}"),
        }
    }

    /// What a rule says of a run.
    pub(crate) fn check_run(rule: &Rule, run: &Run) -> Outcome {
        let diffusion = crate::diffusion(run, &Thresholds::of(run));
        check_diffusion(rule, run, diffusion.as_ref())
    }

    /// What a rule says of a run whose diffusion answers are given.
    pub(crate) fn check_diffusion(
        rule: &Rule,
        run: &Run,
        diffusion: Option<&Diffusion>,
    ) -> Outcome {
        let limits = Thresholds::of(run);
        let sections = crate::sections(run);
        let account = crate::wall_account(run, &sections);
        let iterations = crate::iterations(run);
        let memory = crate::memory(run);
        let streaming = crate::streaming(run);
        let caches = crate::caches(run);
        let windows = crate::windows(run, diffusion);
        let facts = Facts {
            run,
            sections: &sections,
            account: account.as_ref(),
            iterations: &iterations,
            memory: memory.as_ref(),
            telemetry: &crate::telemetry(run),
            streaming: streaming.as_ref(),
            diffusion,
            caches: caches.as_ref(),
            windows: windows.as_ref(),
            thresholds: &limits,
        };
        let outcome = rule.of_run(&facts).expect("a rule of runs");
        if let Outcome::Found(found) = &outcome {
            for finding in found {
                assert_whole(finding, run);
            }
        }
        outcome
    }

    /// What each finding has: words, figures with at least one limit, intervals in order, a bound that its estimate keeps.
    fn assert_whole(finding: &Finding, run: &Run) {
        assert!(!finding.issue.is_empty() && finding.remedy.ends_with('.'));
        assert!(finding.evidence.iter().all(|e| e.figure.value.is_finite()));
        assert!(finding.evidence.iter().any(|e| e.limit.is_some()));
        assert!(finding.intervals.len() <= Finding::MAX_INTERVALS);
        assert!(finding.intervals.is_sorted());
        let node = finding.node.map(|node| node as usize);
        assert!(node.is_none_or(|node| 0 < node && node < run.nodes.len()));
        let Some(saving) = &finding.saving else {
            return;
        };
        assert!(!saving.how.is_empty());
        let estimate = saving.estimate_ns;
        assert!(estimate.is_none_or(|ns| Some(ns) <= saving.at_most_ns));
    }

    #[test]
    fn each_rule_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
    }
}
