//! How fast a count grows, from the times at which it grew.

use std::collections::VecDeque;

use marey::live::Totals;

use crate::quantity::float;

/// How far back a rate looks. Blocks take seconds, so the time between two looks would often hold none.
const SPAN_NS: u64 = 30_000_000_000;

/// Follows one count: its rate is that between two of its own times, whenever somebody looked.
///
/// ```text
/// records        1     2     3     4     5
/// looks      |       |       |       |       |
/// known              1,2     3       4       5       each with the time of its record; the first one, and then what is newest
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Times and counts, oldest first.
    seen: VecDeque<(u64, u64)>,
    now_ns: u64,
}

impl Pace {
    /// Takes the newest count, and the first one where that is known, each after the time at which it became that, in nanoseconds.
    /// A count that fell begins anew.
    pub fn take(&mut self, now_ns: u64, newest: Option<(u64, u64)>, first: Option<(u64, u64)>) {
        self.now_ns = now_ns;
        let Some((newest_ns, count)) = newest else {
            self.seen.clear();
            return;
        };
        if self.seen.back().is_some_and(|(_, last)| count < *last) {
            self.seen.clear();
        }
        let last = self.seen.back().copied();
        let is_new = |of: &(u64, u64)| last.is_none_or(|last| of.0 > last.0 && of.1 >= last.1);
        let counts = first.into_iter().chain([(newest_ns, count)]);
        self.seen.extend(counts.filter(is_new));
        while self.seen.len() > 2 && self.seen[0].0.saturating_add(SPAN_NS) < now_ns {
            self.seen.pop_front();
        }
    }

    /// Takes how many calls of some call paths have ended, when the last of them did, and the same of an earlier one.
    pub fn take_calls(&mut self, now_ns: u64, totals: &[Totals], is_wanted: impl Fn(u32) -> bool) {
        let wanted = || totals.iter().filter(|totals| is_wanted(totals.node));
        let count = wanted().fold(0, |sum: u64, totals| sum.saturating_add(totals.count));
        let last = wanted().max_by_key(|totals| totals.last_end_ns);
        let earlier = last.and_then(|last| {
            let (ns, n_since) = last.turns_since()?;
            let mut others = wanted().filter(|other| other.node != last.node);
            // Who knows how many of the others ended since.
            let is_alone = others.all(|other| other.last_end_ns <= ns);
            is_alone.then(|| (ns, count.saturating_sub(n_since)))
        });
        let newest = last.map(|last| (last.last_end_ns, count));
        self.take(now_ns, newest, earlier);
    }

    /// Growth in a second, between the first and the last time that is remembered. `None` before the count has grown twice, and when it
    /// has not for longer than it should have taken: no rate describes that.
    pub fn per_second(&self) -> Option<f64> {
        let ((first_ns, first), (last_ns, last)) = (*self.seen.front()?, *self.seen.back()?);
        let span_ns = last_ns.checked_sub(first_ns).filter(|ns| *ns > 0)?;
        let quiet_ns = self.now_ns.saturating_sub(last_ns);
        let more = last.checked_sub(first).filter(|more| *more > 0)?;
        (quiet_ns <= SPAN_NS.max(span_ns.saturating_mul(2)))
            .then(|| float(more) / (float(span_ns) / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn assert_close(pace: &Pace, expected: f64) {
        let found = pace.per_second().unwrap();
        assert!((found - expected).abs() < 1e-9, "{found}");
    }

    #[test]
    fn a_rate_is_that_of_the_records_whenever_somebody_looked() {
        // ms    0    1700   3400   5100   6800        steps
        //          |      |      |      |             looks every 1000 ms from 1000
        let mut pace = Pace::default();
        for look in 1..=7_u64 {
            let n = look * 1000 / 1700;
            let newest = (n > 0).then_some((n * 1700 * MS, n));
            pace.take(look * 1000 * MS, newest, None);
        }
        assert_close(&pace, 1.0 / 1.7);
    }

    #[test]
    fn one_look_is_enough_where_the_first_count_is_known() {
        let mut pace = Pace::default();
        pace.take(9000 * MS, Some((8500 * MS, 5)), Some((6800 * MS, 4)));
        assert_close(&pace, 1.0 / 1.7);
        // Nothing new.
        pace.take(9100 * MS, Some((8500 * MS, 5)), Some((6800 * MS, 4)));
        assert_close(&pace, 1.0 / 1.7);
    }

    #[test]
    fn looks_that_are_closer_than_records_do_not_change_the_rate() {
        // A step every 250 ms, looks every 100.
        let mut pace = Pace::default();
        for look in 0..40_u64 {
            let n = look * 100 / 250;
            let newest = (n > 0).then_some((n * 250 * MS, n));
            pace.take(look * 100 * MS, newest, None);
        }
        assert_close(&pace, 4.0);
    }

    #[test]
    fn a_rate_ends_when_nothing_comes_any_more_and_begins_anew_when_the_count_falls() {
        let mut pace = Pace::default();
        pace.take(2000 * MS, Some((2000 * MS, 2)), Some((1000 * MS, 1)));
        pace.take(31_000 * MS, Some((2000 * MS, 2)), Some((1000 * MS, 1)));
        assert_close(&pace, 1.0);
        pace.take(33_000 * MS, Some((2000 * MS, 2)), Some((1000 * MS, 1)));
        assert_eq!(pace.per_second(), None);
        pace.take(34_000 * MS, Some((34_000 * MS, 1)), None);
        assert_eq!(pace.per_second(), None);
        pace.take(35_000 * MS, None, None);
        assert_eq!(pace.per_second(), None);
    }

    #[test]
    fn what_is_older_than_half_a_minute_is_forgotten() {
        // A step a second for 40 s, then one every two.
        let mut pace = Pace::default();
        for n in 0..=40_u64 {
            pace.take(n * 1000 * MS, Some((n * 1000 * MS, n)), None);
        }
        for n in 1..=15_u64 {
            let at = (40_000 + n * 2000) * MS;
            pace.take(at, Some((at, 40 + n)), None);
        }
        assert_close(&pace, 0.5);
    }
}
