//! `model_analysis`: the models that a program named.

use marey_analysis::{Model, Models};
use serde::Serialize;

use super::Pairs;
use super::figures::PERCENT;
use crate::model::Activity;
use crate::quantity::parameters;

/// `model_analysis` of the report.
#[derive(Serialize)]
pub(super) struct ModelAnalysis<'a> {
    models: Pairs<&'a str, ModelObject<'a>>,
    total_parameters: Option<u64>,
    total_parameters_readable: Option<String>,
}

#[derive(Serialize)]
struct ModelObject<'a> {
    parameters_count: Option<u64>,
    model_type: Option<&'a str>,
    flops_per_call: Option<f64>,
    calls_per_step: Option<f64>,
    achieved_flops_per_second: Option<f64>,
    peak_flops_per_second: Option<f64>,
    peak_of: Option<&'a str>,
    flops_utilization_percent: Option<f64>,
}

impl<'a> ModelAnalysis<'a> {
    /// `None` when no model was named.
    pub(super) fn new(activity: &'a Activity) -> Option<Self> {
        let found = activity.diffusion.as_ref()?.models.as_ref()?;
        Some(Self::of(found))
    }

    pub(super) fn of(found: &'a Models) -> Self {
        let each = found.each.iter();
        Self {
            models: Pairs(
                each.map(|model| (model.name.as_str(), ModelObject::new(model)))
                    .collect(),
            ),
            total_parameters: found.parameters,
            total_parameters_readable: found.parameters.map(parameters),
        }
    }
}

impl<'a> ModelObject<'a> {
    fn new(model: &'a Model) -> Self {
        let peak = model.peak.as_ref();
        Self {
            parameters_count: model.parameters,
            model_type: model.kind.as_deref(),
            flops_per_call: model.flops_per_call,
            calls_per_step: model.calls_per_step,
            achieved_flops_per_second: model.achieved_flops_per_second,
            peak_flops_per_second: peak.map(|peak| peak.flops_per_second),
            peak_of: peak.map(|peak| peak.of.as_str()),
            flops_utilization_percent: model.utilization_ratio.map(|ratio| ratio * PERCENT),
        }
    }
}
