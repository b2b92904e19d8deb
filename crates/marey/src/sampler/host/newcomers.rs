//! Processes and threads that are new: they are looked for once a second at most, and only if the machine has started any since.

use std::path::PathBuf;

use super::catalogue::Round;
use super::fields::whole;
use super::kept_file::Buffer;
use super::pace::Pace;
use crate::folder::names_in;

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
