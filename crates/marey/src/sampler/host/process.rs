//! What `/proc/<pid>/stat` says of a process.

use super::cpu::TICKS;
use super::fields::{fields, number, whole};
use super::table::page;

/// A process, its time and its memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessStat {
    pub parent: u32,
    /// Seconds in the program.
    pub user: f64,
    /// Seconds in the kernel.
    pub system: f64,
    /// Seconds of its children that have ended and were waited for, and of theirs.
    pub reaped: f64,
    pub threads: f64,
    /// Clock ticks between boot and its start: with its number it is one process and no other.
    pub start_time: u64,
    pub resident_bytes: f64,
}

impl ProcessStat {
    /// From the text. The name in field 2 may hold blanks and parentheses, so fields are counted from the last `)`.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let name_end = text.iter().rposition(|byte| *byte == b')')?;
        let mut rest = fields(&text[name_end + 1..]).skip(1);
        let parent = u32::try_from(whole(rest.next()?)?).ok()?;
        // Numbered from field 5.
        let mut rest = rest.skip(9);
        let mut next = || number(rest.next()?);
        let (user, system) = (next()?, next()?);
        let reaped = next()? + next()?;
        let mut rest = rest.skip(2);
        let threads = number(rest.next()?)?;
        let start_time = whole(rest.nth(1)?)?;
        let resident = number(rest.nth(1)?)?;
        Some(Self {
            parent,
            user: user / TICKS,
            system: system / TICKS,
            reaped: reaped / TICKS,
            threads,
            start_time,
            resident_bytes: resident * page(),
        })
    }
}
