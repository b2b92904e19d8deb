//! Blocks: framing, checksums, and finding the next whole one in damaged bytes.

use std::io::{self, Read};

use crate::warning::Warning;

/// The first bytes of every capture of this version.
pub(crate) const FILE_HEADER: [u8; 16] = *b"MAREYCAP\x02\0\0\0\0\0\0\0";
/// The version that is written and read.
pub(crate) const VERSION: u32 = 2;
const MAGIC: [u8; 4] = *b"MBLK";
const HEADER_BYTES: usize = 16;
/// Longest payload that a writer makes and a reader believes.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 16 << 20;
/// Bytes read at once.
const READ_BYTES: usize = 1 << 20;
/// Bytes checked in vain, in all, after which the rest of a stream is given up: made-up headers could otherwise have every byte
/// checked for each of them.
const MAX_WASTED_BYTES: u64 = 2 << 30;

/// What a block holds; the table is in [`super`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Kind {
    Info = 1,
    Names = 2,
    Nodes = 3,
    Notes = 5,
    Totals = 6,
    Anchor = 7,
    Losses = 8,
    Open = 9,
    End = 10,
    Packed = 11,
    Last = 12,
}

impl Kind {
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        use Kind::{Anchor, End, Info, Last, Losses, Names, Nodes, Notes, Open, Packed, Totals};
        [Info, Names, Nodes, Notes, Totals, Anchor, Losses, Open, End, Packed, Last]
            .into_iter()
            .find(|kind| *kind as u16 == code)
    }
}

/// Begins a block at the end of `out`; the payload follows, then [`seal`] with what this returns.
pub(crate) fn begin(out: &mut Vec<u8>, kind: Kind) -> usize {
    let at = out.len();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&(kind as u16).to_le_bytes());
    out.extend_from_slice(&[0; HEADER_BYTES - 6]);
    at
}

/// Ends the block that begins at `at`: its payload is all that follows its header.
pub(crate) fn seal(out: &mut [u8], at: usize) {
    let (header, payload) = out[at..].split_at_mut(HEADER_BYTES);
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    header[8..12].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(&header[4..12], payload);
    header[12..].copy_from_slice(&checksum.to_le_bytes());
}

/// The version that a file's header says; `None` when it is no capture's.
pub(crate) fn version(header: &[u8]) -> Option<u32> {
    let numbers = header.strip_prefix(&FILE_HEADER[..8])?;
    let (version, _) = numbers.split_first_chunk()?;
    Some(u32::from_le_bytes(*version)).filter(|_| header.len() >= FILE_HEADER.len())
}

/// A block around a payload.
#[cfg(test)]
pub(crate) fn frame(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    let at = begin(&mut block, kind);
    block.extend_from_slice(payload);
    seal(&mut block, at);
    block
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(payload);
    hasher.finalize()
}

/// One whole block.
#[derive(Debug)]
pub(crate) struct Block {
    /// Where it begins in the stream.
    pub(crate) offset: u64,
    /// Its kind's number.
    pub(crate) code: u16,
    /// Its payload.
    pub(crate) payload: Vec<u8>,
}

/// The whole blocks of a stream in order; what lies between them becomes warnings. Memory: the largest block and 1 MiB.
#[derive(Debug)]
pub(crate) struct Blocks<R> {
    source: R,
    buffer: Vec<u8>,
    /// First byte of `buffer` that was not looked at.
    at: usize,
    /// Place of `buffer[0]` in the stream.
    base: u64,
    is_at_end: bool,
    n_read: u64,
    /// Begin of the damaged stretch that is being skipped.
    damaged_from: Option<u64>,
    wasted_bytes: u64,
    /// Where the part ends that is written over and over; see [`Kind::Last`].
    last_until: u64,
    pub(crate) warnings: Vec<Warning>,
}

