//! Models and layers that a program named, and what each pipeline of the run did.

use marey_analysis::{Layers, Models, Pipeline};

use super::calls::timing_stats;
use super::diffusion::frame_rate;
use super::figures::{PERCENT, durations, milliseconds};
use super::object::{Json, object};
use super::{list, pairs, seconds};
use crate::model::Activity;
use crate::quantity::parameters;

/// `model_analysis`; `None` when no model was named.
pub(super) fn model_analysis(activity: &Activity) -> Option<impl Json> {
    Some(named(activity.diffusion.as_ref()?.models.as_ref()?))
}

pub(super) fn named(found: &Models) -> impl Json {
    object! {
        /// Models that the program named.
        struct ModelAnalysis;
        /// By name.
        models: pairs(&found.each, |model| {
            let peak = model.peak.as_ref();
            (model.name.as_str(), object! {
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
            })
        }),
        /// Of all models; null unless the number of each is known.
        total_parameters: found.parameters,
        /// The same, as 1.30B.
        total_parameters_readable: found.parameters.map(parameters),
    }
}

/// `layer_analysis`: layers that the program measured.
pub(super) fn layer_analysis(found: &Layers) -> impl Json {
    object! {
        /// Layers that the program measured (profile_layer).
        struct LayerAnalysis;
        /// Names.
        total_layers: found.each.len(),
        /// Sum of the times of all.
        total_time_ms: milliseconds(found.total_ns),
        /// By name, those with most time first.
        layers: pairs(&found.each, |layer| (layer.name.as_str(), object! {
            /// Reports.
            call_count: layer.n_calls,
            /// Reports that say how long the layer took: what the times are of.
            timed_call_count: layer.n_timed,
            /// Sum; null when no report has a time.
            total_time_ms: (layer.n_timed > 0).then(|| milliseconds(layer.total_ns)),
            /// Mean.
            avg_time_ms: layer.mean_ns.map(|ns| ns / 1e6),
            /// Shortest.
            min_time_ms: layer.min_ns.map(milliseconds),
            /// Longest.
            max_time_ms: layer.max_ns.map(milliseconds),
            /// Of the time of all layers; layers within one another both count.
            percentage_of_layers: layer.share_ratio.map(|ratio| ratio * PERCENT),
            /// Its parameters, as the program said last; null when it did not.
            parameters_count: layer.parameters,
        })),
    }
}

/// One pipeline.
pub(super) fn pipeline(found: &Pipeline) -> impl Json {
    object! {
        /// What one pipeline did: sessions with its name as the tag `pipeline`, and sessions within them that have none.
        struct Pipeline;
        /// The tag of its sessions.
        name: &found.name,
        /// Sessions with that tag.
        calls: found.n_calls,
        /// Calls that an error left.
        failed: found.n_failed,
        /// Calls that were stopped before their end, or that nobody ended.
        cut_off: found.n_cut_off,
        /// Seconds in which at least one of its calls went on, with other pipelines within it.
        total: seconds(found.calls_ns),
        /// Denoising steps.
        total_steps: found.n_steps,
        /// Its first step; null when its duration is not known.
        warm_up: durations(found.warm_up.as_ref()),
        /// All other steps; null when there is none whose duration is known.
        steady: durations(found.steady.as_ref()),
        /// Steady steps in a second of their time.
        steps_per_second: found.steps_per_second,
        frame_rates: list(&found.rates, frame_rate),
        /// Its models; null when none was named.
        model_analysis: found.models.as_ref().map(named),
        /// Its sections by name, longest total first; those that were recorded one by one. Shares are of the time from the beginning of its
        /// first call to the end of its last.
        timing_stats: pairs(&found.sections, |row| (row.name.as_str(), timing_stats(row))),
    }
}
