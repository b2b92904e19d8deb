//! Which models does the program use, how large are they, and how much of the device do they use?
//!
//! ```text
//! achieved = operations of a pass × passes of a step / median steady step that was computed
//! MFU      = achieved / what the device can do at most
//! ```
//!
//! Both figures of operations are the program's own. The time is that of the whole step, so what else a step does lowers the share.

use marey::{Generation, ModelParameters, Run};
use serde::Serialize;

use super::caching::durations;
use super::peak::{PeakFlops, peak};
use super::steps::StepPoint;
use crate::questions::pipelines::Pipelines;
use crate::stats::median_of;

/// Models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Models {
    /// Each model that the program named, in the order of their first reports; of one name in one pipeline the last report counts. What
    /// several pipelines say alike is one model.
    pub each: Vec<Model>,
    /// Parameters of all models; `None` unless the number of each is known.
    pub parameters: Option<u64>,
}

/// One model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Model {
    /// As the user gave it, with the pipeline in parentheses where several have one of that name.
    pub name: String,
    /// What it is: `transformer`, `vae`.
    pub kind: Option<String>,
    /// Number of its parameters.
    pub parameters: Option<u64>,
    /// Floating point operations of one pass, as the program said.
    pub flops_per_call: Option<f64>,
    /// Passes of a denoising step, as the program said.
    pub calls_per_step: Option<f64>,
    /// Operations in a second, over the median steady step of its pipeline that no cache answered, with as many passes as the program
    /// said; `None` unless all is known.
    pub achieved_flops_per_second: Option<f64>,
    /// What the device can do in a second, with where that is from; `None` for a device that is not known, or without operations to
    /// compare with it.
    pub peak: Option<PeakFlops>,
    /// Achieved over peak: model FLOPs utilisation.
    pub utilization_ratio: Option<f64>,
}

/// `None` when the program named no model.
pub(super) fn models(run: &Run, pipelines: &Pipelines<'_>, steps: &[StepPoint]) -> Option<Models> {
    let peak = peak(run);
    let named = named(run, pipelines);
    let model = |(said, of): &(&ModelParameters, Vec<Option<usize>>)| {
        let is_its =
            |step: &&StepPoint| of.contains(&None) || of.contains(&pipelines.of(step.session));
        let step_ns = median_of(durations(steps.iter().filter(is_its), false));
        let step_ns = step_ns.filter(|ns| *ns > 0.0);
        let mut model = Model::new(said, step_ns, peak.as_ref());
        let has_namesake = named.iter().filter(|(other, _)| other.name == said.name).nth(1);
        let names = of.iter().flatten().map(|at| pipelines.names()[*at]);
        let names: Vec<&str> = names.collect();
        if has_namesake.is_some() && !names.is_empty() {
            model.name = format!("{} ({})", said.name, names.join(", "));
        }
        model
    };
    let each: Vec<Model> = named.iter().map(model).collect();
    let mut counts = each.iter().map(|model| model.parameters);
    let parameters = counts.try_fold(0, |sum: u64, count| Some(sum.saturating_add(count?)));
    (!each.is_empty()).then_some(Models { each, parameters })
}

/// The last report of each model of each pipeline, in the order of their first, with the places of its pipelines. What several say alike
/// is one model that they share.
fn named<'a>(
    run: &'a Run,
    pipelines: &Pipelines<'_>,
) -> Vec<(&'a ModelParameters, Vec<Option<usize>>)> {
    // Programs have a handful of models.
    let mut last: Vec<(&ModelParameters, Option<usize>)> = Vec::new();
    for record in &run.generation {
        if let Generation::Model(model) = &record.what {
            let pipeline = pipelines.of(record.session);
            match last.iter_mut().find(|(known, of)| (&known.name, *of) == (&model.name, pipeline))
            {
                Some((known, _)) => *known = model,
                None => last.push((model, pipeline)),
            }
        }
    }
    let mut named: Vec<(&ModelParameters, Vec<Option<usize>>)> = Vec::new();
    for (model, pipeline) in last {
        match named.iter_mut().find(|(known, _)| *known == model) {
            Some((_, of)) => of.push(pipeline),
            None => named.push((model, vec![pipeline])),
        }
    }
    named
}

