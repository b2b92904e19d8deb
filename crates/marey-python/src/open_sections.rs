//! What is open of one object that can be entered again while it is open: by the code inside, by other tasks, by other threads.
//!
//! ```text
//! task 1   ├──────────────┤
//! task 2        ├─────────────────┤     the same object; each end belongs to the beginning of its own task
//! ```

use marey::{Lane, NameId, NodeKind, Slot};
use pyo3::prelude::*;

use crate::guarded::guarded;
use crate::open_section::{About, OpenSection};
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
        about: &About,
    ) -> Self {
        guarded(|| {
            let lane = thread::lane(py)?;
            let recorded = name.and_then(|name| {
                let Some(slot) = slots::take(py) else {
                    lane.recorder().count_unrecorded();
                    return None;
                };
                let (open, node, start) = OpenSection::begin(py, lane, slot, name, kind);
                if !about.is_empty() {
                    about.clone().note(lane, node, start);
                }
                Some(Recorded { slot, open, start })
            });
            let lane = address(lane);
            Some(Self { lane, recorded })
        })
        .unwrap_or(Self {
            lane: 0,
            recorded: None,
        })
    }

    /// Ends the section: its start and end in ticks, `None` if it was not recorded.
    pub(crate) fn end(self, py: Python<'_>, is_failed: bool) -> Option<(u64, u64)> {
        let Recorded { slot, open, start } = self.recorded?;
        let end = marey::ticks().max(start);
        let is_recorded = guarded(|| {
            thread::lane_for_end(py)
                .map(|lane| open.end(py, lane, slot, is_failed))
                .is_some()
        });
        slots::give(py, slot);
        is_recorded.then_some((start, end))
    }
}

/// Place of the entry that an end belongs to: what is current in the calling thread or task, else the newest of the calling thread.
/// An entry that was moved to another thread is found by nobody.
pub(crate) fn position_of_mine(py: Python<'_>, entries: &[Entry]) -> Option<usize> {
    let lane = thread::lane_for_end(py);
    let mine = lane.map_or(0, address);
    let is_current = |entry: &Entry| {
        let current = lane.map(|lane| flow::current(py, lane));
        current
            .zip(entry.recorded.as_ref())
            .is_some_and(|(current, recorded)| current.is_in(recorded.slot))
    };
    match entries {
        [] => None,
        [only] if only.lane == mine => Some(0),
        _ => entries
            .iter()
            .rposition(is_current)
            .or_else(|| entries.iter().rposition(|entry| entry.lane == mine)),
    }
}

/// As [`position_of_mine`], or the newest of all, and takes it out.
pub(crate) fn take_mine(py: Python<'_>, entries: &mut Vec<Entry>) -> Option<Entry> {
    let at = position_of_mine(py, entries).or(entries.len().checked_sub(1))?;
    Some(entries.remove(at))
}

fn address(lane: &'static Lane) -> usize {
    std::ptr::from_ref(lane) as usize
}
