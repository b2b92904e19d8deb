//! What an `IterationProfiler` measured: its own iterations, while the recorder gets them too.

use marey::{NameId, NodeKind, Run};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attributes::text_of;
use crate::kept::Kept;
use crate::open_section::{Caller, Entry, SectionMeta};
use crate::own_calls::{OwnCalls, run_of};
use crate::timing_stats::seconds;
use crate::{device_watch, names, section_kinds};

/// Iterations that are kept one by one; later ones are in the totals and the histogram.
const MAX_ITERATIONS: u64 = 1 << 16;

/// The iterations of one loop.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct IterationLog {
    name: String,
    id: Option<NameId>,
    /// What [`section_kinds`] knows of the name.
    kind: u8,
    is_enabled: bool,
    iterations: Kept<Iterations>,
}

#[derive(Default)]
struct Iterations {
    /// Begun and not ended.
    open: Vec<Entry>,
    /// Those that have ended, in ticks.
    calls: OwnCalls,
}

#[pymethods]
impl IterationLog {
    #[new]
    fn new(name: &Bound<'_, PyAny>, is_enabled: bool) -> Self {
        let text = text_of(name);
        device_watch::look(name.py());
        Self {
            id: names::id_of(name),
            kind: section_kinds::mask_of_turns(&text),
            name: text,
            is_enabled,
            iterations: Kept::default(),
        }
    }

    /// Begins an iteration.
    fn begin(&self, py: Python<'_>) {
        if self.is_enabled && crate::state::recorder().is_some() {
            // An iteration that is switched off is kept all the same: its end must take no other's.
            let id = self.id.filter(|_| !section_kinds::is_off(self.kind));
            let iteration = Entry::begin(py, id, NodeKind::Iteration, &SectionMeta::default());
            self.iterations.lock().open.push(iteration);
        }
    }

    /// Ends the iteration that the calling thread or task began last; does nothing when there is none.
    fn end(&self, py: Python<'_>, is_failed: bool) {
        let caller = Caller::of(py);
        let mine = caller.take_from(&mut self.iterations.lock().open);
        if let Some((start, end)) = mine.and_then(|iteration| iteration.end(py, is_failed)) {
            self.iterations.lock().calls.add(start, end - start, is_failed, MAX_ITERATIONS);
        }
    }

    fn __enter__(&self, py: Python<'_>) {
        self.begin(py);
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) {
        let is_failed = crate::plain_section::is_failure(exception);
        self.end(py, is_failed);
    }

    /// Statistics of all iterations so far, seconds; empty before the first.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        if let Some(found) = marey_analysis::iterations(&self.run()).first() {
            let calls = &found.calls;
            stats.set_item("count", calls.count)?;
            for (key, figure) in [
                ("total", Some(seconds(calls.total_ns))),
                ("mean", calls.mean_ns.map(|ns| ns / 1e9)),
                ("min", calls.min_ns.map(seconds)),
                ("max", calls.max_ns.map(seconds)),
                ("median", calls.median_ns.map(|ns| ns / 1e9)),
                ("p95", calls.percentiles.map(|p| seconds(p.p95_ns))),
                ("p99", calls.percentiles.map(|p| seconds(p.p99_ns))),
                ("std", calls.std_dev_ns.map(|ns| ns / 1e9)),
                ("iterations_per_second", found.per_second),
                ("first", calls.first_ns.map(seconds)),
                ("mean_after_first", calls.rest_mean_ns.map(|ns| ns / 1e9)),
            ] {
                stats.set_item(key, figure)?;
            }
            stats.set_item("errors", calls.errors)?;
        }
        Ok(stats)
    }

    /// The console block of the loop, as text.
    fn summary(&self) -> String {
        let report = marey_report::Report::new(&self.run());
        marey_report::iteration_summary(&report, &self.name).unwrap_or_else(|| {
            format!(
                "ITERATION PROFILING: {}\nno iterations were recorded\n",
                marey_report::escape::visible(&self.name)
            )
        })
    }
}

impl IterationLog {
    /// The loop as a run of its own.
    pub(crate) fn run(&self) -> Run {
        let calls = &self.iterations.lock().calls;
        marey::recorder().map_or_else(Run::default, |clock| {
            run_of([(&self.name, calls)], NodeKind::Iteration, Some(clock))
        })
    }
}
