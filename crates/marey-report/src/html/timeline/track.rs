//! Readings over time: series of samplers, counters, memory.

use std::collections::BTreeMap;

use marey::{Run, Series, SeriesKind, Unit};
use marey_analysis::memory_source_name;

/// Points of all tracks together, about.
const MAX_POINTS: usize = 60_000;
/// Points of one track.
const MOST_OF_ONE: usize = 2_000;
const LEAST_OF_ONE: usize = 50;
/// Tracks of a page.
const MAX_TRACKS: usize = 1_000;

/// Readings of one thing.
#[derive(Debug, PartialEq)]
pub(crate) struct Track {
    /// The user's name for a counter, otherwise the name of the series: `gpu.power`.
    pub(crate) name: String,
    /// Of what; empty where there is only one.
    pub(crate) subject: String,
    pub(crate) kind: TrackKind,
    /// In words that a page knows: `bytes`, `bytes_per_second`.
    pub(crate) unit: &'static str,
    /// By time.
    pub(crate) points: Vec<Point>,
}

/// Where readings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrackKind {
    /// A sampler read it.
    Gauge,
    /// A sampler read a sum, of which this is the growth in a second.
    Rate,
    /// The program counted it.
    Counter,
    /// A reading of memory.
    Memory,
}

/// One reading, or all of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// From when on it holds.
    pub(crate) start_ns: u64,
    /// Up to when it is known.
    pub(crate) end_ns: u64,
    /// What it counts in a mean: readings, or nanoseconds.
    pub(crate) weight: f64,
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) max: f64,
}

/// All tracks of a run with all their points; those without a finite reading are left out.
pub(crate) fn all_tracks(run: &Run) -> Vec<Track> {
    let mut tracks = memory(run);
    tracks.extend(run.series.iter().map(of_series));
    tracks.extend(counters(run));
    tracks.retain(|track| !track.points.is_empty());
    tracks
}

/// The tracks of a page, and how many there was no room for.
pub(super) fn tracks(run: &Run) -> (Vec<Track>, usize) {
    let mut tracks = all_tracks(run);
    let n_left_out = tracks.len().saturating_sub(MAX_TRACKS);
    tracks.truncate(MAX_TRACKS);
    let each = (MAX_POINTS / tracks.len().max(1)).clamp(LEAST_OF_ONE, MOST_OF_ONE);
    for track in &mut tracks {
        track.points = thinned(&track.points, each);
    }
    (tracks, n_left_out)
}

fn of_series(series: &Series) -> Track {
    let info = &series.info;
    let is_rate = info.kind == SeriesKind::Cumulative;
    let points = if is_rate { rates(series) } else { gauges(series) };
    Track {
        name: info.name.clone(),
        subject: info.subject.clone(),
        kind: if is_rate { TrackKind::Rate } else { TrackKind::Gauge },
        unit: unit(info.unit, is_rate),
        points,
    }
}

fn gauges(series: &Series) -> Vec<Point> {
    let points = series.points.iter().map(|p| Point {
        start_ns: p.first_ns,
        end_ns: p.last_ns.max(p.first_ns),
        weight: f64::from(p.count),
        min: p.min,
        mean: p.mean(),
        max: p.max,
    });
    points.filter(is_finite).collect()
}

/// Growth in a second between every two readings: none where a sum falls.
///
/// ```text
/// readings   |   *       *   *
/// rates          |---1---|-2-|
/// ```
fn rates(series: &Series) -> Vec<Point> {
    // A bucket's first reading is its smallest.
    let first = series.points.first().map(|p| (p.first_ns, p.min));
    let lasts = series.points.iter().map(|p| (p.last_ns, p.last));
    let readings: Vec<(u64, f64)> = first.into_iter().chain(lasts).collect();
    let pairs = readings.windows(2);
    let points = pairs.filter_map(|pair| {
        let [(from, before), (to, after)] = [pair[0], pair[1]];
        let length = to.checked_sub(from).filter(|length| *length > 0)?;
        let weight = float(length);
        let rate = (after - before) / weight * 1e9;
        (rate >= 0.0).then_some(Point {
            start_ns: from,
            end_ns: to,
            weight,
            min: rate,
            mean: rate,
            max: rate,
        })
    });
    points.filter(is_finite).collect()
}

/// Memory is read again only when it has changed, so the last reading holds to the end of the run.
fn memory(run: &Run) -> Vec<Track> {
    let mut by_source: BTreeMap<_, [Vec<Point>; 2]> = BTreeMap::new();
    for reading in &run.memory {
        let [allocated, reserved] = by_source.entry(reading.source).or_default();
        allocated.push(Point::one(reading.at_ns, float(reading.allocated_bytes)));
        if let Some(bytes) = reading.reserved_bytes {
            reserved.push(Point::one(reading.at_ns, float(bytes)));
        }
    }
    for points in by_source.values_mut().flatten() {
        if let Some(last) = points.last_mut() {
            last.end_ns = last.end_ns.max(run.wall_ns);
        }
    }
    let of_source = by_source.into_iter().flat_map(|(source, points)| {
        let names = ["memory.allocated", "memory.reserved"];
        names.into_iter().zip(points).map(move |(name, points)| Track {
            name: name.to_owned(),
            subject: memory_source_name(source),
            kind: TrackKind::Memory,
            unit: "bytes",
            points,
        })
    });
    of_source.collect()
}

fn counters(run: &Run) -> Vec<Track> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tracks: Vec<Track> = Vec::new();
    for reading in run.counters.iter().filter(|r| r.value.is_finite()) {
        let index = *known.entry(&reading.name).or_insert_with(|| {
            tracks.push(Track {
                name: reading.name.clone(),
                subject: String::new(),
                kind: TrackKind::Counter,
                unit: "count",
                points: Vec::new(),
            });
            tracks.len() - 1
        });
        tracks[index].points.push(Point::one(reading.at_ns, reading.value));
    }
    tracks
}

