//! Which operators and modules recorded the kernels of a graph that is replayed.

use std::collections::BTreeMap;

use super::device_timeline::DeviceWork;
use super::graph_captures::{CapturedRow, GraphCaptures, INDUCTOR, NONE};
use super::host_rows::MOST_AROUND;
use super::launch_coverage::is_graph;
use super::{DeviceTimeline, HostKind, Owners, TraceContext};
use crate::import::chrome::{Inputs, Meanings, Trace};

/// Kernels of replays with what was around the launches that they were recorded from. All kernels that a replay ran on a device, in order of
/// time, have to be those of launches that follow each other on a thread, by name and order.
///
/// ```text
/// recorded   mm |a|   add |b|   mm |a|        a recording of a graph, or the same calls outside of one
/// replay     |graph launch|
/// device         |-- a --|b|- a -|            mm, add, mm
/// ```
///
/// Where several fit, only what all of them have around a kernel is taken, from the inside on.
#[derive(Clone, Debug, Default)]
pub(super) struct GraphReplays {
    captures: GraphCaptures,
    /// Of each piece of work, by its place in `Trace::work`, the innermost captured row, [`NONE`] or [`NOT_REPLAYED`]; empty without
    /// replays.
    rows: Vec<u32>,
}

/// The work was not launched by a graph.
const NOT_REPLAYED: u32 = NONE - 1;

/// A recording may have this much more than a replay of it in the trace: profilers lose the last kernel of a graph. One in so many.
const MOST_LOST: usize = 20;
/// Fewer kernels than this may follow each other in the same order by chance, where no graph is recorded.
const LEAST_ALIKE: usize = 8;
/// Comparisons of names, after which what other replays are is not known. A trace of 100,000 launches and 160 different graphs takes so many.
const MOST_STEPS: usize = 1 << 24;
/// A row that is kept counts as so many of these.
const STEPS_OF_ROW: usize = 64;

impl GraphReplays {
    /// Of all work. O(n log n), but for [`MOST_STEPS`].
    pub(super) fn new(
        trace: &Trace,
        timelines: &[DeviceTimeline],
        owners: &Owners,
        mut captures: GraphCaptures,
    ) -> Self {
        if !trace.names.iter().any(is_graph) {
            return Self::default();
        }
        captures.add(trace, timelines, owners);
        let mut rows = vec![NOT_REPLAYED; trace.work.len()];
        let is_inductors = trace.names.iter().map(|name| name.starts_with(INDUCTOR)).collect();
        let mut search = Search { captures, is_inductors, n_steps: MOST_STEPS };
        let mut known: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        for kernels in timelines.iter().map(|timeline| replayed(trace, timeline)) {
            for replay in kernels.chunk_by(|a, b| a.0 == b.0) {
                let known = known.entry(replay.iter().map(|(_, work)| work.name).collect());
                let found = known.or_insert_with_key(|names| {
                    search.rows_of(names).unwrap_or_else(|| vec![NONE; names.len()])
                });
                for ((_, work), found) in replay.iter().zip(found) {
                    if let Some(row) = rows.get_mut(work.origin as usize) {
                        *row = *found;
                    }
                }
            }
        }
        Self { captures: search.captures, rows }
    }

    /// The innermost captured row around what recorded a piece of work; `None` when it was not replayed, or this is not known.
    pub(super) fn row_of(&self, work: &DeviceWork) -> Option<u32> {
        let row = self.rows.get(work.origin as usize).copied();
        row.filter(|row| !matches!(*row, NONE | NOT_REPLAYED))
    }

    /// Its launch, and what was around when that was recorded: work with the same of both has the same owners.
    pub(super) fn place_of(&self, work: &DeviceWork) -> Option<(u32, Option<u32>)> {
        Some((work.launch?, self.row_of(work)))
    }

    /// It is a kernel that a graph launched.
    pub(super) fn is_replayed(&self, work: &DeviceWork) -> bool {
        self.rows.get(work.origin as usize).is_some_and(|row| *row != NOT_REPLAYED)
    }
}

/// Kernels that graphs launched, with their launch: by that, and then in order of time.
fn replayed<'a>(trace: &Trace, timeline: &'a DeviceTimeline) -> Vec<(u32, &'a DeviceWork)> {
    let mut graphs = Meanings::new(&trace.names);
    let kernels = timeline.work.iter().filter(|work| work.kind.is_kernel());
    let replayed = kernels.filter_map(|work| {
        let launch = work.launch?;
        let is_graph = graphs.of(trace.rows.name_of(launch)?, is_graph)?;
        is_graph.then_some((launch, work))
    });
    let mut replayed: Vec<_> = replayed.collect();
    replayed.sort_by_key(|(launch, _)| *launch);
    replayed
}

/// Looks for the launches of replays.
struct Search {
    captures: GraphCaptures,
    /// Of each name, whether it is that of a kernel of Inductor.
    is_inductors: Vec<bool>,
    /// Comparisons that are left.
    n_steps: usize,
}

