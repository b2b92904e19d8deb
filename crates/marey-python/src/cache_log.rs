//! What a `CacheEventRecorder` saw: kept for its own timeline, while the recorder gets it too.

use marey::{CacheEvent, CacheOutcome, Note};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::{from_dict, text_of};
use crate::kept::{Kept, Log};
use crate::{session_context, state};

/// Events of one cache event recorder.
#[pyclass(frozen, module = "marey._core")]
#[derive(Default)]
pub(crate) struct CacheLog(Kept<Log<CacheEvent>>);

#[pymethods]
impl CacheLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Records one decision. `outcome` is `hit`, `miss`, `eviction` or `lookup`; what is not a number, not finite or negative is absent. True when
    /// the log keeps it, False when only the capture does.
    #[pyo3(signature = (cache, outcome, *, step=None, block=None, score=None, threshold=None, held_bytes=None, meta=None))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of one Python method")]
    fn add(
        &self,
        cache: &Bound<'_, PyAny>,
        outcome: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        block: Option<&Bound<'_, PyAny>>,
        score: Option<&Bound<'_, PyAny>>,
        threshold: Option<&Bound<'_, PyAny>>,
        held_bytes: Option<&Bound<'_, PyAny>>,
        meta: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let outcome = match text_of(outcome).as_str() {
            "hit" => CacheOutcome::Hit,
            "miss" => CacheOutcome::Miss,
            "eviction" => CacheOutcome::Eviction,
            "lookup" => CacheOutcome::Lookup,
            other => {
                let text =
                    format!("outcome must be 'hit', 'miss', 'eviction' or 'lookup', not {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        let event = CacheEvent {
            at_ns: 0,
            cache: text_of(cache),
            outcome,
            step: natural(step),
            block: natural(block),
            score: finite(score),
            threshold: finite(threshold),
            held_bytes: natural(held_bytes),
            attributes: from_dict(meta),
            session: None,
        };
        note(cache.py(), &event);
        Ok(self.0.lock().keep(|at_ns| CacheEvent { at_ns, ..event }))
    }

    /// Forgets the events; the capture keeps them.
    fn clear(&self) {
        self.0.take();
    }

    /// Forgets the events after the first `n`.
    fn truncate(&self, n: usize) {
        self.0.lock().records.truncate(n);
    }

    /// The timeline as a Markdown table, hits and misses counted.
    fn markdown(&self) -> String {
        marey_report::cache_markdown(&self.0.lock().report(|run| &mut run.cache_events))
    }

    fn __len__(&self) -> usize {
        self.0.lock().records.len()
    }
}

fn note(py: Python<'_>, event: &CacheEvent) {
    let Some(recorder) = state::recorder() else {
        return;
    };
    recorder.note_in(session_context::current_number(py), &Note::Cache(event.clone()));
}

fn natural(value: Option<&Bound<'_, PyAny>>) -> Option<u64> {
    value?.extract().ok()
}

fn finite(value: Option<&Bound<'_, PyAny>>) -> Option<f64> {
    value?.extract().ok().filter(|v: &f64| v.is_finite())
}
