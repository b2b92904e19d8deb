//! Time that several intervals cover together, counted once.

use marey::Section;
use serde::{Deserialize, Serialize};

/// From `start_ns` to `end_ns`, which is never before it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
pub struct Interval {
    /// Where it begins.
    pub start_ns: u64,
    /// Where it ends.
    pub end_ns: u64,
}

impl Interval {
    /// When a section was open.
    pub(crate) fn of(section: &Section) -> Self {
        Self { start_ns: section.start_ns, end_ns: section.end_ns }
    }

    /// Its length.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// The part of it that is before `limit_ns`.
    pub(crate) fn clipped(self, limit_ns: u64) -> Self {
        Self { start_ns: self.start_ns.min(limit_ns), end_ns: self.end_ns.min(limit_ns) }
    }
}

/// The same time as disjoint intervals in ascending order; those that touch become one, empty ones vanish.
///
/// ```text
/// given   |---a---|       |-c-|
///             |---b---|       |--d--|   e|
/// union   |-----------|   |---------|
/// ```
pub fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.retain(|i| i.length_ns() > 0);
    intervals.sort_unstable();
    // A later interval that begins within or at the end of the one before is swallowed by it.
    intervals.dedup_by(|next, kept| {
        let is_touching = next.start_ns <= kept.end_ns;
        if is_touching {
            kept.end_ns = kept.end_ns.max(next.end_ns);
        }
        is_touching
    });
    intervals
}

/// Length of the time that the intervals cover, each moment counted once.
pub fn union_length_ns(intervals: Vec<Interval>) -> u64 {
    union(intervals).iter().map(Interval::length_ns).sum()
}

/// The time that is in both lists, ascending. Each of them is ascending and disjoint, as [`union`] returns it. One pass.
///
/// ```text
/// a       |-------|     |-----|
/// b           |-------------|
/// both        |---|     |---|
/// ```
pub(crate) fn intersection(a: &[Interval], b: &[Interval]) -> Vec<Interval> {
    shared(a, b).collect()
}

fn shared<'a>(a: &'a [Interval], b: &'a [Interval]) -> impl Iterator<Item = Interval> + 'a {
    let (mut at_a, mut at_b) = (0, 0);
    std::iter::from_fn(move || {
        let (x, y) = (a.get(at_a)?, b.get(at_b)?);
        let (at, next) = if x.end_ns < y.end_ns { (&mut at_a, x) } else { (&mut at_b, y) };
        *at += 1;
        let start_ns = x.start_ns.max(y.start_ns);
        Some(Interval { start_ns, end_ns: next.end_ns.max(start_ns) })
    })
    .filter(|both| both.length_ns() > 0)
}

/// The time that is in the first list and not in the second; they are as [`intersection`] takes them.
///
/// ```text
/// a       |-------|     |-----|
/// b           |-------------|
/// left    |---|             |-|
/// ```
pub(crate) fn difference(a: &[Interval], b: &[Interval]) -> Vec<Interval> {
    let mut left = Vec::new();
    let mut b = b.iter().peekable();
    for whole in a {
        let mut from_ns = whole.start_ns;
        while let Some(taken) = b.peek() {
            if taken.start_ns >= whole.end_ns {
                break;
            }
            left.push(Interval { start_ns: from_ns, end_ns: taken.start_ns.max(from_ns) });
            from_ns = from_ns.max(taken.end_ns);
            if taken.end_ns > whole.end_ns {
                break;
            }
            b.next();
        }
        left.push(Interval { start_ns: from_ns, end_ns: whole.end_ns.max(from_ns) });
    }
    left.retain(|time| time.length_ns() > 0);
    left
}

/// Length of the time that is in both lists; they are as [`intersection`] takes them.
pub(crate) fn common_length_ns(a: &[Interval], b: &[Interval]) -> u64 {
    shared(a, b).map(|both| both.length_ns()).sum()
}

/// Length of disjoint intervals together.
pub(crate) fn length_ns(disjoint: &[Interval]) -> u64 {
    disjoint.iter().map(Interval::length_ns).sum()
}

/// One of the disjoint intervals, which are in order, is around a moment.
pub(crate) fn has_moment(disjoint: &[Interval], at_ns: u64) -> bool {
    let next = disjoint.partition_point(|time| time.end_ns <= at_ns);
    disjoint.get(next).is_some_and(|time| time.start_ns <= at_ns)
}

/// Length of the part of `interval` that lies in `times`, which are disjoint and in order.
pub(crate) fn length_within(interval: Interval, times: &[Interval]) -> u64 {
    let first = times.partition_point(|time| time.end_ns <= interval.start_ns);
    let reached = times[first..].iter().take_while(|time| time.start_ns < interval.end_ns);
    reached
        .map(|time| {
            let end_ns = time.end_ns.min(interval.end_ns);
            end_ns.saturating_sub(time.start_ns.max(interval.start_ns))
        })
        .fold(0, u64::saturating_add)
}

