//! When a sampler reads next.

/// When the next round is due: whole intervals after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadline {
    pub next_ns: u64,
    pub interval_ns: u64,
}

/// How far a round is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delay {
    pub late_ns: u64,
    /// Rounds that were due meanwhile and are left out.
    pub n_missed: u64,
}

impl Deadline {
    /// A round begins; the next is due at the first deadline after this moment.
    pub(super) fn begin(&mut self, now_ns: u64) -> Delay {
        let late_ns = now_ns.saturating_sub(self.next_ns);
        let n_missed = late_ns / self.interval_ns;
        self.next_ns += (n_missed + 1) * self.interval_ns;
        Delay { late_ns, n_missed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // due    100       110       120       130       140       150
    // begins 100          113    120                      147  150
    #[test]
    fn rounds_are_due_whole_intervals_after_the_first_and_missed_ones_are_left_out() {
        let mut deadline = Deadline { next_ns: 100, interval_ns: 10 };
        let rounds = [(100, 0, 0), (113, 3, 0), (120, 0, 0), (147, 17, 1), (150, 0, 0)];
        for (now_ns, late_ns, n_missed) in rounds {
            assert_eq!(deadline.begin(now_ns), Delay { late_ns, n_missed });
        }
        assert_eq!(deadline.next_ns, 160);
    }
}
