//! The rules, one a file.

mod cache_memory_for_nothing;
mod cache_never_hits;
mod eager_attention;
mod exposed_transfers;
mod late_compile;
mod launch_bound;
mod memory_pressure;
mod needless_offload;
mod rank_skew;
mod repeated_encoding;
mod ssd_starvation;
mod strict_threshold;
mod synchronisation_points;

use super::Rule;

/// Every rule, in the order in which they are checked.
pub const RULES: &[Rule] = &[
    memory_pressure::RULE,
    ssd_starvation::RULE,
    exposed_transfers::RULE,
    synchronisation_points::RULE,
    launch_bound::RULE,
    eager_attention::RULE,
    cache_never_hits::RULE,
    cache_memory_for_nothing::RULE,
    strict_threshold::RULE,
    late_compile::RULE,
    rank_skew::RULE,
    needless_offload::RULE,
    repeated_encoding::RULE,
];

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use marey::Run;

    use super::*;
    use crate::findings::{Facts, Finding, Outcome, Thresholds};
    use crate::{Diffusion, Durations, StepPoint, StepSource, Steps};

    /// Denoising steps from start to end, the first of them as warm-up.
    pub(crate) fn steps(times: &[(u64, u64)]) -> Diffusion {
        let point = |(number, (start_ns, end_ns)): (usize, &(u64, u64))| StepPoint {
            end_ns: *end_ns,
            duration_ns: Some(end_ns - start_ns),
            step: number as u64,
            is_warm_up: number == 0,
            ..StepPoint::default()
        };
        let steps = Steps {
            source: StepSource::Reported,
            n_loops: 1,
            per_loop_max: times.len() as u64,
            warm_up: Durations::default(),
            steady: None,
            total_ns: times
                .iter()
                .map(|(start_ns, end_ns)| end_ns - start_ns)
                .sum(),
            each: times.iter().enumerate().map(point).collect(),
            outliers: vec![],
            timesteps: None,
            frames: None,
        };
        Diffusion {
            steps: Some(steps),
            ..Diffusion::default()
        }
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

    #[test]
    fn each_rule_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
    }
}
