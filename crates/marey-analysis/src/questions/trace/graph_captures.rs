//! Launches that a graph may have been recorded from, each with its kernel and what is around it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::launch_coverage::{graph_recordings, is_kernel};
use super::{DeviceTimeline, HostKind, HostRows, Owners, device_timelines};
use crate::import::chrome::{Inputs, Meanings, Trace};
use crate::intervals::{Interval, has_moment};

/// Launches whose kernels are known by name: those that were recorded into a graph, where calls say their kernels (AMD) or enough of these
/// are Inductor's, and all whose kernel is in the trace.
#[derive(Clone, Debug, Default)]
pub struct GraphCaptures {
    /// Launches that one recording of a graph holds.
    pub(super) recordings: Vec<Range<usize>>,
    /// Launches of a thread outside of recordings.
    pub(super) others: Vec<Range<usize>>,
    /// All of these, each time in order.
    pub(super) launches: Vec<CapturedLaunch>,
    /// What is around them, each once.
    pub(super) rows: Vec<CapturedRow>,
}

/// A launch: its kernel by name, [`NONE`] for any that is not Inductor's; and the innermost row around it, [`NONE`] when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CapturedLaunch {
    pub(super) kernel: u32,
    pub(super) around: u32,
}

/// An operator, range or module, whatever its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CapturedRow {
    pub(super) name: u32,
    pub(super) kind: Option<HostKind>,
    pub(super) inputs: Option<Inputs>,
    /// The row around it; [`NONE`] when there is none.
    pub(super) around: u32,
}

/// No row, no name.
pub(super) const NONE: u32 = u32::MAX;

/// How Inductor names its kernels.
pub(super) const INDUCTOR: &str = "triton_";
/// Of a recording one launch in so many has to have a name.
const LEAST_NAMED: usize = 4;

impl GraphCaptures {
    /// Those of other traces of the same program, whose names this trace takes over.
    pub fn beside(trace: &mut Trace, others: &[Trace]) -> Self {
        let mut all = Self::default();
        for other in others {
            let (n_launches, n_rows) = (all.launches.len(), all.rows.len());
            let owners = Owners::new(other, &HostRows::new(other));
            all.add(other, &device_timelines(other), &owners);
            let launches = all.launches.iter_mut().skip(n_launches);
            for launch in launches.filter(|launch| launch.kernel != NONE) {
                launch.kernel = trace.names.adopt(other.names.get(launch.kernel));
            }
            let mut text = |number: u32| trace.texts.adopt(other.texts.get(number));
            for row in all.rows.iter_mut().skip(n_rows) {
                row.name = trace.names.adopt(other.names.get(row.name));
                row.inputs = row.inputs.map(|inputs| Inputs {
                    shapes: text(inputs.shapes),
                    types: inputs.types.map(&mut text),
                    values: inputs.values.map(&mut text),
                    ..inputs
                });
            }
        }
        all
    }

    /// Takes in all of a trace. O(n log n).
    pub(super) fn add(&mut self, trace: &Trace, timelines: &[DeviceTimeline], owners: &Owners) {
        let recordings = graph_recordings(trace);
        let recording = |at_ns: u64| {
            let begun = recordings.partition_point(|recording| recording.start_ns <= at_ns);
            let latest = begun.checked_sub(1).and_then(|latest| recordings.get(latest))?;
            (at_ns < latest.end_ns).then_some(begun)
        };
        let track = |row: u32| trace.rows.track.get(row as usize).copied();
        let mut kernels = kernels_of_launches(trace, timelines);
        for (row, kernel) in unnamed_launches(trace, owners, &recordings) {
            kernels.entry(row).or_insert(kernel);
        }
        let launches = kernels.into_iter().map(|(row, kernel)| {
            let at_ns = trace.rows.start_of(row);
            (track(row), recording(at_ns), at_ns, row, kernel)
        });
        let mut launches: Vec<_> = launches.collect();
        launches.sort_unstable();
        let mut copies = BTreeMap::new();
        for list in launches.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let is_recording = list.first().is_some_and(|first| first.1.is_some());
            let n_named = list.iter().filter(|launch| launch.4 != NONE).count();
            if n_named * LEAST_NAMED < list.len() {
                continue;
            }
            let lists = if is_recording { &mut self.recordings } else { &mut self.others };
            lists.push(self.launches.len()..self.launches.len() + list.len());
            for (.., row, kernel) in list {
                let around = self.copy_around(trace, owners, *row, &mut copies);
                self.launches.push(CapturedLaunch { kernel: *kernel, around });
            }
        }
    }

    /// The copy of the innermost row around a launch; what is around it is copied, too, where it was not yet.
    fn copy_around(
        &mut self,
        trace: &Trace,
        owners: &Owners,
        launch: u32,
        copies: &mut BTreeMap<u32, u32>,
    ) -> u32 {
        let (mut missing, mut around) = (Vec::new(), NONE);
        for row in owners.around(launch) {
            if let Some(copy) = copies.get(&row) {
                around = *copy;
                break;
            }
            missing.push(row);
        }
        for row in missing.into_iter().rev() {
            let inputs = trace.inputs_of(row).map(|inputs| Inputs { row: NONE, ..inputs });
            let name = trace.rows.name_of(row).unwrap_or(NONE);
            around = self.push(CapturedRow { name, kind: owners.kind(trace, row), inputs, around });
            copies.insert(row, around);
        }
        around
    }

    pub(super) fn push(&mut self, row: CapturedRow) -> u32 {
        self.rows.push(row);
        u32::try_from(self.rows.len() - 1).unwrap_or(NONE)
    }

    pub(super) fn row(&self, row: u32) -> Option<&CapturedRow> {
        self.rows.get(row as usize)
    }
}

/// Launches by their rows, with the name of their kernel: as the call says it, or that of the only kernel that it launched.
fn kernels_of_launches(trace: &Trace, timelines: &[DeviceTimeline]) -> BTreeMap<u32, u32> {
    let work = timelines.iter().flat_map(|timeline| &timeline.work);
    let kernels = work.filter(|work| work.kind.is_kernel());
    let mut launched: Vec<(u32, u32)> =
        kernels.filter_map(|work| Some((work.launch?, work.name))).collect();
    launched.sort_unstable();
    let single = launched.chunk_by(|a, b| a.0 == b.0).filter(|of_launch| of_launch.len() == 1);
    let single = single.flatten().copied();
    let said = trace.calls.iter().filter_map(|call| Some((call.row, call.kernel?)));
    single.chain(said).collect()
}

/// Launches into recordings that say no kernel: those of Inductor's kernels have an operator with that name around them, of others it is
/// [`NONE`].
fn unnamed_launches(
    trace: &Trace,
    owners: &Owners,
    recordings: &[Interval],
) -> impl Iterator<Item = (u32, u32)> {
    let mut kernels = Meanings::new(&trace.names);
    let unnamed = trace.calls.iter().filter(|call| call.kernel.is_none());
    unnamed.map(|call| call.row).filter_map(move |row| {
        let is_launch = kernels.of(trace.rows.name_of(row)?, is_kernel)?;
        let is_recorded = is_launch && has_moment(recordings, trace.rows.start_of(row));
        let operator = owners.around(row).next().filter(|_| is_recorded);
        let operator = operator.filter(|row| trace.name_of(*row).starts_with(INDUCTOR));
        let kernel = operator.and_then(|row| trace.rows.name_of(row));
        is_recorded.then_some((row, kernel.unwrap_or(NONE)))
    })
}
