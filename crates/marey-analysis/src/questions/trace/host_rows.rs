//! How rows of the host enclose each other.

use crate::import::chrome::{Class, Trace};

/// Operators, calls, annotations and Python functions of each thread, nested by time.
///
/// ```text
/// row        |-------- a --------|        parent    self
///              |-- b --|  |-- c -----|    a: none   a - b - (the part of c that is in a)
///                |d|                      b, c: a   d: b
/// ```
///
/// A row that sticks out of the one it began in takes from that one only what they share; it is counted in `n_overlaps`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRows {
    /// Rows of the host by thread, and there by beginning, the longer first.
    order: Vec<u32>,
    /// Where the rows of each track begin and end in `order`: by track, empty for tracks without any.
    tracks: Vec<(u32, u32)>,
    /// Of each row of the trace, the row that it began in; [`NONE`] when there is none.
    parent: Vec<u32>,
    /// Of each row of the trace, its time without that of the rows in it.
    self_ns: Vec<u64>,
    /// Rows that end after the one they began in.
    pub n_overlaps: u64,
}

/// No row.
const NONE: u32 = u32::MAX;

impl HostRows {
    /// Of all rows that are things the host did. Sorts them: O(n log n).
    pub fn new(trace: &Trace) -> Self {
        let rows = &trace.rows;
        let is_host = |row: &u32| is_host(trace, *row);
        let mut order: Vec<u32> = (0_u32..).take(rows.len()).filter(is_host).collect();
        order.sort_unstable_by_key(|row| {
            let track = rows.track.get(*row as usize).copied().unwrap_or_default();
            let longest_first = u64::MAX - rows.duration_of(*row);
            (track, rows.start_of(*row), longest_first, *row)
        });
        let mut nested = Self {
            tracks: vec![(0, 0); trace.tracks.each.len()],
            parent: vec![NONE; rows.len()],
            self_ns: rows.duration_ns.clone(),
            n_overlaps: 0,
            order: Vec::new(),
        };
        let mut at = 0_u32;
        let same_track =
            |a: &u32, b: &u32| rows.track.get(*a as usize) == rows.track.get(*b as usize);
        for thread in order.chunk_by(same_track) {
            let end = at.saturating_add(u32::try_from(thread.len()).unwrap_or(NONE));
            let track = thread.first().and_then(|row| rows.track.get(*row as usize));
            if let Some(place) = track.and_then(|track| nested.tracks.get_mut(*track as usize)) {
                *place = (at, end);
            }
            at = end;
            nested.nest(trace, thread);
        }
        nested.order = order;
        nested
    }

    fn nest(&mut self, trace: &Trace, thread: &[u32]) {
        let mut open: Vec<u32> = Vec::new();
        for row in thread {
            let (start_ns, end_ns) = (trace.rows.start_of(*row), trace.rows.end_ns(*row));
            while open
                .last()
                .is_some_and(|top| trace.rows.end_ns(*top) <= start_ns)
            {
                open.pop();
            }
            if let Some(top) = open.last() {
                let top_end_ns = trace.rows.end_ns(*top);
                if let Some(self_ns) = self.self_ns.get_mut(*top as usize) {
                    *self_ns = self_ns.saturating_sub(end_ns.min(top_end_ns) - start_ns);
                }
                self.n_overlaps += u64::from(end_ns > top_end_ns);
                if let Some(parent) = self.parent.get_mut(*row as usize) {
                    *parent = *top;
                }
            }
            open.push(*row);
        }
    }

    /// The row that a row began in; `None` for the outermost and for rows of devices.
    pub fn parent(&self, row: u32) -> Option<u32> {
        let parent = self.parent.get(row as usize).copied();
        parent.filter(|parent| *parent != NONE)
    }

    /// The rows around a row, from the inside to the outside, without itself.
    pub fn around(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.parent(row), |row| self.parent(*row))
    }

    /// A row's time without that of the rows in it, in nanoseconds.
    pub fn self_ns(&self, row: u32) -> u64 {
        self.self_ns.get(row as usize).copied().unwrap_or_default()
    }

    /// The rows of a thread by beginning, the longer first; empty for the streams of devices.
    pub fn of_track(&self, track: u32) -> &[u32] {
        let place = self.tracks.get(track as usize).copied().unwrap_or_default();
        let rows = self.order.get(place.0 as usize..place.1 as usize);
        rows.unwrap_or_default()
    }

    /// The innermost row that is open on a thread at a moment.
    pub fn open_at(&self, trace: &Trace, track: u32, at_ns: u64) -> Option<u32> {
        let rows = self.of_track(track);
        let after = rows.partition_point(|row| trace.rows.start_of(*row) <= at_ns);
        let last = rows.get(after.checked_sub(1)?).copied()?;
        let is_open = |row: &u32| trace.rows.end_ns(*row) > at_ns;
        std::iter::once(last).chain(self.around(last)).find(is_open)
    }
}

/// The row is something that a thread of the host did.
fn is_host(trace: &Trace, row: u32) -> bool {
    let category = trace.rows.category.get(row as usize).copied();
    let class = category.map(|category| trace.categories.class(category));
    matches!(
        class,
        Some(Class::Call | Class::Operator | Class::Annotation | Class::PythonFunction)
    )
}
