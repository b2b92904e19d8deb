//! How fast a count grows, for figures that Marey has no report of.

use marey::Generated;

/// Follows one count. Its rate is that from change to change, as for what a program reports, so that a loop of slow turns has one, too.
#[derive(Debug, Default)]
pub(super) struct TurnRate {
    watch: marey_report::Watch,
    last: u64,
    per_second: Option<f64>,
}

impl TurnRate {
    /// Takes the count of a moment. A count that fell begins anew.
    pub(super) fn take(&mut self, at_ns: u64, count: u64) {
        if count < self.last {
            *self = Self::default();
        }
        self.last = count;
        let generated = Generated {
            steps: count,
            ..Generated::default()
        };
        let look = marey_report::Look {
            at_ns,
            generated,
            ..marey_report::Look::default()
        };
        self.per_second = self.watch.look(look).steps_per_second;
    }

    /// `None` before the count has grown, and when it has not for long.
    pub(super) fn per_second(&self) -> Option<f64> {
        self.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_loop_has_a_rate_between_its_turns() {
        // seconds 0 1 2 3 4 5, a turn every two of them
        let mut rate = TurnRate::default();
        for (second, count) in [(0, 7), (1, 7), (2, 8), (3, 8), (4, 9)] {
            rate.take(second * 1_000_000_000, count);
        }
        assert_eq!(rate.per_second(), Some(0.5));
        rate.take(5_000_000_000, 1);
        assert_eq!(rate.per_second(), None, "totals began again");
    }
}
