//! Who gets which part of a capture's room.
//!
//! A capture grows until what it holds of the beginning has filled its share. From then on the newest sections are written over the oldest
//! of a part that is set aside for them, and everything else goes behind it:
//!
//! ```text
//! | the beginning: sections and all else | the last sections, over and over | sessions, events, readings, totals, the end |
//!   3/8 of the room                        3/8                                1/4, a quarter of that for sessions and the like
//! ```
//!
//! So a capture is one file whatever happens, and whoever copies it has all of it. Segments in files of their own would have to be
//! found, copied and removed together; giving back the middle of a growing file works on few file systems and not in a copy.
//! Nothing needs to be marked as overwritten: blocks are whole or not there, and positions say what is missing.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign};

/// Pieces of the last part are told apart from this size on, which bounds how many there are.
const MIN_PIECE_BYTES: u64 = 4096;

/// What blocks hold, or what was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) sections: u64,
    pub(super) notes: u64,
}

impl Add for Counts {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.sections += other.sections;
        self.notes += other.notes;
    }
}

/// What blocks are, which decides on the room that they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Anything, while the beginning is being written.
    Beginning,
    /// Readings, events and the like.
    Readings,
    /// What a report cannot do without: sessions and what the program generated.
    Sessions,
    /// Names, totals, times and the end, which are small: never refused.
    Summary,
}

/// Room in bytes, and what is taken of it.
#[derive(Debug)]
pub(super) struct Room {
    beginning: u64,
    last: u64,
    other: u64,
    in_beginning: u64,
    in_other: u64,
    /// The part that is written over and over, once there is one.
    ring: Option<Ring>,
}

/// The part that is written over and over.
#[derive(Debug)]
struct Ring {
    /// Where it begins in the capture.
    offset: u64,
    /// Where it is written next, from its beginning.
    at: u64,
    /// What lies where: length and what it holds, by where it begins.
    pieces: BTreeMap<u64, (u64, Counts)>,
}

impl Room {
    pub(super) fn of(bytes: u64) -> Self {
        let (beginning, last) = (bytes / 8 * 3, bytes / 8 * 3);
        Self {
            beginning,
            last,
            other: bytes - beginning - last,
            in_beginning: 0,
            in_other: 0,
            ring: None,
        }
    }

    /// Whether blocks of a length may be appended. No more of the beginning once the last part began.
    pub(super) fn has(&self, content: Content, length: u64) -> bool {
        let (taken, room) = match content {
            Content::Beginning if self.ring.is_some() => return false,
            Content::Beginning => (self.in_beginning, self.beginning),
            Content::Readings => (self.in_other, self.other / 4 * 3),
            Content::Sessions => (self.in_other, self.other),
            Content::Summary => return true,
        };
        taken.saturating_add(length) <= room
    }

    /// Blocks were appended.
    pub(super) fn take(&mut self, content: Content, length: u64) {
        match content {
            Content::Beginning => self.in_beginning += length,
            _ => self.in_other += length,
        }
    }

    /// Whether the last part began.
    pub(super) fn is_past_beginning(&self) -> bool {
        self.ring.is_some()
    }

    /// Length of the last part.
    pub(super) fn last_bytes(&self) -> u64 {
        self.last
    }

    /// The last part begins here.
    pub(super) fn begin_last(&mut self, offset: u64) {
        self.ring = Some(Ring { offset, at: 0, pieces: BTreeMap::new() });
    }

