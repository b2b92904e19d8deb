//! What was read while something happened.
//!
//! ```text
//! time       0    10    20    30    40    50
//! readings        a     b     c     d             each stands for the time half way to its neighbours
//! stand for  |- a --|- b -|- c -|- d --|
//! steps               |-----|                     b counts for 5, c for 1
//! ```

use marey::{Run, SeriesPoint};

use super::step_times::length_within;
use crate::intervals::{Interval, union};
use crate::readings::sound;
use crate::stats::float;

/// Readings of a gauge during some time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct During {
    /// Readings that stand for a part of it.
    pub(super) n_readings: u64,
    /// Their mean, each as long as it stands for a part of it.
    pub(super) mean: f64,
    /// What they stand for, with their means, in order.
    pub(super) each: Vec<(Interval, f64)>,
}

impl During {
    /// Of the points, during `times`, which are disjoint and in order. `None` when no reading stands for any of it; a single reading
    /// stands for none.
    pub(super) fn new(points: &[SeriesPoint], times: &[Interval], wall_ns: u64) -> Option<Self> {
        let (mut sum, mut over, mut n_readings) = (0.0, 0.0, 0u64);
        let mut each = Vec::new();
        for (point, span) in points.iter().zip(spans(points, wall_ns)) {
            let weight = float(length_within(span, times));
            if weight > 0.0 {
                sum += point.mean() * weight;
                over += weight;
                n_readings = n_readings.saturating_add(point.count.into());
                each.push((span, point.mean()));
            }
        }
        (over > 0.0).then(|| Self {
            n_readings,
            mean: sum / over,
            each,
        })
    }

    /// When the readings were as wanted, put together where they touch.
    pub(super) fn when(&self, is_wanted: impl Fn(f64) -> bool) -> Vec<Interval> {
        let wanted = self.each.iter().filter(|(_, value)| is_wanted(*value));
        union(wanted.map(|(span, _)| *span).collect())
    }
}

/// The time that each point stands for: half way to its neighbours, at both ends as far as the gap to the neighbour at most.
fn spans(points: &[SeriesPoint], wall_ns: u64) -> Vec<Interval> {
    let gap = |i: usize| {
        let next = points.get(i + 1)?;
        Some(next.first_ns.saturating_sub(points.get(i)?.last_ns))
    };
    let span = |(i, point): (usize, &SeriesPoint)| {
        let before = match i.checked_sub(1) {
            Some(i) => gap(i).unwrap_or(0).div_ceil(2),
            None => gap(0).unwrap_or(0),
        };
        let end_ns = match (gap(i), i.checked_sub(1).and_then(gap)) {
            (Some(after), _) => point.last_ns.saturating_add(after / 2),
            (None, at_end) => {
                let end_ns = point.last_ns.saturating_add(at_end.unwrap_or(0));
                end_ns.min(wall_ns.max(point.last_ns))
            }
        };
        Interval {
            start_ns: point.first_ns.saturating_sub(before),
            end_ns,
        }
    };
    points.iter().enumerate().map(span).collect()
}

/// Readings of each subject of a series, sound ones only, those without any left out.
pub(super) fn readings<'a>(run: &'a Run, name: &str) -> Vec<(&'a str, Vec<SeriesPoint>)> {
    let of_name = run.series.iter().filter(|s| s.info.name == name);
    of_name
        .map(|series| (series.info.subject.as_str(), sound(&series.points)))
        .filter(|(_, points)| !points.is_empty())
        .collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use marey::{RunBuilder, SeriesInfo, Unit};

    #[test]
    fn readings_count_for_as_long_as_they_stand_for_the_wanted_time() {
        // readings   at 10: 1     at 20: 0     at 40: 0.5
        // stand for  0-15         15-30        30-50 (the run ends at 50)
        // wanted          |----------------|                10 to 35: 5 of the first, 15 of the second, 5 of the third
        let run = RunBuilder::new()
            .series(
                SeriesInfo::gauge("gpu.utilization", "a", Unit::Ratio),
                &[(10, 1.0), (20, 0.0), (40, 0.5)],
            )
            .finish(50);
        let read = readings(&run, "gpu.utilization");
        let wanted = [Interval {
            start_ns: 10,
            end_ns: 35,
        }];
        let found = During::new(&read[0].1, &wanted, 50).unwrap();
        assert_eq!(found.n_readings, 3);
        assert_eq!(found.mean, (5.0 + 2.5) / 25.0);
        let idle = found.when(|value| value < 0.6);
        assert_eq!((idle[0].start_ns, idle[0].end_ns), (15, 50));
        let later = [Interval {
            start_ns: 60,
            end_ns: 70,
        }];
        assert_eq!(During::new(&read[0].1, &later, 50), None);
    }

    #[test]
    fn times_at_the_end_of_what_numbers_can_say_do_not_overflow() {
        let point = |at_ns| SeriesPoint {
            first_ns: at_ns,
            last_ns: at_ns,
            count: 1,
            min: 0.5,
            max: 0.5,
            sum: 0.5,
            last: 0.5,
        };
        let all = [Interval {
            start_ns: 0,
            end_ns: u64::MAX,
        }];
        let points = [point(0), point(u64::MAX)];
        let found = During::new(&points, &all, u64::MAX).unwrap();
        assert_eq!(found.mean, 0.5);
    }
}
