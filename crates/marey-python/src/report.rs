//! Reports of the running process.

use std::path::PathBuf;

use marey::{Run, Status, Warning};
use marey_folder::run_folder::{Chosen, write_documents};
use marey_report::Report;
use pyo3::prelude::*;

use crate::errors::report_error;
use crate::iteration_log::IterationLog;
use crate::memory_log::MemoryLog;
use crate::timing_stats::TimingStats;

/// Writes `profiling_report.json`, `timing_summary.txt` and `memory_log.json` of everything recorded so far into a folder, and
/// returns the path of the first. Given objects replace their part of the report.
#[pyfunction]
#[pyo3(signature = (output_dir, timing_stats=None, memory=None, iterations=None))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments of Python are converted to owned values"
)]
pub(crate) fn export_report(
    py: Python<'_>,
    output_dir: PathBuf,
    timing_stats: Option<&Bound<'_, TimingStats>>,
    memory: Option<&Bound<'_, MemoryLog>>,
    iterations: Option<&Bound<'_, IterationLog>>,
) -> PyResult<PathBuf> {
    let bytes = marey::recorder()
        .map(|recorder| py.detach(|| recorder.capture_so_far()))
        .unwrap_or_default();
    let run = marey::decode(&bytes, Status::Running).unwrap_or_else(|_| run_without_recording());
    let mut report = py.detach(|| Report::new(&run));
    if let Some(stats) = timing_stats.map(Bound::get).filter(|stats| stats.is_own()) {
        report.sections.by_name = stats.report(py).sections.by_name;
    }
    if let Some(log) = memory {
        use_memory(&mut report, log.get());
    }
    if let Some(log) = iterations {
        use_iterations(&mut report, log.get());
    }
    let written = py.detach(|| write_documents(&output_dir, &report, &run, Chosen::JSON));
    written.map_err(report_error)?;
    Ok(output_dir.join("profiling_report.json"))
}

/// What there is to say when nothing was recorded: which process, and why.
fn run_without_recording() -> Run {
    let mut run =
        Run { status: Status::Running, warnings: vec![Warning::RecordingOff], ..Run::default() };
    run.info.start_unix_ns = marey::unix_ns();
    run.info.pid = std::process::id();
    run
}

/// The labelled readings of one tracker instead of those of all.
fn use_memory(report: &mut Report, log: &MemoryLog) {
    let own = log.report();
    let start = log.start_unix_ns();
    if let (Some(own), None) = (&own.memory, &report.memory)
        && !own.labelled.is_empty()
    {
        // Nothing was recorded: time begins with the first reading.
        report.run.start_unix_ns = start;
    }
    let shift = start.saturating_sub(report.run.start_unix_ns);
    match (&mut report.memory, own.memory) {
        (Some(all), Some(mut own)) => {
            own.labelled.iter_mut().for_each(|reading| reading.at_ns += shift);
            all.labelled = own.labelled;
        }
        (Some(all), None) => all.labelled.clear(),
        (place, own) => *place = own,
    }
}

/// One profiler's iterations first, because the documented `iteration_stats` is about one loop.
fn use_iterations(report: &mut Report, log: &IterationLog) {
    let Some(own) = marey_analysis::iterations(&log.run()).into_iter().next() else {
        return;
    };
    report.iterations.retain(|found| found.name != own.name);
    report.iterations.insert(0, own);
}
