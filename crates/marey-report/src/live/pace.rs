//! How fast a count grows, from the times at which it grew.

use std::collections::VecDeque;

use marey::live::Totals;

use crate::quantity::float;

/// How far back a rate looks. Blocks take seconds, so the time between two looks would often hold none.
pub(super) const SPAN_NS: u64 = 30_000_000_000;
/// The same record has slightly different times at different looks, as the clock is known better.
pub(super) const SAME_NS: u64 = 1_000_000;
/// Times that are kept of a span are at least a share of it apart.
const KEPT: u64 = 30;

/// A time in nanoseconds, and the count from then on.
pub(super) type Counted = (u64, f64);

/// Follows one count: its rate is that between two of its own times, whenever somebody looked.
///
/// ```text
/// records        1     2     3     4     5
/// looks      |       |       |       |       |
/// known              1,2     3       4       5       each with the time of its record; the first one, and then what is newest
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// Oldest first.
    seen: VecDeque<Counted>,
    now_ns: u64,
}

impl Pace {
    /// Takes the newest count, and an earlier one where that is known. Those further back than `span_ns` are forgotten, but for the latest
    /// two. A count that fell begins anew.
    pub(super) fn take(
        &mut self,
        (now_ns, span_ns): (u64, u64),
        newest: Option<Counted>,
        first: Option<Counted>,
    ) {
        self.now_ns = now_ns;
        let fell = |(_, count): Counted| self.seen.back().is_some_and(|(_, last)| count < *last);
        if newest.is_none_or(fell) {
            self.seen.clear();
        }
        for (at_ns, count) in first.into_iter().chain(newest) {
            let is_new = self.seen.back().is_none_or(|(last_ns, last)| {
                let least_ns = if count > *last { 0 } else { SAME_NS };
                at_ns > last_ns.saturating_add(least_ns) && count >= *last
            });
            if !is_new {
                continue;
            }
            if let [.., (before_ns, _), (last_ns, _)] = *self.seen.make_contiguous()
                && last_ns - before_ns < span_ns / KEPT
            {
                self.seen.pop_back();
            }
            self.seen.push_back((at_ns, count));
        }
        while self.seen.len() > 2 && self.seen[0].0.saturating_add(span_ns) < now_ns {
            self.seen.pop_front();
        }
    }

