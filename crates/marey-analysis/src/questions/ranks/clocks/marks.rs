//! How far apart are two clocks by marks that ranks set at about the same time?

use super::bounds::Column;

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
