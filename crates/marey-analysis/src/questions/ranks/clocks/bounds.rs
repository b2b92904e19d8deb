//! What one call after the other allows two clocks to differ by, and what marks say of that.

use crate::intervals::Interval;

/// Of each call, when the last rank of a clock came and the first one left, on that clock: nanoseconds since 1970.
pub(super) type Column = Vec<(i64, i64)>;

/// Adds the calls of a rank, whose process began at this moment, to the column of its clock.
pub(super) fn add(column: &mut Column, began_ns: u64, calls: impl Iterator<Item = Interval>) {
    let on_clock = |at_ns: u64| i64::try_from(began_ns.saturating_add(at_ns)).unwrap_or(i64::MAX);
    for (at, call) in calls.enumerate() {
        let (start, end) = (on_clock(call.start_ns), on_clock(call.end_ns));
        match column.get_mut(at) {
            Some((latest, earliest)) => {
                *latest = start.max(*latest);
                *earliest = end.min(*earliest);
            }
            None => column.push((start, end)),
        }
    }
}

/// Between which two values an offset lies, and how far apart the limits of the calls are that say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    least: (i128, i128),
    most: (i128, i128),
}

/// An offset, and within how much it is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "units")]
pub(super) struct Estimate {
    pub(super) offset_ns: i128,
    pub(super) error_ns: u64,
    /// What calls contradict each other by; 0 when they do not.
    pub(super) drift_ns: u64,
}

/// What ranks of one clock contradict each other by: one left before the other came. 0 when they do not.
pub(super) fn contradiction_ns(column: &Column) -> u64 {
    let gaps = column.iter().map(|(latest, earliest)| latest.saturating_sub(*earliest));
    let widest = gaps.max().unwrap_or_default();
    u64::try_from(widest).unwrap_or_default()
}

impl Bounds {
    /// What has to be added to the clock of `other` to get that of `hub`; `None` without calls in common.
    pub(super) fn between(hub: &Column, other: &Column) -> Option<Self> {
        let each = hub.iter().zip(other).map(|(hub, other)| {
            let apart = |a: i64, b: i64| i128::from(a) - i128::from(b);
            let (least, most) = (apart(hub.0, other.1), apart(hub.1, other.0));
            let width = (most - least).max(0);
            Self { least: (least, width), most: (most, width) }
        });
        each.reduce(Self::and)
    }

    /// Both hold. Of equal limits that of the narrower call.
    pub(super) fn and(self, other: Self) -> Self {
        let highest = |(limit, width): (i128, i128)| (limit, -width);
        let lowest = |(limit, width): (i128, i128)| (limit, width);
        Self {
            least: std::cmp::max_by_key(self.least, other.least, |one| highest(*one)),
            most: std::cmp::min_by_key(self.most, other.most, |one| lowest(*one)),
        }
    }

    /// The middle of the bounds, half of their distance as the error.
    ///
    /// ```text
    /// least |---------x---------| most           the offset, right within half of the distance
    ///
    /// most |....x....| least                     no offset fits all calls: clocks drifted. Half of the gap,
    ///                                            and what the wider of the two calls leaves open
    /// ```
    pub(super) fn estimate(&self) -> Estimate {
        let ((least, least_width), (most, most_width)) = (self.least, self.most);
        let gap = (least - most).max(0);
        let error = match gap {
            0 => half_up(most - least),
            gap => half_up(gap) + least_width.max(most_width),
        };
        Estimate {
            offset_ns: (least + most).div_euclid(2),
            error_ns: u64::try_from(error).unwrap_or(u64::MAX),
            drift_ns: u64::try_from(gap).unwrap_or(u64::MAX),
        }
    }
}

fn half_up(distance: i128) -> i128 {
    (distance + 1) / 2
}

