//! `TimingStats`: statistics by name, of the process's recorder or of durations that the user gives.

use std::collections::BTreeMap;

use marey::{Ending, NodeKind, Run, Status};
use marey_analysis::NameRow;
use marey_report::Report;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::attributes::text_of;
use crate::callback;
use crate::kept::Kept;
use crate::own_calls::{OwnCalls, run_of};
use crate::profiler::count_unrecorded;
use crate::{names, numbers, state};

/// Statistics by name. Times are seconds.
///
/// `TimingStats()` holds what was given to `record`; `get_global_stats()` what the process recorded since the start, or the last `clear()`.
#[pyclass(frozen, module = "marey")]
pub(crate) struct TimingStats {
    /// `None` for the process's own.
    own: Option<Kept<BTreeMap<String, OwnCalls>>>,
}

/// Durations of a name that are kept one by one; percentiles of more are those of a histogram.
const MAX_EACH: u64 = 10_000;

#[pymethods]
impl TimingStats {
    #[new]
    fn new() -> Self {
        Self { own: Some(Kept::default()) }
    }

    /// The statistics of the process's recorder.
    #[staticmethod]
    fn of_process() -> Self {
        Self { own: None }
    }

    /// Adds a call of a name that took `duration` seconds. A duration that is no number, negative or not finite (a clock that was set back)
    /// raises ValueError; the process's own statistics count it among what could not be recorded instead, and so they do with one that began
    /// before the machine did.
    fn record(&self, name: &Bound<'_, PyAny>, duration: &Bound<'_, PyAny>) -> PyResult<()> {
        let seconds = numbers::real(Some(duration))?;
        let duration = seconds.map(std::time::Duration::try_from_secs_f64);
        let Some(Ok(duration)) = duration else {
            if self.own.is_none() {
                count_unrecorded();
                return Ok(());
            }
            let text = "duration must be a finite number of seconds, not below 0";
            return Err(PyValueError::new_err(text));
        };
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        match &self.own {
            Some(own) => {
                // Before the lock: it can run code of the program.
                let name = text_of(name);
                let mut own = own.lock();
                let calls = own.entry(name).or_default();
                // As if they followed each other.
                calls.add(calls.totals.sum_ns, ns, false, MAX_EACH);
                if calls.totals.count > MAX_EACH {
                    calls.each = Vec::new();
                }
            }
            None => record_in_process(name, ns),
        }
        Ok(())
    }

    /// Forgets everything. The capture keeps what was recorded.
    fn clear(&self) {
        match &self.own {
            Some(own) => own.lock().clear(),
            None => {
                if let Some(recorder) = marey::recorder() {
                    recorder.clear_totals();
                }
            }
        }
    }

    /// Statistics of one name: count, total, mean, min, max, last, p50, p95, p99, self; empty when it was never recorded. Each is None where
    /// that is not known: there were too many names, and calls of this one may be counted under "(other)".
    fn get_stats<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (run, name) = (self.run(py), text_of(name));
        let rows = marey_analysis::sections(&run).by_name;
        let row = rows.iter().find(|row| row.name == name);
        if row.is_none() && run.losses.calls_without_name == 0 {
            return Ok(PyDict::new(py));
        }
        stats_dict(py, row)
    }

    /// Statistics of all names, the largest total first.
    fn get_all_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for row in marey_analysis::sections(&self.run(py)).by_name {
            all.set_item(&row.name, stats_dict(py, Some(&row))?)?;
        }
        Ok(all)
    }

    /// The table of the `top_n` names with the largest total, as text.
    #[pyo3(signature = (top_n=20))]
    fn summary(&self, py: Python<'_>, top_n: usize) -> String {
        marey_report::timing_summary(&self.report(py), top_n)
    }

    /// Prints that table.
    #[pyo3(signature = (top_n=20))]
    fn print_summary(&self, py: Python<'_>, top_n: usize) -> PyResult<()> {
        // Python's own print, which tests and notebooks redirect.
        let print = callback::import(py, "builtins")?.getattr("print")?;
        callback::call(&print, (self.summary(py, top_n),)).map(drop)
    }
}

impl TimingStats {
    /// Whether these are statistics of their own, not the process's.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    pub(crate) fn report(&self, py: Python<'_>) -> Report {
        Report::new(&self.run(py))
    }

    fn run(&self, py: Python<'_>) -> Run {
        match &self.own {
            Some(own) => run_of(own.lock().iter(), NodeKind::Section, None),
            // Copied under the GIL, so that no Python thread is in the middle of a record.
            None => totals_of_process(py),
        }
    }
}

fn totals_of_process(_py: Python<'_>) -> Run {
    let bytes = marey::recorder().map(marey::Recorder::totals_so_far).unwrap_or_default();
    marey::decode(&bytes, Status::Running).unwrap_or_default()
}

fn record_in_process(name: &Bound<'_, PyAny>, ns: u64) {
    let (Some(recorder), Some(id)) = (state::recorder(), names::id_of(name)) else {
        return;
    };
    let Some(lane) = marey::lane() else { return };
    let end = marey::ticks();
    let Some(start) = end.checked_sub(recorder.ticks_of(ns)) else {
        count_unrecorded();
        return;
    };
    // What took place before the section around it began was no part of it.
    let is_detached = lane.current_start().is_some_and(|around| start < around);
    let node = lane.node(id, NodeKind::Section, is_detached);
    lane.complete(node, start, end, Ending::default());
}

/// The figures of a name; each is None of one that may have found no place.
fn stats_dict<'py>(py: Python<'py>, row: Option<&NameRow>) -> PyResult<Bound<'py, PyDict>> {
    let calls = row.map(|row| &row.calls);
    let percentiles = calls.and_then(|calls| calls.percentiles);
    let stats = PyDict::new(py);
    stats.set_item("count", calls.map(|calls| calls.count))?;
    for (key, figure) in [
        ("total", calls.map(|calls| seconds(calls.total_ns))),
        ("mean", calls.and_then(|calls| calls.mean_ns).map(|ns| ns / 1e9)),
        ("min", calls.and_then(|calls| calls.min_ns).map(seconds)),
        ("max", calls.and_then(|calls| calls.max_ns).map(seconds)),
        ("last", calls.and_then(|calls| calls.last_ns).map(seconds)),
        ("p50", percentiles.map(|p| seconds(p.p50_ns))),
        ("p95", percentiles.map(|p| seconds(p.p95_ns))),
        ("p99", percentiles.map(|p| seconds(p.p99_ns))),
        ("self", row.and_then(|row| row.self_ns).map(seconds)),
    ] {
        stats.set_item(key, figure)?;
    }
    stats.set_item("errors", calls.map(|calls| calls.errors))?;
    Ok(stats)
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}
