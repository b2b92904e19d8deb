//! Figures of readings over time: what a gauge held, what a counter grew by.
//!
//! ```text
//! time      0    10    20    30    40    50
//! gauge       2           6        4
//! weight    |-------|---------|--------|      each reading stands for the time half way to its neighbours
//! counter     7           9        9
//! rate        |-- 2/12 ---|-- 0/9 -|          a rate is known between two readings only
//! ```
//!
//! At both ends a reading is held up to the end of the run, for as long as the gap to its neighbour at most. Readings
//! that were put together into a bucket count as their mean for as long as the bucket lasts.

use marey::SeriesPoint;
use serde::Serialize;

use crate::section_lookup::{Moment, SectionLookup};
use crate::stats::float;

/// Figures of readings, or of rates between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Figures {
    /// Readings that they come from.
    pub n_readings: u64,
    /// Lowest.
    pub min: f64,
    /// Mean over the time.
    pub mean: f64,
    /// Highest.
    pub max: f64,
    /// The one that was taken last.
    pub last: f64,
    /// When it was highest, the earliest of equals.
    pub peak: Moment,
}

impl Figures {
    /// The same in another unit.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            min: self.min * factor,
            mean: self.mean * factor,
            max: self.max * factor,
            last: self.last * factor,
            ..self
        }
    }

    /// Shares of a time: counters that tick coarsely seem to go beyond the whole.
    pub(crate) fn at_most_all(self) -> Self {
        self.at_most(1.0)
    }

    /// What cannot be more than this.
    pub(crate) fn at_most(self, limit: f64) -> Self {
        Self {
            min: self.min.min(limit),
            mean: self.mean.min(limit),
            max: self.max.min(limit),
            last: self.last.min(limit),
            ..self
        }
    }
}

/// What a counter grew by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Growth {
    /// Sum of its increases between the first and the last reading. Where it fell, it began anew: that counts as none.
    pub total: f64,
    /// Time that `total` is about.
    pub over_ns: u64,
    /// Growth in a second; the mean is `total` over `over_ns`.
    pub per_second: Figures,
}

/// One reading as a point.
pub(crate) fn reading(at_ns: u64, value: f64) -> SeriesPoint {
    SeriesPoint {
        first_ns: at_ns,
        last_ns: at_ns,
        count: 1,
        min: value,
        max: value,
        sum: value,
        last: value,
    }
}

/// Points whose values are all numbers.
pub(crate) fn sound(points: &[SeriesPoint]) -> Vec<SeriesPoint> {
    let is_sound = |p: &&SeriesPoint| {
        p.count > 0 && [p.min, p.max, p.sum, p.last].iter().all(|v| v.is_finite())
    };
    points.iter().filter(is_sound).copied().collect()
}

/// Figures of a gauge; `None` without readings.
pub(crate) fn gauge(points: &[SeriesPoint], places: &SectionLookup<'_>) -> Option<Figures> {
    let last = points.last()?;
    let highest = points.iter().fold(None, |best: Option<&SeriesPoint>, p| match best {
        Some(best) if best.max >= p.max => Some(best),
        _ => Some(p),
    })?;
    let min = points.iter().map(|p| p.min).fold(f64::INFINITY, f64::min);
    let (sum, over) = integral(points, places.wall_ns());
    let plain = points.iter().map(SeriesPoint::mean).sum::<f64>() / float(points.len() as u64);
    let mean = if over > 0.0 { sum / over } else { plain };
    Some(Figures {
        n_readings: points.iter().map(|p| u64::from(p.count)).sum(),
        min,
        mean: mean.clamp(min, highest.max),
        max: highest.max,
        last: last.last,
        peak: places.moment(highest.first_ns, highest.last_ns),
    })
}

/// Growth of a counter; `None` unless two readings lie apart.
pub(crate) fn growth(points: &[SeriesPoint], places: &SectionLookup<'_>) -> Option<Growth> {
    let rates = rates(points);
    let highest = rates.iter().fold(None, |best: Option<&Rate>, rate| match best {
        Some(best) if best.per_second >= rate.per_second => Some(best),
        _ => Some(rate),
    })?;
    let (total, over_ns) = rates
        .iter()
        .fold((0.0, 0), |(total, over_ns), rate| (total + rate.growth, over_ns + rate.length_ns()));
    let min = rates.iter().map(|r| r.per_second).fold(f64::INFINITY, f64::min);
    Some(Growth {
        total,
        over_ns,
        per_second: Figures {
            n_readings: points.iter().map(|p| u64::from(p.count)).sum(),
            min,
            mean: total * 1e9 / float(over_ns),
            max: highest.per_second,
            last: rates.last()?.per_second,
            peak: places.moment(highest.start_ns, highest.end_ns),
        },
    })
}

/// Growth of a counter between two readings that lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) growth: f64,
    pub(crate) per_second: f64,
}

