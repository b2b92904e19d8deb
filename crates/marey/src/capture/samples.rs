//! Samples to series. A sampler's time buckets grow with the run; the early, short ones stay as they were written, so that nothing that was
//! known of a time is taken back.

use std::collections::BTreeMap;

use crate::clock_map::ClockMap;
use crate::note::{Readings, Samples};
use crate::series::{Series, SeriesInfo, SeriesPoint};

/// Samplers by number.
#[derive(Debug, Default)]
pub(super) struct Groups(BTreeMap<u32, Group>);

#[derive(Debug, Default)]
struct Group {
    infos: BTreeMap<u32, SeriesInfo>,
    buckets: Vec<(Samples, u64)>,
}

impl Groups {
    /// A series of a group.
    pub(super) fn define(&mut self, group: u32, index: u32, info: SeriesInfo) {
        self.0.entry(group).or_default().infos.insert(index, info);
    }

    /// A bucket of a group, whose last round was at `last`.
    pub(super) fn add(&mut self, samples: Samples, last: u64) {
        let group = self.0.entry(samples.group).or_default();
        group.buckets.push((samples, last));
    }

    /// All series that have points, ordered by name and subject.
    pub(super) fn finish(self, clock: &ClockMap) -> Vec<Series> {
        let mut series: Vec<Series> =
            self.0.into_values().flat_map(|group| group.finish(clock)).collect();
        series.sort_by(|a, b| a.info.cmp(&b.info));
        // A sampler that was started again, with another interval say, goes on with its series.
        series.dedup_by(|later, kept| {
            let is_same = later.info == kept.info;
            if is_same {
                kept.points.append(&mut later.points);
                kept.points.sort_by_key(|point| point.first_ns);
            }
            is_same
        });
        series
    }
}

impl Group {
    fn finish(mut self, clock: &ClockMap) -> Vec<Series> {
        // A bucket that was read while it was filled, and again when it was full: the fuller one counts.
        let place = |samples: &Samples| (samples.first, samples.first_series);
        self.buckets
            .sort_by_key(|(samples, _)| (place(samples), std::cmp::Reverse(samples.rounds)));
        self.buckets.dedup_by(|(later, _), (kept, _)| place(later) == place(kept));
        let mut found: BTreeMap<u32, Vec<SeriesPoint>> = BTreeMap::new();
        for (samples, last) in &self.buckets {
            let (first_ns, last_ns) = (clock.ns(samples.first), clock.ns(*last));
            for (index, readings) in (samples.first_series..).zip(&samples.values) {
                let point = point(*readings, first_ns, last_ns);
                found.entry(index).or_default().extend(point);
            }
        }
        let named = |(index, points): (u32, Vec<SeriesPoint>)| {
            let info = self.infos.remove(&index)?;
            (!points.is_empty()).then_some(Series { info, points })
        };
        found.into_iter().filter_map(named).collect()
    }
}

/// A point of what was read in a bucket; `None` when there was nothing, or nothing that makes sense.
fn point(readings: Readings, first_ns: u64, last_ns: u64) -> Option<SeriesPoint> {
    let Readings { count, min, max, sum, last } = readings;
    let is_sound = count > 0 && [min, max, sum, last].iter().all(|v| v.is_finite());
    is_sound.then_some(SeriesPoint {
        first_ns,
        last_ns: last_ns.max(first_ns),
        count,
        min,
        max,
        sum,
        last,
    })
}
