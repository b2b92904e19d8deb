//! The timeline of a page: what a thread did in rows, and readings on the same time axis.
//!
//! What is small is a JSON object; slices and points are columns of bytes beside it. All columns follow each other in this
//! order, `widths` has the bytes a number of each:
//!
//! | columns | numbers | |
//! |---|---|---|
//! | gap, length, path, flags | slices, row by row, by time | gap: from the end of the slice before in the row, or from 0 |
//! | delay | slices of devices | from the launch to the start, and one more; 0: not known |
//! | step, path, count, time | parts of summaries | step: from the slice of the part before; time in nanoseconds |
//! | step, length | points, track by track | step: from the start of the point before in the track, or from 0 |
//! | mean | points | bits of a 32-bit float |
//! | least, most | points of tracks that are not `is_each` | bits of 32-bit floats |
//!
//! Times are in units of `unit_ns`. The beginning and the end of a slice are each rounded to the nearest unit, so slices that do
//! not overlap still do not, and rounding does not add up.

mod devices;
mod groups;
mod paths;
mod rows;
mod summary;
mod track;

use marey::Run;
use marey_analysis::import::chrome::Trace;
use serde::Serialize;

use super::columns::{Columns, steps};
use groups::{Recorded, groups};
use paths::Paths;
use rows::{Group, GroupKind, Slice};
use summary::{Part, Summarised, summarise};
use track::tracks;
pub(crate) use track::{Point, Track, TrackKind, all_tracks};

/// Slices, and parts of those that stand for several, that a page holds.
pub(super) const MAX_SLICES: usize = 1 << 20;
/// Bytes that times may take when they are compressed, about; beyond that they are rounded.
const TIME_BYTES: f64 = 2_600_000.0;

/// The timeline but for its columns.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Timeline {
    unit_ns: u64,
    /// The last moment of anything.
    end_ns: u64,
    n_slices: usize,
    n_parts: usize,
    widths: Vec<usize>,
    paths: Paths,
    groups: Vec<Group>,
    /// What slices were made of.
    recorded: Recorded,
    /// `None` when every slice stands for itself.
    summarised: Option<Summarised>,
    tracks: Vec<TrackObject>,
    n_tracks_left_out: usize,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct TrackObject {
    name: String,
    subject: String,
    kind: TrackKind,
    unit: &'static str,
    n_points: usize,
    /// Every point is one reading, so its least and most are its mean.
    is_each: bool,
}

impl Timeline {
    /// Of a run, with its columns. `trace` is what the run was made of, if it was: it has the work of devices one by one.
    pub(super) fn new(run: &Run, trace: Option<&Trace>, max_slices: usize) -> (Self, Vec<u8>) {
        let mut paths = Paths::new(run);
        let (mut groups, recorded) = groups(run, &mut paths);
        if let Some(trace) = trace {
            groups.retain(|group| group.kind != GroupKind::Device);
            groups.extend(devices::of_trace(run, trace, &mut paths));
        }
        let (parts, summarised) = summarise(&mut groups, max_slices);
        let (tracks, n_tracks_left_out) = tracks(run);
        let unit_ns = unit_ns(&groups);
        let mut columns = Columns::default();
        add_slices(&mut columns, &groups, unit_ns);
        add_parts(&mut columns, &parts);
        add_points(&mut columns, &tracks, unit_ns);
        let timeline = Self {
            unit_ns,
            end_ns: end_ns(run, &groups, &tracks),
            n_slices: slices(&groups).count(),
            n_parts: parts.len(),
            widths: columns.widths,
            paths,
            groups,
            recorded,
            summarised,
            tracks: tracks.into_iter().map(TrackObject::new).collect(),
            n_tracks_left_out,
        };
        (timeline, columns.bytes)
    }
}

impl TrackObject {
    fn new(track: Track) -> Self {
        Self {
            is_each: is_each(&track),
            n_points: track.points.len(),
            name: track.name,
            subject: track.subject,
            kind: track.kind,
            unit: track.unit,
        }
    }
}

fn slices(groups: &[Group]) -> impl Iterator<Item = &Slice> {
    let rows = groups.iter().flat_map(|group| &group.rows);
    rows.flat_map(|row| &row.slices)
}

fn end_ns(run: &Run, groups: &[Group], tracks: &[Track]) -> u64 {
    let rows = groups.iter().flat_map(|group| &group.rows);
    let of_rows = rows.filter_map(|row| Some(row.slices.last()?.end_ns));
    let of_tracks = tracks.iter().filter_map(|t| Some(t.points.last()?.end_ns));
    let last = of_rows.chain(of_tracks).max().unwrap_or(0);
    last.max(run.wall_ns).min((1 << 53) - 1)
}

