//! What did a series read while something lasted?
//!
//! ```text
//! time       0    10    20    30    40    50
//! gauge        2           6        4               each reading stands for the time half way to its neighbours
//! something          |-----------|                  mean of the parts of 2, 6 and 4 that are under it
//! counter      7           9        9
//! rate         |-- 2/12 ---|-- 0/9 -|               when it grew between two readings nobody knows: what lies less than nine
//!                                                  tenths in the time is left out
//! ```

use marey::{Run, Series, SeriesKind, SeriesPoint};

use crate::intervals::{Interval, length_ns, length_within};
use crate::readings::{rates, sound};
use crate::stats::float;

/// Part of the time between two readings of a counter that has to be asked for, for its growth to be attributed.
const LEAST_SHARE: f64 = 0.9;

/// What a series read while something lasted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct During {
    /// Mean over the time for a gauge, growth in a second for a counter.
    pub(crate) value: f64,
    /// The part of the time that readings say something about; above 0.
    pub(crate) known_ns: u64,
}

impl During {
    /// What a counter grew by in the known time.
    pub(crate) fn growth(&self) -> f64 {
        self.value * float(self.known_ns) / 1e9
    }
}

/// A stretch of time with the value that a series had in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    /// When.
    pub(crate) time: Interval,
    /// The reading of a gauge; the growth in a second of a counter.
    pub(crate) value: f64,
}

/// The first series of this name and subject during `times`, which are ascending and disjoint. `None` unless readings say
/// something about at least half of that time.
pub(crate) fn during(run: &Run, name: &str, subject: &str, times: &[Interval]) -> Option<During> {
    let is_wanted = |s: &&Series| s.info.name == name && s.info.subject == subject;
    let series = run.series.iter().find(is_wanted)?;
    of_series(series, run.wall_ns, times)
}

/// Each series of this name with what it read; absent as in [`during`].
pub(crate) fn each_during<'a>(
    run: &'a Run,
    name: &str,
    times: &[Interval],
) -> Vec<(&'a Series, Option<During>)> {
    let of_name = run.series.iter().filter(|s| s.info.name == name);
    let read = of_name.map(|s| (s, of_series(s, run.wall_ns, times)));
    read.collect()
}

/// The highest of all subjects of this name; absent as in [`during`].
pub(crate) fn highest_during(run: &Run, name: &str, times: &[Interval]) -> Option<During> {
    let each = each_during(run, name, times).into_iter();
    each.filter_map(|(_, during)| during).max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Each stretch of time that a series says something about, ascending and disjoint.
pub(crate) fn stretches(series: &Series, wall_ns: u64) -> Vec<Stretch> {
    let points = sound(&series.points);
    match series.info.kind {
        SeriesKind::Cumulative => rates(&points)
            .iter()
            .map(|rate| Stretch {
                time: Interval { start_ns: rate.start_ns, end_ns: rate.end_ns },
                value: rate.per_second,
            })
            .collect(),
        SeriesKind::Gauge => held(&points, wall_ns),
    }
}

/// Each reading with the time half way to its neighbours; at both ends as far as the gap to the only neighbour. A single
/// reading stands for no time.
pub(crate) fn held(points: &[SeriesPoint], wall_ns: u64) -> Vec<Stretch> {
    let gap_ns = |at: usize| {
        let next = points.get(at + 1)?;
        Some(next.first_ns.saturating_sub(points[at].last_ns))
    };
    let mut start_ns =
        points.first().map_or(0, |first| first.first_ns.saturating_sub(gap_ns(0).unwrap_or(0)));
    let mut each = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let to_end_ns = wall_ns.saturating_sub(point.last_ns);
        let before_ns = at.checked_sub(1).and_then(gap_ns).unwrap_or(0);
        let reach_ns = gap_ns(at).map_or(before_ns.min(to_end_ns), |gap| gap / 2);
        let end_ns = point.last_ns.saturating_add(reach_ns);
        each.push(Stretch { time: Interval { start_ns, end_ns }, value: point.mean() });
        start_ns = end_ns;
    }
    each
}

