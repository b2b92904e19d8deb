//! Passes signals on to the program, as if Marey were not in between.
//!
//! ```text
//! Ctrl-C, kill -PGID ──► the whole process group: the program, the witness, marey (which passes nothing on)
//! kill PID-of-marey ───► marey ──► the program
//! the program stops ───► marey stops, so that a shell has its prompt; SIGCONT goes the ways above
//! ```
//!
//! Who sends to each process by itself (systemd's `KillMode=control-group`) sends the program what it gets from us, too.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGUSR1, SIGUSR2, SIGWINCH,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::witness::{Witness, bit, signals_of};

const FORWARDED: [i32; 12] = [
    SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCONT, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGWINCH,
];
/// Those that stop a program for whoever has its terminal.
pub(super) const STOPPING: [i32; 3] = [SIGTSTP, SIGTTIN, SIGTTOU];

/// Receives the signals, from its start to the end of the process.
#[derive(Clone, Debug)]
pub(super) struct Forwarder {
    way: Arc<Mutex<Way>>,
}

#[derive(Debug)]
struct Way {
    target: Target,
    /// Where there is none, what the kernel sends is taken for a terminal's signal to the group.
    witness: Option<Witness>,
    /// Signals that were ignored when we began: they are passed on, and do nothing to us.
    ignored: Vec<i32>,
}

/// Where signals go.
#[derive(Debug)]
enum Target {
    /// The program is not started yet; these wait for it.
    Waiting(Vec<i32>),
    /// It runs, or has ended and nobody else can have got its number.
    Program {
        pid: Pid,
        /// By a SIGSTOP, which somebody sent to it alone: we go on, because its SIGCONT may come to it alone, too.
        is_halted: bool,
    },
    /// It is gone: signals are our own again.
    Gone,
}

impl Forwarder {
    /// Takes over all signals, those that `nohup` or a shell had ignored, too: the program begins with these ignored, and may ask for them.
    /// What stops a program stays ignored where it was.
    ///
    /// # Errors
    /// When the handlers or their thread cannot be installed.
    pub(super) fn start(ignored: &[i32]) -> io::Result<Self> {
        let stays = |signal: &i32| ignored.contains(signal) && STOPPING.contains(signal);
        let taken = FORWARDED.iter().filter(|signal| !stays(signal));
        let mut signals = SignalsInfo::<WithOrigin>::new(taken)?;
        // Where it is ignored nobody learns how a child ended.
        signal_hook::flag::register(SIGCHLD, Arc::default())?;
        let forwarder = Self {
            way: Arc::new(Mutex::new(Way {
                target: Target::Waiting(Vec::new()),
                witness: Witness::begin().ok(),
                ignored: ignored.to_vec(),
            })),
        };
        let receiver = forwarder.clone();
        let forward = move || {
            for origin in signals.forever() {
                receiver.way().receive(&origin);
            }
        };
        let thread = std::thread::Builder::new().name("marey-signals".into());
        marey::without_signals(|| thread.spawn(forward))?;
        Ok(forwarder)
    }

    /// The program runs.
    pub(super) fn aim_at(&self, program: Pid) {
        let mut way = self.way();
        if let Target::Waiting(signals) = &way.target {
            for signal in signals {
                send(program, *signal);
            }
        }
        way.target = Target::Program { pid: program, is_halted: false };
    }

    /// The program was stopped by a signal, or goes on (`None`). No signal is passed on before we have stopped, too.
    pub(super) fn stopped_or_went_on(&self, change: impl FnOnce() -> Option<i32>) {
        let mut way = self.way();
        let signal = change();
        if let Target::Program { is_halted, .. } = &mut way.target {
            *is_halted = signal == Some(SIGSTOP);
        }
        if signal.is_some_and(|signal| STOPPING.contains(&signal)) {
            way.witness.iter_mut().for_each(Witness::before_a_stop);
            emulate_default_handler(SIGSTOP).ok();
        }
    }

    /// The program has ended, its number is about to be free; or there is none.
    pub(super) fn let_go(&self) {
        let mut way = self.way();
        way.target = Target::Gone;
        way.witness = None;
    }

    fn way(&self) -> MutexGuard<'_, Way> {
        self.way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Way {
    fn receive(&mut self, origin: &Origin) {
        let signal = origin.signal;
        let is_of_the_group = match &mut self.witness {
            Some(witness) => witness.saw(signal),
            None => origin.cause == Cause::Kernel,
        };
        match &mut self.target {
            Target::Waiting(signals) => signals.push(signal),
            Target::Program { is_halted, .. } if *is_halted && STOPPING.contains(&signal) => {
                emulate_default_handler(SIGSTOP).ok();
            }
            Target::Program { pid, .. } => {
                if !is_of_the_group && !is_from(*pid, origin) {
                    send(*pid, signal);
                }
            }
            Target::Gone if [SIGUSR1, SIGUSR2].contains(&signal) => {}
            Target::Gone if self.ignored.contains(&signal) => {}
            // The user does not want to wait for the reports either; the captures are complete without them.
            Target::Gone => drop(emulate_default_handler(signal)),
        }
    }
}

/// Of those that we take over, which this process was begun with ignored.
pub(super) fn ignored_signals() -> Vec<i32> {
    let ignored = signals_of("self", "SigIgn:");
    let taken = FORWARDED.into_iter().chain([SIGCHLD]);
    taken.filter(|signal| ignored & bit(*signal) != 0).collect()
}

/// What the program sends, it need not get back.
fn is_from(program: Pid, origin: &Origin) -> bool {
    let sender = origin.process.map(|sender| sender.pid);
    sender == Some(program.as_raw_nonzero().get())
}

fn send(program: Pid, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // It may have ended this moment.
        kill_process(program, signal).ok();
    }
}
