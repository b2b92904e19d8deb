//! Which measures are shown first, and why others could not be told.

use std::collections::BTreeMap;

use marey_analysis::compare::{Comparison, Measure, Verdict};
use marey_analysis::findings::FigureUnit;

/// Measures that changed, those that changed most first: times by their share of the largest change of a time, others by their
/// ratio.
pub(crate) fn changed(comparison: &Comparison) -> Vec<&Measure> {
    let has_changed =
        |measure: &&Measure| !matches!(measure.verdict, Verdict::Same | Verdict::CannotTell);
    let mut changed: Vec<&Measure> = comparison.measures.iter().filter(has_changed).collect();
    let most_ns = changed.iter().filter_map(|measure| impact_ns(measure));
    let most_ns = most_ns.fold(1.0, f64::max);
    let weight = |measure: &Measure| match impact_ns(measure) {
        Some(ns) => ns / most_ns,
        // A number of calls explains, and is no good or bad by itself.
        None if measure.unit == FigureUnit::Count => 0.0,
        None => {
            let ratio = measure.change.and_then(|change| change.ratio);
            ratio.map_or(0.0, |ratio| (ratio - 1.0).abs().min(1.0))
        }
    };
    changed.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    changed
}

/// What a changed time adds to a run or takes from it; `None` for what is no time.
fn impact_ns(measure: &Measure) -> Option<f64> {
    let is_time = measure.unit == FigureUnit::Ns;
    let side = measure.baseline.or(measure.candidate);
    let ns = measure.impact_ns.or(side.map(|side| side.value));
    ns.filter(|_| is_time).map(f64::abs)
}

/// Why measures could not be told, with those that it is about; most of them first.
pub(crate) fn undecided<'a>(open: &[&'a Measure]) -> Vec<(&'a str, Vec<&'a Measure>)> {
    let mut reasons: BTreeMap<&str, Vec<&Measure>> = BTreeMap::new();
    for measure in open {
        reasons.entry(&measure.reason).or_default().push(measure);
    }
    let mut found: Vec<_> = reasons.into_iter().collect();
    found.sort_by_key(|(_, measures)| std::cmp::Reverse(measures.len()));
    found
}
