//! `layer_analysis`: layers that the program measured.

use marey_analysis::{Layer, Layers};
use serde::Serialize;

use super::Pairs;
use super::durations::milliseconds;
use super::figures::PERCENT;

/// `layer_analysis` of the report.
#[derive(Serialize)]
pub(super) struct LayerAnalysis<'a> {
    total_layers: usize,
    total_time_ms: f64,
    layers: Pairs<&'a str, LayerObject>,
}

#[derive(Serialize)]
struct LayerObject {
    call_count: u64,
    timed_call_count: u64,
    total_time_ms: Option<f64>,
    avg_time_ms: Option<f64>,
    min_time_ms: Option<f64>,
    max_time_ms: Option<f64>,
    percentage_of_layers: Option<f64>,
    parameters_count: Option<u64>,
}

impl<'a> LayerAnalysis<'a> {
    pub(super) fn new(found: &'a Layers) -> Self {
        let each = found.each.iter();
        let layers = each.map(|layer| (layer.name.as_str(), LayerObject::new(layer)));
        Self {
            total_layers: found.each.len(),
            total_time_ms: milliseconds(found.total_ns),
            layers: Pairs(layers.collect()),
        }
    }
}

impl LayerObject {
    fn new(layer: &Layer) -> Self {
        let is_timed = layer.n_timed > 0;
        Self {
            call_count: layer.n_calls,
            timed_call_count: layer.n_timed,
            total_time_ms: is_timed.then(|| milliseconds(layer.total_ns)),
            avg_time_ms: layer.mean_ns.map(|ns| ns / 1e6),
            min_time_ms: layer.min_ns.map(milliseconds),
            max_time_ms: layer.max_ns.map(milliseconds),
            percentage_of_layers: layer.share_ratio.map(|ratio| ratio * PERCENT),
            parameters_count: layer.parameters,
        }
    }
}
