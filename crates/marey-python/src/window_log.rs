//! What a window of a heavier instrument says of itself while it is open: the capture gets it at once, so that it is there after a kill.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use marey::{Attributes, Note, WindowChange};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::{from_dict, text_of};
use crate::reported::{Stopwatch, duration_of};
use crate::state;

/// Longest text of an error or a remark that is kept, in characters.
const MAX_TEXT: usize = 2_000;

/// The number that the next window of this process gets.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// One window. Every method notes one change, at the time of the call; where nothing is recorded it does nothing.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct WindowLog {
    number: u64,
    name: String,
    instrument: String,
    options: Attributes,
}

#[pymethods]
impl WindowLog {
    #[new]
    #[pyo3(signature = (name, instrument, options=None))]
    fn new(name: &Bound<'_, PyAny>, instrument: &str, options: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            number: NEXT.fetch_add(1, Relaxed),
            name: text_of(name),
            instrument: instrument.to_owned(),
            options: from_dict(options),
        }
    }

    /// It begins to cost something.
    fn opened(&self) {
        self.note(WindowChange::Opened {
            name: self.name.clone(),
            instrument: self.instrument.clone(),
            options: self.options.clone(),
        });
    }

    /// From here on what the instrument sees is kept.
    fn recording(&self) {
        self.note(WindowChange::Recording);
    }

    /// The instrument has stopped.
    fn stopped(&self, reason: &str) {
        self.note(WindowChange::Stopped { reason: reason.to_owned() });
    }

    /// A file is complete; `watch` measured how long writing it took and has to have run.
    fn exported(&self, path: &Bound<'_, PyAny>, bytes: u64, watch: &Stopwatch) {
        if let Some(export_ns) = watch.ticks().and_then(duration_of) {
            self.note(WindowChange::Exported { path: text_of(path), bytes, export_ns });
        }
    }

    /// Something went wrong while something was being done.
    fn failed(&self, during: &str, error: &Bound<'_, PyAny>) {
        self.note(WindowChange::Failed { during: during.to_owned(), error: cut(&text_of(error)) });
    }

    /// Something worth knowing.
    fn remark(&self, text: &Bound<'_, PyAny>) {
        self.note(WindowChange::Remark { text: cut(&text_of(text)) });
    }
}

impl WindowLog {
    fn note(&self, change: WindowChange) {
        if let Some(recorder) = state::recorder() {
            recorder.note(&Note::Window { window: self.number, change });
        }
    }
}

/// Memory of this process that is in RAM, in bytes; None where the system does not say.
#[pyfunction]
pub(crate) fn resident_bytes() -> Option<u64> {
    marey::resident_bytes()
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
