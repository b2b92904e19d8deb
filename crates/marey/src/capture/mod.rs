//! The capture: one file a process, the only source of truth. It grows at its end; one part of it may be written over and over.
//!
//! A file is a header and blocks. A block is whole or it is not there: a reader skips what is damaged, by looking for the next
//! block that checks out. Numbers are little-endian; a *text* is its length in bytes (u32) and its bytes; ticks are raw clock ticks.
//!
//! | offset | header of the file |
//! |---|---|
//! | 0 | `MAREYCAP` |
//! | 8 | u32 version: 2 |
//! | 12 | u32 0 |
//!
//! | offset | block |
//! |---|---|
//! | 0 | `MBLK` |
//! | 4 | u16 kind · u16 0 |
//! | 8 | u32 length of the payload |
//! | 12 | u32 CRC-32 (IEEE) of bytes 4..12 and the payload |
//! | 16 | payload |
//!
//! | kind | payload |
//! |---|---|
//! | 1 info | u32 number, then key and value texts; keys may repeat (`argument`) |
//! | 2 names | u32 number of the first, u32 how many, then texts (any bytes) |
//! | 3 nodes | u32 number of the first, u32 how many, then u64 each: parent · name « 16 · flags « 32 (bit 0 iteration, bit 1 detached) |
//! | 5 notes | u32 lane, u32 thread, u64 position of the first word, then note words ([`mod@crate::note`]) |
//! | 6 totals | u32 lane, u32 epoch, u64 head of the lane, u64 dropped, u32 how many, then of each node: u32 node, u32 errors, u64 count · sum · min · max · last · end of last · first · start of first, u32 buckets (all ones: no histogram), then u32 bucket, u32 count each |
//! | 7 anchor | u64 ticks · u64 monotonic ns · u64 unix ns |
//! | 8 losses | u64 sections not recorded · u64 lanes in private memory · u64 sections not written · u64 notes dropped |
//! | 9 open | u32 how many, then u64 start, u32 node, u32 lane each |
//! | 10 end | u8 status (0 finished, 1 failed, 2 killed, 3 ended without closing, 4 out of memory), i32 signal, text reason |
//! | 11 records | u32 lane, u32 thread, u64 position + 1 of the first, then consecutive ones, packed ([`packed`]): of each start · end · node, flow « 32, flags « 48 (bit 0 failed, bit 1 suspended in between) |
//! | 12 last | u64 length of the part behind this block that is written over and over: blocks of kinds 5 and 11 and, where new ones meet old ones, bytes that are no whole block |
//!
//! Records and notes of a lane are numbered. They may come in any order, because what is written over and over begins anywhere; a number
//! seen before is a repetition (the writer died between writing and noting that it had written) and is dropped. Of several totals
//! of a lane and epoch the last one counts; epochs add up.
//!
//! No other version is read: version 1, with records of kind 4, was never released.

mod assemble;
mod block;
mod decode;
mod encode;
mod merge;
mod notes;
mod packed;
mod positions;
mod reader;
mod rings;
mod salvage;
mod samples;
mod tables;

pub(crate) use block::FILE_HEADER;
pub(crate) use encode::{Encode, RECORDS_PER_BLOCK};
pub use reader::{ReadError, decode, load, peek};
pub(crate) use reader::{how_it_ended, read_info};
pub(crate) use rings::Rings;
pub(crate) use salvage::make_room;
pub(crate) use salvage::{Abandoned, has_own, own_folders};
pub use salvage::{Leftover, close_abandoned, close_leftovers, leftovers};

#[cfg(test)]
mod tests;
