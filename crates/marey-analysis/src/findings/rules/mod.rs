//! The rules, one a file.

mod cache_memory_for_nothing;
mod cache_never_hits;
mod cpu_pressure;
mod dropped_frames;
mod eager_attention;
mod exposed_transfers;
mod fragmentation;
mod idle_gpus;
mod kept_memory;
mod large_blocks;
mod large_model;
mod late_compile;
mod launch_bound;
mod layer_bottleneck;
mod low_gpu_utilization;
mod many_steps;
mod memory_pressure;
mod needless_offload;
mod rank_skew;
mod repeated_encoding;
mod slow_blocks;
mod slow_frames;
mod ssd_starvation;
mod stage_bottleneck;
mod strict_threshold;
mod swap_spill;
mod synchronisation_points;
mod thermal_risk;

use super::Rule;

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
    exposed_transfers::RULE,
    synchronisation_points::RULE,
    launch_bound::RULE,
    eager_attention::RULE,
    late_compile::RULE,
    cache_never_hits::RULE,
    cache_memory_for_nothing::RULE,
    strict_threshold::RULE,
    repeated_encoding::RULE,
    needless_offload::RULE,
    rank_skew::RULE,
];

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use marey::Run;

    use super::*;
    use crate::findings::{Facts, Finding, Outcome, Thresholds};
    use crate::{BlockPoint, Blocks, Diffusion, Durations, Spread, StepPoint, StepSource, Steps};

    /// What a rule says of a run.
    pub(crate) fn check_run(rule: &Rule, run: &Run) -> Outcome {
        check_with(
            rule,
            run,
            crate::diffusion(run, &Thresholds::of(run)).as_ref(),
        )
    }

    /// What a rule says of a run whose diffusion was analysed so.
    pub(crate) fn check_made(rule: &Rule, run: &Run, diffusion: &Diffusion) -> Outcome {
        check_with(rule, run, Some(diffusion))
    }

    fn check_with(rule: &Rule, run: &Run, diffusion: Option<&Diffusion>) -> Outcome {
        let limits = Thresholds::of(run);
        let sections = crate::sections(run);
        let iterations = crate::iterations(run);
        let memory = crate::memory(run);
        let streaming = crate::streaming(run);
        let caches = crate::caches(run);
        let facts = Facts {
            run,
            sections: &sections,
            stages: &crate::stages(&sections),
            iterations: &iterations,
            memory: memory.as_ref(),
            telemetry: &crate::telemetry(run),
            streaming: streaming.as_ref(),
            diffusion,
            caches: caches.as_ref(),
            thresholds: &limits,
        };
        (rule.check)(&facts)
    }

    /// Steps of one generation that follow one another from `start_ns` on; the first is the warm-up.
    pub(crate) fn steps(start_ns: u64, durations: &[u64]) -> Diffusion {
        let mut end_ns = start_ns;
        let mut each = Vec::new();
        for (step, duration_ns) in (0..).zip(durations) {
            end_ns += duration_ns;
            each.push(StepPoint {
                end_ns,
                duration_ns: Some(*duration_ns),
                step,
                is_warm_up: step == 0,
                ..StepPoint::default()
            });
        }
        let steps = Steps {
            source: StepSource::Reported,
            n_loops: 1,
            per_loop_max: durations.len() as u64,
            warm_up: Some(figures(&durations[..1])),
            steady: (durations.len() > 1).then(|| figures(&durations[1..])),
            total_ns: durations.iter().sum(),
            each,
            not_recorded: 0,
            outliers: vec![],
            timesteps: None,
            frames: None,
            total_frames: None,
            frames_per_second: None,
            loops_per_second: None,
        };
        Diffusion {
            steps: Some(steps),
            ..Diffusion::default()
        }
    }

    /// Steps of one generation from start to end, which may lie apart; the first is the warm-up.
    pub(crate) fn steps_at(times: &[(u64, u64)]) -> Diffusion {
        let durations: Vec<u64> = times.iter().map(|(from, to)| to - from).collect();
        let mut diffusion = steps(0, &durations);
        let each = diffusion.steps.iter_mut().flat_map(|steps| &mut steps.each);
        for (step, (_, end_ns)) in each.zip(times) {
            step.end_ns = *end_ns;
        }
        diffusion
    }

    /// The only finding of an outcome.
    pub(crate) fn only(outcome: Outcome) -> Finding {
        match outcome {
            Outcome::Found(mut found) if found.len() == 1 => found.remove(0),
            other => panic!("not one finding: {other:?}"),
        }
    }

    /// Blocks that follow one another from 0 on, all with as many latent frames.
    pub(crate) fn blocks(durations: &[u64], frames: Option<f64>) -> Diffusion {
        let mut end_ns = 0;
        let mut each = Vec::new();
        for (index, duration_ns) in (0..).zip(durations) {
            end_ns += duration_ns;
            each.push(BlockPoint {
                end_ns,
                duration_ns: Some(*duration_ns),
                index,
                ..BlockPoint::default()
            });
        }
        let count = crate::stats::float(durations.len() as u64);
        let blocks = Blocks {
            source: StepSource::Reported,
            warm_up: Some(figures(&durations[..1])),
            steady: (durations.len() > 1).then(|| figures(&durations[1..])),
            per_second: Some(count * 1e9 / crate::stats::float(end_ns)),
            each,
            frames: frames.map(|n| Spread {
                min: n,
                mean: n,
                max: n,
            }),
            not_recorded: 0,
            total_frames: None,
            frames_per_second: None,
            memory_bytes: None,
            time_to_first_ns: durations.first().copied(),
            between: None,
            jitter_ns: None,
        };
        Diffusion {
            blocks: Some(blocks),
            ..Diffusion::default()
        }
    }

    fn figures(durations: &[u64]) -> Durations {
        Durations {
            count: durations.len() as u64,
            total_ns: durations.iter().sum(),
            mean_ns: crate::mean(durations).unwrap(),
            ..Durations::default()
        }
    }

    #[test]
    fn each_rule_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
    }
}
