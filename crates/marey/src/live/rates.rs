//! What happened between two looks, in a second.

use super::{Look, Reading};
use crate::series::SeriesKind;

/// What has not happened for longer has no rate.
const QUIET_NS: u64 = 30_000_000_000;

/// Two looks at the same process.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// The first.
    pub earlier: &'a Look,
    /// The second.
    pub later: &'a Look,
}

impl Interval<'_> {
    /// Time between them in seconds; `None` when there is none.
    #[expect(clippy::cast_precision_loss, reason = "seconds for a rate")]
    pub fn seconds(&self) -> Option<f64> {
        let ns = self.later.at_ns.checked_sub(self.earlier.at_ns)?;
        (ns > 0).then(|| ns as f64 / 1e9)
    }

    /// Completed calls of a node in a second: of a loop over its newest turns, 256 at most; else between the ends of the last call that each
    /// look knows. `None` when the count fell (totals began again), when nothing has ended for longer than half a
    /// minute and twice that time, and when the process is over.
    #[expect(clippy::cast_precision_loss, reason = "a count for a rate")]
    pub fn calls_per_second(&self, node: u32) -> Option<f64> {
        let (earlier, later) = (self.earlier.totals_of(node), self.later.totals_of(node)?);
        let since = earlier.filter(|earlier| earlier.count < later.count);
        let is_less = earlier.is_some_and(|earlier| earlier.count > later.count);
        let turns = later.turns_since();
        let calls = since.map(|since| (since.last_end_ns, later.count - since.count));
        let (from_ns, n) = turns.or(calls)?;
        let ns = later
            .last_end_ns
            .checked_sub(from_ns)
            .filter(|ns| *ns > 0)?;
        let quiet_ns = self.later.at_ns.saturating_sub(later.last_end_ns);
        let is_now = quiet_ns <= QUIET_NS.max(ns.saturating_mul(2));
        (is_now && !is_less && self.later.is_running()).then(|| n as f64 / (ns as f64 / 1e9))
    }

    /// Growth of a cumulative series in a second, from the times of its readings. `None` for a gauge, and when nothing new was read
    /// meanwhile.
    #[expect(clippy::cast_precision_loss, reason = "seconds for a rate")]
    pub fn growth_per_second(&self, later: &Reading) -> Option<f64> {
        let is_cumulative = later.info.kind == SeriesKind::Cumulative;
        let same = |reading: &&Reading| is_cumulative && reading.info == later.info;
        let earlier = self.earlier.series.iter().find(same)?;
        let ns = later
            .at_ns
            .checked_sub(earlier.at_ns)
            .filter(|ns| *ns > 0)?;
        let growth = later.value - earlier.value;
        (growth >= 0.0).then(|| growth / (ns as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{Totals, Turns};
    use crate::run::Status;
    use crate::series::{SeriesInfo, Unit};

    /// A look at a moment, and how many calls had ended, the last of them when.
    fn look(at_s: u64, count: u64, last_end_s: u64) -> Look {
        let totals = Totals {
            node: 2,
            count,
            last_end_ns: last_end_s * 1_000_000_000,
            ..Totals::default()
        };
        Look {
            at_ns: at_s * 1_000_000_000,
            status: Status::Running,
            totals: vec![totals],
            ..Look::default()
        }
    }

    fn assert_close(rate: Option<f64>, expected: f64) {
        assert!((rate.unwrap() - expected).abs() < 1e-12, "{rate:?}");
    }

    #[test]
    fn a_rate_is_the_difference_of_two_counts_over_the_time_between_their_ends() {
        let (earlier, later) = (look(10, 100, 8), look(14, 110, 13));
        let both = Interval {
            earlier: &earlier,
            later: &later,
        };
        assert_close(both.calls_per_second(2), 2.0);
        assert_eq!(both.calls_per_second(3), None);
    }

    #[test]
    fn a_slow_loop_has_the_rate_of_its_newest_turns() {
        // s    1.7  3.4  5.1  6.8  8.5     turns of 1.7 s; both looks are in the sixth
        let mut later = look(10, 5, 0);
        later.totals[0].last_end_ns = 8_500_000_000;
        later.totals[0].turns = Some(Turns {
            newest_ns: vec![1_700_000_000; 5],
            first_end_ns: Some(1_700_000_000),
        });
        let earlier = Look {
            at_ns: 9_000_000_000,
            ..later.clone()
        };
        let both = Interval {
            earlier: &earlier,
            later: &later,
        };
        assert_close(both.calls_per_second(2), 1.0 / 1.7);
    }

    #[test]
    fn turns_of_two_threads_that_end_together_have_the_rate_of_all() {
        // s         1    2    3    4    5      ends of one thread, and of the other right after it
        let mut later = look(6, 10, 0);
        later.totals[0].last_end_ns = 5_000_000_001;
        later.totals[0].turns = Some(Turns {
            newest_ns: vec![1_000_000_000; 10],
            first_end_ns: Some(1_000_000_000),
        });
        let earlier = Look {
            at_ns: 5_500_000_000,
            ..later.clone()
        };
        let both = Interval {
            earlier: &earlier,
            later: &later,
        };
        // Nine ends in four seconds after the first.
        assert!((both.calls_per_second(2).unwrap() - 2.25).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_known_has_no_rate() {
        let rate = |earlier: &Look, later: &Look| Interval { earlier, later }.calls_per_second(2);
        assert_eq!(
            rate(&look(10, 100, 9), &look(14, 90, 13)),
            None,
            "totals began again"
        );
        assert_eq!(
            rate(&look(10, 100, 9), &look(14, 100, 9)),
            None,
            "none ended"
        );
        let over = Look {
            status: Status::Finished,
            ..look(20, 120, 19)
        };
        assert_eq!(rate(&look(10, 100, 9), &over), None);
    }

    #[test]
    fn a_series_grows_between_its_own_readings() {
        let reading = |kind: fn(&str, &str, Unit) -> SeriesInfo, value, at_s: u64| Reading {
            info: kind("host.disk.read", "sda", Unit::Bytes),
            value,
            at_ns: at_s * 1_000_000_000,
            age_ns: 0,
        };
        let with = |reading: Reading| Look {
            series: vec![reading],
            ..Look::default()
        };
        let rate = |earlier: Reading, later: Reading| {
            let (earlier, later) = (with(earlier), with(later));
            let both = Interval {
                earlier: &earlier,
                later: &later,
            };
            both.growth_per_second(&later.series[0])
        };
        let cumulative = SeriesInfo::cumulative;
        assert_close(
            rate(reading(cumulative, 1e6, 5), reading(cumulative, 4e6, 7)),
            1.5e6,
        );
        assert_eq!(
            rate(reading(cumulative, 1e6, 5), reading(cumulative, 1e6, 5)),
            None
        );
        assert_eq!(
            rate(reading(cumulative, 4e6, 5), reading(cumulative, 1e6, 6)),
            None
        );
        let gauge = SeriesInfo::gauge;
        assert_eq!(rate(reading(gauge, 1.0, 5), reading(gauge, 2.0, 6)), None);
    }
}