impl<R: Read> Blocks<R> {
    /// Blocks of a stream whose first byte is at `offset` of the file.
    pub(crate) fn new(source: R, offset: u64) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            at: 0,
            base: offset,
            is_at_end: false,
            n_read: 0,
            damaged_from: None,
            wasted_bytes: 0,
            last_until: 0,
            warnings: Vec::new(),
        }
    }

    /// The next whole block; `None` at the end. An error of the source ends the stream.
    pub(crate) fn next(&mut self) -> io::Result<Option<Block>> {
        loop {
            if self.wasted_bytes > MAX_WASTED_BYTES || !self.fill(HEADER_BYTES)? {
                self.end_of_stream();
                return Ok(None);
            }
            match self.whole_block()? {
                Some(block) => {
                    self.end_damage(block.offset);
                    let is_last = block.offset < self.last_until;
                    if block.code == Kind::Last as u16 && !is_last {
                        let length =
                            block.payload.first_chunk().map_or(0, |n| u64::from_le_bytes(*n));
                        self.last_until = (self.base + self.at as u64).saturating_add(length);
                    }
                    // What was half written over could hold anything that a user recorded.
                    if !is_last
                        || matches!(Kind::from_code(block.code), Some(Kind::Packed | Kind::Notes))
                    {
                        return Ok(Some(block));
                    }
                }
                None => self.skip_to_next_magic(),
            }
        }
    }

    /// Bytes of the source that were read.
    pub(crate) fn n_read(&self) -> u64 {
        self.n_read
    }

    /// The block at the current place, if one that checks out is there.
    fn whole_block(&mut self) -> io::Result<Option<Block>> {
        let head: [u8; HEADER_BYTES] =
            *self.buffer[self.at..].first_chunk().expect("filled by the caller");
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let length = number(8) as usize;
        if head[..4] != MAGIC || length > MAX_PAYLOAD_BYTES || !self.fill(HEADER_BYTES + length)? {
            return Ok(None);
        }
        let payload = &self.buffer[self.at + HEADER_BYTES..self.at + HEADER_BYTES + length];
        if checksum(&head[4..12], payload) != number(12) {
            self.wasted_bytes += length as u64;
            return Ok(None);
        }
        let block = Block {
            offset: self.base + self.at as u64,
            code: u16::from_le_bytes([head[4], head[5]]),
            payload: payload.to_vec(),
        };
        self.at += HEADER_BYTES + length;
        Ok(Some(block))
    }

    /// Makes `n` bytes available from the current place; false when the stream ends before.
    fn fill(&mut self, n: usize) -> io::Result<bool> {
        if self.buffer.len() - self.at >= n {
            return Ok(true);
        }
        self.base += self.at as u64;
        self.buffer.drain(..self.at);
        self.at = 0;
        while self.buffer.len() < n && !self.is_at_end {
            let before = self.buffer.len();
            let wanted = READ_BYTES.max(n - before) as u64;
            (&mut self.source).take(wanted).read_to_end(&mut self.buffer)?;
            self.is_at_end = self.buffer.len() == before;
            self.n_read += (self.buffer.len() - before) as u64;
        }
        Ok(self.buffer.len() >= n)
    }

    fn skip_to_next_magic(&mut self) {
        self.damaged_from.get_or_insert(self.base + self.at as u64);
        let rest = &self.buffer[self.at + 1..];
        let next = rest.windows(MAGIC.len()).position(|w| w == MAGIC);
        // Without one, the last three bytes may still be the beginning of a magic.
        self.at += 1 + next.unwrap_or(rest.len().saturating_sub(MAGIC.len() - 1));
    }

    fn end_damage(&mut self, offset: u64) {
        let damaged_from = self.damaged_from.take();
        // Where the newest meets the oldest, both are cut; positions tell what is missing.
        if let Some(from) = damaged_from.map(|from| from.max(self.last_until))
            && from < offset
        {
            self.warnings.push(Warning::DamagedBytes { offset: from, length: offset - from });
        }
    }

    fn end_of_stream(&mut self) {
        let rest = self.base + self.at as u64;
        let end = self.base + self.buffer.len() as u64;
        if self.damaged_from.is_some() || self.at < self.buffer.len() || end < self.last_until {
            let offset = self.damaged_from.unwrap_or(rest);
            // Behind the part that is written over, or within it, if the stream ends there.
            let offset = offset.max(self.last_until.min(end));
            if offset < end || end < self.last_until {
                self.warnings.push(Warning::Truncated { offset });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<Warning>) {
        let mut blocks = Blocks::new(bytes, 0);
        let mut payloads = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            payloads.push(block.payload);
        }
        (payloads, blocks.warnings)
    }

    #[test]
    fn blocks_come_back_as_they_were_written() {
        let bytes = [frame(Kind::Info, b"one"), frame(Kind::End, b"")].concat();
        assert_eq!(read(&bytes), (vec![b"one".to_vec(), vec![]], vec![]));
    }

    #[test]
    fn damage_costs_its_own_block_and_is_reported() {
        let (one, two, three) =
            (frame(Kind::Info, b"one"), frame(Kind::Info, b"MBLK"), frame(Kind::Info, b"three"));
        let mut bytes = [one.clone(), two.clone(), three].concat();
        bytes[one.len() + 17] ^= 1;
        let damaged = Warning::DamagedBytes { offset: one.len() as u64, length: two.len() as u64 };
        assert_eq!(read(&bytes), (vec![b"one".to_vec(), b"three".to_vec()], vec![damaged]));
    }

    #[test]
    fn every_truncation_keeps_the_whole_blocks_before_it() {
        let (one, two) = (frame(Kind::Info, b"first"), frame(Kind::Info, b"second"));
        let bytes = [one.clone(), two.clone()].concat();
        for length in 0..bytes.len() {
            let (payloads, warnings) = read(&bytes[..length]);
            assert_eq!(payloads.len(), usize::from(length >= one.len()), "cut at {length}");
            let is_between = length == 0 || length == one.len();
            assert_eq!(warnings.is_empty(), is_between, "cut at {length}");
        }
    }
}
