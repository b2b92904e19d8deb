//! Totals of one node over lanes, epochs and the records that came after them.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock_map::ClockMap;
use crate::histogram::{Histogram, bucket_of};
use crate::recorder::NodeSnapshot;
use crate::run::NodeTotals;

/// Counts one record into totals by node.
pub(super) fn count(
    totals: &mut BTreeMap<u32, NodeSnapshot>,
    node: u32,
    start: u64,
    end: u64,
    is_failed: bool,
) {
    let duration = end - start;
    let t = totals.entry(node).or_insert_with(|| NodeSnapshot {
        node,
        min: u64::MAX,
        first_start: u64::MAX,
        buckets: Some(Vec::new()),
        ..NodeSnapshot::default()
    });
    t.count = t.count.saturating_add(1);
    t.sum = t.sum.saturating_add(duration);
    t.min = t.min.min(duration);
    t.max = t.max.max(duration);
    t.errors = t.errors.saturating_add(is_failed.into());
    if start < t.first_start {
        (t.first, t.first_start) = (duration, start);
    }
    if end >= t.last_end {
        (t.last, t.last_end) = (duration, end);
    }
    if let Some(buckets) = &mut t.buckets {
        let bucket = u32::try_from(bucket_of(duration)).unwrap_or(u32::MAX);
        match buckets.binary_search_by_key(&bucket, |(b, _)| *b) {
            Ok(at) => buckets[at].1 = buckets[at].1.saturating_add(1),
            Err(at) => buckets.insert(at, (bucket, 1)),
        }
    }
}

impl NodeSnapshot {
    /// Adds another lane's figures of the node, but for histograms, which are added apart.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if other.first_start < self.first_start {
            (self.first, self.first_start) = (other.first, other.first_start);
        }
        if other.last_end >= self.last_end {
            (self.last, self.last_end) = (other.last, other.last_end);
        }
    }
}

/// Totals of one node while lanes are added up.
#[derive(Debug, Default)]
pub(super) struct Merged {
    all: Option<NodeSnapshot>,
    errors: u64,
    histogram: Option<Histogram>,
    is_incomplete: bool,
    lanes: BTreeSet<u32>,
}

impl Merged {
    /// Adds a lane's totals.
    pub(super) fn add(&mut self, lane: u32, node: &NodeSnapshot, unit_ns: f64) {
        self.errors += u64::from(node.errors);
        self.lanes.insert(lane);
        match &node.buckets {
            None => self.is_incomplete = true,
            Some(buckets) => {
                let histogram = self.histogram.get_or_insert_with(|| Histogram::with_unit(unit_ns));
                for (bucket, n) in buckets {
                    histogram.add_to_bucket(*bucket as usize, (*n).into());
                }
            }
        }
        match &mut self.all {
            Some(all) => all.add(node),
            None => self.all = Some(NodeSnapshot { buckets: None, ..node.clone() }),
        }
    }

    /// The sum, in nanoseconds.
    pub(super) fn finish(self, clock: &ClockMap) -> NodeTotals {
        let Some(all) = self.all else {
            return NodeTotals::default();
        };
        NodeTotals {
            count: all.count,
            sum_ns: clock.duration_ns(all.sum),
            min_ns: clock.duration_ns(all.min),
            max_ns: clock.duration_ns(all.max),
            first_ns: clock.duration_ns(all.first),
            last_ns: clock.duration_ns(all.last),
            errors: self.errors,
            histogram: self.histogram.filter(|_| !self.is_incomplete),
            n_threads: u32::try_from(self.lanes.len()).unwrap_or(u32::MAX),
        }
    }
}
