//! The rules, one a file.

mod memory_pressure;

use super::Rule;

/// Every rule, in the order in which they are checked.
pub const RULES: &[Rule] = &[memory_pressure::RULE];

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use marey::Run;

    use super::*;
    use crate::findings::{Facts, Outcome, Thresholds};

    /// What a rule says of a run.
    pub(crate) fn check_run(rule: &Rule, run: &Run) -> Outcome {
        let limits = Thresholds::of(run);
        let sections = crate::sections(run);
        let iterations = crate::iterations(run);
        let memory = crate::memory(run);
        let streaming = crate::streaming(run);
        let diffusion = crate::diffusion(run, &limits);
        let caches = crate::caches(run);
        let facts = Facts {
            run,
            sections: &sections,
            stages: &crate::stages(&sections),
            iterations: &iterations,
            memory: memory.as_ref(),
            telemetry: &crate::telemetry(run),
            streaming: streaming.as_ref(),
            diffusion: diffusion.as_ref(),
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