    /// Takes how many calls of some call paths have ended, when the last of them did, and the same of an earlier one.
    pub(super) fn take_calls<'a>(
        &mut self,
        now_ns: u64,
        calls: impl IntoIterator<Item = &'a Totals>,
    ) {
        let calls: Vec<&Totals> = calls.into_iter().collect();
        let count = calls.iter().map(|totals| totals.count);
        let count = count.fold(0, u64::saturating_add);
        let last = calls.iter().max_by_key(|totals| totals.last_end_ns);
        let earlier = last.and_then(|last| {
            let (ns, n_since) = last.turns_since()?;
            let mut others = calls.iter().filter(|other| other.node != last.node);
            // Who knows how many of the others ended since.
            let is_alone = others.all(|other| other.last_end_ns <= ns);
            is_alone.then(|| (ns, float(count.saturating_sub(n_since))))
        });
        let newest = last.map(|last| (last.last_end_ns, float(count)));
        self.take((now_ns, SPAN_NS), newest, earlier);
    }

    /// Growth in a second, between the first and the last time that is remembered. `None` before two are, and when the count has not grown
    /// for longer than it should have taken: no rate describes that.
    pub(super) fn per_second(&self) -> Option<f64> {
        let ((first_ns, first), (last_ns, last)) = (*self.seen.front()?, *self.seen.back()?);
        let span_ns = last_ns.checked_sub(first_ns).filter(|ns| *ns > 0)?;
        let quiet_ns = self.now_ns.saturating_sub(last_ns);
        (quiet_ns <= SPAN_NS.max(span_ns.saturating_mul(2)))
            .then(|| (last - first) / (float(span_ns) / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use marey::live::Iterations;

    use super::*;

    const MS: u64 = 1_000_000;

    fn assert_close(pace: &Pace, expected: f64) {
        let found = pace.per_second().unwrap();
        assert!((found - expected).abs() < 1e-9, "{found}");
    }

    /// The rate at the end of so many looks, every so many ms, at steps of so many ms.
    fn looked(n_looks: u64, look_ms: u64, step_ms: u64) -> Pace {
        let mut pace = Pace::default();
        for look in 1..=n_looks {
            let n = look * look_ms / step_ms;
            let newest = (n > 0).then(|| (n * step_ms * MS, float(n)));
            pace.take((look * look_ms * MS, SPAN_NS), newest, None);
        }
        pace
    }

    #[test]
    fn a_rate_is_that_of_the_records_whenever_somebody_looked() {
        // ms    0    1700   3400   5100   6800        steps
        //          |      |      |      |             looks every 1000 ms
        for look_ms in [100, 250, 1000, 1700, 5000] {
            assert_close(&looked(20_000 / look_ms, look_ms, 1700), 1.0 / 1.7);
        }
        assert_close(&looked(40, 100, 250), 4.0);
    }

    #[test]
    fn one_look_is_enough_where_an_earlier_count_is_known() {
        let mut pace = Pace::default();
        for now_ms in [9000, 9100] {
            let (newest, first) = ((8500 * MS, 5.0), (6800 * MS, 4.0));
            pace.take((now_ms * MS, SPAN_NS), Some(newest), Some(first));
            assert_close(&pace, 1.0 / 1.7);
        }
    }

    #[test]
    fn turns_of_two_threads_that_end_together_have_the_rate_of_all() {
        // s         1    2    3    4    5      ends of one thread, and of the other right after it
        let iterations =
            Iterations { newest_ns: vec![1000 * MS; 10], first_end_ns: Some(1000 * MS) };
        let calls = Totals {
            node: 2,
            count: 10,
            last_end_ns: 5000 * MS,
            iterations: Some(iterations),
            ..Totals::default()
        };
        let mut pace = Pace::default();
        pace.take_calls(6000 * MS, [&calls]);
        // Nine ends in four seconds after the first.
        assert_close(&pace, 2.25);
        // Of another path that ends while these do nobody knows how many ended since.
        let other = Totals { node: 3, count: 7, last_end_ns: 4500 * MS, ..Totals::default() };
        let mut pace = Pace::default();
        pace.take_calls(6000 * MS, [&calls, &other]);
        assert_eq!(pace.per_second(), None);
    }

    #[test]
    fn a_rate_ends_when_nothing_comes_any_more_and_begins_anew_when_the_count_falls() {
        let mut pace = Pace::default();
        let mut at = |now_ms: u64, newest: Option<Counted>| {
            let first = newest.and(Some((1000 * MS, 1.0)));
            pace.take((now_ms * MS, SPAN_NS), newest, first);
            pace.per_second()
        };
        assert_eq!(at(31_000, Some((2000 * MS, 2.0))), Some(1.0));
        assert_eq!(at(33_000, Some((2000 * MS, 2.0))), None);
        assert_eq!(at(34_000, Some((1000 * MS, 1.0))), None);
        assert_eq!(at(35_000, None), None);
    }

    #[test]
    fn what_is_older_than_half_a_minute_is_forgotten_and_little_is_kept() {
        // 10 steps a second for 40 s, then one every two.
        let mut pace = looked(400, 100, 100);
        assert_close(&pace, 10.0);
        assert!(pace.seen.len() <= 33, "{}", pace.seen.len());
        for n in 1..=16_u64 {
            let at = (40_000 + n * 2000) * MS;
            pace.take((at, SPAN_NS), Some((at, float(400 + n))), None);
        }
        assert_close(&pace, 0.5);
    }

    #[test]
    fn readings_are_compared_with_the_one_before_and_the_same_one_is_none() {
        let mut pace = Pace::default();
        let mut read = |now_ms: u64, at_ns: u64, value: f64| {
            pace.take((now_ms * MS, 0), Some((at_ns, value)), None);
            pace.per_second()
        };
        assert_eq!(read(0, 0, 10.0), None);
        assert_eq!(read(1000, 90, 10.0), None, "as the clock is known better");
        assert_eq!(read(3000, 2000 * MS, 11.0), Some(0.5));
        assert_eq!(read(4000, 2000 * MS, 11.0), Some(0.5));
        assert_eq!(read(6000, 6000 * MS, 14.0), Some(0.75));
        assert_eq!(read(8000, 8000 * MS, 14.0), Some(0.0));
        assert_eq!(read(40_000, 8000 * MS, 14.0), None);
    }
}