impl Search {
    /// Of each of a replay's kernels the innermost row around it. Recordings count before what was launched outside of them.
    fn rows_of(&mut self, kernels: &[u32]) -> Option<Vec<u32>> {
        for is_recording in [true, false] {
            let mut found: Option<Vec<u32>> = None;
            for place in self.places(kernels, is_recording)? {
                let launches = self.captures.launches.iter().skip(place).take(kernels.len());
                let around: Vec<u32> = launches.map(|launch| launch.around).collect();
                let found = found.get_or_insert_with(|| around.clone());
                for (row, other) in found.iter_mut().zip(around) {
                    *row = self.alike(*row, other)?;
                }
            }
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The first of launches that are those of these kernels, one after the other; `None` when not all were looked at.
    fn places(&mut self, kernels: &[u32], is_recording: bool) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        let GraphCaptures { recordings, others, launches: all, .. } = &self.captures;
        for list in if is_recording { recordings } else { others } {
            self.n_steps = self.n_steps.checked_sub(1)?;
            let launches = all.get(list.clone())?;
            let n_lost = launches.len().saturating_sub(kernels.len());
            let is_lost = is_recording && n_lost > launches.len() / MOST_LOST;
            if is_lost || !is_recording && kernels.len() < LEAST_ALIKE {
                continue;
            }
            for (at, following) in (list.start..).zip(launches.windows(kernels.len())) {
                let pairs = following.iter().map(|launch| launch.kernel).zip(kernels);
                let n_same = pairs.take_while(|(one, kernel)| self.is_same(*one, **kernel)).count();
                self.n_steps = self.n_steps.checked_sub(n_same + 1)?;
                places.extend((n_same == kernels.len()).then_some(at));
            }
        }
        Some(places)
    }

    fn is_same(&self, recorded: u32, kernel: u32) -> bool {
        let is_inductors = self.is_inductors.get(kernel as usize) == Some(&true);
        recorded == kernel || recorded == NONE && !is_inductors
    }

    /// What is around two launches as far as names and inputs are the same, from the inside on; `None` after too many steps.
    fn alike(&mut self, a: u32, b: u32) -> Option<u32> {
        let mut alike: Vec<CapturedRow> = Vec::new();
        let (mut one, mut other) = (a, b);
        // Around the same row is the same.
        while one != other && one != NONE {
            let (row, same) = (*self.captures.row(one)?, self.captures.row(other));
            let is_same = |other: &&CapturedRow| {
                (row.name, row.kind, row.inputs) == (other.name, other.kind, other.inputs)
            };
            let Some(same) = same.filter(is_same) else {
                self.n_steps = self.n_steps.checked_sub(alike.len() * STEPS_OF_ROW)?;
                let copied = alike.into_iter().rev();
                let captures = &mut self.captures;
                return Some(
                    copied.fold(NONE, |around, row| captures.push(CapturedRow { around, ..row })),
                );
            };
            alike.push(row);
            (one, other) = (row.around, same.around);
            self.n_steps = self.n_steps.checked_sub(1)?;
        }
        Some(a)
    }
}

/// What is around the launch of a piece of work: a row of the trace, or of what a graph was recorded from, once for each replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Around {
    Row(u32),
    Captured { replay: u32, row: u32 },
}

impl TraceContext<'_> {
    /// Operators, ranges, calls and modules around what launched a piece of work, from the inside to the outside. Of a replay those of
    /// its recording come first, as far as they are known.
    pub(super) fn around_launch(&self, work: &DeviceWork) -> impl Iterator<Item = Around> + '_ {
        let captures = &self.replays.captures;
        let known = |row: &u32| *row != NONE;
        let next = move |row: &u32| captures.row(*row).map(|row| row.around).filter(known);
        let captured = std::iter::successors(self.replays.row_of(work), next).take(MOST_AROUND);
        let replay = work.launch.unwrap_or(NONE);
        let captured = captured.map(move |row| Around::Captured { replay, row });
        let own = work.launch.into_iter().flat_map(|launch| self.owners.around(launch));
        captured.chain(own.map(Around::Row))
    }

    /// The trace has inputs of operators, or the recordings of its graphs have.
    pub(super) fn has_inputs(&self) -> bool {
        let captured = &self.replays.captures.rows;
        !self.trace.inputs.is_empty() || captured.iter().any(|row| row.inputs.is_some())
    }

    /// Likewise calls of modules.
    pub(super) fn has_modules(&self) -> bool {
        let captured = &self.replays.captures.rows;
        self.owners.has_modules() || captured.iter().any(|row| row.kind == Some(HostKind::Module))
    }

    /// What it is.
    pub(super) fn kind_around(&self, around: Around) -> Option<HostKind> {
        match around {
            Around::Row(row) => self.owners.kind(self.trace, row),
            Around::Captured { row, .. } => self.replays.captures.row(row)?.kind,
        }
    }

    /// Its name, by number.
    pub(super) fn name_around(&self, around: Around) -> Option<u32> {
        match around {
            Around::Row(row) => self.trace.rows.name_of(row),
            Around::Captured { row, .. } => Some(self.replays.captures.row(row)?.name),
        }
    }

    /// The inputs of an operator; `None` when the trace does not say them.
    pub(super) fn inputs_around(&self, around: Around) -> Option<Inputs> {
        match around {
            Around::Row(row) => self.trace.inputs_of(row),
            Around::Captured { row, .. } => self.replays.captures.row(row)?.inputs,
        }
    }
}
