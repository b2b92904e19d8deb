//! What one thread did before moments of which each is before the last.

use super::super::HostRows;
use crate::import::chrome::Trace;

/// What a thread did just before a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// The innermost row that was open.
    pub(super) row: Option<u32>,
    /// Since when nothing else was: when the last row in it ended, or it began. Without a row, when the last row ended; `None`
    /// when there was none.
    pub(super) since_ns: Option<u64>,
}

/// The rows that the one which began last before a moment lies in, from the outside to the inside. Each row comes in once and
/// goes once as the moments go down: with the search for the last, O(log n) for a moment, however deep rows are nested.
///
/// ```text
/// open     |-------- a ---------------|
///             |-- b ------------|
///               |- c -|                        ╷ moment: none is open, since the end of a
///                       ╷ here: b is the innermost, since the end of c
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    open: Vec<u32>,
    /// Those of `open` that end after all that are further inside: their places, and their ends, which go down.
    longest: Vec<(usize, u64)>,
}

impl Past {
    /// What the thread did just before `at_ns`, which must not be after that of the call before.
    pub(super) fn before(
        &mut self,
        trace: &Trace,
        host: &HostRows,
        track: u32,
        at_ns: u64,
    ) -> Before {
        self.go_back(trace, host, track, at_ns);
        let n_open = self.longest.partition_point(|(_, end_ns)| *end_ns >= at_ns);
        let ended_ns = self.longest.get(n_open).map(|(_, end_ns)| *end_ns);
        let row = n_open.checked_sub(1).and_then(|last| {
            let (place, _) = self.longest.get(last)?;
            self.open.get(*place).copied()
        });
        let start_ns = row.map(|row| trace.rows.start_of(row));
        Before {
            row,
            since_ns: ended_ns.max(start_ns),
        }
    }

    fn go_back(&mut self, trace: &Trace, host: &HostRows, track: u32, at_ns: u64) {
        let begins_later = |row: &mut u32| trace.rows.start_of(*row) >= at_ns;
        let mut is_left = false;
        while self.open.pop_if(begins_later).is_some() {
            is_left = true;
        }
        let n_open = self.open.len();
        while self.longest.pop_if(|(place, _)| *place >= n_open).is_some() {}
        // What a row began in is open there, whatever was hidden by the row until now.
        if let Some(top) = self.open.last().copied().filter(|_| is_left) {
            self.add_longest(n_open.saturating_sub(1), trace.rows.end_ns(top));
        }
        let rows = host.of_track(track);
        let began = rows.partition_point(|row| trace.rows.start_of(*row) < at_ns);
        let Some(last) = began.checked_sub(1).and_then(|last| rows.get(last)) else {
            return;
        };
        let top = self.open.last().copied();
        let chain = std::iter::successors(Some(*last), |row| host.parent(*row));
        self.open.extend(chain.take_while(|row| Some(*row) != top));
        if let Some(added) = self.open.get_mut(n_open..) {
            added.reverse();
        }
        for place in n_open..self.open.len() {
            if let Some(row) = self.open.get(place).copied() {
                self.add_longest(place, trace.rows.end_ns(row));
            }
        }
    }

    fn add_longest(&mut self, place: usize, end_ns: u64) {
        while self
            .longest
            .pop_if(|(_, outer_ns)| *outer_ns <= end_ns)
            .is_some()
        {}
        self.longest.push((place, end_ns));
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::import::chrome::{Limits, read};

    /// The definition, by looking at every row around the last.
    fn by_looking(trace: &Trace, host: &HostRows, at_ns: u64) -> (Option<u32>, Option<u64>) {
        let rows = host.of_track(0);
        let mut row = rows
            .iter()
            .copied()
            .rfind(|row| trace.rows.start_of(*row) < at_ns);
        let mut since_ns = None;
        while let Some(open) = row {
            let end_ns = trace.rows.end_ns(open);
            if end_ns >= at_ns {
                return (row, since_ns.max(Some(trace.rows.start_of(open))));
            }
            since_ns = since_ns.max(Some(end_ns));
            row = host.parent(open);
        }
        (None, since_ns)
    }

    #[test]
    fn what_a_thread_did_is_the_same_as_by_looking_at_every_row() {
        let mut seed = 7_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for round in 0..200 {
            let mut text = String::from(r#"{"traceEvents": ["#);
            for i in 0..30 {
                let comma = if i == 0 { "" } else { "," };
                let longest = 1 + draw(40);
                let (start, length) = (draw(60), draw(longest));
                write!(text, r#"{comma}{{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": {start}, "dur": {length}}}"#).unwrap();
            }
            text.push_str("]}");
            let trace = read(text.as_bytes(), Limits::default()).unwrap();
            let host = HostRows::new(&trace);
            let mut past = Past::default();
            let mut at_ns = 110_000;
            while at_ns > 0 {
                let before = past.before(&trace, &host, 0, at_ns);
                let expected = by_looking(&trace, &host, at_ns);
                assert_eq!(
                    (before.row, before.since_ns),
                    expected,
                    "{round} at {at_ns}"
                );
                at_ns = at_ns.saturating_sub(500 * draw(9));
            }
        }
    }
}