impl Model {
    fn new(said: &ModelParameters, step_ns: Option<f64>, peak: Option<&PeakFlops>) -> Self {
        let amount = |number: Option<f64>| number.filter(|n| n.is_finite() && *n > 0.0);
        let flops_per_call = amount(said.flops_per_call);
        let calls_per_step = amount(said.calls_per_step);
        let of_step = flops_per_call.zip(calls_per_step).map(|(flops, calls)| flops * calls);
        let achieved = of_step.zip(step_ns).map(|(flops, ns)| flops / ns * 1e9);
        let achieved = amount(achieved);
        let peak = peak.filter(|_| achieved.is_some()).cloned();
        Self {
            name: said.name.clone(),
            kind: said.kind.clone(),
            parameters: said.count,
            flops_per_call,
            calls_per_step,
            achieved_flops_per_second: achieved,
            utilization_ratio: achieved
                .zip(peak.as_ref())
                .map(|(achieved, peak)| achieved / peak.flops_per_second),
            peak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Thresholds, diffusion};
    use marey::DiffusionStep;
    use marey_testing::RunBuilder;

    const MS: u64 = 1_000_000;

    fn model(name: &str, count: Option<u64>) -> ModelParameters {
        ModelParameters { name: name.into(), count, ..ModelParameters::default() }
    }

    fn reported(models: &[ModelParameters]) -> RunBuilder {
        let mut builder = RunBuilder::new();
        for (at_ns, model) in (0..).zip(models) {
            builder = builder.generation(at_ns, None, Generation::Model(model.clone()));
        }
        builder
    }

    fn found(run: &Run) -> Models {
        let answer = diffusion(run, &Thresholds::default()).unwrap();
        answer.models.unwrap()
    }

    /// Steps of 900, 100, 120 and 80 ms.
    fn with_steps(mut builder: RunBuilder) -> RunBuilder {
        let mut at_ns = 10;
        for (number, ms) in [(0, 900), (1, 100), (2, 120), (3, 80)] {
            at_ns += ms * MS;
            let step = DiffusionStep {
                step: Some(number),
                computation_ns: Some(ms * MS),
                ..DiffusionStep::default()
            };
            builder = builder.generation(at_ns, None, Generation::Step(step));
        }
        builder
    }

    fn h200(run: &mut Run) {
        let fact = ("gpu.0.name".to_owned(), "NVIDIA H200".to_owned());
        run.info.facts.push(fact);
    }

    #[test]
    fn the_last_report_of_a_model_counts_in_the_place_of_its_first() {
        let vae = model("vae", None);
        let models = [model("dit", Some(1)), vae, model("dit", Some(1_300_000_000))];
        let found = found(&reported(&models).finish(10));
        let names: Vec<&str> = found.each.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["dit", "vae"]);
        assert_eq!(found.parameters, None, "that of the VAE is not known");
        assert_eq!(found.each[1].parameters, None);
    }

    #[test]
    fn models_without_a_count_have_no_sum() {
        let found = found(&reported(&[model("vae", None)]).finish(10));
        assert_eq!(found.parameters, None);
        let most = [model("a", Some(u64::MAX)), model("b", Some(1))];
        let most = self::found(&reported(&most).finish(10));
        assert_eq!(most.parameters, Some(u64::MAX));
    }

    #[test]
    fn operations_are_compared_with_what_the_device_can_do() {
        // Two passes of 20 · 10¹² in the median step of 100 ms: 400 · 10¹² in a second, of 989.5.
        let dit = ModelParameters {
            flops_per_call: Some(20e12),
            calls_per_step: Some(2.0),
            ..model("dit", None)
        };
        let run = with_steps(reported(&[dit])).with(h200).finish(2000 * MS);
        let model = &found(&run).each[0];
        assert_eq!(model.achieved_flops_per_second, Some(400e12));
        assert_eq!(model.utilization_ratio, Some(400.0 / 989.5));
        let peak = model.peak.as_ref().unwrap();
        assert_eq!(peak.of, "NVIDIA H200, dense BF16");
    }

    #[test]
    fn what_is_not_known_of_a_model_is_not_made_up() {
        let of = |flops, calls| ModelParameters {
            flops_per_call: flops,
            calls_per_step: calls,
            ..model("dit", None)
        };
        for said in [
            of(Some(20e12), None),
            of(None, Some(1.0)),
            of(Some(f64::NAN), Some(1.0)),
            of(Some(-1.0), Some(1.0)),
            of(Some(f64::MAX), Some(f64::MAX)),
        ] {
            let run = with_steps(reported(&[said])).with(h200).finish(2000 * MS);
            let model = &found(&run).each[0];
            assert_eq!(model.achieved_flops_per_second, None);
            assert_eq!((&model.peak, model.utilization_ratio), (&None, None));
        }
        let all = of(Some(20e12), Some(2.0));
        let no_steps = found(&reported(std::slice::from_ref(&all)).with(h200).finish(10));
        assert_eq!(no_steps.each[0].achieved_flops_per_second, None);
        let no_device = found(&with_steps(reported(&[all])).finish(2000 * MS));
        let model = &no_device.each[0];
        assert_eq!(model.achieved_flops_per_second, Some(400e12));
        assert_eq!(model.utilization_ratio, None);
    }
}