/// Those of `intervals` that no single one of `covered` contains. Both are in ascending order of start, `covered` as
/// [`union`] returns it. One pass.
pub(crate) fn not_within<'a>(
    intervals: &'a [Interval],
    covered: &'a [Interval],
) -> impl Iterator<Item = Interval> + 'a {
    let mut at = 0;
    intervals.iter().copied().filter(move |interval| {
        while covered.get(at).is_some_and(|c| c.end_ns < interval.start_ns) {
            at += 1;
        }
        covered.get(at).is_none_or(|c| c.start_ns > interval.start_ns || c.end_ns < interval.end_ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(pairs: &[(u64, u64)]) -> Vec<Interval> {
        pairs.iter().map(|&(start_ns, end_ns)| Interval { start_ns, end_ns }).collect()
    }

    #[test]
    fn what_is_taken_is_no_longer_there() {
        let left = |a: &[(u64, u64)], b: &[(u64, u64)]| difference(&drawn(a), &drawn(b));
        assert_eq!(left(&[(0, 8), (14, 20)], &[(4, 18)]), drawn(&[(0, 4), (18, 20)]));
        assert_eq!(left(&[(0, 9)], &[]), drawn(&[(0, 9)]));
        assert_eq!(left(&[(2, 4), (6, 8)], &[(0, 10)]), []);
        assert_eq!(left(&[(0, 10)], &[(0, 1), (3, 4), (9, 12)]), drawn(&[(1, 3), (4, 9)]));
    }

    #[test]
    fn time_that_overlaps_is_counted_once() {
        // 0    5    10   15   20   25   30
        // |---a---|           |-c-|
        //      |---b---|          |--d--|
        let intervals = drawn(&[(20, 24), (0, 8), (5, 14), (24, 30)]);
        assert_eq!(union(intervals.clone()), drawn(&[(0, 14), (20, 30)]));
        assert_eq!(union_length_ns(intervals), 24);
    }

    #[test]
    fn the_intersection_is_the_time_that_is_in_both() {
        // 0         10        20        30
        // |---a1---|          |---a2----|
        //      |--------b1--------|  |b2|   |b3|
        let a = drawn(&[(0, 9), (20, 30)]);
        let b = drawn(&[(5, 24), (27, 30), (34, 37)]);
        let both = drawn(&[(5, 9), (20, 24), (27, 30)]);
        assert_eq!(intersection(&a, &b), both);
        assert_eq!(intersection(&b, &a), both);
        assert_eq!(length_ns(&both), 11);
        assert_eq!(intersection(&a, &[]), vec![]);
    }

    #[test]
    fn an_interval_within_another_adds_nothing() {
        // 0         10        20
        // |---------a---------|
        //     |b|  |---c---|
        assert_eq!(union_length_ns(drawn(&[(0, 20), (4, 6), (9, 17)])), 20);
    }

    #[test]
    fn nothing_and_empty_intervals_cover_nothing() {
        assert_eq!(union_length_ns(vec![]), 0);
        assert_eq!(union(drawn(&[(5, 5), (9, 9)])), vec![]);
    }

    #[test]
    fn the_common_time_of_two_lists_is_where_both_are() {
        // a   0----4    6--8   10--------20
        // b      3--------7      12-13 15----22      1 + 1 + 1 + 5
        let a = drawn(&[(0, 4), (6, 8), (10, 20)]);
        let b = drawn(&[(3, 7), (12, 13), (15, 22)]);
        assert_eq!(common_length_ns(&a, &b), 8);
        assert_eq!(common_length_ns(&b, &a), 8);
        assert_eq!(common_length_ns(&a, &[]), 0);
        let all = drawn(&[(0, u64::MAX)]);
        assert_eq!(common_length_ns(&all, &all), u64::MAX);
    }

    #[test]
    fn only_what_sticks_out_is_not_within() {
        // 0         10        20        30
        // |-covered-|         |-covered-|
        //   |a|   |-b-| |c|     |d|    |-e-|
        let covered = drawn(&[(0, 10), (20, 30)]);
        let given = drawn(&[(2, 4), (8, 12), (14, 16), (22, 24), (29, 33)]);
        let outside: Vec<Interval> = not_within(&given, &covered).collect();
        assert_eq!(outside, drawn(&[(8, 12), (14, 16), (29, 33)]));
    }

    #[test]
    fn a_long_interval_does_not_hide_the_cover_of_a_later_one() {
        // 0         10        20        30
        // |-covered-|         |-covered-|
        //   |--------- a ---------|
        //    |b|                |c|
        let covered = drawn(&[(0, 10), (20, 30)]);
        let given = drawn(&[(2, 24), (3, 5), (22, 24)]);
        let outside: Vec<Interval> = not_within(&given, &covered).collect();
        assert_eq!(outside, drawn(&[(2, 24)]));
    }

    #[test]
    fn the_length_within_times_is_that_of_the_common_part() {
        // times       |--|    |----|
        // interval     |--------|          1 + 2
        let times = drawn(&[(10, 12), (16, 20)]);
        let within = |start_ns, end_ns| length_within(Interval { start_ns, end_ns }, &times);
        assert_eq!(within(11, 18), 3);
        assert_eq!(within(12, 16), 0);
        assert_eq!(within(0, 100), 6);
        assert_eq!(within(30, 40), 0);
    }
}
