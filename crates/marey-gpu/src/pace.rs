//! How often a call that takes long may be made.

/// Keeps a call within a share of the time, by leaving time between two of them. Times are ticks of any clock that goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// One part in this many of the time; 1 is no limit.
    one_in: u64,
    due: u64,
}

impl Pace {
    /// At most one part in `one_in` of the time.
    pub(crate) fn new(one_in: u64) -> Self {
        Self { one_in, due: 0 }
    }

    /// Whether the call may be made.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        now >= self.due
    }

    /// Whether the call is limited at all, so that it is worth timing.
    pub(crate) fn is_limited(&self) -> bool {
        self.one_in > 1
    }

    /// The call was made.
    pub(crate) fn took(&mut self, begun: u64, ended: u64) {
        let length = ended.saturating_sub(begun);
        self.due = ended.saturating_add(length.saturating_mul(self.one_in.saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_forty_ms_is_made_every_eight_hundred_ms_to_stay_below_five_percent() {
        let mut pace = Pace::new(20);
        assert!(pace.is_due(0));
        let mut made = Vec::new();
        // Rounds of 100 ms; the call takes 40 ms.
        for now in (0..4000).step_by(100) {
            if pace.is_due(now) {
                made.push(now);
                pace.took(now, now + 40);
            }
        }
        assert_eq!(made, [0, 800, 1600, 2400, 3200]);
    }

    #[test]
    fn a_call_that_becomes_slow_becomes_rare() {
        let mut pace = Pace::new(20);
        pace.took(1000, 1001);
        assert!(pace.is_due(1020) && !pace.is_due(1019));
        pace.took(2000, 3000);
        assert!(!pace.is_due(21_999) && pace.is_due(22_000));
    }

    #[test]
    fn without_a_limit_it_is_always_due() {
        let mut pace = Pace::new(1);
        pace.took(0, 500);
        assert!(pace.is_due(500) && !pace.is_limited());
    }
}
