//! The way back from the end: what did each moment wait for?

use super::super::{DeviceWork, WorkKind};
use super::events::Events;
use super::queues::{Queues, launched_ns};
use super::threads::{Threads, ThreadsBack, may_wait};
use super::{PathKind, PathPlace, PathSegment};
use crate::import::chrome::{Class, Trace};
use crate::intervals::Interval;

/// Everything the way leads through, of one document.
pub(super) struct Walk<'a> {
    pub(super) trace: &'a Trace,
    pub(super) queues: Queues<'a>,
    pub(super) events: Events<'a>,
    pub(super) threads: Threads<'a>,
    pub(super) window: Interval,
}

/// Where the way is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
    /// On a thread, by its track.
    Thread(u32),
    /// At work of a device, by its number in the queues.
    Work(u32),
}

/// The way so far.
struct Way<F> {
    /// Everything after this is known.
    at_ns: u64,
    start_ns: u64,
    /// What the last segment was in.
    name: u32,
    found: F,
}

impl<F: FnMut(PathSegment)> Way<F> {
    /// The time from `from_ns` to where the way is was this.
    fn back_to(&mut self, from_ns: u64, kind: PathKind, name: u32, place: PathPlace) {
        let from_ns = from_ns.clamp(self.start_ns, self.at_ns);
        if from_ns < self.at_ns {
            (self.found)(PathSegment {
                start_ns: from_ns,
                end_ns: self.at_ns,
                kind,
                name,
                place,
            });
        }
        self.at_ns = from_ns;
        self.name = name;
    }
}

/// What a piece of work waited for last.
struct Cause {
    until_ns: u64,
    kind: PathKind,
    position: Option<Position>,
}

/// Steps of no duration after which synchronisations are passed over: times that contradict each other would lead in circles.
const MOST_STILL: u32 = 1_000;