impl Rate {
    fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// Rates between readings, in order. Where the counter fell there is none.
pub(crate) fn rates(points: &[SeriesPoint]) -> Vec<Rate> {
    let rate = |from: (u64, f64), to: (u64, f64)| {
        let length_ns = to.0.checked_sub(from.0).filter(|ns| *ns > 0)?;
        let growth = to.1 - from.1;
        (growth >= 0.0).then(|| Rate {
            start_ns: from.0,
            end_ns: to.0,
            growth,
            per_second: growth * 1e9 / float(length_ns),
        })
    };
    // Readings that only grow begin a bucket with the lowest of them.
    let within_first = points.first().and_then(|p| rate((p.first_ns, p.min), (p.last_ns, p.last)));
    let between = points
        .windows(2)
        .filter_map(|pair| rate((pair[0].last_ns, pair[0].last), (pair[1].last_ns, pair[1].last)));
    within_first.into_iter().chain(between).collect()
}

/// Sum of each value times the nanoseconds that it stands for, and those nanoseconds. 0 and 0 for a single reading: how
/// long it held is not known.
pub(crate) fn integral(points: &[SeriesPoint], wall_ns: u64) -> (f64, f64) {
    let weights = weights(points, wall_ns);
    let sum = points.iter().zip(&weights).map(|(p, w)| p.mean() * w).sum();
    (sum, weights.iter().sum())
}

/// Nanoseconds that each point stands for.
pub(crate) fn weights(points: &[SeriesPoint], wall_ns: u64) -> Vec<f64> {
    let gap = |pair: &[SeriesPoint]| float(pair[1].first_ns.saturating_sub(pair[0].last_ns));
    let gaps: Vec<f64> = points.windows(2).map(gap).collect();
    let at_start = gaps.first().zip(points.first()).map(|(gap, p)| gap.min(float(p.first_ns)));
    let at_end = gaps
        .last()
        .zip(points.last())
        .map(|(gap, p)| gap.min(float(wall_ns.saturating_sub(p.last_ns))));
    let before = |i: usize| match i.checked_sub(1) {
        Some(i) => gaps[i] / 2.0,
        None => at_start.unwrap_or(0.0),
    };
    let after = |i: usize| gaps.get(i).map_or(at_end.unwrap_or(0.0), |gap| gap / 2.0);
    points
        .iter()
        .enumerate()
        .map(|(i, p)| before(i) + float(p.last_ns.saturating_sub(p.first_ns)) + after(i))
        .collect()
}

/// How values that were read at the same time become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    Sum,
    Highest,
}

/// Several series as one: at each reading of the one with the most, what the others read nearest to it. Where one of them
/// read nothing about then, there is no point.
pub(crate) fn together(series: &[Vec<SeriesPoint>], how: Merge) -> Vec<SeriesPoint> {
    let Some(longest) = series.iter().map(Vec::len).max() else {
        return Vec::new();
    };
    let Some(first) = series.iter().position(|s| s.len() == longest) else {
        return Vec::new();
    };
    let reference = &series[first];
    let others = || series.iter().enumerate().filter(|(i, _)| *i != first);
    (0..reference.len())
        .filter_map(|at| {
            others().try_fold(reference[at], |sum, (_, other)| {
                Some(merged(sum, nearest(other, reference, at)?, how))
            })
        })
        .collect()
}

/// The point of `other` that is nearest to one of `reference`, no further away than half way to its neighbours there.
pub(crate) fn nearest<'a>(
    other: &'a [SeriesPoint],
    reference: &[SeriesPoint],
    at: usize,
) -> Option<&'a SeriesPoint> {
    let at_ns = reference[at].last_ns;
    let before = at.checked_sub(1).map(|i| at_ns - reference[i].last_ns.min(at_ns));
    let after = reference.get(at + 1).map(|p| p.last_ns.saturating_sub(at_ns));
    let reach_ns = before.max(after).map_or(u64::MAX, |gap_ns| gap_ns / 2);
    let next = other.partition_point(|p| p.last_ns < at_ns);
    let candidates = [next.checked_sub(1), Some(next)];
    candidates
        .into_iter()
        .filter_map(|i| other.get(i?))
        .min_by_key(|p| p.last_ns.abs_diff(at_ns))
        .filter(|p| p.last_ns.abs_diff(at_ns) <= reach_ns)
}

fn merged(a: SeriesPoint, b: &SeriesPoint, how: Merge) -> SeriesPoint {
    let value = |x: f64, y: f64| match how {
        Merge::Sum => x + y,
        Merge::Highest => x.max(y),
    };
    SeriesPoint {
        min: value(a.min, b.min),
        max: value(a.max, b.max),
        sum: value(a.mean(), b.mean()) * f64::from(a.count),
        last: value(a.last, b.last),
        ..a
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;
