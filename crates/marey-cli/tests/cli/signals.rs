//! Signals under `marey run`: those that kill the program kill Marey, those that reach Marey reach the program.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use marey::Status;
use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Place, err, wait_for, words};

#[test]
fn who_started_marey_sees_the_signal_that_the_program_died_of() {
    for (signal, name) in [
        (9, "SIGKILL (9)"),
        (11, "SIGSEGV (11)"),
        (6, "SIGABRT (6)"),
        (15, "SIGTERM (15)"),
        (2, "SIGINT (2)"),
    ] {
        let place = Place::new();
        let command =
            place.recorded(&["section=done", "open=under_way", &format!("signal={signal}")]);
        let output = with_default_signals(&command).output().unwrap();
        assert_eq!(output.status.signal(), Some(signal));
        assert!(!output.status.core_dumped());
        let said = err(&output);
        assert!(words(&said).contains(&format!("Status killed by {name}")), "{said}");
        assert!(words(&said).contains("Open under_way"), "{said}");
        let run = marey::load(&place.captures()[0]).unwrap();
        assert_eq!(run.status, Status::Killed(signal));
        assert_eq!(run.sections.len(), 1);
        assert!(!place.path("rings").exists(), "what it left was put into its capture");
    }
}

/// The command without the signals that who runs the tests ignores, as `nohup` and some CI do.
fn with_default_signals(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal");
    wrapped(env, command)
}

/// The command as what another one, whose arguments so far are its own, starts in its place.
fn wrapped(mut wrapped: Command, command: &Command) -> Command {
    wrapped.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

#[test]
fn signals_that_reach_marey_are_passed_on() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let place = Place::new();
        let ready = place.path("ready");
        let command = place.recorded(&["section=a", &format!("ready={}", ready.display()), "wait"]);
        let mut command = with_default_signals(&command);
        let mut marey = command.stderr(Stdio::piped()).spawn().unwrap();
        wait_for(&ready, &mut marey);
        kill_process(Pid::from_child(&marey), signal).unwrap();
        let output = marey.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(signal.as_raw()));
        assert!(err(&output).contains("marey: reports are in out/job"), "{}", err(&output));
    }
}

/// Sends `marey run` a signal when its program awaits it; the exit code.
fn code_after(signal: Signal, command: &mut Command, place: &Place) -> Option<i32> {
    let ready = place.path("ready");
    let mut marey = command.env("READY", &ready).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&ready, &mut marey);
    kill_process(Pid::from_child(&marey), signal).unwrap();
    marey.wait().unwrap().code()
}

#[test]
fn a_program_that_handles_a_signal_goes_on() {
    for signal in [Signal::TERM, Signal::USR1, Signal::USR2] {
        let place = Place::new();
        let mut command = place.recorded(&[
            "section=a",
            &format!("await={}", signal.as_raw()),
            "section=b",
            "exit=7",
        ]);
        assert_eq!(code_after(signal, &mut command, &place), Some(7));
        assert_eq!(marey::load(&place.captures()[0]).unwrap().sections.len(), 2);
    }
}

#[test]
fn a_program_that_asks_for_a_signal_which_was_ignored_gets_it() {
    for signal in [Signal::INT, Signal::HUP] {
        let place = Place::new();
        let command = place.recorded(&[&format!("await={}", signal.as_raw()), "exit=7"]);
        // As a shell ignores them for what it starts in the background, and nohup for all.
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "trap '' INT HUP; exec \"$@\"", "sh"]);
        let mut command = wrapped(shell, &command);
        assert_eq!(code_after(signal, &mut command, &place), Some(7));
    }
}
