//! Lets Marey's threads rest while the program forks: Python warns of a fork in a process with threads, and would mean these.
//!
//! ```text
//! Python 3.12   before_fork · fork · warning? · after_fork
//! Python 3.13   before_fork · fork · warning? · ····· next thing that is recorded
//! ```
//!
//! From 3.13 on the warning comes after everything that can be hung onto a fork.

use pyo3::prelude::*;

use crate::{state, thread};

/// Ends the threads.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    if let Some(recorder) = marey::recorder() {
        py.detach(|| state::rest(recorder));
        // So that what is recorded next takes the slow way, and comes by `state::go_on`.
        thread::forget();
    }
}

/// Starts them again.
#[pyfunction]
pub(crate) fn after_fork() {
    state::go_on();
}