/// The nearest unit.
fn units(ns: u64, unit_ns: u64) -> u64 {
    ns.saturating_add(unit_ns / 2) / unit_ns
}

/// The smallest power of ten nanoseconds with which times are not too large: 1 where they are few.
fn unit_ns(groups: &[Group]) -> u64 {
    let mut with_bits = [0_u64; 65];
    for row in groups.iter().flat_map(|group| &group.rows) {
        let mut before = 0;
        for slice in &row.slices {
            for number in [slice.start_ns - before, slice.length_ns()] {
                with_bits[64 - number.leading_zeros() as usize] += 1;
            }
            before = slice.end_ns;
        }
    }
    let mut unit_ns = 1;
    let mut unit_bits = 0.0;
    while bytes(&with_bits, unit_bits) > TIME_BYTES && unit_ns < 1_000_000_000 {
        unit_ns *= 10;
        unit_bits += std::f64::consts::LOG2_10;
    }
    unit_ns
}

/// Bytes of numbers with so many bits, without as many as a unit has.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn bytes(with_bits: &[u64; 65], unit_bits: f64) -> f64 {
    let bits = with_bits.iter().enumerate();
    let bits = bits.map(|(bits, n)| (bits as f64 - unit_bits).max(0.0) * *n as f64);
    bits.sum::<f64>() / 8.0
}

fn add_slices(columns: &mut Columns, groups: &[Group], unit_ns: u64) {
    let n = slices(groups).count();
    let (mut gaps, mut lengths) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for row in groups.iter().flat_map(|group| &group.rows) {
        let mut before = 0;
        for slice in &row.slices {
            let start = units(slice.start_ns, unit_ns);
            let end = units(slice.end_ns, unit_ns);
            gaps.push(start - before);
            lengths.push(end - start);
            before = end;
        }
    }
    columns.add(&gaps);
    columns.add(&lengths);
    columns.add_all(slices(groups).map(|slice| slice.what.into()));
    columns.add_all(slices(groups).map(|slice| slice.flags.into()));
    let devices = groups.iter().filter(|group| group.kind == GroupKind::Device);
    columns.add_all(devices.flat_map(|group| {
        let slices = group.rows.iter().flat_map(|row| &row.slices);
        slices.map(|slice| delay(group, slice, unit_ns))
    }));
}

/// From the launch to the beginning, and one more, in units; 0 where it is not known, and of slices that stand for several.
fn delay(group: &Group, slice: &Slice, unit_ns: u64) -> u64 {
    let launched_ns = group.launches.get(&(slice.what, slice.start_ns));
    let launched_ns = launched_ns.filter(|_| slice.flags & Slice::SUMMARY == 0);
    launched_ns.map_or(0, |launched_ns| {
        let delay = units(slice.start_ns, unit_ns).checked_sub(units(*launched_ns, unit_ns));
        delay.map_or(0, |delay| delay + 1)
    })
}

fn add_parts(columns: &mut Columns, parts: &[Part]) {
    columns.add(&steps(parts.iter().map(|part| part.slice)));
    columns.add_all(parts.iter().map(|part| part.path.into()));
    columns.add_all(parts.iter().map(|part| part.count));
    columns.add_all(parts.iter().map(|part| part.busy_ns));
}

fn add_points(columns: &mut Columns, tracks: &[Track], unit_ns: u64) {
    let all = || tracks.iter().flat_map(|track| &track.points);
    let starts = tracks.iter().flat_map(|track| {
        let starts = track.points.iter().map(|p| units(p.start_ns, unit_ns));
        steps(starts)
    });
    columns.add_all(starts);
    columns.add_all(all().map(|p| units(p.end_ns, unit_ns) - units(p.start_ns, unit_ns)));
    columns.add_all(all().map(|p| bits(p.mean)));
    let spread = || {
        let tracks = tracks.iter().filter(|track| !is_each(track));
        tracks.flat_map(|track| &track.points)
    };
    columns.add_all(spread().map(|p| bits(p.min)));
    columns.add_all(spread().map(|p| bits(p.max)));
}

#[expect(clippy::float_cmp, reason = "one reading is its own least and most")]
fn is_each(track: &Track) -> bool {
    let is_one = |p: &Point| p.min == p.mean && p.mean == p.max;
    track.points.iter().all(is_one)
}

fn bits(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "drawn with this precision")]
    let value = value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
    value.to_bits().into()
}

#[cfg(test)]
mod tests;
