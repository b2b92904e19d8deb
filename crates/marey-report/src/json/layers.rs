//! `layer_analysis`: layers that the program measured.

use marey_analysis::Layers;
use serde::Serialize;

use super::Pairs;
use super::figures::{PERCENT, milliseconds};
use super::object::object;

pub(super) fn of(found: &Layers) -> impl Serialize {
    let layers = found.each.iter().map(|layer| {
        let object = object! {
            call_count: layer.n_calls,
            timed_call_count: layer.n_timed,
            total_time_ms: (layer.n_timed > 0).then(|| milliseconds(layer.total_ns)),
            avg_time_ms: layer.mean_ns.map(|ns| ns / 1e6),
            min_time_ms: layer.min_ns.map(milliseconds),
            max_time_ms: layer.max_ns.map(milliseconds),
            percentage_of_layers: layer.share_ratio.map(|ratio| ratio * PERCENT),
            parameters_count: layer.parameters,
        };
        (layer.name.as_str(), object)
    });
    object! {
        total_layers: found.each.len(),
        total_time_ms: milliseconds(found.total_ns),
        layers: Pairs(layers.collect()),
    }
}
