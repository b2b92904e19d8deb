//! Which of many threads did something before moments of which each is before the last.

use std::collections::{BTreeSet, BinaryHeap};

use crate::import::chrome::Trace;

/// When threads had rows open. O(n log n) for all moments together, n stretches of time in which a thread has any.
///
/// ```text
/// thread 0   |-----|        |------|
/// thread 1         |--|
///                         ╷ no thread is open; 1 ended last
///              ╷ thread 0 is open
/// ```
pub(super) struct Activity {
    /// Those that end last first, and of equals by thread.
    periods: Vec<Period>,
    /// Of each period, the next of another thread.
    next_other: Vec<usize>,
    /// Periods that end at the moment or later.
    n_met: usize,
    /// Those of them that began before it: thread, beginning.
    open: BTreeSet<(u32, u64)>,
    /// Likewise by beginning, to know when they are no more.
    by_start: BinaryHeap<(u64, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Period {
    start_ns: u64,
    end_ns: u64,
    thread: u32,
}

impl Activity {
    /// Of threads by their numbers, and their rows by beginning.
    pub(super) fn new<'a>(trace: &Trace, threads: impl Iterator<Item = (u32, &'a [u32])>) -> Self {
        let mut periods: Vec<Period> = Vec::new();
        for (thread, rows) in threads {
            for row in rows {
                let (start_ns, end_ns) = (trace.rows.start_of(*row), trace.rows.end_ns(*row));
                match periods.last_mut() {
                    Some(last) if last.thread == thread && start_ns <= last.end_ns => {
                        last.end_ns = last.end_ns.max(end_ns);
                    }
                    _ => periods.push(Period {
                        start_ns,
                        end_ns,
                        thread,
                    }),
                }
            }
        }
        periods.sort_unstable_by_key(|p| (std::cmp::Reverse(p.end_ns), p.thread));
        let mut next_other = vec![periods.len(); periods.len()];
        for (at, pair) in periods.windows(2).enumerate().rev() {
            let is_same = pair.first().map(|p| p.thread) == pair.last().map(|p| p.thread);
            let after = next_other.get(at + 1).copied();
            if let Some(next) = next_other.get_mut(at) {
                *next = after.filter(|_| is_same).unwrap_or(at + 1);
            }
        }
        Self {
            periods,
            next_other,
            n_met: 0,
            open: BTreeSet::new(),
            by_start: BinaryHeap::new(),
        }
    }

    /// The threads that are open just before `at_ns`, without one, by their numbers. Moments must not go up.
    pub(super) fn open(&mut self, at_ns: u64, without: Option<u32>) -> impl Iterator<Item = u32> {
        while let Some(period) = self.periods.get(self.n_met).filter(|p| p.end_ns >= at_ns) {
            self.open.insert((period.thread, period.start_ns));
            self.by_start.push((period.start_ns, period.thread));
            self.n_met += 1;
        }
        while let Some((start_ns, thread)) = self.by_start.peek().copied() {
            if start_ns < at_ns {
                break;
            }
            self.by_start.pop();
            self.open.remove(&(thread, start_ns));
        }
        let open = self.open.iter().map(|(thread, _)| *thread);
        open.filter(move |thread| Some(*thread) != without)
    }

    /// The thread that ended last before the moment that was last asked about, without one, and when.
    pub(super) fn ended(&self, without: Option<u32>) -> Option<(u32, u64)> {
        let first = self.periods.get(self.n_met)?;
        let found = if Some(first.thread) == without {
            self.periods.get(*self.next_other.get(self.n_met)?)?
        } else {
            first
        };
        Some((found.thread, found.end_ns))
    }

    /// The thread that did something last before `at_ns`, without one, and until when. Of equals the first.
    pub(super) fn last(&mut self, at_ns: u64, without: Option<u32>) -> Option<(u32, u64)> {
        let open = self.open(at_ns, without).next();
        open.map(|thread| (thread, at_ns))
            .or_else(|| self.ended(without))
    }
}
