//! What `/proc/<pid>/stat` says of a process, and which processes and threads are new: they are looked for once a second at most, and only
//! if the machine has started any since.

use std::path::PathBuf;

use super::catalogue::Round;
use super::cpu::TICKS;
use super::fields::{fields, number, whole};
use super::kept_file::Buffer;
use super::pace::Pace;
use super::table::page;
use crate::folder::names_in;

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

/// When they were looked for last.
#[derive(Debug)]
pub(super) struct Newcomers {
    /// Lists them by their numbers, all that there are.
    folder: PathBuf,
    pace: Pace,
    /// Processes and threads that the machine had started by then.
    n_started: Option<f64>,
}

impl Newcomers {
    /// Those that a folder of `/proc` lists.
    pub(super) fn of(folder: PathBuf) -> Self {
        Self { folder, pace: Pace::of_seconds(), n_started: None }
    }

    /// Shows all that there are now, if there may be new ones or not all could be followed, and it is time to look.
    pub(super) fn look(
        &mut self,
        round: &mut Round<'_>,
        are_too_many: bool,
        see: impl FnOnce(&mut dyn Iterator<Item = u32>, &mut Buffer),
    ) {
        let n_started = round.n_started;
        if !are_too_many && n_started.is_some() && n_started == self.n_started {
            return;
        }
        let seen = self.pace.keep(round.now_ns, || {
            let names = names_in(&self.folder).into_iter().flatten();
            let number = |name: std::ffi::OsString| whole(name.as_encoded_bytes())?.try_into().ok();
            see(&mut names.filter_map(number), round.buffer);
        });
        if seen.is_some() {
            self.n_started = n_started;
        }
    }
}
