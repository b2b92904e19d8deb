//! The `marey` command of the wheel: the same Rust function as the plain binary's.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line, the program's own name first, and returns the exit code. Ends the process itself when the program that it
/// ran was ended by a signal, so that callers see that signal.
#[pyfunction]
pub(crate) fn run_command_line(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| {
        let exit = marey_cli::run_as_process(args);
        // Returns unless a signal is to be passed on.
        let _ = exit.end_process();
        exit.code()
    })
}
