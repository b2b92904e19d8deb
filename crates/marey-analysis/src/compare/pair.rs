//! What both sides say of one measure, in an order that does not depend on that of the repeats.

use std::collections::{BTreeMap, BTreeSet};

use super::bootstrap::Statistic;
use super::observations::{Key, Observations, Value};
use super::{MeasureKind, Observed, Subject};
use crate::stats::float;

/// What both sides say of one measure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) kind: MeasureKind,
    pub(super) subject: Subject,
    pub(super) baseline: Samples,
    pub(super) candidate: Samples,
}

/// What the runs of one side say of a measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Samples {
    /// A figure a run, ascending; empty when no run has it.
    pub(super) figures: Vec<f64>,
    /// Single calls or iterations of all runs, a run after the other, each in order of time.
    pub(super) calls: Vec<f64>,
    /// Share of the wall time, the median of the runs; 0 for what is no time.
    pub(super) share: f64,
}

/// More calls than this are put together before they are tested and resampled: neighbours, so many that as few are left.
const MOST_CALLS: usize = 1000;

/// Every measure that any run has, by kind, then by subject.
pub(super) fn pairs(baseline: &[Observations], candidate: &[Observations]) -> Vec<Pair> {
    let (mut baseline, mut candidate) = (by_key(baseline), by_key(candidate));
    let keys: BTreeSet<Key> =
        baseline.keys().chain(candidate.keys()).map(|k| (*k).clone()).collect();
    keys.into_iter()
        .map(|key| {
            let [baseline, candidate] = [&mut baseline, &mut candidate]
                .map(|side| Samples::new(side.remove(&key).unwrap_or_default()));
            let (kind, subject) = key;
            Pair { kind, subject, baseline, candidate }
        })
        .collect()
}

fn by_key(runs: &[Observations]) -> BTreeMap<&Key, Vec<&Value>> {
    let mut values: BTreeMap<&Key, Vec<&Value>> = BTreeMap::new();
    for (key, value) in runs.iter().flat_map(Observations::values) {
        values.entry(key).or_default().push(value);
    }
    values
}

impl Samples {
    fn new(mut values: Vec<&Value>) -> Self {
        let bits =
            |value: &Value| -> Vec<u64> { value.calls.iter().map(|v| v.to_bits()).collect() };
        values.sort_by(|a, b| a.figure.total_cmp(&b.figure).then_with(|| bits(a).cmp(&bits(b))));
        let mut shares: Vec<f64> = values.iter().map(|value| value.share).collect();
        Self {
            figures: values.iter().map(|value| value.figure).collect(),
            calls: values.iter().flat_map(|value| &value.calls).copied().collect(),
            share: Statistic::Median.of(&mut shares).unwrap_or(0.0),
        }
    }

    /// The same without single calls: of what was done once, the total is that of the call.
    pub(super) fn once(&self) -> Self {
        Self { calls: Vec::new(), ..self.clone() }
    }

    /// Median of the runs; `None` without any.
    pub(super) fn figure(&self) -> Option<f64> {
        Statistic::Median.of(&mut self.figures.clone())
    }

    /// The figure with the range of the samples: of the calls where these are, else of the runs.
    pub(super) fn observed(&self, is_of_calls: bool) -> Option<Observed> {
        let samples = if is_of_calls { &self.calls } else { &self.figures };
        Some(Observed {
            value: self.figure()?,
            min: samples.iter().copied().min_by(f64::total_cmp)?,
            max: samples.iter().copied().max_by(f64::total_cmp)?,
            n_samples: samples.len() as u64,
        })
    }

    /// The calls, neighbours put together by their median or mean where there are very many.
    pub(super) fn thinned(&self, statistic: Statistic) -> Vec<f64> {
        if self.calls.len() <= MOST_CALLS {
            return self.calls.clone();
        }
        let size = self.calls.len().div_ceil(MOST_CALLS);
        let batches = self.calls.chunks(size);
        batches.filter_map(|batch| statistic.of(&mut batch.to_vec())).collect()
    }

    /// Calls of a run, the mean of the runs.
    pub(super) fn calls_per_run(&self) -> f64 {
        float(self.calls.len() as u64) / float(self.figures.len().max(1) as u64)
    }
}

impl Pair {
    /// Both sides have it.
    pub(super) fn is_on_both(&self) -> bool {
        !self.baseline.figures.is_empty() && !self.candidate.figures.is_empty()
    }

    /// A side has no more than one call or iteration of it.
    pub(super) fn has_one_call(&self) -> bool {
        self.baseline.calls.len() < 2 || self.candidate.calls.len() < 2
    }

    /// The larger share of the wall time.
    pub(super) fn share(&self) -> f64 {
        self.baseline.share.max(self.candidate.share)
    }

    /// Both sides say the same, value for value.
    pub(super) fn is_identical(&self) -> bool {
        self.baseline.figures == self.candidate.figures
            && self.baseline.calls == self.candidate.calls
    }
}
