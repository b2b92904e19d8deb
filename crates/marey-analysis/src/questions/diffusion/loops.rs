//! Which turns belong to one loop, and which number they have in it.
//!
//! ```text
//! session      |---------- A ----------| |-- B --|
//! number        0  1  2  3  0  1  2  3    0  1  2
//! loop          0  0  0  0  1  1  1  1    2  2  2
//! ```
//!
//! A loop is of one thread and session. Another one begins where the number does not go on, in another block, and, of sections,
//! within another call of what they lie in. So turns of two threads never mix, however they alternate.

use std::collections::BTreeMap;

use super::turns::Turn;

/// Where a turn is in its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The loop, from 0, in order of their first ends.
    pub(super) loop_number: u64,
    /// As reported, otherwise counted from 0.
    pub(super) number: u64,
}

/// Where a loop is.
struct At {
    place: Place,
    block: Option<usize>,
}

/// The place of each turn. Turns are in order of time; `block` says which block a turn belongs to.
pub(super) fn places(turns: &[Turn], block: impl Fn(usize) -> Option<usize>) -> Vec<Place> {
    let mut loops = 0;
    let mut open: BTreeMap<(Option<u32>, u32, Option<u64>), At> = BTreeMap::new();
    let place = |(index, turn): (usize, &Turn)| {
        let key = (turn.session, turn.thread, turn.within_ns);
        let block = block(index);
        let last = open.get(&key).filter(|last| last.block == block);
        let goes_on = last.filter(|last| turn.number.is_none_or(|n| n > last.place.number));
        let place = if let Some(last) = goes_on {
            let next = last.place.number.saturating_add(1);
            Place {
                loop_number: last.place.loop_number,
                number: turn.number.unwrap_or(next),
            }
        } else {
            loops += 1;
            Place {
                loop_number: loops - 1,
                number: turn.number.unwrap_or(0),
            }
        };
        open.insert(key, At { place, block });
        place
    };
    turns.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(session: Option<u32>, thread: u32, number: Option<u64>) -> Turn {
        Turn {
            thread,
            session,
            number,
            ..Turn::default()
        }
    }

    fn shown(turns: &[Turn]) -> Vec<(u64, u64)> {
        let places = places(turns, |_| None);
        places.iter().map(|p| (p.loop_number, p.number)).collect()
    }

    #[test]
    fn a_loop_begins_where_the_number_does_not_go_on() {
        let numbers = [0, 1, 2, 0, 1, 1, 5, 9];
        let turns = numbers.map(|n| turn(None, 0, Some(n)));
        let expected = [
            (0, 0),
            (0, 1),
            (0, 2),
            (1, 0),
            (1, 1),
            (2, 1),
            (2, 5),
            (2, 9),
        ];
        assert_eq!(shown(&turns), expected);
    }

    #[test]
    fn loops_of_two_threads_and_sessions_do_not_mix() {
        let turns =
            [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)].map(|(thread, n)| turn(None, thread, Some(n)));
        assert_eq!(shown(&turns), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]);
        let turns = [(0, 0), (1, 1), (0, 1)].map(|(s, n)| turn(Some(s), 0, Some(n)));
        assert_eq!(shown(&turns), [(0, 0), (1, 1), (0, 1)]);
    }

    #[test]
    fn turns_without_a_number_are_counted() {
        let turns = [None, None, Some(7), None].map(|n| turn(None, 0, n));
        assert_eq!(shown(&turns), [(0, 0), (0, 1), (0, 7), (0, 8)]);
        let last = [Some(u64::MAX), None].map(|n| turn(None, 0, n));
        assert_eq!(shown(&last), [(0, u64::MAX), (0, u64::MAX)]);
    }

    #[test]
    fn numbers_that_go_on_in_the_next_block_begin_a_loop() {
        let turns = [0, 1, 2, 3].map(|n| turn(None, 0, Some(n)));
        let places = places(&turns, |index| Some(index / 2));
        let loops: Vec<u64> = places.iter().map(|p| p.loop_number).collect();
        assert_eq!(loops, [0, 0, 1, 1]);
    }
}
