//! What every way of opening a section from Python shares: begin and end, on the thread's stack or in a task.

use marey::{Attributes, Ending, Lane, NameId, NodeKind, Note, Slot};
use pyo3::prelude::*;

use crate::device_watch::{self, Watched};
use crate::flow::{self, Entered};
use crate::guarded::guarded;

/// What is noted of a section besides its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The user's attributes.
    pub(crate) attributes: Attributes,
    /// The session that it was opened for.
    pub(crate) session: Option<u64>,
}

impl From<Attributes> for About {
    fn from(attributes: Attributes) -> Self {
        Self {
            attributes,
            session: None,
        }
    }
}

impl About {
    /// There is nothing to note.
    pub(crate) fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.session.is_none()
    }

    /// Notes it of a section that was just opened, or that has ended.
    pub(crate) fn note(self, lane: &Lane, node: u32, start_ticks: u64) {
        if self.is_empty() {
            return;
        }
        let note = Note::SectionAttributes {
            node,
            start_ticks,
            attributes: self.attributes,
        };
        lane.recorder().note_in(self.session, &note);
    }
}

/// A section that is open: what its end needs to know.
#[derive(Debug, Default)]
pub(crate) struct OpenSection {
    beside: Option<Box<Beside>>,
}

/// What only some sections have.
#[derive(Debug, Default)]
struct Beside {
    /// In an asyncio task.
    entered: Option<Entered>,
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
        if device_watch::is_on() {
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
        if flow::is_base(py) {
            let node = lane.node(name, kind, false);
            return (Self::default(), node, lane.enter(slot, node, 0));
        }
        Self::begin_in_task(py, lane, slot, name, kind)
    }

    #[cold]
    fn begin_watched(
        py: Python<'_>,
        lane: &Lane,
        slot: Slot,
        name: NameId,
        kind: NodeKind,
    ) -> (Self, u32, u64) {
        let watched = guarded(|| Watched::begin(py, lane));
        let (mut open, node, start) = Self::begin_unwatched(py, lane, slot, name, kind);
        if let Some(watched) = watched {
            open.beside.get_or_insert_default().watched = Some((watched, node, start));
        }
        (open, node, start)
    }

    #[cold]
    fn begin_in_task(
        py: Python<'_>,
        lane: &Lane,
        slot: Slot,
        name: NameId,
        kind: NodeKind,
    ) -> (Self, u32, u64) {
        guarded(|| {
            let (mut node, mut start) = (0, 0);
            let entered = flow::enter(py, lane, |is_detached, flow| {
                node = lane.node(name, kind, is_detached);
                start = lane.enter(slot, node, flow);
            });
            let beside = Beside {
                entered: Some(entered),
                watched: None,
            };
            let beside = Some(Box::new(beside));
            (Self { beside }, node, start)
        })
    }

    /// Whether its end is more than a record: it was opened in an asyncio task, or is watched.
    pub(crate) fn is_more(&self) -> bool {
        self.beside.is_some()
    }

    /// Ends and records it.
    #[inline]
    pub(crate) fn end(self, py: Python<'_>, lane: &Lane, slot: Slot, is_failed: bool) {
        let ending = Ending {
            is_failed,
            ..Ending::default()
        };
        match self.beside {
            None => lane.exit(slot, ending),
            Some(beside) => guarded(|| beside.end(py, lane, slot, ending)),
        }
    }

    /// Ends it without recording: its start in ticks, its node and its flow.
    pub(crate) fn pause(self, py: Python<'_>, lane: &Lane, slot: Slot) -> Option<(u64, u32, u16)> {
        match self.beside.and_then(|beside| beside.entered) {
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

impl Beside {
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
        if let Some((watched, node, start)) = self.watched {
            watched.end(py, lane, node, start);
        }
    }
}
