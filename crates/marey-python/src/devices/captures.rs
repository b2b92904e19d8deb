//! Which graphs are being captured, in whatever thread, by the status of their streams.
//!
//! ```text
//! capture_begin |---- nothing is recorded or asked ----| the stream says that it is captured no more
//! ```
//!
//! There is no counter that could stick: the stream is asked. Where it cannot be asked, `capture_end` says so. A capture that did not begin through torch is known of the
//! thread's own stream only.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::callback;
use crate::kept::Kept;

static KNOWN: Kept<Vec<Arc<Capture>>> = Kept::new(Vec::new());

#[derive(Debug)]
struct Capture {
    /// The graph's identity.
    graph: usize,
    /// Functions that are written in C: it goes on while one of them says so. Without any, until its end is noted.
    says: Vec<Py<PyAny>>,
}

/// A graph is being captured as long as one of `says` says so, and without any until it is noted again; with `None` it is not.
#[pyfunction]
pub(crate) fn note_capture(graph: usize, says: Option<Vec<Py<PyAny>>>) {
    let next = says.map(|says| Arc::new(Capture { graph, says }));
    let before = {
        let mut known = KNOWN.lock();
        let at = known.iter().position(|capture| capture.graph == graph);
        let before = at.map(|at| known.swap_remove(at));
        known.extend(next);
        before
    };
    drop(before);
}

/// Whether one is being captured. Those that have ended are not asked again.
pub(crate) fn is_any(py: Python<'_>) -> bool {
    let asked = KNOWN.lock().clone();
    for capture in &asked {
        if capture.goes_on(py) {
            return true;
        }
        KNOWN.lock().retain(|other| !Arc::ptr_eq(other, capture));
    }
    false
}

/// Nobody will note how captures end: those whose streams cannot be asked are not known any more.
pub(crate) fn forget_unasked() {
    KNOWN.lock().retain(|capture| !capture.says.is_empty());
}

/// In the child of a fork nothing of torch is freed.
pub(super) fn forget_in_child() {
    std::mem::forget(KNOWN.take());
}

impl Capture {
    fn goes_on(&self, py: Python<'_>) -> bool {
        let says = |ask: &Py<PyAny>| {
            let said = callback::call(ask.bind(py), ()).and_then(|said| callback::is_true(&said));
            // An error is of a stream that nobody may ask now.
            said.unwrap_or(true)
        };
        self.says.is_empty() || self.says.iter().any(says)
    }
}
