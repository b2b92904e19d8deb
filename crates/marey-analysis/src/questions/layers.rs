//! How long did each layer take that the program measured?
//!
//! ```text
//! attention   20 ms, 30 ms    2 calls, 50 of 60 ms
//! mlp         10 ms           1 call,  10 of 60 ms
//! ```
//!
//! Layers are what the program names so (`profile_layer`), by their own times. Where it measures one layer within another, both
//! count, so shares are of the sum of all, not of time that went by.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::{Generation, LayerComputation, Run};

use crate::stats::{float, ratio};

/// Layers that the program reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers {
    /// Each, those with most time first.
    pub each: Vec<Layer>,
    /// Sum of the times of all.
    pub total_ns: u64,
}

/// All reports of layers of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// As the user gave it.
    pub name: String,
    /// Reports.
    pub n_calls: u64,
    /// Those that say how long the layer took: what the times here are of.
    pub n_timed: u64,
    /// Sum of the times.
    pub total_ns: u64,
    /// Mean; `None` when no report has a time, like those that follow.
    pub mean_ns: Option<f64>,
    /// Shortest.
    pub min_ns: Option<u64>,
    /// Longest.
    pub max_ns: Option<u64>,
    /// Its time over that of all layers, 0 to 1; `None` when they took none.
    pub share_ratio: Option<f64>,
    /// Number of its parameters, as the last report said that did.
    pub parameters: Option<u64>,
}

/// `None` when the program reported no layer.
pub fn layers(run: &Run) -> Option<Layers> {
    let mut by_name: BTreeMap<&str, Layer> = BTreeMap::new();
    for record in &run.generation {
        if let Generation::Layer(report) = &record.what {
            by_name.entry(&report.name).or_default().add(report);
        }
    }
    let mut each: Vec<Layer> = by_name.into_values().collect();
    let all = each.iter().map(|layer| layer.total_ns);
    let total_ns = all.fold(0, u64::saturating_add);
    for layer in &mut each {
        let total = u128::from(total_ns);
        layer.share_ratio = (total_ns > 0).then(|| ratio(layer.total_ns.into(), total));
        layer.mean_ns = (layer.n_timed > 0).then(|| float(layer.total_ns) / float(layer.n_timed));
    }
    each.sort_by_key(|layer| Reverse(layer.total_ns));
    (!each.is_empty()).then_some(Layers { each, total_ns })
}

impl Layer {
    fn add(&mut self, report: &LayerComputation) {
        if self.n_calls == 0 {
            self.name.clone_from(&report.name);
        }
        self.n_calls += 1;
        self.parameters = report.parameters.or(self.parameters);
        if let Some(ns) = report.computation_ns {
            self.n_timed += 1;
            self.total_ns = self.total_ns.saturating_add(ns);
            self.min_ns = Some(self.min_ns.map_or(ns, |min| min.min(ns)));
            self.max_ns = Some(self.max_ns.map_or(ns, |max| max.max(ns)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn reported(layers: &[(&str, Option<u64>, Option<u64>)]) -> Run {
        let mut builder = RunBuilder::new();
        for (at_ns, (name, computation_ns, parameters)) in (0..).zip(layers) {
            let layer = LayerComputation {
                name: (*name).into(),
                computation_ns: *computation_ns,
                parameters: *parameters,
            };
            builder = builder.generation(at_ns, None, Generation::Layer(layer));
        }
        builder.finish(100)
    }

    #[test]
    fn layers_are_in_order_of_their_time_with_their_share_of_all() {
        let run = reported(&[
            ("mlp", Some(10), None),
            ("attention", Some(20), Some(7)),
            ("attention", Some(10), None),
            ("attention", None, None),
        ]);
        let found = layers(&run).unwrap();
        assert_eq!(found.total_ns, 40);
        let [attention, mlp] = &found.each[..] else {
            panic!("{found:?}");
        };
        assert_eq!((attention.name.as_str(), attention.n_calls), ("attention", 3));
        assert_eq!((attention.n_timed, attention.total_ns), (2, 30));
        assert_eq!(attention.mean_ns, Some(15.0));
        assert_eq!((attention.min_ns, attention.max_ns), (Some(10), Some(20)));
        assert_eq!((attention.share_ratio, attention.parameters), (Some(0.75), Some(7)));
        assert_eq!((mlp.name.as_str(), mlp.share_ratio), ("mlp", Some(0.25)));
        assert_eq!(mlp.parameters, None);
    }

    #[test]
    fn layers_without_times_have_neither_mean_nor_share() {
        let found = layers(&reported(&[("norm", None, None)])).unwrap();
        let norm = &found.each[0];
        assert_eq!((norm.n_calls, norm.n_timed), (1, 0));
        assert_eq!((norm.mean_ns, norm.min_ns, norm.share_ratio), (None, None, None));
        assert_eq!(layers(&RunBuilder::new().finish(1)), None);
    }
}
