//! `layer_analysis`: layers that the program measured.

use marey_analysis::Layers;

use super::Pairs;
use super::figures::{PERCENT, milliseconds};
use super::object::{Json, object};

pub(super) fn of(found: &Layers) -> impl Json {
    let layers = found.each.iter().map(|layer| {
        let object = object! {
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
        };
        (layer.name.as_str(), object)
    });
    object! {
        /// Layers that the program measured (profile_layer).
        struct LayerAnalysis;
        /// Names.
        total_layers: found.each.len(),
        /// Sum of the times of all.
        total_time_ms: milliseconds(found.total_ns),
        /// By name, those with most time first.
        layers: Pairs(layers.collect()),
    }
}
