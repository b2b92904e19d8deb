//! Passes signals on to the program, as if Marey were not in between.
//!
//! ```text
//! terminal: Ctrl-C ──► the whole foreground group: marey (keeps waiting) and the program
//! kill PID-of-marey ─► marey ──► the program
//! ```

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::{Cause, Origin};

const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM];

/// Receives the signals, from its start to the end of the process.
#[derive(Clone, Debug)]
pub(super) struct Forwarder {
    target: Arc<Mutex<Target>>,
}

/// Where signals go.
#[derive(Debug)]
enum Target {
    /// The program is not started yet; these wait for it.
    Waiting(Vec<i32>),
    /// It runs, or has ended and nobody else can have got its number.
    Program(Pid),
    /// It is gone: signals are our own again.
    Gone,
}

impl Forwarder {
    /// Takes over all signals that are not ignored: what `nohup` had ignored stays ignored, for the program as well.
    ///
    /// # Errors
    /// When the handlers or their thread cannot be installed.
    pub(super) fn start() -> io::Result<Self> {
        let ignored = ignored_signals();
        let taken = FORWARDED
            .iter()
            .filter(|signal| ignored >> (**signal - 1) & 1 == 0);
        let mut signals = SignalsInfo::<WithOrigin>::new(taken)?;
        // Where it is ignored nobody learns how a child ended.
        signal_hook::flag::register(SIGCHLD, Arc::default())?;
        let forwarder = Self {
            target: Arc::new(Mutex::new(Target::Waiting(Vec::new()))),
        };
        let receiver = forwarder.clone();
        let forward = move || {
            for origin in signals.forever() {
                receiver.receive(&origin);
            }
        };
        let thread = std::thread::Builder::new().name("marey-signals".into());
        marey::without_signals(|| thread.spawn(forward))?;
        Ok(forwarder)
    }

    /// The program runs.
    pub(super) fn aim_at(&self, program: Pid) {
        let mut target = self.target();
        if let Target::Waiting(signals) = &*target {
            for signal in signals {
                send(program, *signal);
            }
        }
        *target = Target::Program(program);
    }

    /// The program has ended, its number is about to be free.
    pub(super) fn let_go(&self) {
        *self.target() = Target::Gone;
    }

    fn receive(&self, origin: &Origin) {
        let signal = origin.signal;
        match &mut *self.target() {
            Target::Waiting(signals) => signals.push(signal),
            Target::Program(program) => {
                if !has_it_already(*program, origin) {
                    send(*program, signal);
                }
            }
            Target::Gone if [SIGUSR1, SIGUSR2].contains(&signal) => {}
            // The user does not want to wait for the reports either; the captures are complete without them.
            Target::Gone => drop(emulate_default_handler(signal)),
        }
    }

    fn target(&self) -> MutexGuard<'_, Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The terminal driver signals the whole foreground group; and what the program sends, it need not get back.
fn has_it_already(program: Pid, origin: &Origin) -> bool {
    let is_its_own = origin
        .process
        .is_some_and(|sender| sender.pid == program.as_raw_nonzero().get());
    origin.cause == Cause::Kernel || is_its_own
}

fn send(program: Pid, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // It may have ended this moment.
        kill_process(program, signal).ok();
    }
}

/// Bit `n - 1` for signal `n`: `SigIgn` in `/proc/self/status`. 0 where there is no such file.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
