//! A program that records itself when `marey run` starts it, and does what its arguments say, one after the other: the other side of
//! the tests of `marey run`.
//!
//! `section=NAME` · `open=NAME` (never closed) · `child=ARGUMENT` (starts itself with that argument and waits) · `ready=FILE` (makes it) ·
//! `echo` (standard input to standard output) · `exit=CODE` · `signal=NUMBER` (to itself) · `await=NUMBER` (ends well when that
//! signal has come) · `wait` (for ever)

#![allow(clippy::unwrap_used, clippy::exit, reason = "a test program")]

use rustix::process::{Signal, getpid, kill_process};

fn main() {
    let recording = marey::start_from_env();
    let mut open = Vec::new();
    for argument in std::env::args().skip(1) {
        let (what, value) = argument.split_once('=').unwrap_or((&argument, ""));
        match what {
            "section" => drop(marey::section_named(value)),
            "open" => open.push(marey::section_named(value)),
            "child" => {
                let this = std::env::current_exe().unwrap();
                std::process::Command::new(this)
                    .arg(value)
                    .status()
                    .unwrap();
            }
            "ready" => std::fs::write(value, []).unwrap(),
            "echo" => drop(std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).unwrap()),
            "exit" => {
                drop(recording);
                std::process::exit(value.parse().unwrap());
            }
            "signal" => {
                let signal = Signal::from_named_raw(value.parse().unwrap()).unwrap();
                // Rust's own handler of SIGSEGV takes the first for a stack overflow and steps aside for the next.
                loop {
                    kill_process(getpid(), signal).unwrap();
                }
            }
            "await" => {
                let mut signals =
                    signal_hook::iterator::Signals::new([value.parse::<i32>().unwrap()]).unwrap();
                std::fs::write(std::env::var("READY").unwrap(), []).unwrap();
                signals.forever().next();
            }
            "wait" => wait(),
            other => panic!("unknown argument {other}"),
        }
    }
}

fn wait() -> ! {
    loop {
        std::thread::park();
    }
}
