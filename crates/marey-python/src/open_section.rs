//! What every way of opening a section from Python shares: begin and end, on the thread's stack or in a flow of its own.

use marey::{Attributes, Ending, Lane, NameId, NodeKind, Note, SectionKey, Slot};
use pyo3::prelude::*;

use crate::flow::{self, Entered};
use crate::guarded::guarded;
use crate::section_mode;
use crate::section_watch::{self, Watched};
use crate::session_context;

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
    watched: Option<(Box<dyn Watched>, u32, u64)>,
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
        let watched = guarded(|| section_watch::begin(py, lane, name));
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
