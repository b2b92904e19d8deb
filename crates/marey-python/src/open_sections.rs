//! What is open of one object that can be entered again while it is open: by the code inside, by other tasks, by other threads.
//!
//! ```text
//! task 1   ├──────────────┤
//! task 2        ├─────────────────┤     the same object; each end belongs to the beginning of its own task
//! ```

use marey::{Current, Lane, NameId, NodeKind, Slot};
use pyo3::prelude::*;

use crate::guarded::guarded;
use crate::open_section::{OpenSection, SectionMeta};
use crate::{flow, slots, thread};

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
