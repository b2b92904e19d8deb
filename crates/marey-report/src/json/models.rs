//! `model_analysis`: the models that a program named.

use marey_analysis::Models;

use super::Pairs;
use super::figures::PERCENT;
use super::object::{Json, object};
use crate::model::Activity;
use crate::quantity::parameters;

/// `None` when no model was named.
pub(super) fn of(activity: &Activity) -> Option<impl Json> {
    Some(named(activity.diffusion.as_ref()?.models.as_ref()?))
}

pub(super) fn named(found: &Models) -> impl Json {
    let models = found.each.iter().map(|model| {
        let peak = model.peak.as_ref();
        let object = object! {
            /// Its parameters.
            parameters_count: model.parameters,
            /// What it is, as the program said.
            model_type: &model.kind,
            /// Floating point operations of one pass, as the program said.
            flops_per_call: model.flops_per_call,
            /// Passes of a denoising step, as the program said.
            calls_per_step: model.calls_per_step,
            /// Operations in a second of the median steady step of its pipeline that was computed; null unless all of it is known.
            achieved_flops_per_second: model.achieved_flops_per_second,
            /// What the device can do at most; null for a device that is not known.
            peak_flops_per_second: peak.map(|peak| peak.flops_per_second),
            /// The device and the number format of the peak.
            peak_of: peak.map(|peak| peak.of.as_str()),
            /// Achieved over peak (MFU).
            flops_utilization_percent: model.utilization_ratio.map(|ratio| ratio * PERCENT),
        };
        (model.name.as_str(), object)
    });
    object! {
        /// Models that the program named.
        struct ModelAnalysis;
        /// By name.
        models: Pairs(models.collect()),
        /// Of all models; null unless the number of each is known.
        total_parameters: found.parameters,
        /// The same, as 1.30B.
        total_parameters_readable: found.parameters.map(parameters),
    }
}