fn of_series(series: &Series, wall_ns: u64, times: &[Interval]) -> Option<During> {
    let least_share = match series.info.kind {
        SeriesKind::Cumulative => LEAST_SHARE,
        SeriesKind::Gauge => 0.0,
    };
    let (mut sum, mut known_ns) = (0.0, 0u64);
    for stretch in stretches(series, wall_ns) {
        let common_ns = length_within(stretch.time, times);
        if float(common_ns) >= least_share * float(stretch.time.length_ns()) {
            sum += stretch.value * float(common_ns);
            known_ns = known_ns.saturating_add(common_ns);
        }
    }
    let is_known = known_ns > 0 && known_ns >= length_ns(times) / 2;
    is_known.then(|| During { value: sum / float(known_ns), known_ns })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    fn time(start_ns: u64, end_ns: u64) -> Interval {
        Interval { start_ns, end_ns }
    }

    #[test]
    fn a_gauge_counts_for_the_part_of_its_readings_that_is_under_the_time() {
        // 0    10    20    30    40    50    60
        //       2          8           4             2 for 0–20, 8 for 20–40, 4 for 40–60
        //          |-------------|  |--|             15–40: 5 × 2 + 20 × 8; 45–50: 5 × 4
        let info = SeriesInfo::gauge("gpu.utilization", "a", Unit::Ratio);
        let run = RunBuilder::new().series(info, &[(10, 2.0), (30, 8.0), (50, 4.0)]).finish(60);
        let found = during(&run, "gpu.utilization", "a", &[time(15, 40), time(45, 50)]).unwrap();
        assert_eq!(found.known_ns, 30);
        assert_eq!(found.value, 190.0 / 30.0);
        assert_eq!(during(&run, "gpu.utilization", "b", &[time(15, 40)]), None);
    }

    #[test]
    fn a_counter_counts_where_nearly_all_of_the_time_between_two_readings_is_asked_for() {
        // s       0      2      4      6
        //         0     10     10     40          5, 0 and 15 a second
        //            |------------|              1–5: from 2 to 4 nothing; when it grew before and after nobody knows
        //         |---------------|  |           0–4 and all but 0.1 s of the rest: 10, and 15 × 1.9
        let s = 1_000_000_000;
        let info = SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes);
        let readings = [(0, 0.0), (2 * s, 10.0), (4 * s, 10.0), (6 * s, 40.0)];
        let run = RunBuilder::new().series(info, &readings).finish(6 * s);
        let found = during(&run, "process.disk.read", "", &[time(s, 5 * s)]).unwrap();
        assert_eq!((found.value, found.known_ns), (0.0, 2 * s));
        let most = [time(0, 4 * s), time(4 * s + s / 10, 6 * s)];
        let found = during(&run, "process.disk.read", "", &most).unwrap();
        assert_eq!((found.growth(), found.known_ns), (38.5, 5 * s + s / 10 * 9));
    }

    #[test]
    fn the_highest_of_several_subjects_counts() {
        let mut builder = RunBuilder::new();
        for (subject, value) in [("a", 0.2), ("b", 0.9), ("c", f64::NAN)] {
            let info = SeriesInfo::gauge("gpu.utilization", subject, Unit::Ratio);
            builder = builder.series(info, &[(0, value), (10, value)]);
        }
        let run = builder.finish(20);
        let found = highest_during(&run, "gpu.utilization", &[time(0, 10)]).unwrap();
        assert_eq!(found.value, 0.9);
    }

    #[test]
    fn readings_of_less_than_half_of_the_time_tell_nothing() {
        let info = SeriesInfo::cumulative("pressure.io.some", "", Unit::Seconds);
        let run = RunBuilder::new().series(info, &[(0, 0.0), (10, 1.0)]).finish(100);
        let known_of = |time| during(&run, "pressure.io.some", "", &[time]).map(|d| d.known_ns);
        assert_eq!(known_of(time(0, 20)), Some(10));
        assert_eq!(known_of(time(0, 22)), None);
        assert_eq!(known_of(time(50, 60)), None);
        let single = SeriesInfo::gauge("a", "", Unit::Count);
        let run = RunBuilder::new().series(single, &[(5, 1.0)]).finish(10);
        assert_eq!(during(&run, "a", "", &[time(0, 10)]), None);
    }
}
