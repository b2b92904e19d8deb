//! Sections as other profilers show them: torch's (`record_function`) and Nsight (NVTX). On request, because a range takes some microseconds.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use marey::{Lane, NameId};
use pyo3::prelude::*;

use crate::callback;
use crate::errors::drop_error;
use crate::kept::Kept;
use crate::section_mode::{self, Watch};

/// The configuration asks for it.
static IS_WANTED: AtomicBool = AtomicBool::new(false);
/// Begins the range of a name, and what ends what that returned.
static FUNCTIONS: Kept<Option<(Py<PyAny>, Py<PyAny>)>> = Kept::new(None);

/// Says whether a recording that starts asks for it.
pub(crate) fn want(is_wanted: bool) {
    IS_WANTED.store(is_wanted, Relaxed);
    follow();
}

/// What begins and ends ranges, once torch is there. From now on each section has one, if that is asked for.
#[pyfunction]
pub(crate) fn set_section_ranges(begin: Py<PyAny>, end: Py<PyAny>) {
    drop(FUNCTIONS.replace(Some((begin, end))));
    follow();
}

fn follow() {
    let is_on = IS_WANTED.load(Relaxed) && FUNCTIONS.lock().is_some();
    section_mode::watch(Watch::Ranges, is_on);
}

/// Begins one.
pub(crate) fn begin(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Py<PyAny>> {
    if !section_mode::is_watched_for(Watch::Ranges) {
        return None;
    }
    let begin = FUNCTIONS.lock().as_ref().map(|(begin, _)| begin.clone_ref(py))?;
    let begun = callback::call(begin.bind(py), (lane.recorder().text_of(name),));
    begun.map(Bound::unbind).map_err(|error| drop_error(py, &error)).ok()
}

/// Ends it.
pub(crate) fn end(py: Python<'_>, begun: Py<PyAny>) {
    let end = FUNCTIONS.lock().as_ref().map(|(_, end)| end.clone_ref(py));
    if let Some(Err(error)) = end.map(|end| callback::call(end.bind(py), (begun,))) {
        drop_error(py, &error);
    }
}
