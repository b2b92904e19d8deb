//! The program: started, waited for, ended.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use marey::{Launch, Status, Successor, Usage};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use super::outside::Watch;
use super::signals::{Forwarder, ignored_signals};
use crate::exit::Exit;

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Child {
    /// Its process id.
    pub(super) pid: u32,
    /// What it and its descendants used.
    pub(super) usage: Usage,
    status: ExitStatus,
}

/// A program that could not be started, or was lost.
#[derive(Debug)]
pub(super) struct NoEnding {
    /// What to say.
    pub(super) text: String,
    /// The exit code for it; of a program that could not be started the one that shells have: 127 not found, 126 not executable.
    pub(super) code: u8,
}

impl Child {
    /// The signal that it died of, if it did.
    pub(super) fn killed_by(&self) -> Option<i32> {
        self.status.signal()
    }

    /// Its exit code; `None` when a signal ended it.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.status.code()
    }

    /// How it ended, as far as it itself tells.
    pub(super) fn status(&self) -> Option<Status> {
        ending(self.exit_code(), self.killed_by())
    }

    /// How we end: as it did.
    pub(super) fn exit(&self) -> Exit {
        match self.killed_by() {
            Some(signal) => Exit::Signal(signal),
            // The system keeps eight bits.
            None => Exit::Code(u8::try_from(self.exit_code().unwrap_or(0) & 0xff).unwrap_or(1)),
        }
    }
}

/// Starts the program with our standard streams and waits for its end. Signals that reach us meanwhile reach it. `watch` is called with
/// its process id when it runs, and may read what it used a last time before it is gone.
pub(super) fn run_to_end<'scope>(
    mut command: Command,
    watch: impl FnOnce(u32) -> Option<Watch<'scope>>,
) -> Result<Child, NoEnding> {
    let ignored = ignored_signals();
    // Without one the program runs all the same.
    let forwarder = Forwarder::start(&ignored).ok();
    let successor = Successor::prepare(&mut command, ignored);
    let program = command.spawn().map_err(|source| {
        forwarder.iter().for_each(Forwarder::let_go);
        NoEnding::not_started(command.get_program(), &source)
    })?;
    successor.has_begun();
    let pid = Pid::from_child(&program);
    if let Some(forwarder) = &forwarder {
        forwarder.aim_at(pid);
    }
    let watch = watch(program.id());
    let ended = wait_for_end(pid, forwarder.as_ref());
    if let Some(forwarder) = &forwarder {
        forwarder.let_go();
    }
    if let Some(watch) = watch {
        let ended = ended.and_then(|end| ending(end.exit_status(), end.terminating_signal()));
        watch.end(ended);
    }
    match marey::wait_with_usage(program.id()) {
        Ok((status, usage)) => Ok(Child { pid: program.id(), usage, status }),
        Err(source) => {
            Err(NoEnding { text: format!("cannot learn how the program ended: {source}"), code: 1 })
        }
    }
}

/// Waits until the program has ended, and stops when it does. Its number stays its own until it is waited for for good: a signal can hit
/// nobody else.
fn wait_for_end(pid: Pid, forwarder: Option<&Forwarder>) -> Option<WaitIdStatus> {
    let pauses = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED;
    let any_change = pauses | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), any_change) {
            Err(Errno::INTR) => {}
            Ok(Some(change)) if change.stopped() || change.continued() => {
                // It may go on this moment; then that is the change.
                let change = || {
                    let now = waitid(WaitId::Pid(pid), pauses | WaitIdOptions::NOHANG);
                    now.ok().flatten()?.stopping_signal()
                };
                match forwarder {
                    Some(forwarder) => forwarder.stopped_or_went_on(change),
                    None => drop(change()),
                }
            }
            ended => return ended.ok().flatten(),
        }
    }
}

/// How a program ended, as far as it itself tells.
fn ending(exit_code: Option<i32>, signal: Option<i32>) -> Option<Status> {
    let launch = Launch { exit_code, signal, ..Launch::default() };
    launch.status()
}

impl NoEnding {
    fn not_started(program: &OsStr, source: &io::Error) -> Self {
        let (reason, code) = match source.kind() {
            io::ErrorKind::NotFound => ("not found".to_owned(), 127),
            io::ErrorKind::PermissionDenied => ("not executable (permission denied)".into(), 126),
            _ => (source.to_string(), 126),
        };
        Self { text: format!("cannot run {}: {reason}", program.display()), code }
    }
}
