//! Which processes record, or left their shared files behind.

use std::path::{Path, PathBuf};

use crate::capture::{Rings, has_own, own_folders, read_info};
use crate::clock::Anchor;
use crate::recorder::{Identity, is_alive, redacted};
use crate::run::RunInfo;

/// A process that records, or that died and left its shared files behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Folder of its shared files, for [`super::Live::attach`].
    pub folder: PathBuf,
    /// Which process it is.
    pub identity: Identity,
    /// Whether it runs; `None` when this machine cannot tell, because it runs in another pid namespace.
    pub is_alive: Option<bool>,
    /// Its capture; `None` while that is in memory.
    pub capture: Option<PathBuf>,
    /// Wall clock at the start of the recording, nanoseconds since 1970; `None` before that.
    pub start_unix_ns: Option<u64>,
    /// The job that it belongs to; `None` while its capture is in memory.
    pub job_id: Option<String>,
    /// Its place in the job, as far as is known by now: a program may say it later ([`super::Live::said_rank`]). `None` outside a job of
    /// several ranks, and while its capture is in memory and the program has not said it.
    pub rank: Option<u32>,
    /// Process id of the recording process that it was forked from.
    pub forked_from: Option<u32>,
    /// Process id of the program that it records from outside; `None` when it records itself.
    pub outside_of: Option<u32>,
    /// Process id of the `marey run` that waits for this very process; `None` where there is none.
    pub waited_for_by: Option<u32>,
    /// Command line, values of prompt arguments replaced; empty when unknown. Never safe to print as it is.
    pub command: Vec<String>,
}

/// All recording processes of this user below a root such as [`crate::ring_root`], and what dead ones left there, by folder name.
/// What belongs to somebody else is not looked at.
pub fn processes(root: &Path) -> Vec<Process> {
    own_folders(root).iter().filter_map(|folder| Process::at(folder)).collect()
}

/// The output folder and the name of the job into which a living process, whose rings are below `root`, records now; `None` where it does
/// not.
pub fn job_of(root: &Path, pid: u32) -> Option<(PathBuf, String)> {
    let found = processes(root);
    let recording = found
        .into_iter()
        .find(|process| process.identity.pid == pid && process.is_alive == Some(true))?;
    let folder = recording.capture?.parent()?.to_owned();
    Some((folder.parent()?.to_owned(), recording.job_id?))
}

impl Process {
    /// The process whose shared files lie in a folder; `None` when there are none of this version, or when they are somebody else's.
    pub fn at(folder: &Path) -> Option<Self> {
        let rings = rings_in(folder)?;
        Some(Self::new(folder, &rings))
    }

    /// The process that writes a capture, or died over it; `None` when the capture is complete, or cannot be read.
    pub fn of_capture(capture: &Path) -> Option<Self> {
        let (_, info) = read_info(capture)?;
        let process = Self::at(Path::new(info.fact("ring_folder")?))?;
        let is_its = |own: &PathBuf| own.canonicalize().ok() == capture.canonicalize().ok();
        process.capture.as_ref().is_some_and(is_its).then_some(process)
    }

    /// Process id of the program: of this process, or of the one that it records from outside.
    pub fn pid(&self) -> u32 {
        self.outside_of.unwrap_or(self.identity.pid)
    }

    /// Whether somebody who names that process id means this process: its own, its program's, or that of the `marey run` around it.
    pub fn is_called(&self, pid: u32) -> bool {
        [Some(self.identity.pid), self.outside_of, self.waited_for_by].contains(&Some(pid))
    }

    pub(super) fn new(folder: &Path, rings: &Rings) -> Self {
        let identity = rings.identity();
        let capture = rings.capture_path();
        let info = capture.as_deref().and_then(|path| info(path, &identity));
        let is_alive = is_alive(&identity);
        let start = rings.anchors().first().map(|Anchor { unix_ns, .. }| *unix_ns);
        let number = |key: &str| info.as_ref()?.fact(key)?.parse().ok();
        let (forked_from, outside_of) = (number("forked_from"), number("outside_of"));
        let command = match &info {
            Some(info) => info.command.clone(),
            // The number may have gone to another process.
            None if is_alive == Some(true) => command_of(identity.pid),
            None => Vec::new(),
        };
        Self {
            folder: folder.to_owned(),
            identity,
            is_alive,
            capture,
            start_unix_ns: start,
            rank: rings.said_rank().or_else(|| info.as_ref().and_then(|info| info.rank)),
            job_id: info.map(|info| info.job_id).filter(|job| !job.is_empty()),
            forked_from,
            outside_of,
            waited_for_by: rings.waited_for_by(),
            command,
        }
    }
}

/// This user's rings in a folder, without lanes.
pub(super) fn rings_in(folder: &Path) -> Option<Rings> {
    has_own(folder).then(|| Rings::without_lanes(folder)).flatten()
}

/// What a capture says about its process, if that is the one that is meant.
fn info(capture: &Path, identity: &Identity) -> Option<RunInfo> {
    let (written_by, info) = read_info(capture)?;
    (written_by == *identity).then_some(info)
}

fn command_of(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let arguments = line.split(|byte| *byte == 0);
    redacted(arguments.map(crate::value::readable))
}
