//! What did the end of the trace wait for? The one chain of host and device work that no moment of it could have been shorter
//! without.

mod activity;
mod events;
mod past;
mod queues;
mod sums;
mod threads;
mod walk;

use serde::Serialize;

use super::{DeviceTimeline, DeviceWork, TraceContext, device_timelines};
use crate::import::chrome::Trace;
use crate::intervals::Interval;
use events::Events;
use queues::Queues;
use sums::Sums;
use threads::Threads;
use walk::{Position, Walk};

/// The critical path of one document, from its first event to its last. Found backwards: at each moment it is where
/// the next part of it was waited for.
///
/// ```text
/// thread    |--op--|launch a|--op--|launch b|     |synchronise    |-op-|
/// stream                 |---a---|       |-----b-----------|
///
/// path      |--op--|launch a|--op--|launch b|----b---------|s|-op-|
///                                                           ╰ from the end of b to the return of the call
/// ```
///
/// Its segments neither overlap nor leave anything out: together they are the window, to the nanosecond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticalPath {
    /// Which document of the file: 0 for the first. Clocks of several are not compared.
    pub document: u32,
    /// When the window begins: nanoseconds after the first event of the trace.
    pub start_ns: u64,
    /// From there to the end of what ended last: of work, and of threads that launched any. Of a part: of what began or was
    /// launched in it.
    pub length_ns: u64,
    /// Segments of the path.
    pub n_segments: u64,
    /// How the path was spent, the kind that took most first.
    pub kinds: Vec<PathKindTime>,
    /// What it was spent in, likewise.
    pub names: Vec<PathNameTime>,
    /// Where, likewise.
    pub places: Vec<PathPlaceTime>,
    /// Its longest segments, the longest first.
    pub longest: Vec<LongSegment>,
}

/// What went on in a part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// An operator of torch ran on the host, outside of calls of the runtime.
    Operator,
    /// A Python function, outside of operators.
    Python,
    /// A range that the program named, and nothing in it that the trace has.
    Annotation,
    /// A call of the runtime or driver that did not wait for a device.
    Call,
    /// A thread between its rows: code that the trace does not have, or a wait that it does not tell.
    Untraced,
    /// From the end of the call that launched work to the beginning of the work, where the device was free before that.
    LaunchDelay,
    /// A kernel computed.
    Compute,
    /// A kernel talked to other devices.
    Communication,
    /// A copy or a fill.
    Copy,
    /// A call waited for a device: from the end of the work to the return of the call.
    Synchronisation,
    /// A device had the work, and its stream and all that it was told to wait for were done: nothing in the trace says why it
    /// did not begin.
    Waiting,
}

impl PathKind {
    /// The host was at work, or nobody knows better.
    pub fn is_host(self) -> bool {
        matches!(
            self,
            Self::Operator | Self::Python | Self::Annotation | Self::Call | Self::Untraced
        )
    }
}

/// Where a part of a path was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathPlace {
    /// Not known.
    Nowhere,
    /// On a thread: an index into the tracks.
    Thread(u32),
    /// On a stream of a device, by a number of the path's own.
    Stream(u32),
}

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSegment {
    /// When it began: nanoseconds after the first event of the trace.
    pub start_ns: u64,
    /// Likewise; after `start_ns`.
    pub end_ns: u64,
    /// What went on.
    pub kind: PathKind,
    /// The name of what it was spent in, by number; of time in nothing, of what came next. None when it is not in `Trace::names`.
    pub name: u32,
    /// Where.
    pub place: PathPlace,
}

/// All segments of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PathKindTime {
    /// Which.
    pub kind: PathKind,
    /// How many.
    pub n_segments: u64,
    /// All of them together.
    pub total_ns: u64,
    /// Share of the path, 0 to 1; `None` when that has no length.
    pub ratio: Option<f64>,
}

/// All segments of a kind and a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathNameTime {
    /// What went on.
    pub kind: PathKind,
    /// In what; of time in nothing, before what.
    pub name: String,
    /// How many.
    pub n_segments: u64,
    /// All of them together.
    pub total_ns: u64,
    /// The longest of them.
    pub longest_ns: u64,
    /// Share of the path, 0 to 1; `None` when that has no length.
    pub ratio: Option<f64>,
}

