//! Which calls of collectives a summary keeps one by one.

use std::cmp::Reverse;

use super::{CollectiveSums, RankSummary};

/// Alignment of clocks needs them, however short they are.
const MARKS: [&str; 2] = ["start_mark", "init_process_group"];

/// Those with the most time, marks first, and of their calls as many as there is room for: of the one with the most kept calls every
/// second goes, until all fit. Returns how many collectives are left out.
///
/// ```text
/// room for 6    a  0 1 2 3 4 5 6 7      every second   a  0 2 4 6       a  0 2 4 6
///               b  0 1 2                                b  0 1 2    ─►   b  0 1 2     7, so once more: a 0 4
/// ```
pub(super) fn keep_bounded(collectives: &mut Vec<CollectiveSums>) -> u64 {
    let n_all = collectives.len();
    if n_all > RankSummary::MAX_COLLECTIVES {
        collectives.sort_by_key(|of| (!MARKS.contains(&of.name.as_str()), Reverse(of.total_ns)));
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
        longest.stride = longest.stride.saturating_mul(2);
        longest.calls = longest.calls.iter().copied().step_by(2).collect();
        n_kept -= before - longest.calls.len();
    }
    (n_all - collectives.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::Interval;

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

    #[test]
    fn calls_are_thinned_where_most_are_until_all_fit() {
        // 1 024 + 1 024 + 600: the first is halved to 512, then 512 + 1 024 + 600 = 2 136 is still too many, so the second, too.
        let mut all = vec![
            collective("a", 1024, 9),
            collective("b", 1024, 9),
            collective("c", 600, 9),
        ];
        assert_eq!(keep_bounded(&mut all), 0);
        let kept: Vec<_> = all.iter().map(|of| (of.stride, of.calls.len())).collect();
        assert_eq!(kept, [(2, 512), (2, 512), (1, 600)]);
        assert_eq!(all[0].calls[1].start_ns, 2);
        assert_eq!(all[0].count, 1024);
    }

    #[test]
    fn of_too_many_groups_those_with_the_most_time_and_the_marks_stay() {
        let mut all: Vec<_> = (0..100)
            .map(|n| collective(&format!("group{n:03}"), 2, n))
            .collect();
        all.push(collective("start_mark", 1, 0));
        assert_eq!(keep_bounded(&mut all), 37);
        assert_eq!(all.len(), 64);
        assert_eq!(all[0].name, "group037");
        assert_eq!(all[63].name, "start_mark");
    }
}
