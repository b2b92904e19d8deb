//! What every way of opening a section from Python shares: begin and end, on the thread's stack or in a flow of its own; and what is open of
//! one object that can be entered again while it is open: by the code inside, by other tasks, by other threads.
//!
//! ```text
//! task 1   ├──────────────┤
//! task 2        ├─────────────────┤     the same object; each end belongs to the beginning of its own task
//! ```

use marey::{Attributes, Current, Ending, Lane, NameId, NodeKind, Note, SectionKey, Slot};
use pyo3::prelude::*;

use crate::device_watch::{self, Watched};
use crate::flow::{self, Entered};
use crate::guarded::guarded;
use crate::{section_mode, session_context, slots, thread};

/// What is noted of a section besides its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectionMeta {
    /// The user's attributes.
    pub(crate) attributes: Attributes,
    /// The session that it was opened for.
    pub(crate) session: Option<u64>,
}

impl From<Attributes> for SectionMeta {
    fn from(attributes: Attributes) -> Self {
        Self { attributes, session: None }
    }
}

impl SectionMeta {
    /// There is nothing to note.
    pub(crate) fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.session.is_none()
    }

    /// Notes it of a section that has ended.
    pub(crate) fn note(self, lane: &Lane, node: u32, start_ticks: u64) {
        if self.is_empty() {
            return;
        }
        let note = Note::SectionAttributes { node, start_ticks, attributes: self.attributes };
        lane.recorder().note_in(self.session, &note);
    }
}

/// A section that is open: what its end needs to know.
#[derive(Debug, Default)]
pub(crate) struct OpenSection {
    slow: Option<Box<SlowState>>,
}

/// What only some sections have.
#[derive(Debug, Default)]
struct SlowState {
    /// In another flow than the thread's own stack.
    entered: Option<Entered>,
    /// The session that it belongs to without its being noted, as long as that goes on; node and start of the section.
    implied: Option<(u64, u32, u64)>,
    /// While sections are watched; node and start of the section.
    watched: Option<(Watched, u32, u64)>,
}

impl OpenSection {
    /// Opens a section in `slot`. Returns it, its node and its start in ticks.
    #[inline]
    pub(crate) fn begin(
        py: Python<'_>,
        lane: &Lane,
        slot: Slot,
        name: NameId,
        kind: NodeKind,
    ) -> (Self, u32, u64) {
        if section_mode::is_watched() {
            return Self::begin_watched(py, lane, slot, name, kind);
        }
        Self::begin_unwatched(py, lane, slot, name, kind)
    }

    /// As [`Self::begin`], and nothing is watched of it.
    #[inline]
    pub(crate) fn begin_unwatched(
        py: Python<'_>,
        lane: &Lane,
        slot: Slot,
        name: NameId,
        kind: NodeKind,
    ) -> (Self, u32, u64) {
        if flow::is_own_stack(py) {
            let node = lane.node(name, kind, false);
            let start = lane.enter(slot, node, 0);
            if flow::is_visiting(py) {
                let session = guarded(|| session_context::of_visited(py, lane));
                Self::note_session(py, lane, (node, start), session);
            }
            return (Self::default(), node, start);
        }
        Self::begin_in_flow(py, lane, slot, name, kind)
    }

    #[cold]
    fn begin_watched(
        py: Python<'_>,
        lane: &Lane,
        slot: Slot,
        name: NameId,
        kind: NodeKind,
    ) -> (Self, u32, u64) {
        let watched = guarded(|| device_watch::begin(py, lane, name));
        let (mut open, node, start) = Self::begin_unwatched(py, lane, slot, name, kind);
        if let Some(watched) = watched {
            open.slow.get_or_insert_default().watched = Some((watched, node, start));
        }
        (open, node, start)
    }

    #[cold]
    fn begin_in_flow(
        py: Python<'_>,
        lane: &Lane,
        slot: Slot,
        name: NameId,
        kind: NodeKind,
    ) -> (Self, u32, u64) {
        guarded(|| {
            let (mut node, mut start) = (0, 0);
            let mut outermost_in = None;
            let entered = flow::enter(py, lane, |is_detached, flow| {
                node = lane.node(name, kind, is_detached);
                start = lane.enter(slot, node, flow);
                outermost_in = is_detached.then_some(flow);
            });
            // What lies within it is then known to be the session's, too.
            let session = outermost_in.and_then(|flow| session_context::inherited(py, lane, flow));
            Self::note_session(py, lane, (node, start), session);
            let slow = SlowState { entered: Some(entered), ..SlowState::default() };
            let slow = Some(Box::new(slow));
            (Self { slow }, node, start)
        })
    }

    /// Says whose it is, where nothing else does.
    fn note_session(py: Python<'_>, lane: &Lane, (node, start): (u32, u64), session: Option<u64>) {
        if session.is_some() {
            session_context::note_said(py, session);
            let meta = SectionMeta { session, ..SectionMeta::default() };
            meta.note(lane, node, start);
        }
    }

    /// Notes what there is to note of it, which was just opened. Where it lies in the one session that is open, and has nothing else, that is
    /// noted only if the session ends before it does.
    pub(crate) fn note(
        &mut self,
        py: Python<'_>,
        lane: &Lane,
        meta: SectionMeta,
        (node, start_ticks): (u32, u64),
    ) {
        match meta.session {
            Some(session)
                if meta.attributes.is_empty() && session_context::is_alone(py, lane, session) =>
            {
                self.slow.get_or_insert_default().implied = Some((session, node, start_ticks));
            }
            session => {
                session_context::note_said(py, session);
                meta.note(lane, node, start_ticks);
            }
        }
    }

