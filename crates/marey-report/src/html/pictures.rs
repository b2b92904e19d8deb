//! What the pictures of a run draw beside its slices and curves: lists over time, of long ones evenly spread entries.

use std::borrow::Cow;
use std::collections::BTreeSet;

use marey_analysis::{
    CacheUse, Diffusion, GpuTimes, Kind, Memory, SectionRow, StepPoint, Telemetry,
};
use serde::Serialize;

use super::snapshots::{DrawnSnapshot, drawn};
use crate::model::{
    AttributedCallFacts, CacheMoment, EventMoment, NamedValues, Report, SessionFacts,
};
use crate::quantity::counted;

/// Entries of a list, tried one after the other until all is small enough.
const LIMITS: [usize; 5] = [4_000, 1_000, 250, 60, 16];
/// Of all lists as JSON.
const MAX_BYTES: usize = 2_000_000;
/// Without a parent a call path would stand in a wrong place, so they are kept whatever the limit: as many as a recorder
/// tells apart by default.
const MAX_CALL_PATHS: usize = 4_096;
/// Losses of which the timeline knows nothing.
const NOT_DRAWN: [&str; 2] = ["sections_ring_full", "sections_not_written"];

/// What pictures of a run draw.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Pictures<'a> {
    wall_ns: u64,
    how_measured: &'a str,
    /// What the timeline does not have.
    not_drawn: Vec<String>,
    /// Call paths, those above before those under them.
    call_paths: Vec<CallPath<'a>>,
    events: Vec<&'a EventMoment>,
    sessions: Vec<Session<'a>>,
    calls: Vec<AttributedCallFacts>,
    diffusion: Option<Cow<'a, Diffusion>>,
    caches: &'a [CacheUse],
    cache_events: Vec<&'a CacheMoment>,
    memory: Option<Cow<'a, Memory>>,
    telemetry: Telemetry,
    snapshots: Vec<DrawnSnapshot<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct CallPath<'a> {
    node: u32,
    parent: Option<u32>,
    name: &'a str,
    kind: Kind,
    is_detached: bool,
    inclusive_ns: u64,
    self_ns: Option<u64>,
    n_calls: u64,
    n_open: u64,
    mean_ns: Option<f64>,
    max_ns: Option<u64>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Session<'a> {
    name: &'a str,
    start_ns: u64,
    tags: &'a NamedValues,
}

impl<'a> Pictures<'a> {
    /// Of this report.
    pub(super) fn new(report: &'a Report) -> Self {
        let [most, fewer @ ..] = LIMITS;
        let mut all = pictures(report, most);
        let max_bytes = MAX_BYTES + super::json(&all.call_paths).len();
        for limit in fewer {
            if super::json(&all).len() <= max_bytes {
                break;
            }
            all = pictures(report, limit);
        }
        all
    }
}

fn call_path(row: &SectionRow) -> CallPath<'_> {
    CallPath {
        node: row.node,
        parent: row.parent,
        name: &row.name,
        kind: row.kind,
        is_detached: row.is_detached,
        inclusive_ns: row.inclusive_ns,
        self_ns: row.self_ns,
        n_calls: row.calls.count,
        n_open: row.open.as_ref().map_or(0, |open| open.count),
        mean_ns: row.calls.mean_ns,
        max_ns: row.calls.max_ns,
    }
}

fn pictures(report: &Report, limit: usize) -> Pictures<'_> {
    let paths = report.sections.tree.iter().take(MAX_CALL_PATHS);
    let activity = &report.activity;
    let caches = activity.caches.as_ref();
    let diffusion = activity.diffusion.as_ref();
    let sessions = evenly_of(&report.sessions, limit).into_iter();
    let calls = evenly_of(&report.attributes.calls, limit).into_iter();
    Pictures {
        wall_ns: report.run.wall_ns,
        how_measured: &report.quality.how_measured,
        not_drawn: not_drawn(report),
        call_paths: paths.map(call_path).collect(),
        events: evenly_of(&activity.events, limit),
        sessions: sessions.map(session).collect(),
        calls: calls.map(AttributedCallFacts::new).collect(),
        diffusion: diffusion.map(|found| shortened(found, limit)),
        caches: caches.map_or(&[], |caches| &caches.each),
        cache_events: evenly_of(&activity.cache_timeline, limit),
        memory: report.memory.as_ref().map(|memory| readings(memory, limit)),
        telemetry: without_points(&activity.telemetry),
        snapshots: drawn(&report.snapshot_files, limit, true),
    }
}

fn session(found: &SessionFacts) -> Session<'_> {
    Session { name: &found.name, start_ns: found.start_ns, tags: &found.tags }
}

