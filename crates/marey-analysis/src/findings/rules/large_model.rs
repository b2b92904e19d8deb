//! Does a model have more than a billion parameters?
//!
//! That alone is no fault: most good models have. So the finding is of low severity, and of medium only where the memory of a GPU is
//! nearly full, when smaller weights would help at once.

use crate::Model;
use crate::findings::prelude::*;
use crate::quantity::rounded;

pub(super) const RULE: Rule = Rule {
    id: "large-model",
    category: Category::Diffusion,
    checks: "a model is so large that smaller weights would matter",
    limits: &["memory_ratio", "model_parameters"],
    saves: "memory: 4 bits in place of 16 save 1.5 bytes a parameter",
    of: &[Check::Run("parameters of models", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let models = facts.diffusion.and_then(|found| found.models.as_ref());
    let each = models.iter().flat_map(|models| &models.each);
    let known: Vec<(&Model, u64)> =
        each.filter_map(|model| Some((model, model.parameters?))).collect();
    let Some(largest) = known.iter().map(|(_, parameters)| *parameters).max() else {
        return Outcome::Unknown(
            "no model's number of parameters was reported (record_model_parameters)".into(),
        );
    };
    let limit = facts.thresholds.model_parameters;
    let large = known.iter().filter(|(_, n)| float(*n) > limit);
    let found: Vec<Finding> =
        large.map(|(model, parameters)| finding(facts, model, *parameters)).collect();
    if found.is_empty() {
        return Outcome::Passed(format!(
            "the largest has {} million parameters",
            millions(largest)
        ));
    }
    Outcome::Found(found)
}

fn millions(parameters: u64) -> String {
    rounded(float(parameters) / 1e6)
}

fn finding(facts: &Facts<'_>, model: &Model, parameters: u64) -> Finding {
    let gpus = facts.telemetry.gpus.as_ref();
    let fullest = gpus.and_then(|gpus| gpus.together.peak_memory_ratio);
    let limits = facts.thresholds;
    let is_short = fullest.is_some_and(|ratio| ratio > limits.memory_ratio);
    let count = Evidence::count("parameters", parameters);
    let mut evidence = vec![count.against(limits.model_parameters)];
    evidence.extend(fullest.map(|ratio| {
        let share = Evidence::ratio("peak share of GPU memory in use", ratio);
        share.against(limits.memory_ratio)
    }));
    Finding {
        severity: if is_short { Severity::Medium } else { Severity::Low },
        issue: format!(
            "The model {} has {} billion parameters",
            model.name,
            rounded(float(parameters) / 1e9)
        ),
        remedy: "If memory or time is short, quantise its weights (enable_layerwise_casting to float8, or TorchAoConfig and \
                 BitsAndBytesConfig when it is loaded), offload it (enable_model_cpu_offload, enable_group_offload), or take a \
                 pruned or distilled one."
            .into(),
        evidence,
        saving: Some(Saving::of_memory(
            parameters.saturating_add(parameters / 2),
            "if its weights have 16 bits: 4 bits save 1.5 bytes a parameter, 8 bits save 1; no smaller ones are in use",
        )),
        // How many bits its weights have was not reported.
        confidence: Confidence::Low,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run};
    use crate::{Diffusion, Models};
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    fn made(parameters: Option<u64>) -> Diffusion {
        let model = Model { name: "wan".into(), parameters, ..Model::default() };
        Diffusion { models: Some(Models { each: vec![model], parameters }), ..Diffusion::default() }
    }

    #[test]
    fn a_model_of_14_billion_parameters_is_large_and_that_is_of_low_severity() {
        let run = RunBuilder::new().finish(10);
        let outcome = check_made(&RULE, &run, &made(Some(14_000_000_000)));
        let Outcome::Found(found) = outcome else {
            panic!("not found");
        };
        assert_eq!(found[0].issue, "The model wan has 14 billion parameters");
        assert_eq!(found[0].severity, Severity::Low);
        let saving = found[0].saving.as_ref().unwrap();
        assert_eq!(saving.at_most_bytes, Some(21_000_000_000));
    }

    #[test]
    fn it_matters_more_where_memory_is_short() {
        let gauge = |name| SeriesInfo::gauge(name, "GPU-1", Unit::Bytes);
        let run = RunBuilder::new()
            .series(gauge("gpu.memory.used"), &[(1, 95.0)])
            .series(gauge("gpu.memory.total"), &[(1, 100.0)])
            .finish(10);
        let outcome = check_made(&RULE, &run, &made(Some(14_000_000_000)));
        let Outcome::Found(found) = outcome else {
            panic!("not found");
        };
        assert_eq!(found[0].severity, Severity::Medium);
    }

    #[test]
    fn a_billion_parameters_are_not_more_than_a_billion() {
        let run = RunBuilder::new().finish(10);
        let expected = Outcome::Passed("the largest has 1000 million parameters".into());
        assert_eq!(check_made(&RULE, &run, &made(Some(1_000_000_000))), expected);
    }

    #[test]
    fn a_model_whose_size_nobody_said_is_not_known() {
        let run = RunBuilder::new().finish(10);
        assert!(matches!(check_made(&RULE, &run, &made(None)), Outcome::Unknown(_)));
        assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
    }
}