    /// Where in the capture to write sections now, and what is lost by that. `None` when they are longer than the whole part.
    pub(super) fn place_last(&mut self, length: u64, counts: Counts) -> Option<(u64, Counts)> {
        let ring = self.ring.as_mut().filter(|_| length <= self.last)?;
        if ring.at + length > self.last {
            ring.at = 0;
        }
        let place = ring.at..ring.at + length;
        let mut lost = Counts::default();
        while let Some((&at, &(_, held))) = ring.pieces.range(place.clone()).next() {
            ring.pieces.remove(&at);
            lost += held;
        }
        ring.at = place.end;
        let before = ring.pieces.range_mut(..place.start).next_back();
        match before.filter(|(at, (n, _))| *at + *n == place.start && *n < MIN_PIECE_BYTES) {
            Some((_, (n, held))) => (*n, *held) = (*n + length, *held + counts),
            None => {
                ring.pieces.insert(place.start, (length, counts));
            }
        }
        Some((ring.offset + place.start, lost))
    }

    /// What was placed there could not be written: it is counted now, and not again when something else is written over it.
    pub(super) fn take_back(&mut self, offset: u64, counts: Counts) {
        let Some(ring) = &mut self.ring else { return };
        let at = offset.saturating_sub(ring.offset);
        if let Some((_, (_, held))) = ring.pieces.range_mut(..=at).next_back() {
            held.sections = held.sections.saturating_sub(counts.sections);
            held.notes = held.notes.saturating_sub(counts.notes);
        }
    }

    /// What was written of another room, which this one goes on for, counts as its beginning.
    pub(super) fn go_on_for(&mut self, other: &Self) {
        let last = other.ring.as_ref().map_or(0, |_| other.last);
        self.in_beginning = other.in_beginning + last;
        self.in_other = other.in_other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(sections: u64) -> Counts {
        Counts { sections, notes: 0 }
    }

    #[test]
    fn sections_never_take_the_room_of_sessions() {
        let mut room = Room::of(800);
        assert!(room.has(Content::Beginning, 300) && !room.has(Content::Beginning, 301));
        room.take(Content::Beginning, 300);
        assert!(!room.has(Content::Beginning, 1));
        assert!(room.has(Content::Readings, 150) && !room.has(Content::Readings, 151));
        room.take(Content::Readings, 150);
        assert!(room.has(Content::Sessions, 50) && !room.has(Content::Sessions, 51));
        assert!(room.has(Content::Summary, u64::MAX));
    }

    #[test]
    fn the_newest_is_written_over_the_oldest_and_what_is_lost_is_counted() {
        let mut room = Room::of(32_000);
        assert_eq!(room.place_last(5_000, sections(1)), None);
        room.begin_last(900);
        assert!(!room.has(Content::Beginning, 1));
        assert_eq!(room.place_last(12_001, sections(1)), None);
        let mut place = |length, n| room.place_last(length, sections(n)).unwrap();
        assert_eq!(place(5_000, 10), (900, sections(0)));
        assert_eq!(place(5_000, 20), (5_900, sections(0)));
        // No longer fits behind them: over the first one, and then over the second, of which nothing whole is left.
        assert_eq!(place(4_500, 30), (900, sections(10)));
        assert_eq!(place(5_000, 40), (5_400, sections(20)));
        assert_eq!(place(12_000, 50), (900, sections(70)));
    }

    #[test]
    fn what_could_not_be_written_is_not_lost_a_second_time() {
        let mut room = Room::of(32_000);
        room.begin_last(0);
        // Two small pieces that are counted together; the second one fails.
        assert_eq!(room.place_last(100, sections(1)), Some((0, sections(0))));
        assert_eq!(room.place_last(100, sections(2)), Some((100, sections(0))));
        room.take_back(100, sections(2));
        assert_eq!(room.place_last(11_900, sections(9)), Some((0, sections(1))));
    }

    #[test]
    fn small_pieces_are_counted_together() {
        let mut room = Room::of(32_000);
        room.begin_last(0);
        for n in 0..120 {
            assert_eq!(room.place_last(100, sections(1)), Some((n * 100, sections(0))));
        }
        assert_eq!(room.place_last(100, sections(1)), Some((0, sections(41))));
        assert_eq!(room.place_last(4_000, sections(1)), Some((100, sections(0))));
        assert_eq!(room.place_last(100, sections(1)), Some((4_100, sections(41))));
    }
}
