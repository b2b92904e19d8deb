//! When threads did something, each thread one thing after the other.
//!
//! ```text
//! thread 1   |---- a ----||- b -|   |------ d -------|       c, of a pipeline within d, is a part of d
//!                                      |- c -|
//! ```

use std::collections::BTreeMap;

use crate::intervals::{Interval, union_length_ns};
use crate::stats::sum;

/// A step or a block.
pub(super) struct Turn {
    pub(super) thread: u32,
    /// Tasks of a thread do something at the same time, each one thing after the other.
    pub(super) flow: u16,
    pub(super) session: Option<u32>,
    pub(super) end_ns: u64,
    /// Iterations of which it is not known are left out.
    pub(super) duration_ns: Option<u64>,
}

/// Iterations of threads, without those of a session that lie in one of another session.
#[derive(Debug, Default)]
pub(super) struct ThreadSpans {
    /// Disjoint in each thread, or task of it.
    pub(super) spans: Vec<(u32, Interval)>,
    /// Sum of their durations as they were said.
    pub(super) duration_ns: u64,
}

impl ThreadSpans {
    /// Of iterations in order of their ends. None begins before the one before it in its thread has ended: a reported duration says how long,
    /// not since when, so several may be told at once.
    pub(super) fn of(turns: impl Iterator<Item = Turn>) -> Self {
        let mut threads: BTreeMap<(u32, u16), Vec<(Interval, Turn)>> = BTreeMap::new();
        for turn in turns {
            let (end_ns, Some(duration_ns)) = (turn.end_ns, turn.duration_ns) else {
                continue;
            };
            let before = threads.entry((turn.thread, turn.flow)).or_default();
            let begun_ns = end_ns.saturating_sub(duration_ns);
            while before.last().is_some_and(|(span, last)| {
                last.session != turn.session && begun_ns < span.start_ns
            }) {
                before.pop();
            }
            let earliest_ns = before.last().map_or(0, |(span, _)| span.end_ns);
            let start_ns = begun_ns.max(earliest_ns).min(end_ns);
            before.push((Interval { start_ns, end_ns }, turn));
        }
        let each = || threads.values().flatten();
        Self {
            duration_ns: sum(each().filter_map(|(_, turn)| turn.duration_ns)),
            spans: each().map(|(span, turn)| (turn.thread, *span)).collect(),
        }
    }

    /// Their time; what threads did beside one another counts once.
    ///
    /// ```text
    /// thread 1   |---- 4 ----|              |-- 3 --|
    /// thread 2         |---- 4 ----|                         2 of 11 too much
    /// ```
    pub(super) fn time_ns(&self) -> u64 {
        let lengths = sum(self.spans.iter().map(|(_, span)| span.length_ns()));
        let covered = union_length_ns(self.spans.iter().map(|(_, span)| *span).collect());
        let beside_ns = lengths.saturating_sub(covered);
        self.duration_ns.saturating_sub(beside_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn turn(session: Option<u32>, end_ms: u64, duration_ms: u64) -> Turn {
        Turn {
            thread: 0,
            flow: 0,
            session,
            end_ns: end_ms * MS,
            duration_ns: Some(duration_ms * MS),
        }
    }

    #[test]
    fn turns_of_one_session_that_are_told_at_once_follow_each_other() {
        // All of them after the work, 1 ms apart: 20, 30 and 25 ms.
        let told = [turn(None, 100, 20), turn(None, 101, 30), turn(None, 102, 25)];
        assert_eq!(ThreadSpans::of(told.into_iter()).time_ns(), 75 * MS);
    }

    /// ```text
    /// task 1   |-- 10 --||-- 10 --|
    /// task 2    |-- 10 --||-- 10 --|      1 ms later, in the same thread
    /// ```
    #[test]
    fn turns_of_two_tasks_of_a_thread_are_beside_one_another() {
        let of_task = |flow, end_ms| Turn { flow, ..turn(Some(flow.into()), end_ms, 10) };
        let told = [of_task(1, 10), of_task(2, 11), of_task(1, 20), of_task(2, 21)];
        assert_eq!(ThreadSpans::of(told.into_iter()).time_ns(), 21 * MS);
    }

    #[test]
    fn a_turn_of_another_session_within_a_turn_is_a_part_of_it() {
        let told = [turn(Some(0), 10, 10), turn(Some(1), 30, 10), turn(Some(0), 50, 35)];
        let made = ThreadSpans::of(told.into_iter());
        assert_eq!((made.spans.len(), made.time_ns()), (2, 45 * MS));
    }
}
