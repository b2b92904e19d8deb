//! The `marey` command, as a library: [`run`] is the whole of it, and `src/main.rs` only calls it.
//!
//! One file per command in `commands/`. Errors are printed in one place, here; standard output is for what was asked for,
//! standard error for everything else.

#![forbid(unsafe_code)]

mod commands;
mod console;
mod exit;
mod first_screen;
mod http_server;
mod live_processes;
mod tables;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use clap::Parser;
use marey_folder::{in_one_line, run_folder};

use commands::Arguments;
use console::Console;

pub use commands::aggregate::{Arguments as Aggregation, Concluded};
pub use exit::Exit;
pub use first_screen::conclusion;

/// Runs the command line `args`, the program's own name first. Programs that it starts get the process's own standard streams;
/// what Marey itself says goes to `out` and `err`.
///
/// For `marey run` it also takes over the signals that it forwards (`SIGINT` and the like), for the rest of the process's life.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    run_with(args, Console::new(out, err))
}

/// As [`run`], where this process is the command: a program that it starts has standard input and output for itself.
pub fn run_as_process(args: impl IntoIterator<Item = OsString>) -> Exit {
    keep_standard_numbers();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    run_with(args, Console::of_process(&mut out, &mut err))
}

/// Nothing of ours gets the number of a standard stream that was closed before we began. The program finds it closed.
fn keep_standard_numbers() {
    while let Ok(nothing) = std::fs::File::open("/dev/null") {
        if nothing.as_raw_fd() > 2 {
            break;
        }
        std::mem::forget(nothing);
    }
}

fn run_with(args: impl IntoIterator<Item = OsString>, mut console: Console<'_>) -> Exit {
    let arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(refusal) => return show_refusal(&refusal, &mut console),
    };
    let ended = commands::run(&arguments.command, &mut console)
        .and_then(|exit| console.flush().map(|()| exit).map_err(Into::into));
    if let Some(root) = run_folder::ring_root() {
        marey::close_abandoned(&root);
    }
    match ended {
        Ok(exit) => exit,
        Err(error) if is_broken_pipe(&error) => Exit::SUCCESS,
        Err(error) => {
            console.say(&in_one_line(&error));
            Exit::USAGE
        }
    }
}

/// Help and version go to standard output, what is wrong with the arguments to standard error.
fn show_refusal(refusal: &clap::Error, console: &mut Console<'_>) -> Exit {
    let text = refusal.render().to_string();
    if refusal.use_stderr() {
        console.say_as_it_is(&text);
        return Exit::USAGE;
    }
    match console.show(&text).and_then(|()| console.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Exit::USAGE,
        _ => Exit::SUCCESS,
    }
}

/// Whoever read our output has seen enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}
