//! How far apart are two clocks by marks that ranks set at about the same time?

use std::collections::BTreeMap;

use super::bounds::{Column, columns};
use super::domains::Domains;
use crate::intervals::Interval;
use crate::job::RankSummary;
use crate::questions::ranks::placed;
use crate::questions::ranks::shared_calls::numbered_alike;

/// Marks by clock: of each when the last and when the first rank of the clock set it. A mark is set at one moment by each rank, and nobody
/// knows how far apart these moments are, so that no error follows, however many marks there are.
pub(super) struct Marks(BTreeMap<usize, Column>);

/// What marks say of two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkEstimate {
    /// Added to the other clock it gives that of the hub: the median of all marks.
    pub(super) offset_ns: i128,
    /// Between the least and the most that a mark of two ranks says of it; 0 of one mark of two ranks.
    pub(super) scatter_ns: u64,
}

impl Marks {
    /// The n-th mark of one rank is the n-th of the others, under the conditions of calls.
    pub(super) fn of(places: &[&RankSummary], domains: &Domains) -> Self {
        let set =
            |rank: &RankSummary| rank.n_marks_left_out.saturating_add(rank.marks.len() as u64);
        let having: Vec<(u32, &RankSummary)> =
            placed(places).filter(|(_, rank)| set(rank) > 0).collect();
        let marks = numbered_alike(&having, set, places);
        let moment = |at_ns: &u64| Interval { start_ns: *at_ns, end_ns: *at_ns };
        let each = marks.into_iter().map(|(place, rank)| (place, rank.marks.iter().map(moment)));
        Self(columns(each, places, domains))
    }

    /// Clocks that have any.
    pub(super) fn clocks(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }

    /// `None` without marks in common.
    ///
    /// ```text
    /// hub     10 x     100 x     200 x
    /// other    7 x      96 x     190 x       3, 4 and 10: 4, scattered over 7
    /// ```
    pub(super) fn between(&self, hub: usize, other: usize) -> Option<MarkEstimate> {
        let (hub, other) = (self.0.get(&hub)?, self.0.get(&other)?);
        let apart = |a: i64, b: i64| i128::from(a) - i128::from(b);
        let each: Vec<(i128, i128)> = hub
            .iter()
            .zip(other)
            .map(|(hub, other)| (apart(hub.1, other.0), apart(hub.0, other.1)))
            .collect();
        let least = each.iter().map(|(least, _)| *least).min()?;
        let most = each.iter().map(|(_, most)| *most).max()?;
        let mut middles: Vec<i128> =
            each.iter().map(|(least, most)| (least + most).div_euclid(2)).collect();
        middles.sort_unstable();
        let n_marks = middles.len();
        Some(MarkEstimate {
            offset_ns: (middles[(n_marks - 1) / 2] + middles[n_marks / 2]).div_euclid(2),
            scatter_ns: u64::try_from(most - least).unwrap_or(u64::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(hub: &[(i64, i64)], other: &[(i64, i64)]) -> Option<(i128, u64)> {
        let marks = Marks(BTreeMap::from([(0, hub.to_vec()), (1, other.to_vec())]));
        let found = marks.between(0, 1)?;
        Some((found.offset_ns, found.scatter_ns))
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
