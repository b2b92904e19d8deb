//! How often something is read that is not cheap everywhere.

use crate::clock::thread_cpu_ns;

const SECOND: u64 = 1_000_000_000;

/// Lets something happen with pauses, the longer the more it costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    due_ns: u64,
    /// What it cost the last time; 0 before.
    cost_ns: u64,
    least_ns: u64,
    pauses: u64,
}

impl Pace {
    /// Every time, as long as that takes no more than 0.1 % of the time.
    pub(super) const fn of_file() -> Self {
        Self::new(0, 1000)
    }

    /// Once a second, as long as that takes no more than 0.05 % of the time.
    pub(super) const fn of_seconds() -> Self {
        Self::new(SECOND, 2000)
    }

    /// Every ten seconds, as long as that takes no more than 0.01 % of the time: walking the tables of pages holds a lock that the
    /// program's own page faults want.
    pub(super) const fn of_pages() -> Self {
        Self::new(10 * SECOND, 10_000)
    }

    /// Twice a second at most: for counters that nobody looks at more closely, which lose nothing by it.
    pub(super) const fn of_counters() -> Self {
        Self::new(SECOND / 2, 2000)
    }

    const fn new(least_ns: u64, pauses: u64) -> Self {
        Self { due_ns: 0, cost_ns: 0, least_ns, pauses }
    }

    /// Does it now if it is time; `None` when it is not.
    pub(super) fn keep<T>(&mut self, now_ns: u64, work: impl FnOnce() -> T) -> Option<T> {
        if now_ns < self.due_ns {
            return None;
        }
        // Not the time that passes: a thread that is kept from running costs nothing.
        let before = thread_cpu_ns();
        let done = work();
        self.did(now_ns, thread_cpu_ns().saturating_sub(before));
        Some(done)
    }

    fn did(&mut self, now_ns: u64, cost_ns: u64) {
        // One that was slow by chance, as the thread had to wait, makes no pause.
        let cost = cost_ns.min(self.cost_ns);
        self.cost_ns = cost_ns;
        let pause = cost.saturating_mul(self.pauses).max(self.least_ns);
        self.due_ns = now_ns.saturating_add(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn what_is_cheap_happens_once_a_second_and_what_costs_a_millisecond_every_two() {
        let mut pace = Pace::of_seconds();
        assert!(pace.keep(10, || ()).is_some());
        assert!(pace.keep(SECOND + 9, || ()).is_none());
        assert!(pace.keep(SECOND + 10, || ()).is_some());
        pace.did(SECOND, MILLISECOND);
        pace.did(SECOND, MILLISECOND);
        assert!(pace.keep(3 * SECOND - 1, || ()).is_none());
        assert!(pace.keep(3 * SECOND, || ()).is_some());
    }

    #[test]
    fn a_file_is_read_every_time_unless_it_costs_a_thousandth_of_it() {
        let mut pace = Pace::of_file();
        assert!(pace.keep(0, || ()).is_some());
        pace.did(0, 10_000);
        pace.did(0, 10_000);
        assert!(pace.keep(10 * MILLISECOND - 1, || ()).is_none());
        assert!(pace.keep(10 * MILLISECOND, || ()).is_some());
    }

    #[test]
    fn one_that_is_slow_by_chance_changes_nothing() {
        let mut pace = Pace::of_file();
        pace.did(0, SECOND);
        assert_eq!(pace.due_ns, 0);
        pace.did(0, 10_000);
        assert_eq!(pace.due_ns, 10 * MILLISECOND);
        pace.did(0, SECOND);
        assert_eq!(pace.due_ns, 10 * MILLISECOND);
    }
}
