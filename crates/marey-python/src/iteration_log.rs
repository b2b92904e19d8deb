//! What an `IterationProfiler` measured: its own turns, while the recorder gets them too.

use marey::{NameId, NodeKind, NodeTotals, Run, Section};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attributes::text_of;
use crate::kept::Kept;
use crate::open_section::SectionMeta;
use crate::open_sections::{Caller, Entry};
use crate::own_calls::{OwnCalls, add_call, run_of};
use crate::timing_stats::seconds;
use crate::{names, section_kinds, section_watch};

/// Turns that are kept one by one; later ones are in the totals and the histogram.
const MAX_TURNS: usize = 1 << 16;

/// The turns of one loop.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct IterationLog {
    name: String,
    id: Option<NameId>,
    /// What [`section_kinds`] knows of the name.
    kind: u8,
    is_enabled: bool,
    turns: Kept<Turns>,
}

#[derive(Default)]
struct Turns {
    /// Begun and not ended.
    open: Vec<Entry>,
    /// Start and end in ticks, and whether it raised.
    ended: Vec<(u64, u64, bool)>,
    /// In ticks.
    totals: NodeTotals,
}

#[pymethods]
impl IterationLog {
    #[new]
    fn new(name: &Bound<'_, PyAny>, is_enabled: bool) -> Self {
        let text = text_of(name);
        section_watch::look(name.py());
        Self {
            id: names::id_of(name),
            kind: section_kinds::mask_of_turns(&text),
            name: text,
            is_enabled,
            turns: Kept::default(),
        }
    }

    /// Begins a turn.
    fn begin(&self, py: Python<'_>) {
        if self.is_enabled && crate::state::recorder().is_some() {
            // A turn that is switched off is kept all the same: its end must take no other's.
            let id = self.id.filter(|_| !section_kinds::is_off(self.kind));
            let turn = Entry::begin(py, id, NodeKind::Iteration, &SectionMeta::default());
            self.turns.lock().open.push(turn);
        }
    }

    /// Ends the turn that the calling thread or task began last; does nothing when there is none.
    fn end(&self, py: Python<'_>, is_failed: bool) {
        let caller = Caller::of(py);
        let mine = caller.take_from(&mut self.turns.lock().open);
        if let Some((start, end)) = mine.and_then(|turn| turn.end(py, is_failed)) {
            self.turns.lock().keep(start, end, is_failed);
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

    /// Statistics of all turns so far, seconds; empty before the first.
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

impl Turns {
    fn keep(&mut self, start: u64, end: u64, is_failed: bool) {
        if self.ended.len() < MAX_TURNS {
            self.ended.push((start, end, is_failed));
        }
        add_call(&mut self.totals, end - start, is_failed);
    }
}

impl IterationLog {
    /// The loop as a run of its own.
    pub(crate) fn run(&self) -> Run {
        let Some(recorder) = marey::recorder() else {
            return Run::default();
        };
        let turns = self.turns.lock();
        let ns = |ticks: u64| recorder.duration_ns(ticks);
        let origin = turns.ended.iter().map(|turn| turn.0).min().unwrap_or(0);
        let section = |(start, end, is_failed): &(u64, u64, bool)| {
            let start_ns = ns(start.saturating_sub(origin));
            let end_ns = start_ns + ns(end - start);
            Section { start_ns, end_ns, is_failed: *is_failed, ..Section::default() }
        };
        let mut sections: Vec<Section> = turns.ended.iter().map(section).collect();
        sections.sort_by_key(|s| s.end_ns);
        let t = &turns.totals;
        let totals = NodeTotals {
            sum_ns: ns(t.sum_ns),
            min_ns: ns(t.min_ns),
            max_ns: ns(t.max_ns),
            first_ns: ns(t.first_ns),
            last_ns: ns(t.last_ns),
            histogram: t.histogram.as_ref().map(|times| times.in_unit(recorder.tick_ns())),
            ..*t
        };
        run_of([OwnCalls { name: self.name.clone(), kind: NodeKind::Iteration, totals, sections }])
    }
}