/// What has to be added to the other clock to get that of the hub, the median of what each mark says, and between the least and the most that
/// a mark of two ranks says of it: 0 of one mark of two ranks. `None` without marks in common. A mark is set at one moment by each rank, and
/// nobody knows how far apart these moments are, so that no error follows, however many marks there are.
///
/// ```text
/// hub     10 x     100 x     200 x
/// other    7 x      96 x     190 x       3, 4 and 10: 4, scattered over 7
/// ```
pub(super) fn by_marks(hub: &Column, other: &Column) -> Option<(i128, u64)> {
    let apart = |a: i64, b: i64| i128::from(a) - i128::from(b);
    let each = || {
        let both = hub.iter().zip(other);
        both.map(|(hub, other)| (apart(hub.1, other.0), apart(hub.0, other.1)))
    };
    let scatter = each().map(|of| of.1).max()? - each().map(|of| of.0).min()?;
    let mut middles: Vec<i128> = each().map(|(least, most)| (least + most).div_euclid(2)).collect();
    middles.sort_unstable();
    let (lower, upper) = (middles[(middles.len() - 1) / 2], middles[middles.len() / 2]);
    Some(((lower + upper).div_euclid(2), u64::try_from(scatter).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_narrows_the_bounds() {
        // hub     0 |--------| 9     100 |----| 105
        // other       15 |---| 19      112 |--| 115
        // other + offset = hub: -19 to -6, and 100 - 115 = -15 to 105 - 112 = -7.
        let bounds = Bounds::between(&vec![(0, 9), (100, 105)], &vec![(15, 19), (112, 115)]);
        let expected = Estimate { offset_ns: -11, error_ns: 4, drift_ns: 0 };
        assert_eq!(bounds.unwrap().estimate(), expected);
    }

    #[test]
    fn calls_that_contradict_each_other_widen_the_error() {
        // hub     9 |--| 11     1018 |----| 1022      offset 9 to 12 by the first call, 18 to 24 by the second:
        // other  -1 |-| 0        998 |--| 1000        the middle of 12 and 18, half of 6 and the wider call's 6
        let (hub, other) = (vec![(9, 11), (1018, 1022)], vec![(-1, 0), (998, 1000)]);
        let found = Bounds::between(&hub, &other).unwrap().estimate();
        let expected = Estimate { offset_ns: 15, error_ns: 3 + 6, drift_ns: 6 };
        assert_eq!(found, expected);
    }

    #[test]
    fn without_calls_there_are_no_bounds() {
        assert_eq!(Bounds::between(&vec![], &vec![(1, 2)]), None);
    }

    #[test]
    fn ranks_of_one_clock_contradict_each_other_by_the_time_between_leaving_and_coming() {
        assert_eq!(contradiction_ns(&vec![(0, 9), (30, 25)]), 5);
        assert_eq!(contradiction_ns(&vec![]), 0);
    }

    fn between(hub: &[(i64, i64)], other: &[(i64, i64)]) -> Option<(i128, u64)> {
        by_marks(&hub.to_vec(), &other.to_vec())
    }

    #[test]
    fn one_mark_that_is_far_off_moves_no_clock() {
        let at = |moments: [i64; 3]| moments.map(|at| (at, at));
        // 3, 4 and 910.
        let found = between(&at([10, 100, 1100]), &at([7, 96, 190]));
        assert_eq!(found, Some((4, 907)));
        // 3 and 9.
        assert_eq!(between(&[(10, 10), (99, 99)], &[(7, 7), (90, 90)]), Some((6, 6)));
    }

    #[test]
    fn ranks_of_one_clock_show_how_far_apart_they_set_a_mark() {
        // hub, two ranks    10 x   14 x         3 to 7
        // other              7 x
        assert_eq!(between(&[(14, 10)], &[(7, 7)]), Some((5, 4)));
        assert_eq!(between(&[(10, 10)], &[(7, 7)]), Some((3, 0)));
        assert_eq!(between(&[(10, 10)], &[]), None);
    }
}
