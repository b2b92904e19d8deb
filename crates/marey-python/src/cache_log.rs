//! What a `CacheEventRecorder` saw: kept for its own timeline, while the recorder gets it too.

use std::sync::{Mutex, MutexGuard, PoisonError};

use marey::{CacheEvent, CacheOutcome, Note, Run, Status};
use marey_report::Report;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::{from_dict, text_of};
use crate::{session_context, state};

/// Events kept by one recorder; later ones are in the capture only.
const MAX_EVENTS: usize = 100_000;

/// Events of one cache event recorder.
#[pyclass(frozen, module = "marey._core")]
#[derive(Default)]
pub(crate) struct CacheLog {
    /// Locked only while no Python code runs.
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    start_unix_ns: Option<u64>,
    events: Vec<CacheEvent>,
}

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
        outcome: &str,
        step: Option<&Bound<'_, PyAny>>,
        block: Option<&Bound<'_, PyAny>>,
        score: Option<&Bound<'_, PyAny>>,
        threshold: Option<&Bound<'_, PyAny>>,
        held_bytes: Option<&Bound<'_, PyAny>>,
        meta: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let outcome = match outcome {
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
        let mut event = CacheEvent {
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
        let mut kept = self.kept();
        let now = marey::unix_ns();
        event.at_ns = now.saturating_sub(*kept.start_unix_ns.get_or_insert(now));
        let has_room = kept.events.len() < MAX_EVENTS;
        if has_room {
            kept.events.push(event);
        }
        Ok(has_room)
    }

    /// Forgets the events; the capture keeps them.
    fn clear(&self) {
        *self.kept() = Kept::default();
    }

    /// Forgets the events after the first `n`.
    fn truncate(&self, n: usize) {
        self.kept().events.truncate(n);
    }

    /// The timeline as a Markdown table, hits and misses counted.
    fn markdown(&self) -> String {
        marey_report::cache_markdown(&self.report())
    }

    fn __len__(&self) -> usize {
        self.kept().events.len()
    }
}

impl CacheLog {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) -> Report {
        let kept = self.kept();
        let mut run =
            Run { cache_events: kept.events.clone(), status: Status::Running, ..Run::default() };
        run.info.start_unix_ns = kept.start_unix_ns.unwrap_or_default();
        Report::new(&run)
    }
}

fn note(py: Python<'_>, event: &CacheEvent) {
    let Some(recorder) = state::recorder() else {
        return;
    };
    let e = event.clone();
    let decision = Note::Cache {
        cache: e.cache,
        outcome: e.outcome,
        step: e.step,
        block: e.block,
        score: e.score,
        threshold: e.threshold,
        held_bytes: e.held_bytes,
        attributes: e.attributes,
    };
    recorder.note_in(session_context::current_number(py), &decision);
}

fn natural(value: Option<&Bound<'_, PyAny>>) -> Option<u64> {
    value?.extract().ok()
}

fn finite(value: Option<&Bound<'_, PyAny>>) -> Option<f64> {
    value?.extract().ok().filter(|v: &f64| v.is_finite())
}
