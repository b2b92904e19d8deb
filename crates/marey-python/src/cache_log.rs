//! What a `CacheEventRecorder` saw: kept for its own timeline, while the recorder gets it too.

use marey::{CacheEvent, CacheOutcome, Note, Run, Status};
use marey_report::Report;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::{from_dict, text_of};
use crate::state;

/// Events kept by one recorder; later ones are in the capture only.
const MAX_EVENTS: usize = 100_000;

/// Events of one cache event recorder.
#[pyclass(module = "marey._core")]
#[derive(Default)]
pub(crate) struct CacheLog {
    start_unix_ns: Option<u64>,
    events: Vec<CacheEvent>,
}

#[pymethods]
impl CacheLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Records one decision. `outcome` is `hit`, `miss` or `eviction`; numbers that are not finite or negative are absent.
    #[pyo3(signature = (cache, outcome, *, step=None, block=None, score=None, threshold=None, held_bytes=None, meta=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the keywords of one Python method"
    )]
    fn add(
        &mut self,
        cache: &Bound<'_, PyAny>,
        outcome: &str,
        step: Option<i64>,
        block: Option<i64>,
        score: Option<f64>,
        threshold: Option<f64>,
        held_bytes: Option<i64>,
        meta: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let outcome = match outcome {
            "hit" => CacheOutcome::Hit,
            "miss" => CacheOutcome::Miss,
            "eviction" => CacheOutcome::Eviction,
            other => {
                let text = format!("outcome must be 'hit', 'miss' or 'eviction', not {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        let natural = |v: Option<i64>| v.and_then(|v| u64::try_from(v).ok());
        let now = marey::unix_ns();
        let start = *self.start_unix_ns.get_or_insert(now);
        self.keep(CacheEvent {
            at_ns: now.saturating_sub(start),
            cache: text_of(cache),
            outcome,
            step: natural(step),
            block: natural(block),
            score: score.filter(|v| v.is_finite()),
            threshold: threshold.filter(|v| v.is_finite()),
            held_bytes: natural(held_bytes),
            attributes: from_dict(meta),
        });
        Ok(())
    }

    /// Forgets the events; the capture keeps them.
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets the events after the first `n`.
    fn truncate(&mut self, n: usize) {
        self.events.truncate(n);
    }

    /// The timeline as a Markdown table, hits and misses counted.
    fn markdown(&self) -> String {
        marey_report::cache_markdown(&self.report())
    }

    fn __len__(&self) -> usize {
        self.events.len()
    }
}

impl CacheLog {
    fn keep(&mut self, event: CacheEvent) {
        if let Some(recorder) = state::recorder() {
            let e = event.clone();
            recorder.note(&Note::Cache {
                cache: e.cache,
                outcome: e.outcome,
                step: e.step,
                block: e.block,
                score: e.score,
                threshold: e.threshold,
                held_bytes: e.held_bytes,
                attributes: e.attributes,
            });
        }
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }

    fn report(&self) -> Report {
        let mut run = Run {
            cache_events: self.events.clone(),
            status: Status::Running,
            ..Run::default()
        };
        run.info.start_unix_ns = self.start_unix_ns.unwrap_or_default();
        Report::new(&run)
    }
}