fn not_drawn(report: &Report) -> Vec<String> {
    let losses = report.quality.losses.iter();
    let missing = losses.filter(|loss| NOT_DRAWN.contains(&loss.kind));
    let mut notes: Vec<String> = missing
        .map(|loss| format!("{} {}: the timeline does not have them.", loss.count, loss.meaning))
        .collect();
    let n_without_place = report.gpu_times.as_ref().map_or(0, n_without_place);
    if n_without_place > 0 {
        let (one, several) = ("call measured on a GPU is", "calls measured on a GPU are");
        let calls = counted(n_without_place, one, several);
        notes.push(format!("{calls} not drawn there: when the work began is not known."));
    }
    notes
}

/// Calls of which it is known how long they took on the GPU, and not when.
fn n_without_place(times: &GpuTimes) -> u64 {
    let each = times.sections.iter().map(|row| {
        let placed = row.delay.as_ref().map_or(0, |delay| delay.count);
        row.gpu.count.saturating_sub(placed)
    });
    each.sum()
}

/// Columns have what it was over time.
fn without_points(telemetry: &Telemetry) -> Telemetry {
    let mut short = telemetry.clone();
    short.cpu_timeline.clear();
    if let Some(gpus) = &mut short.gpus {
        gpus.timeline.clear();
    }
    short
}

fn readings(memory: &Memory, limit: usize) -> Cow<'_, Memory> {
    if memory.labelled.len() <= limit {
        return Cow::Borrowed(memory);
    }
    let labelled = evenly_of(&memory.labelled, limit).into_iter();
    Cow::Owned(Memory { labelled: labelled.cloned().collect(), ..memory.clone() })
}

/// Steps, blocks and deliveries that refer to each other as before.
fn shortened(found: &Diffusion, limit: usize) -> Cow<'_, Diffusion> {
    let steps = found.steps.as_ref().map_or(0, |steps| steps.each.len());
    let blocks = found.blocks.as_ref().map_or(0, |blocks| blocks.each.len());
    let delivery = found.delivery.as_ref().map_or(0, |found| found.each.len());
    if steps.max(blocks).max(delivery) <= limit {
        return Cow::Borrowed(found);
    }
    let mut short = found.clone();
    if let Some(steps) = &mut short.steps {
        shorten_steps(&mut steps.each, &mut steps.outliers, limit);
    }
    if let Some(blocks) = &mut short.blocks {
        let kept = evenly(blocks.each.len(), limit);
        keep(&mut blocks.each, &kept);
        let steps = short.steps.iter_mut().flat_map(|steps| &mut steps.each);
        for step in steps {
            step.block_at = step.block_at.and_then(|at| kept.binary_search(&at).ok());
        }
        for end in short.growth.iter_mut().flat_map(|growth| &mut growth.between) {
            *end = kept.partition_point(|at| at <= end).saturating_sub(1);
        }
    }
    if let Some(delivery) = &mut short.delivery {
        let kept = evenly(delivery.each.len(), limit);
        keep(&mut delivery.each, &kept);
    }
    Cow::Owned(short)
}

/// Outliers stay, as far as there is room, and so does what they are counted by.
fn shorten_steps(each: &mut Vec<StepPoint>, outliers: &mut Vec<usize>, limit: usize) {
    let all = each.len();
    if all <= limit {
        return;
    }
    let mut chosen: BTreeSet<usize> = outliers.iter().copied().take(limit / 2).collect();
    chosen.extend(evenly(all, limit - chosen.len()));
    let chosen: Vec<usize> = chosen.into_iter().filter(|n| *n < all).collect();
    let place = |n: &usize| chosen.binary_search(n).ok();
    *outliers = outliers.iter().filter_map(place).collect();
    keep(each, &chosen);
}

fn evenly_of<T>(list: &[T], limit: usize) -> Vec<&T> {
    let places = evenly(list.len(), limit).into_iter();
    places.filter_map(|at| list.get(at)).collect()
}

/// `n` places of a list of `length`, spread evenly; all when there are fewer.
fn evenly(length: usize, n: usize) -> Vec<usize> {
    if length <= n {
        return (0..length).collect();
    }
    (0..n).map(|k| k * length / n).collect()
}

/// Keeps entries at ascending places.
fn keep<T>(list: &mut Vec<T>, places: &[usize]) {
    let mut next = places.iter().peekable();
    let mut place = 0;
    list.retain(|_| {
        let is_kept = next.next_if(|kept| **kept == place).is_some();
        place += 1;
        is_kept
    });
}

#[cfg(test)]
mod tests;
