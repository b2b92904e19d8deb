//! Which calls of collectives a summary keeps one by one.

use std::cmp::Reverse;

use super::{CollectiveSums, RankSummary, START_UP};
use crate::intervals::Interval;

/// Of 67 million calls [`RankSummary::MAX_CALLS`] are kept. Numbers are looked for one by one, so that a file that claims more would take long.
const MAX_STRIDE: u32 = 1 << 16;

/// The number of a call, mixed so that what is kept has no period: a loop that makes eight calls a step keeps some of each. Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators" (2014): the last steps of `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Whether a call is kept at a stride: one of `stride` is, the first always. What is kept at 4 is kept at 2, on all ranks alike.
fn is_kept(number: u64, stride: u32) -> bool {
    mixed(number).is_multiple_of(u64::from(stride.max(1)))
}

/// All calls, or one of every 2, 4, 8 …, so that they are no more than [`RankSummary::MAX_CALLS`]; and of how many one is kept.
pub(super) fn at_most(calls: &[Interval]) -> (u32, Vec<Interval>) {
    let mut stride = 1_u32;
    loop {
        let n_kept = (0..calls.len() as u64)
            .filter(|n| is_kept(*n, stride))
            .count();
        if n_kept <= RankSummary::MAX_CALLS || stride > u32::MAX / 2 {
            return (stride, kept(calls, 1, stride).collect());
        }
        stride *= 2;
    }
}

/// Of calls kept at a stride those that are kept at a wider one; none where no rank makes so many calls that the stride can be true.
pub(crate) fn kept(calls: &[Interval], from: u32, to: u32) -> impl Iterator<Item = Interval> {
    let calls = if from > MAX_STRIDE { &[] } else { calls };
    let numbers = (0_u64..).filter(move |number| is_kept(*number, from));
    let numbered = calls.iter().copied().zip(numbers);
    numbered.filter_map(move |(call, number)| is_kept(number, to).then_some(call))
}

/// Those with the most time, first the start of the processes, which aligns clocks however short it is, and of their calls as many as there is room for: of the one with the most kept calls half are
/// left out, until all fit. Returns how many collectives are left out.
pub(super) fn keep_bounded(collectives: &mut Vec<CollectiveSums>) -> u64 {
    let n_all = collectives.len();
    if n_all > RankSummary::MAX_COLLECTIVES {
        collectives.sort_by_key(|of| (of.name != START_UP, Reverse(of.total_ns)));
        collectives.truncate(RankSummary::MAX_COLLECTIVES);
        collectives.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
    }
    let mut n_kept: usize = collectives.iter().map(|of| of.calls.len()).sum();
    while n_kept > RankSummary::MAX_ALL_CALLS {
        let longest = collectives.iter_mut().rev().max_by_key(|of| of.calls.len());
        let Some(longest) = longest.filter(|of| of.calls.len() > 1) else {
            break;
        };
        let before = longest.calls.len();
        let stride = longest.stride.saturating_mul(2);
        longest.calls = kept(&longest.calls, longest.stride, stride).collect();
        longest.stride = stride;
        n_kept -= before - longest.calls.len();
    }
    (n_all - collectives.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collective(name: &str, n_calls: u64, total_ns: u64) -> CollectiveSums {
        let call = |start_ns| Interval {
            start_ns,
            end_ns: start_ns + 1,
        };
        CollectiveSums {
            name: name.into(),
            count: n_calls,
            total_ns,
            stride: 1,
            calls: (0..n_calls).map(call).collect(),
            ..CollectiveSums::default()
        }
    }

    /// Starts of the calls that a stride keeps of so many.
    fn numbers(n_calls: u64, stride: u32) -> Vec<u64> {
        (0..n_calls).filter(|n| is_kept(*n, stride)).collect()
    }

    #[test]
    fn calls_are_thinned_where_most_are_until_all_fit() {
        // 1 024 + 1 024 + 600 are too many, and so they are with half of the first left out; with half of the second they are not.
        let mut all = vec![
            collective("a", 1024, 9),
            collective("b", 1024, 9),
            collective("c", 600, 9),
        ];
        assert_eq!(keep_bounded(&mut all), 0);
        let strides: Vec<u32> = all.iter().map(|of| of.stride).collect();
        assert_eq!(strides, [2, 2, 1]);
        let starts = |of: &CollectiveSums| -> Vec<u64> {
            of.calls.iter().map(|call| call.start_ns).collect()
        };
        assert_eq!(starts(&all[0]), numbers(1024, 2));
        assert_eq!(starts(&all[2]), numbers(600, 1));
        assert_eq!(all[0].count, 1024);
    }

    #[test]
    fn what_is_kept_has_no_period_and_is_kept_at_narrower_strides() {
        // Of calls of a loop with 2, 3, 4, 8 or 40 a turn each has its share: one of `stride`, within a fifth.
        for (period, stride) in [(2_u32, 2), (3, 4), (4, 2), (4, 4), (8, 8), (40, 4)] {
            let of_one = |at: u32| {
                let all = numbers(100_000, stride).into_iter();
                all.filter(|n| n % u64::from(period) == u64::from(at))
                    .count()
            };
            let of_each: Vec<f64> = (0..period)
                .map(|at| u32::try_from(of_one(at)).unwrap().into())
                .collect();
            let share = 100_000.0 / f64::from(stride) / f64::from(period);
            assert!(
                of_each.iter().all(|n: &f64| (n / share - 1.0).abs() < 0.2),
                "{period} {stride}: {of_each:?}"
            );
        }
        let wide = numbers(5000, 8);
        assert!(wide.iter().all(|n| is_kept(*n, 4) && is_kept(*n, 2)));
        assert_eq!(wide[0], 0);
    }

    #[test]
    fn a_stride_that_cannot_be_keeps_nothing() {
        let calls = collective("a", 5, 9).calls;
        assert_eq!(kept(&calls, 1 << 30, 1 << 31).count(), 0);
        assert_eq!(kept(&calls, 0, 1).count(), 5);
    }

    #[test]
    fn thinning_twice_is_thinning_once() {
        let calls = collective("a", 5000, 9).calls;
        let by_2: Vec<Interval> = kept(&calls, 1, 2).collect();
        let by_8: Vec<Interval> = kept(&calls, 1, 8).collect();
        assert_eq!(kept(&by_2, 2, 8).collect::<Vec<_>>(), by_8);
        let (stride, few) = at_most(&calls);
        assert!(few.len() <= RankSummary::MAX_CALLS, "{}", few.len());
        assert_eq!(few.len(), numbers(5000, stride).len());
    }

    #[test]
    fn of_too_many_groups_those_with_the_most_time_and_the_start_stay() {
        let mut all: Vec<_> = (0..100)
            .map(|n| collective(&format!("group{n:03}"), 2, n))
            .collect();
        all.push(collective(START_UP, 1, 0));
        assert_eq!(keep_bounded(&mut all), 37);
        assert_eq!(all.len(), 64);
        assert_eq!(all[0].name, "group037");
        assert_eq!(all[63].name, START_UP);
    }
}
