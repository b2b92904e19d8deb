//! Ranges of addresses that an allocator has from the driver.

use std::collections::BTreeMap;

use super::replay::Replay;
use crate::import::snapshot::Action;

/// Ranges by their start, with their end; disjoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// The segments in each of these states, which ascend: what happened later is undone.
    ///
    /// Time: one pass over the events behind the first of the states, with a search for each segment.
    pub(super) fn in_states(replay: &Replay<'_>, states: &[usize]) -> Vec<Self> {
        let segments = replay.snapshot.segments.iter();
        let mut ranges = Self::default();
        for segment in segments.filter(|s| s.device == replay.device) {
            ranges.add(segment.address, segment.total_bytes);
        }
        let mut found = Vec::with_capacity(states.len());
        let mut state = replay.events.len();
        for wanted in states.iter().rev() {
            while state > *wanted {
                state -= 1;
                let event = &replay.events[state];
                match event.action {
                    Action::SegmentAlloc | Action::SegmentMap => {
                        ranges.remove(event.address, event.bytes);
                    }
                    Action::SegmentFree => ranges.add(event.address, event.bytes),
                    Action::SegmentUnmap => ranges.add_to_neighbours(event.address, event.bytes),
                    _ => {}
                }
            }
            found.push(ranges.clone());
        }
        found.reverse();
        found
    }

    /// Number of ranges.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn add(&mut self, start: u64, bytes: u64) {
        if bytes > 0 {
            // What is said to be there twice is there once.
            self.remove(start, bytes);
            self.0.insert(start, start.saturating_add(bytes));
        }
    }

    /// Expandable segments grow at their ends.
    fn add_to_neighbours(&mut self, start: u64, bytes: u64) {
        let (mut from, mut until) = (start, start.saturating_add(bytes));
        self.remove(start, bytes);
        if let Some(end) = self.0.remove(&until) {
            until = end;
        }
        let before = self.0.range(..from).next_back();
        if let Some((earlier, _)) = before.filter(|(_, end)| **end == from) {
            from = *earlier;
        }
        self.0.insert(from, until);
    }

    /// Takes away whatever is in a range; what overlaps it is cut.
    ///
    /// ```text
    /// before   |----|   |------|   |----|
    /// taken       |----------------|
    /// after    |--|                |----|
    /// ```
    fn remove(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        let from = self.0.range(..=start).next_back().map(|(from, _)| *from);
        let from = from.unwrap_or(start);
        let touched: Vec<(u64, u64)> =
            self.0.range(from..end.max(from)).map(|(a, b)| (*a, *b)).collect();
        for (a, b) in touched {
            self.0.remove(&a);
            if a < start {
                self.0.insert(a, b.min(start));
            }
            if b > end {
                self.0.insert(end, b);
            }
        }
    }

    /// What of them lies in these parts, which do not overlap; start and length.
    pub(super) fn within(&self, parts: impl Iterator<Item = (u64, u64)>) -> Self {
        let of_part = |(start, bytes): (u64, u64)| {
            let end = start.saturating_add(bytes);
            let begun = self.0.range(..end).map(|(from, until)| (*from, *until));
            begun
                .map(move |(from, until)| (from.max(start), until.min(end)))
                .filter(|(from, until)| from < until)
        };
        Self(parts.flat_map(of_part).collect())
    }

    /// Length of everything that none of these uses; they are start and length.
    pub(super) fn free_bytes(&self, used: &[(u64, u64)]) -> u64 {
        let all = self.0.iter().map(|(start, end)| end - start);
        let all = all.fold(0, u64::saturating_add);
        let is_here = |address: u64| {
            let before = self.0.range(..=address).next_back();
            before.is_some_and(|(_, end)| address < *end)
        };
        let used = used.iter().filter(|(address, _)| is_here(*address));
        let used = used.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        all.saturating_sub(used)
    }

    /// Length of the longest piece that none of these uses; they are start and length, ascending.
    pub(super) fn largest_gap(&self, used: &[(u64, u64)]) -> u64 {
        let mut at = 0;
        let mut largest = 0;
        for (start, end) in &self.0 {
            let mut free_from = *start;
            while let Some((address, bytes)) = used.get(at).filter(|(address, _)| address < end) {
                largest = largest.max(address.saturating_sub(free_from));
                free_from = free_from.max(address.saturating_add(*bytes));
                at += 1;
            }
            largest = largest.max(end.saturating_sub(free_from));
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(of: &[(u64, u64)]) -> Ranges {
        Ranges(of.iter().copied().collect())
    }

    #[test]
    fn what_is_taken_away_cuts_what_it_overlaps() {
        // 0    10   20   30   40   50
        // |----|    |---------|          before
        //   |------------|               taken: 5–25
        // |-|            |----|          after
        let mut found = ranges(&[(0, 10), (20, 40)]);
        found.remove(5, 20);
        assert_eq!(found, ranges(&[(0, 5), (25, 40)]));
        found.remove(0, 100);
        assert_eq!(found, ranges(&[]));
    }

    #[test]
    fn a_piece_out_of_an_expandable_segment_leaves_two_and_comes_back_as_one() {
        let mut found = ranges(&[(0, 30)]);
        found.remove(10, 10);
        assert_eq!(found, ranges(&[(0, 10), (20, 30)]));
        found.add_to_neighbours(10, 10);
        assert_eq!(found, ranges(&[(0, 30)]));
    }

    #[test]
    fn the_largest_gap_is_within_one_range() {
        // 0    10   20   30   40   50   60
        // |--------------|    |---------|
        //   ##   ####           #####           gaps 5, 2, 6; 2, 8 … each within its range
        let found = ranges(&[(0, 30), (40, 60)]);
        let used = [(5, 5), (12, 12), (42, 10)];
        assert_eq!(found.largest_gap(&used), 8);
        assert_eq!(found.largest_gap(&[]), 30);
        assert_eq!(ranges(&[]).largest_gap(&used), 0);
    }

    #[test]
    fn what_is_free_of_a_part_is_counted_there() {
        // 0    10   20   30   40   50   60
        // |--------------|    |---------|
        //           |-------------------|       the part: 20–60
        //   ##        ####                      of 30 there 8 are used
        let found = ranges(&[(0, 30), (40, 60)]);
        let part = found.within([(20, 40)].into_iter());
        assert_eq!(part, ranges(&[(20, 30), (40, 60)]));
        assert_eq!(part.free_bytes(&[(5, 5), (22, 8)]), 22);
        assert_eq!(found.within(std::iter::empty()).free_bytes(&[]), 0);
    }

    #[test]
    fn extremes_do_no_harm() {
        let mut found = ranges(&[(0, u64::MAX)]);
        found.remove(u64::MAX, u64::MAX);
        found.add(u64::MAX - 1, u64::MAX);
        found.add_to_neighbours(u64::MAX, 1);
        assert!(found.largest_gap(&[(u64::MAX, u64::MAX)]) >= u64::MAX - 2);
    }
}
