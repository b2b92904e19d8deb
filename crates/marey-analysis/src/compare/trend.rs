//! The figures of many runs of one program over time.

use std::collections::{BTreeMap, BTreeSet};

use super::matching;
use super::observations::{Key, Observations};
use super::options::CompareOptions;
use super::{MeasureKind, Subject};
use crate::findings::FigureUnit;
use marey::Run;

/// Figures of many runs of one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trend {
    /// Each figure that at least two runs have, in the order of [`MeasureKind`], then by subject.
    pub measures: Vec<TrendMeasure>,
}

/// One figure over many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendMeasure {
    /// What is measured.
    pub kind: MeasureKind,
    /// Of what.
    pub subject: Subject,
    /// What the values count.
    pub unit: FigureUnit,
    /// The runs that have it, oldest first.
    pub points: Vec<TrendPoint>,
}

/// A run's figure.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendPoint {
    /// The run, as the caller calls it.
    pub run: String,
    /// When it began, nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// The figure, always finite.
    pub value: f64,
}

/// The figures of runs over time. Each run has a name of the caller's choice; their order does not matter.
pub fn trend(runs: &[(String, &Run)]) -> Trend {
    let mut runs: Vec<&(String, &Run)> = runs.iter().collect();
    runs.sort_by_key(|(name, run)| (run.info.start_unix_ns, name.clone()));
    let names = repeated_names(&runs);
    let mut points: BTreeMap<Key, Vec<TrendPoint>> = BTreeMap::new();
    let mut shares: BTreeMap<Key, f64> = BTreeMap::new();
    for (name, run) in runs {
        for (key, value) in Observations::new(run, &names).values() {
            let point = TrendPoint {
                run: name.clone(),
                at_unix_ns: run.info.start_unix_ns,
                value: value.figure,
            };
            points.entry(key.clone()).or_default().push(point);
            let share = shares.entry(key.clone()).or_default();
            *share = share.max(value.share);
        }
    }
    let min_share = CompareOptions::default().min_share_ratio;
    let is_large = |key: &Key| {
        let share = shares.get(key).copied().unwrap_or(0.0);
        share <= 0.0 || share >= min_share
    };
    let measures = points.into_iter().filter(|(key, points)| points.len() >= 2 && is_large(key));
    Trend {
        measures: measures
            .map(|((kind, subject), points)| TrendMeasure {
                kind,
                subject,
                unit: kind.unit(),
                points,
            })
            .collect(),
    }
}

fn repeated_names(runs: &[&(String, &Run)]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, run) in runs {
        let tree = matching::tree(std::slice::from_ref(*run));
        names.extend(matching::repeated_names(&tree));
    }
    names
}

#[cfg(test)]
mod tests;