/// The part of a path that was on a thread or a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathPlaceTime {
    /// The device as the trace calls it; `None` for the host.
    pub device: Option<String>,
    /// The thread or stream as the trace calls it; `None` when it is not known.
    pub thread_or_stream: Option<String>,
    /// How many segments.
    pub n_segments: u64,
    /// All of them together.
    pub total_ns: u64,
    /// Share of the path, 0 to 1; `None` when that has no length.
    pub ratio: Option<f64>,
}

/// A segment, as it is shown by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LongSegment {
    /// When it began: nanoseconds after the first event of the trace.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// What went on.
    pub kind: PathKind,
    /// In what; of time in nothing, before what.
    pub name: String,
    /// The device as the trace calls it; `None` for the host.
    pub device: Option<String>,
    /// The thread or stream as the trace calls it; `None` when it is not known.
    pub thread_or_stream: Option<String>,
}

/// The critical path of each document in which anything happened. Sorts the work twice, and takes a few steps for each row on
/// the path: O(n log n), 20 bytes a piece of work.
pub fn critical_path(context: &TraceContext<'_>) -> Vec<CriticalPath> {
    let mut paths = Vec::new();
    each_walk(context, |document, walk, from| {
        let mut sums = Sums::new(walk);
        walk.back(from, |segment| sums.add(segment));
        paths.push(sums.path(document));
    });
    paths
}

/// The segments of the critical path of a document, in order of time; empty when nothing happened in it.
pub fn critical_path_segments(context: &TraceContext<'_>, document: u32) -> Vec<PathSegment> {
    let mut segments = Vec::new();
    each_walk(context, |of, walk, from| {
        if of == document {
            walk.back(from, |segment| segments.push(segment));
        }
    });
    segments.reverse();
    segments
}

fn each_walk(context: &TraceContext<'_>, mut found: impl FnMut(u32, &Walk<'_>, Position)) {
    let trace = context.trace;
    // A part can wait for work of what came before it.
    let whole = context.scope.is_some().then(|| device_timelines(trace));
    let timelines = whole.as_ref().unwrap_or(&context.timelines);
    let documents = trace
        .tracks
        .processes
        .iter()
        .map(|process| process.document);
    let documents: std::collections::BTreeSet<u32> = documents.collect();
    for document in documents {
        let is_asked = |scope: &super::Scope| scope.document == document;
        if !context.scope.as_ref().is_none_or(is_asked) {
            continue;
        }
        let here = timelines
            .iter()
            .filter(|timeline| of_document(trace, timeline) == document);
        let queues = Queues::new(trace, here);
        let mut walk = Walk {
            trace,
            events: Events::new(trace, document, &queues),
            threads: Threads::new(trace, &context.host, document),
            queues,
            window: Interval {
                start_ns: 0,
                end_ns: 0,
            },
        };
        if let Some((window, from)) = ends(context, &walk) {
            walk.window = window;
            found(document, &walk, from);
        }
    }
}

/// The window, and what ends last in it; of equals a thread.
fn ends(context: &TraceContext<'_>, walk: &Walk<'_>) -> Option<(Interval, Position)> {
    let trace = context.trace;
    let mut window: Option<(Interval, Position)> = None;
    let mut widen = |time: Interval, position| match &mut window {
        None => window = Some((time, position)),
        Some((window, from)) => {
            window.start_ns = window.start_ns.min(time.start_ns);
            if time.end_ns > window.end_ns {
                window.end_ns = time.end_ns;
                *from = position;
            }
        }
    };
    let launching = walk.queues.launching_tracks(trace);
    for track in walk.threads.leading(&launching) {
        for row in context.host.of_track(track) {
            if context.has_row(*row) {
                let (start_ns, end_ns) = (trace.rows.start_of(*row), trace.rows.end_ns(*row));
                widen(Interval { start_ns, end_ns }, Position::Thread(track));
            }
        }
    }
    let is_asked = |work: &DeviceWork| {
        let scope = context.scope.as_ref();
        scope.is_none_or(|scope| scope.has_work(trace, work))
    };
    if let Some(at) = walk.queues.last_where(is_asked) {
        let start_ns = walk.queues.first_start_where(is_asked).unwrap_or_default();
        let end_ns = walk.queues.get(at)?.work.end_ns;
        widen(Interval { start_ns, end_ns }, Position::Work(at));
    }
    window
}

fn of_document(trace: &Trace, timeline: &DeviceTimeline) -> u32 {
    let process = trace.tracks.processes.get(timeline.process as usize);
    process.map_or(0, |process| process.document)
}
