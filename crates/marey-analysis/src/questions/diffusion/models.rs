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

use super::peak::{PeakFlops, peak};
use super::steps::StepPoint;
use crate::stats::median;

/// Models.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Models {
    /// Each model that the program named, in the order of their first reports; the last report counts.
    pub each: Vec<Model>,
    /// Parameters of all models whose number is known; `None` when none is.
    pub parameters: Option<u64>,
}

/// One model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// As the user gave it.
    pub name: String,
    /// What it is: `transformer`, `vae`.
    pub kind: Option<String>,
    /// Number of its parameters.
    pub parameters: Option<u64>,
    /// Floating point operations of one pass, as the program said.
    pub flops_per_call: Option<f64>,
    /// Passes of a denoising step, as the program said.
    pub calls_per_step: Option<f64>,
    /// Operations in a second, over the median steady step that no cache answered, with as many passes as the program said; `None` unless
    /// all is known.
    pub achieved_flops_per_second: Option<f64>,
    /// What the device can do in a second, with where that is from; `None` for a device that is not known, or without operations to
    /// compare with it.
    pub peak: Option<PeakFlops>,
    /// Achieved over peak: model FLOPs utilisation.
    pub utilization_ratio: Option<f64>,
}

/// `None` when the program named no model.
pub(super) fn models(run: &Run, steps: &[StepPoint]) -> Option<Models> {
    let step_ns = step_ns(steps);
    let peak = peak(run);
    let each: Vec<Model> = last_reports(run)
        .into_iter()
        .map(|said| Model::new(said, step_ns, peak.as_ref()))
        .collect();
    let known = each.iter().filter_map(|model| model.parameters);
    let parameters = known.reduce(u64::saturating_add);
    (!each.is_empty()).then_some(Models { each, parameters })
}

/// The last report of each model, in the order of their first.
fn last_reports(run: &Run) -> Vec<&ModelParameters> {
    let mut found: Vec<&ModelParameters> = Vec::new();
    for record in &run.generation {
        if let Generation::Model(model) = &record.what {
            // Programs have a handful of models.
            match found.iter_mut().find(|known| known.name == model.name) {
                Some(known) => *known = model,
                None => found.push(model),
            }
        }
    }
    found
}

fn step_ns(steps: &[StepPoint]) -> Option<f64> {
    let computed = steps
        .iter()
        .filter(|s| !s.is_warm_up && s.is_cached != Some(true));
    let mut durations: Vec<u64> = computed.filter_map(|step| step.duration_ns).collect();
    durations.sort_unstable();
    median(&durations).filter(|ns| *ns > 0.0)
}

impl Model {
    fn new(said: &ModelParameters, step_ns: Option<f64>, peak: Option<&PeakFlops>) -> Self {
        let amount = |number: Option<f64>| number.filter(|n| n.is_finite() && *n > 0.0);
        let flops_per_call = amount(said.flops_per_call);
        let calls_per_step = amount(said.calls_per_step);
        let of_step = flops_per_call
            .zip(calls_per_step)
            .map(|(flops, calls)| flops * calls);
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
    use marey::{DiffusionStep, RunBuilder};

    const MS: u64 = 1_000_000;

    fn model(name: &str, count: Option<u64>) -> ModelParameters {
        ModelParameters {
            name: name.into(),
            count,
            ..ModelParameters::default()
        }
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
        let models = [
            model("dit", Some(1)),
            vae,
            model("dit", Some(1_300_000_000)),
        ];
        let found = found(&reported(&models).finish(10));
        let names: Vec<&str> = found.each.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["dit", "vae"]);
        assert_eq!(found.parameters, Some(1_300_000_000));
        assert_eq!(found.each[1].parameters, None);
    }

    #[test]
    fn models_without_a_count_have_no_sum() {
        let found = found(&reported(&[model("vae", None)]).finish(10));
        assert_eq!(found.parameters, None);
        let most = [model("a", Some(u64::MAX)), model("b", Some(1))];
        let most = super::models(&reported(&most).finish(10), &[]).unwrap();
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
