//! How ranks are called.

use marey_analysis::ranks::{Member, OverRanks};

use crate::document::Cell;

/// The members of a job, by place.
#[derive(Clone, Copy)]
pub(super) struct Places<'a>(pub(super) &'a [Member]);

/// Ranks that are listed; of more, how many there are.
const MAX_LISTED: usize = 16;

impl Places<'_> {
    /// The rank, or the file of a process without one. Not safe to print.
    pub(super) fn name(self, place: u32) -> String {
        let member = self.0.get(place as usize);
        member.map_or_else(String::new, |member| match member.rank {
            Some(rank) => rank.to_string(),
            None => member.file.clone(),
        })
    }

    pub(super) fn cell(self, place: u32) -> Cell {
        Cell::Text(self.name(place))
    }

    /// `0-3, 7`.
    pub(super) fn list(self, places: &[u32]) -> String {
        let numbers = places.iter().map(|place| self.0.get(*place as usize)?.rank);
        if let Some(ranks) = numbers.collect::<Option<Vec<u32>>>() {
            return ranges(&ranks);
        }
        let first = places.iter().take(MAX_LISTED);
        let mut names: Vec<String> = first.map(|place| self.name(*place)).collect();
        names.extend(more(places.len()));
        names.join(", ")
    }

    /// Lowest, middle and highest, the spread, and the rank with the highest; of one rank there is no spread, and none is the slowest.
    pub(super) fn spread(self, over: Option<&OverRanks>) -> Vec<Cell> {
        let Some(over) = over else {
            return vec![Cell::Absent; 6];
        };
        let mut cells = vec![
            Cell::Duration(over.min_ns),
            Cell::Mean(over.median_ns),
            Cell::Duration(over.max_ns),
        ];
        cells.extend(if over.n_ranks < 2 {
            [Cell::Absent, Cell::Absent, Cell::Absent]
        } else {
            [
                Cell::Duration(over.spread_ns),
                Cell::ratio(over.spread_ratio),
                self.cell(over.slowest),
            ]
        });
        cells
    }
}

/// The ranks at these places of a job's members as `0-3, 7`; files of processes without a rank. Not safe to print.
pub fn listed_ranks(members: &[Member], places: &[u32]) -> String {
    Places(members).list(places)
}

/// Columns of [`Places::spread`].
pub(super) const SPREAD: [(&str, &str); 6] = [
    ("min_ns", "Min"),
    ("median_ns", "Median"),
    ("max_ns", "Max"),
    ("spread_ns", "Spread"),
    ("spread_ratio", "Spread %"),
    ("slowest", "Slowest"),
];

/// Numbers as `0-3, 7`; those that follow each other together.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let runs: Vec<&[u32]> = sorted.chunk_by(|a, b| a.checked_add(1) == Some(*b)).collect();
    let shown = |run: &&[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    };
    let mut listed: Vec<String> = runs.iter().take(MAX_LISTED).map(shown).collect();
    listed.extend(more(runs.len()));
    listed.join(", ")
}

fn more(n: usize) -> Option<String> {
    (n > MAX_LISTED).then(|| format!("… and {} more", n - MAX_LISTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rank_has_no_spread_and_is_not_the_slowest() {
        let mut over = OverRanks {
            n_ranks: 1,
            min_ns: 5,
            median_ns: 5.0,
            max_ns: 5,
            spread_ratio: Some(0.0),
            ..OverRanks::default()
        };
        let members = [Member::default()];
        let cells = |over: &OverRanks| Places(&members).spread(Some(over));
        assert_eq!(
            cells(&over)[2..],
            [Cell::Duration(5), Cell::Absent, Cell::Absent, Cell::Absent]
        );
        over.n_ranks = 2;
        assert_eq!(cells(&over)[3], Cell::Duration(0));
    }

    #[test]
    fn numbers_that_follow_each_other_are_one_range() {
        assert_eq!(ranges(&[7, 0, 1, 2, 3]), "0-3, 7");
        assert_eq!(ranges(&[5]), "5");
        assert_eq!(ranges(&[]), "");
        let odd: Vec<u32> = (0..20).map(|n| 2 * n + 1).collect();
        assert!(ranges(&odd).ends_with("31, … and 4 more"));
        assert_eq!(ranges(&[u32::MAX - 1, u32::MAX]), "4294967294-4294967295");
    }
}
