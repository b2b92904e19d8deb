//! Which measures a table shows: all that changed, and of the others those that a reader looks for.

use std::collections::BTreeMap;

use marey_analysis::compare::{Area, Comparison, Measure, Subject, Verdict};
use marey_analysis::findings::FigureUnit;

/// Rows of a table that did not change, at most.
const MAX_UNCHANGED: usize = 20;
/// Rows of a table at most.
const MAX_ROWS: usize = 200;

const AREAS: [Area; 7] = [
    Area::Time,
    Area::Memory,
    Area::Io,
    Area::Machine,
    Area::Generation,
    Area::Cache,
    Area::Device,
];

/// The measures of an area.
pub(crate) struct AreaRows<'a> {
    pub(crate) area: Area,
    pub(crate) rows: Vec<&'a Measure>,
}

/// Every area that has rows.
pub(crate) fn by_area(comparison: &Comparison) -> Vec<AreaRows<'_>> {
    let order = order_of_paths(comparison);
    AREAS
        .into_iter()
        .filter_map(|area| {
            let of_area = comparison.measures.iter().filter(|m| m.kind.area() == area);
            let mut measures: Vec<&Measure> = of_area.collect();
            measures.sort_by_key(|measure| place(measure, &order));
            let mut n_unchanged = 0;
            measures.retain(|measure| {
                let has_changed = has_changed(measure) || measure.verdict == Verdict::CannotTell;
                n_unchanged += usize::from(!has_changed && !is_count(measure));
                has_changed || (!is_count(measure) && n_unchanged <= MAX_UNCHANGED)
            });
            measures.truncate(MAX_ROWS);
            (!measures.is_empty()).then_some(AreaRows {
                area,
                rows: measures,
            })
        })
        .collect()
}

/// Measures that changed, those that changed most first: times by their share of the largest change of a time, others by their
/// ratio.
pub(crate) fn changed(comparison: &Comparison) -> Vec<&Measure> {
    let changed = comparison.measures.iter().filter(|m| has_changed(m));
    let mut changed: Vec<&Measure> = changed.collect();
    let most_ns = changed.iter().filter_map(|measure| impact_ns(measure));
    let most_ns = most_ns.fold(1.0, f64::max);
    let weight = |measure: &Measure| match impact_ns(measure) {
        Some(ns) => ns / most_ns,
        None if is_count(measure) => 0.0,
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

pub(crate) fn has_changed(measure: &Measure) -> bool {
    !matches!(measure.verdict, Verdict::Same | Verdict::CannotTell)
}

/// Why measures could not be told, with those that it is about; most of them first.
pub(crate) fn undecided(comparison: &Comparison) -> Vec<(&str, Vec<&Measure>)> {
    let mut reasons: BTreeMap<&str, Vec<&Measure>> = BTreeMap::new();
    for measure in &comparison.measures {
        if measure.verdict == Verdict::CannotTell {
            reasons.entry(&measure.reason).or_default().push(measure);
        }
    }
    let mut found: Vec<_> = reasons.into_iter().collect();
    found.sort_by_key(|(_, measures)| std::cmp::Reverse(measures.len()));
    found
}

/// A number of calls says nothing as long as it stays.
fn is_count(measure: &Measure) -> bool {
    measure.unit == FigureUnit::Count
}

/// The run, then call paths as the program has them, then what has no path.
fn place(measure: &Measure, order: &BTreeMap<&[String], usize>) -> (usize, usize) {
    match &measure.subject {
        Subject::Run => (0, 0),
        Subject::Path(path) | Subject::MemoryDuring { path, .. } => {
            (1, order.get(path.as_slice()).copied().unwrap_or(usize::MAX))
        }
        _ => (2, 0),
    }
}

fn order_of_paths(comparison: &Comparison) -> BTreeMap<&[String], usize> {
    let paths = comparison.sections.iter().enumerate();
    paths
        .map(|(index, section)| (section.path.as_slice(), index))
        .collect()
}