impl Walk<'_> {
    /// Tells the segments from the last to the first; each ends where the one told before it begins. They fill the window.
    pub(super) fn back(&self, from: Position, found: impl FnMut(PathSegment)) {
        let mut way = Way {
            at_ns: self.window.end_ns,
            start_ns: self.window.start_ns,
            name: u32::MAX,
            found,
        };
        let mut threads = self.threads.back();
        let mut position = Some(from);
        let mut n_still = 0;
        while way.at_ns > way.start_ns {
            let before_ns = way.at_ns;
            position = match position {
                Some(Position::Work(at)) => self.leave_work(&mut way, at),
                Some(Position::Thread(track)) => {
                    let is_alone = n_still > MOST_STILL;
                    Some(self.leave_thread(&mut way, &mut threads, track, is_alone))
                }
                None => {
                    let name = way.name;
                    way.back_to(0, PathKind::Waiting, name, PathPlace::Nowhere);
                    None
                }
            };
            n_still = if way.at_ns < before_ns {
                0
            } else {
                n_still + 1
            };
        }
    }

    fn leave_work(&self, way: &mut Way<impl FnMut(PathSegment)>, at: u32) -> Option<Position> {
        let queued = self.queues.get(at)?;
        let place = PathPlace::Stream(queued.stream);
        let work = queued.work;
        way.back_to(work.start_ns, kind_of(work.kind), work.name, place);
        let cause = self.cause(at, queued.stream, work);
        way.back_to(cause.until_ns, cause.kind, work.name, place);
        cause.position
    }

    /// The last of: the work before it on the stream, what the stream was told to wait for, the call that launched it. Of
    /// equals the first of these.
    fn cause(&self, at: u32, stream: u32, work: &DeviceWork) -> Cause {
        let trace = self.trace;
        let previous = self.queues.previous(at);
        let previous_work = previous.and_then(|previous| self.queues.get(previous));
        let mut last: Option<Cause> = None;
        let mut consider = |until_ns: u64, kind, position| {
            let until_ns = until_ns.min(work.start_ns);
            if last.as_ref().is_none_or(|last| last.until_ns < until_ns) {
                let position = Some(position);
                last = Some(Cause {
                    until_ns,
                    kind,
                    position,
                });
            }
        };
        if let (Some(previous), Some(before)) = (previous, previous_work) {
            consider(
                before.work.end_ns,
                PathKind::Waiting,
                Position::Work(previous),
            );
        }
        let told_from_ns = previous_work.map_or(0, |before| launched_ns(trace, before.work));
        let told = (told_from_ns, launched_ns(trace, work));
        let told = self.events.of_stream(trace, &self.queues, stream, told);
        for (other, recorded_ns) in told {
            let until = self
                .queues
                .before_event(trace, other, recorded_ns, work.start_ns);
            if let Some((other, found)) = until.and_then(|at| Some((at, self.queues.get(at)?))) {
                consider(found.work.end_ns, PathKind::Waiting, Position::Work(other));
            }
        }
        // Work that came with its predecessor, as with a graph, was launched when that was.
        let is_launched_alone = previous_work.is_none_or(|p| p.work.launch != work.launch);
        if let Some(call) = work.launch.filter(|_| is_launched_alone) {
            let thread = Position::Thread(track_of(trace, call));
            consider(trace.rows.end_ns(call), PathKind::LaunchDelay, thread);
        }
        last.unwrap_or_else(|| self.cause_unknown(at))
    }

    /// Nothing says why the work began when it did: the way goes on at what the device did before, if anything.
    fn cause_unknown(&self, at: u32) -> Cause {
        let other = self.queues.last_of_device(at);
        let found = other.and_then(|other| self.queues.get(other));
        Cause {
            until_ns: found.map_or(0, |found| found.work.end_ns),
            kind: PathKind::Waiting,
            position: other.map(Position::Work),
        }
    }

    fn leave_thread(
        &self,
        way: &mut Way<impl FnMut(PathSegment)>,
        threads: &mut ThreadsBack<'_>,
        track: u32,
        is_alone: bool,
    ) -> Position {
        let place = PathPlace::Thread(track);
        let before = threads.before(track, way.at_ns);
        let since_ns = before.since_ns.unwrap_or_default();
        let Some(row) = before.row else {
            let name = way.name;
            let mut other = threads.waited_for(track, since_ns, way.at_ns);
            other = other.filter(|_| !is_alone);
            if before.since_ns.is_none() && other.is_none() && !is_alone {
                other = threads.starter(track, way.at_ns);
            }
            let until_ns = other.map_or(since_ns, |other| other.1);
            way.back_to(until_ns, PathKind::Untraced, name, place);
            return Position::Thread(other.map_or(track, |other| other.0));
        };
        let name = self.trace.rows.name.get(row as usize).copied();
        let name = name.unwrap_or(u32::MAX);
        if !is_alone {
            if let Some((at, end_ns)) = self.waited_for(row, since_ns, way.at_ns) {
                way.back_to(end_ns, PathKind::Synchronisation, name, place);
                return Position::Work(at);
            }
            let waits = may_wait(self.trace, row);
            let other = waits.then(|| threads.waited_for(track, since_ns, way.at_ns));
            if let Some((other, end_ns)) = other.flatten() {
                way.back_to(end_ns, kind_of_row(self.trace, row), name, place);
                return Position::Thread(other);
            }
        }
        way.back_to(since_ns, kind_of_row(self.trace, row), name, place);
        Position::Thread(track)
    }

    /// The work whose end let a call go on; `None` when it is no call that waits, or nothing ended in it.
    fn waited_for(&self, row: u32, since_ns: u64, at_ns: u64) -> Option<(u32, u64)> {
        let name = self.trace.name_of(row);
        if self.trace.class_of(row) != Class::Call || !synchronises(name) {
            return None;
        }
        let wanted = self.events.of_call(self.trace, &self.queues, row);
        let within = (since_ns, at_ns);
        let at = self.queues.last_ended(self.trace, &wanted, within)?;
        Some((at, self.queues.get(at)?.work.end_ns))
    }
}

/// A call of this name returns when the device is done: one that says so, or a copy that is not said to be asynchronous.
fn synchronises(call: &str) -> bool {
    call.contains("Synchronize") || (call.contains("Memcpy") && !call.contains("Async"))
}

fn track_of(trace: &Trace, row: u32) -> u32 {
    let track = trace.rows.track.get(row as usize).copied();
    track.unwrap_or(u32::MAX)
}

fn kind_of(work: WorkKind) -> PathKind {
    match work {
        WorkKind::Compute => PathKind::Compute,
        WorkKind::Communication => PathKind::Communication,
        WorkKind::Memcpy | WorkKind::Memset => PathKind::Copy,
    }
}

fn kind_of_row(trace: &Trace, row: u32) -> PathKind {
    match trace.class_of(row) {
        Class::Operator => PathKind::Operator,
        Class::PythonFunction => PathKind::Python,
        Class::Call => PathKind::Call,
        _ => PathKind::Annotation,
    }
}
