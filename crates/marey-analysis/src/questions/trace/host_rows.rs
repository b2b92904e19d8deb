//! How rows of the host enclose each other.

use std::cmp::Ordering;

use crate::import::chrome::{Class, Trace};

/// Operators, calls, annotations and Python functions of each thread, nested by time.
///
/// ```text
/// row        |-------- a --------|        parent    self
///              |-- b --|  |-- c -----|    a: none   a - b - (the part of c that is in a)
///                |d|                      b, c: a   d: b
/// ```
///
/// A row that sticks out of the one it began in takes from that one only what they share, and the rest from those around it; it
/// is counted in `n_overlaps`. So each moment of a thread is some row's own once.
///
/// ```text
/// row        |-------- step ----------------|      record_function: Python's __enter__ ends after its range began
///              |- enter -|                         step: 2 + what is right of range; range has all of its own
///                      |------ range ----|
/// ```
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
    /// Rows that lie in more than 4,096 others.
    pub n_too_deep: u64,
}

/// Rows around a row that are looked at, the nearest.
pub(super) const MOST_AROUND: usize = 4_096;

/// No row.
const NONE: u32 = u32::MAX;

impl HostRows {
    /// Of all rows that are things the host did: O(n log n), and hardly more than O(n) where the rows of a thread are nearly
    /// in order of time, as they are in most files.
    pub fn new(trace: &Trace) -> Self {
        let (mut order, tracks) = by_track(trace);
        for place in &tracks {
            let thread = order.get_mut(place.0 as usize..place.1 as usize);
            let thread = thread.unwrap_or_default();
            thread.sort_by(|a, b| outer_first(trace, *a, *b));
        }
        let mut nested = Self {
            order: Vec::new(),
            parent: vec![NONE; trace.rows.len()],
            self_ns: trace.rows.duration_ns.clone(),
            n_overlaps: 0,
            n_too_deep: 0,
            tracks: Vec::new(),
        };
        for place in &tracks {
            let thread = order.get(place.0 as usize..place.1 as usize);
            nested.nest(trace, thread.unwrap_or_default());
        }
        Self { order, tracks, ..nested }
    }

    fn nest(&mut self, trace: &Trace, thread: &[u32]) {
        // Rows that are open, with their ends and how many rows each lies in.
        let mut open: Vec<(u32, u64, usize)> = Vec::new();
        for row in thread {
            let (start_ns, end_ns) = (trace.rows.start_of(*row), trace.rows.end_ns(*row));
            while open.pop_if(|top| top.1 <= start_ns).is_some() {}
            let mut depth = 0;
            if let Some((top, top_end_ns, top_depth)) = open.last().copied() {
                depth = top_depth + 1;
                self.n_too_deep += u64::from(depth > MOST_AROUND);
                self.take(&open, start_ns, end_ns);
                self.n_overlaps += u64::from(end_ns > top_end_ns);
                if let Some(parent) = self.parent.get_mut(*row as usize) {
                    *parent = top;
                }
            }
            // What ends first, or with it, takes nothing of later rows any more and is around none of them but through it.
            while open.pop_if(|outer| outer.1 <= end_ns).is_some() {}
            open.push((*row, end_ns, depth));
        }
    }

    /// The time of a row is no time of those that are open around it: of the innermost as far as that goes, then of the next.
    fn take(&mut self, open: &[(u32, u64, usize)], start_ns: u64, end_ns: u64) {
        let mut from_ns = start_ns;
        for (row, open_until_ns, _) in open.iter().rev() {
            let until_ns = end_ns.min(*open_until_ns);
            if until_ns > from_ns {
                if let Some(self_ns) = self.self_ns.get_mut(*row as usize) {
                    *self_ns = self_ns.saturating_sub(until_ns - from_ns);
                }
                from_ns = until_ns;
            }
            if from_ns >= end_ns {
                break;
            }
        }
    }

    /// The row that a row began in; `None` for the outermost and for rows of devices.
    pub fn parent(&self, row: u32) -> Option<u32> {
        let parent = self.parent.get(row as usize).copied();
        parent.filter(|parent| *parent != NONE)
    }

    /// The rows around a row, from the inside to the outside, without itself: no more than 4,096.
    pub fn around(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.parent(row), |row| self.parent(*row)).take(MOST_AROUND)
    }

    /// A row's time without that of the rows in it, in nanoseconds.
    pub fn self_ns(&self, row: u32) -> u64 {
        self.self_ns.get(row as usize).copied().unwrap_or_default()
    }

    /// All rows of the host by thread, and there by beginning: what is around a row comes before it.
    pub fn in_order(&self) -> &[u32] {
        &self.order
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

/// The rows of the host by track, and there in the order of the file; and where those of each track begin and end.
fn by_track(trace: &Trace) -> (Vec<u32>, Vec<(u32, u32)>) {
    let mut places = vec![(0_u32, 0_u32); trace.tracks.each.len()];
    let rows = || {
        let tracks = (0_u32..).zip(&trace.rows.track);
        tracks.filter(|(row, _)| trace.class_of(*row).is_host())
    };
    for (_, track) in rows() {
        if let Some(place) = places.get_mut(*track as usize) {
            place.1 += 1;
        }
    }
    let mut n_rows = 0;
    for place in &mut places {
        let count = place.1;
        *place = (n_rows, n_rows);
        n_rows += count;
    }
    let mut order = vec![0; n_rows as usize];
    for (row, track) in rows() {
        let Some(place) = places.get_mut(*track as usize) else {
            continue;
        };
        if let Some(slot) = order.get_mut(place.1 as usize) {
            *slot = row;
            place.1 += 1;
        }
    }
    (order, places)
}

/// Which of two rows of a thread comes first: the one that begins earlier, and of two that begin together the one around the
/// other. Nothing but what the rows say decides, so that the order of the file changes no answer.
#[inline]
fn outer_first(trace: &Trace, a: u32, b: u32) -> Ordering {
    let rows = &trace.rows;
    let by_start = rows.start_of(a).cmp(&rows.start_of(b));
    by_start
        .then_with(|| rows.duration_of(b).cmp(&rows.duration_of(a)))
        .then_with(|| outer_of_equals(trace, a, b))
}

/// Likewise of two rows that begin and end together, as often happens where times are whole microseconds: by what they are,
/// then by their numbers, which grow as things begin, then by their names.
#[cold]
fn outer_of_equals(trace: &Trace, a: u32, b: u32) -> Ordering {
    let rank = |row| match trace.class_of(row) {
        Class::Annotation => 0,
        Class::PythonFunction => 1,
        Class::Operator => 2,
        _ => 3,
    };
    let number = |row| match trace.class_of(row) {
        Class::Operator => trace.operator_number(row),
        Class::Call => trace.call_of(row).and_then(|call| call.correlation),
        _ => None,
    };
    (rank(a), number(a), trace.name_of(a)).cmp(&(rank(b), number(b), trace.name_of(b)))
}
