//! What happened between two looks, in a second.

use super::{Look, Reading};
use crate::generation::Generated;
use crate::series::SeriesKind;

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

    /// Completed calls of a node in a second. `None` when it has none yet, when its count fell (totals began again), or when the
    /// process is over.
    pub fn calls_per_second(&self, node: u32) -> Option<f64> {
        let count = |look: &Look| look.totals_of(node).map_or(0, |totals| totals.count);
        self.later.totals_of(node)?;
        self.per_second(count(self.earlier), count(self.later))
    }

    /// One of the counts of [`Generated`] in a second. `None` while the program never reported any, or when the process is over.
    pub fn generated_per_second(&self, count: impl Fn(&Generated) -> u64) -> Option<f64> {
        let (earlier, later) = (count(&self.earlier.generated), count(&self.later.generated));
        if later == 0 {
            return None;
        }
        self.per_second(earlier, later)
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

    #[expect(clippy::cast_precision_loss, reason = "differences of seconds")]
    fn per_second(&self, earlier: u64, later: u64) -> Option<f64> {
        let n = later.checked_sub(earlier)?;
        let seconds = self.seconds().filter(|_| self.later.is_running())?;
        Some(n as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Totals;
    use crate::run::Status;
    use crate::series::{SeriesInfo, Unit};

    fn look(at_s: u64, count: u64, blocks: u64) -> Look {
        let totals = Totals {
            node: 2,
            count,
            ..Totals::default()
        };
        Look {
            at_ns: at_s * 1_000_000_000,
            status: Status::Running,
            totals: vec![totals],
            generated: Generated {
                blocks,
                ..Generated::default()
            },
            ..Look::default()
        }
    }

    fn assert_close(rate: Option<f64>, expected: f64) {
        assert!((rate.unwrap() - expected).abs() < 1e-12, "{rate:?}");
    }

    #[test]
    fn a_rate_is_the_difference_of_two_counts_over_the_time_between() {
        let (earlier, later) = (look(10, 100, 3), look(14, 110, 4));
        let both = Interval {
            earlier: &earlier,
            later: &later,
        };
        assert_close(both.calls_per_second(2), 2.5);
        assert_close(both.generated_per_second(|g| g.blocks), 0.25);
        assert_eq!(both.calls_per_second(3), None);
        assert_eq!(both.generated_per_second(|g| g.streamed_frames), None);
    }

    #[test]
    fn what_is_not_known_has_no_rate() {
        let (earlier, later) = (look(10, 100, 0), look(14, 90, 0));
        let fell = Interval {
            earlier: &earlier,
            later: &later,
        };
        assert_eq!(fell.calls_per_second(2), None, "totals began again");
        let same = Interval {
            earlier: &later,
            later: &later,
        };
        assert_eq!(same.calls_per_second(2), None, "no time between");
        let over = Look {
            status: Status::Finished,
            ..look(20, 120, 0)
        };
        let over = Interval {
            earlier: &earlier,
            later: &over,
        };
        assert_eq!(over.calls_per_second(2), None);
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
            ..look(0, 0, 0)
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
