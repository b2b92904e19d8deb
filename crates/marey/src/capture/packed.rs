//! Records packed: of each only what differs from the one before it, in as few bytes as that takes. Sections 10 µs apart take six or
//! seven bytes, which a general compressor makes a tenth smaller for three times the work, so there is none on top.
//!
//! | packed record | |
//! |---|---|
//! | 1 byte | tag: bytes of the end − 1 · bytes of the length − 1 « 3 · what is there of the word « 6 |
//! | 1 to 8 | end − end of the record before (0 before the first), signed: 0, −1, 1, −2, … |
//! | 1 to 8 | length: end − start |
//! | 0, 1, 2 or 8 | the low bytes of node, flow and flags; the others are those of the record before (0 before the first) |
//!
//! All numbers wrap, so that any record comes back as it was.

use crate::recorder::Record;

/// Most bytes of a packed record: a tag and three numbers.
const MAX_BYTES: usize = 25;
/// Bytes of the word by its code in the tag.
const WORD_BYTES: [usize; 4] = [0, 1, 2, 8];

/// The record before: what the next one is a difference to.
#[derive(Debug, Default)]
pub(super) struct Packed {
    end: u64,
    word: u64,
}

impl Packed {
    /// Appends a record.
    #[inline]
    pub(super) fn push(&mut self, out: &mut Vec<u8>, [start, end, word, _]: &Record) {
        let moved = end.wrapping_sub(self.end).cast_signed();
        let moved = ((moved << 1) ^ (moved >> 63)).cast_unsigned();
        let length = end.wrapping_sub(*start);
        let changed = word ^ self.word;
        let code = match changed {
            0 => 0,
            1..0x100 => 1,
            0x100..0x1_0000 => 2,
            _ => 3,
        };
        let (n_moved, n_length) = (n_bytes(moved), n_bytes(length));
        let mut bytes = [0; MAX_BYTES];
        bytes[0] = low_byte(n_moved - 1) | low_byte(n_length - 1) << 3 | low_byte(code) << 6;
        bytes[1..9].copy_from_slice(&moved.to_le_bytes());
        let at = 1 + n_moved;
        bytes[at..at + 8].copy_from_slice(&length.to_le_bytes());
        let at = at + n_length;
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        out.extend_from_slice(&bytes[..at + WORD_BYTES[code]]);
        (self.end, self.word) = (*end, *word);
    }

    /// Takes a record from the front: start, end, and node with flow and flags. `None` past the end.
    #[inline]
    pub(super) fn next(&mut self, from: &mut &[u8]) -> Option<[u64; 3]> {
        let (tag, rest) = from.split_first()?;
        *from = rest;
        let moved = number(from, usize::from(tag & 7) + 1)?;
        let length = number(from, usize::from(tag >> 3 & 7) + 1)?;
        let n_word = WORD_BYTES[usize::from(tag >> 6)];
        let changed = number(from, n_word)?;
        let moved = (moved >> 1).cast_signed() ^ -((moved & 1).cast_signed());
        self.end = self.end.wrapping_add(moved.cast_unsigned());
        self.word = self.word & !low_bytes(n_word) | changed;
        Some([self.end.wrapping_sub(length), self.end, self.word])
    }
}

/// Bytes that a number takes, at least one.
fn n_bytes(number: u64) -> usize {
    (71 - (number | 1).leading_zeros() as usize) / 8
}

#[expect(clippy::cast_possible_truncation, reason = "a number below 8")]
fn low_byte(number: usize) -> u8 {
    number as u8
}

/// Ones in the lowest `n` bytes, at most eight.
fn low_bytes(n: usize) -> u64 {
    match n {
        0 => 0,
        n => u64::MAX >> (64 - 8 * n),
    }
}

/// A number of `n` bytes from the front.
fn number(from: &mut &[u8], n: usize) -> Option<u64> {
    let (bytes, rest) = from.split_at_checked(n)?;
    // Mostly there are eight bytes to read at once.
    let number = match from.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight) & low_bytes(n),
        None => {
            (0..).zip(bytes).fold(0, |sum, (place, byte)| sum | u64::from(*byte) << (8 * place))
        }
    };
    *from = rest;
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(records: &[Record]) -> Vec<u8> {
        let (mut out, mut packed) = (Vec::new(), Packed::default());
        for record in records {
            packed.push(&mut out, record);
        }
        out
    }

    #[test]
    fn a_record_takes_a_tag_and_what_changed() {
        let first = [1_000, 31_000, 7, 1];
        // End 20 000 later and 19 500 long: two bytes each; the same node.
        let second = [31_500, 51_000, 7, 2];
        // Another node.
        let third = [60_000, 71_000, 8, 3];
        let expected = [
            &[0b01_001_001][..],
            &62_000_u16.to_le_bytes(),
            &30_000_u16.to_le_bytes(),
            &[7],
            &[0b00_001_001],
            &40_000_u16.to_le_bytes(),
            &19_500_u16.to_le_bytes(),
            &[0b01_001_001],
            &40_000_u16.to_le_bytes(),
            &11_000_u16.to_le_bytes(),
            &[8],
        ];
        assert_eq!(packed(&[first, second, third]), expected.concat());
    }

    proptest! {
        #[test]
        fn any_records_come_back_and_no_cut_makes_one_up(
            records in prop::collection::vec(prop::array::uniform4(any::<u64>()), 1..20),
            shifts in prop::collection::vec(0_u32..64, 60),
        ) {
            // Numbers of all lengths.
            let mut shifts = shifts.into_iter().cycle();
            let records: Vec<Record> = records
                .iter()
                .map(|record| record.map(|word| word >> shifts.next().unwrap()))
                .collect();
            let bytes = packed(&records);
            let (mut from, mut packed) = (bytes.as_slice(), Packed::default());
            for [start, end, word, _] in &records {
                prop_assert_eq!(packed.next(&mut from), Some([*start, *end, *word]));
            }
            prop_assert_eq!(packed.next(&mut from), None);
            let (mut from, mut packed) = (&bytes[..bytes.len() - 1], Packed::default());
            let n = std::iter::from_fn(|| packed.next(&mut from)).count();
            prop_assert_eq!(n, records.len() - 1);
        }
    }
}