    /// Its end is more than a record: it was opened in another flow than the thread's own stack, or is watched.
    pub(crate) fn has_slow_end(&self) -> bool {
        self.slow.is_some()
    }

    /// Ends and records it. The slot is free again before any code of Python runs.
    #[inline]
    pub(crate) fn end(self, py: Python<'_>, lane: &Lane, slot: Slot, is_failed: bool) {
        let ending = Ending { is_failed, ..Ending::default() };
        match self.slow {
            None => lane.exit(slot, ending),
            Some(slow) => guarded(|| slow.end(py, lane, slot, ending)),
        }
    }

    /// Ends it without recording: its start in ticks, its node and its flow.
    pub(crate) fn pause(self, py: Python<'_>, lane: &Lane, slot: Slot) -> Option<(u64, u32, u16)> {
        match self.slow.and_then(|slow| slow.entered) {
            None => lane.leave(slot).map(|(start, node)| (start, node, 0)),
            Some(entered) => {
                let mut left = None;
                flow::exit(py, lane, entered, |flow| {
                    left = lane.leave(slot).map(|(start, node)| (start, node, flow));
                });
                left
            }
        }
    }
}

impl SlowState {
    #[cold]
    fn end(self, py: Python<'_>, lane: &Lane, slot: Slot, ending: Ending) {
        match self.entered {
            None => lane.exit(slot, ending),
            Some(entered) => {
                flow::exit(py, lane, entered, |flow| {
                    lane.exit(slot, Ending { flow, ..ending });
                });
            }
        }
        if let Some((session, node, start_ticks)) = self.implied
            && !session_context::is_alone(py, lane, session)
        {
            let meta = SectionMeta { session: Some(session), ..SectionMeta::default() };
            meta.note(lane, node, start_ticks);
        }
        if let Some((watched, node, start_ticks)) = self.watched {
            let thread = lane.thread_number();
            let section = SectionKey { thread, node, start_ticks };
            watched.end(py, lane, section);
        }
    }
}

/// One entry of an object, until its end.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Address of the lane of the thread that entered.
    lane: usize,
    /// `None` when it could not be recorded; it is kept so that its end takes nobody else's.
    recorded: Option<Recorded>,
}

#[derive(Debug)]
struct Recorded {
    slot: Slot,
    open: OpenSection,
    start: u64,
}

impl Entry {
    /// Opens a section; counted when that is impossible.
    pub(crate) fn begin(
        py: Python<'_>,
        name: Option<NameId>,
        kind: NodeKind,
        meta: &SectionMeta,
    ) -> Self {
        guarded(|| {
            let lane = thread::lane(py)?;
            let recorded = name.and_then(|name| {
                let Some(slot) = slots::take(py) else {
                    lane.recorder().count_unrecorded();
                    return None;
                };
                let (mut open, node, start) = OpenSection::begin(py, lane, slot, name, kind);
                if !meta.is_empty() {
                    open.note(py, lane, meta.clone(), (node, start));
                }
                Some(Recorded { slot, open, start })
            });
            let lane = address(lane);
            Some(Self { lane, recorded })
        })
        .unwrap_or(Self { lane: 0, recorded: None })
    }

    /// Ends the section: its start and end in ticks, `None` if it was not recorded.
    pub(crate) fn end(self, py: Python<'_>, is_failed: bool) -> Option<(u64, u64)> {
        let Recorded { slot, open, start } = self.recorded?;
        let end = marey::ticks().max(start);
        let is_recorded = guarded(|| {
            thread::lane_for_end(py).map(|lane| open.end(py, lane, slot, is_failed)).is_some()
        });
        slots::give(py, slot);
        is_recorded.then_some((start, end))
    }
}

/// Who ends a section: the calling thread, and what is current in it or its task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Address of the thread's lane; 0 for none.
    lane: usize,
    current: Option<Current>,
}

impl Caller {
    pub(crate) fn of(py: Python<'_>) -> Self {
        let lane = thread::lane_for_end(py);
        Self { lane: lane.map_or(0, address), current: lane.map(|lane| flow::current(py, lane)) }
    }

    /// The section in this slot is the caller's current one.
    pub(crate) fn is_in(&self, slot: Slot) -> bool {
        self.current.is_some_and(|current| current.is_in(slot))
    }

    /// Place of the entry that an end belongs to: what is current, else the newest of the calling thread. An entry that was moved to
    /// another thread is found by nobody.
    pub(crate) fn position_in(&self, entries: &[Entry]) -> Option<usize> {
        let is_current =
            |entry: &Entry| entry.recorded.as_ref().is_some_and(|r| self.is_in(r.slot));
        match entries {
            [] => None,
            [only] if only.lane == self.lane => Some(0),
            _ => entries
                .iter()
                .rposition(is_current)
                .or_else(|| entries.iter().rposition(|entry| entry.lane == self.lane)),
        }
    }

    /// As [`Self::position_in`], or the newest of all, and takes it out.
    pub(crate) fn take_from(&self, entries: &mut Vec<Entry>) -> Option<Entry> {
        let at = self.position_in(entries).or(entries.len().checked_sub(1))?;
        Some(entries.remove(at))
    }
}

fn address(lane: &'static Lane) -> usize {
    std::ptr::from_ref(lane) as usize
}