impl Point {
    fn one(at_ns: u64, value: f64) -> Self {
        Self { start_ns: at_ns, end_ns: at_ns, weight: 1.0, min: value, mean: value, max: value }
    }

    /// Several that follow each other, of which there is at least one.
    fn together(points: &[Self]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let weight: f64 = points.iter().map(|p| p.weight).sum();
        let min = points.iter().map(|p| p.min).fold(first.min, f64::min);
        let max = points.iter().map(|p| p.max).fold(first.max, f64::max);
        let mean: f64 = points.iter().map(|p| p.mean * (p.weight / weight)).sum();
        Some(Self {
            start_ns: first.start_ns,
            end_ns: last.end_ns,
            weight,
            min,
            mean: mean.max(min).min(max),
            max,
        })
    }
}

/// The points, or, where there are more than `limit`, those of each `limit`th of the time from first to last as one.
fn thinned(points: &[Point], limit: usize) -> Vec<Point> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    if points.len() <= limit {
        return points.to_vec();
    }
    let length = u128::from(last.start_ns.saturating_sub(first.start_ns)) + 1;
    let stretch =
        |p: &Point| u128::from(p.start_ns.saturating_sub(first.start_ns)) * limit as u128 / length;
    let stretches = points.chunk_by(|a, b| stretch(a) == stretch(b));
    stretches.filter_map(Point::together).collect()
}

fn is_finite(point: &Point) -> bool {
    point.min.is_finite() && point.mean.is_finite() && point.max.is_finite()
}

fn unit(unit: Unit, is_rate: bool) -> &'static str {
    match (unit, is_rate) {
        (Unit::Count, false) => "count",
        (Unit::Bytes, false) => "bytes",
        (Unit::BytesPerSecond, false) | (Unit::Bytes, true) => "bytes_per_second",
        (Unit::Ratio, false) => "ratio",
        (Unit::Seconds, false) => "seconds",
        (Unit::Seconds, true) => "seconds_per_second",
        (Unit::Celsius, false) => "celsius",
        (Unit::Watts, false) | (Unit::Joules, true) => "watts",
        (Unit::Joules, false) => "joules",
        (Unit::Hertz, false) => "hertz",
        (Unit::Bits, false) => "bits",
        (_, true) => "per_second",
    }
}

#[expect(clippy::cast_precision_loss, reason = "drawn with the precision of a float")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::{MemoryReading, MemorySource, SeriesInfo};
    use marey_testing::RunBuilder;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_sum_is_shown_as_its_growth_in_a_second_and_a_fall_as_nothing() {
        // s      0    1         3    4    5
        // bytes  10   30        40   0    7
        let info = SeriesInfo::cumulative("process.disk.read", "", Unit::Bytes);
        let readings = [(0, 10.0), (S, 30.0), (3 * S, 40.0), (4 * S, 0.0), (5 * S, 7.0)];
        let run = RunBuilder::new().series(info, &readings).finish(6 * S);
        let (tracks, n_left_out) = tracks(&run);
        assert_eq!(n_left_out, 0);
        assert_eq!((tracks.len(), tracks[0].unit), (1, "bytes_per_second"));
        let found: Vec<(u64, u64, f64)> =
            tracks[0].points.iter().map(|p| (p.start_ns / S, p.end_ns / S, p.mean)).collect();
        assert_eq!(found, [(0, 1, 20.0), (1, 3, 5.0), (4, 5, 7.0)]);
    }

    #[test]
    fn the_last_reading_of_memory_holds_to_the_end_of_the_run() {
        // s      0         1         2         6
        // bytes            5         7---------|
        let reading = |at_ns, allocated_bytes| MemoryReading {
            at_ns,
            label: None,
            source: MemorySource::Process,
            allocated_bytes,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        };
        let run = RunBuilder::new().memory(reading(S, 5)).memory(reading(2 * S, 7)).finish(6 * S);
        let (tracks, _) = tracks(&run);
        let ends: Vec<(u64, u64)> =
            tracks[0].points.iter().map(|p| (p.start_ns / S, p.end_ns / S)).collect();
        assert_eq!(ends, [(1, 1), (2, 6)]);
    }

    #[test]
    fn a_long_series_keeps_its_extremes_and_its_mean() {
        let value = |n: u64| if n == 777 { 100.0 } else { float(n % 2) };
        let readings: Vec<(u64, f64)> = (0..10_000).map(|n| (n * S, value(n))).collect();
        let info = SeriesInfo::gauge("gpu.power", "0", Unit::Watts);
        let run = RunBuilder::new().series(info, &readings).finish(10_000 * S);
        let (tracks, _) = tracks(&run);
        let points = &tracks[0].points;
        assert_eq!(points.len(), MOST_OF_ONE);
        let most = points.iter().map(|p| p.max).reduce(f64::max);
        assert_eq!(most, Some(100.0));
        let weight: f64 = points.iter().map(|p| p.weight).sum();
        assert!((weight - 10_000.0).abs() < 1e-6);
        let sum: f64 = points.iter().map(|p| p.mean * p.weight).sum();
        assert!((sum - 5_099.0).abs() < 1e-6);
    }

    #[test]
    fn what_has_no_finite_reading_or_one_of_a_sum_is_no_track() {
        let run = RunBuilder::new()
            .series(SeriesInfo::gauge("a", "", Unit::Count), &[(0, f64::NAN)])
            .series(SeriesInfo::cumulative("b", "", Unit::Bytes), &[(0, 5.0)])
            .finish(S);
        assert_eq!(tracks(&run), (vec![], 0));
    }
}
