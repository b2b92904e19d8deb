//! `model_analysis`: the models that a program named.

use marey_analysis::Models;
use serde::Serialize;

use super::Pairs;
use super::figures::PERCENT;
use super::object::object;
use crate::model::Activity;
use crate::quantity::parameters;

/// `None` when no model was named.
pub(super) fn of(activity: &Activity) -> Option<impl Serialize> {
    Some(named(activity.diffusion.as_ref()?.models.as_ref()?))
}

pub(super) fn named(found: &Models) -> impl Serialize {
    let models = found.each.iter().map(|model| {
        let peak = model.peak.as_ref();
        let object = object! {
            parameters_count: model.parameters,
            model_type: &model.kind,
            flops_per_call: model.flops_per_call,
            calls_per_step: model.calls_per_step,
            achieved_flops_per_second: model.achieved_flops_per_second,
            peak_flops_per_second: peak.map(|peak| peak.flops_per_second),
            peak_of: peak.map(|peak| peak.of.as_str()),
            flops_utilization_percent: model.utilization_ratio.map(|ratio| ratio * PERCENT),
        };
        (model.name.as_str(), object)
    });
    object! {
        models: Pairs(models.collect()),
        total_parameters: found.parameters,
        total_parameters_readable: found.parameters.map(parameters),
    }
}
