//! Traces of torch.profiler: those that were asked for, and those that lie beside a capture.

use std::fs::File;
use std::path::Path;

use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::{Findings, trace_answers};
use marey_report::{TraceFile, html_trace};

/// What a trace says. `name` is how the file is called where it is shown.
///
/// # Errors
/// When the file cannot be read, or is no trace.
pub fn read_trace(path: &Path, name: String) -> anyhow::Result<TraceFile> {
    let trace = read(File::open(path)?, Limits::default())?;
    Ok(TraceFile {
        file: name,
        answers: Some(trace_answers(&trace, None)),
        findings: Findings::default(),
        problem: None,
    })
}

/// What a trace says, as a page with its timeline. `name` is how the file is called where it is shown.
///
/// # Errors
/// When the file cannot be read, or is no trace.
pub fn trace_page(path: &Path, name: String) -> anyhow::Result<Vec<u8>> {
    let trace = read(File::open(path)?, Limits::default())?;
    let file = TraceFile {
        file: name,
        answers: Some(trace_answers(&trace, None)),
        findings: Findings::default(),
        problem: None,
    };
    Ok(html_trace(&[file], &trace))
}
