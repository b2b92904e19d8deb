//! Whom a signal was sent to: `marey run` alone, or its whole process group and so the program as well.
//!
//! Nothing that comes with a signal tells. So there is a third process in the group, which does nothing and holds every signal back: what is
//! sent to the group waits with it. The kernel goes through a group from the youngest process to the oldest: when a signal reaches us, both
//! have it already.

use std::io;
use std::process::{Child, Command, Stdio};

use signal_hook::consts::SIGCONT;

use super::signals::STOPPING;

/// Another process of our group.
#[derive(Debug)]
pub(super) struct Witness {
    /// `None` where none could be begun in the place of one that had seen something.
    process: Option<Child>,
    /// Signals of the group that it or earlier ones had, and we not yet.
    seen: u64,
    /// A stop came since the last one that stopped us, and no SIGCONT after it.
    has_stop: bool,
}

impl Witness {
    /// # Errors
    /// When there is no `cat`, or no room for a process.
    pub(super) fn begin() -> io::Result<Self> {
        Ok(Self { process: Some(begin()?), seen: 0, has_stop: false })
    }

    /// Whether a signal that we got went to the group. A SIGCONT that a stop of the group may have taken back is taken for one that did.
    pub(super) fn saw(&mut self, signal: i32) -> bool {
        self.look();
        let is_taken_back = signal == SIGCONT && std::mem::take(&mut self.has_stop);
        let saw = self.seen & bit(signal) != 0 || is_taken_back;
        self.seen &= !bit(signal);
        saw
    }

    /// We are about to stop: a SIGCONT will take from it the stop that may not have reached us, and the SIGCONT before is over.
    pub(super) fn before_a_stop(&mut self) {
        self.look();
        self.seen &= !bit(SIGCONT);
        self.has_stop = false;
    }

    /// Remembers what is new with it.
    fn look(&mut self) {
        let process = self.process.as_ref();
        let news = process.map_or(0, |it| signals_of(&it.id().to_string(), "ShdPnd:"));
        if news != 0 {
            self.seen |= news;
            self.has_stop |= STOPPING.iter().any(|stop| news & bit(*stop) != 0);
            // It cannot be asked to forget: another one takes its place. What the group gets in that moment is passed on, though not needed.
            end(std::mem::replace(&mut self.process, begin().ok()));
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        end(self.process.take());
    }
}

/// A `cat` that waits for input until we end, however that happens.
fn begin() -> io::Result<Child> {
    let mut cat = Command::new("cat");
    cat.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    marey::without_descriptors(&mut cat);
    marey::without_signals(|| cat.spawn())
}

fn end(process: Option<Child>) {
    if let Some(mut process) = process {
        process.kill().ok();
        process.wait().ok();
    }
}

/// Of a signal in a set of them.
pub(super) fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// A set of signals in a process's `status`; empty where there is no such file.
pub(super) fn signals_of(pid: &str, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|text| text.strip_prefix(line));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
