//! Ranks of jobs, for `marey.aggregate_reports()` and for engines that read files elsewhere.

use std::ffi::OsString;
use std::path::PathBuf;

use marey_analysis::job::{Ranks, Unread, rank_in_name};
use marey_cli::Aggregation;
use marey_folder::aggregation::{Input, n_threads, summaries};
use marey_folder::in_one_line;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{CaptureError, report_error};

/// How files are called where they are shown, and where they are.
type Files = Vec<(String, PathBuf)>;

/// What `marey aggregate` with these arguments comes to: its exit code, what it shows, what it says besides, and the document of
/// `--format json`, `None` when nothing could be read. With `found` nothing is read: these are the summaries of the files. With
/// `only_summary` it shows the summary alone and writes nothing.
#[pyfunction]
#[pyo3(signature = (args, found=None, only_summary=false))]
pub(crate) fn aggregate(
    py: Python<'_>,
    args: Vec<OsString>,
    found: Option<Vec<u8>>,
    only_summary: bool,
) -> PyResult<(u8, String, String, Option<String>)> {
    let arguments = Aggregation::of(args).map_err(PyValueError::new_err)?;
    let concluded = py.detach(|| {
        let inputs = arguments.inputs()?;
        let found = match found {
            Some(found) => Ranks::from_json(&found)?,
            None => summaries(&inputs.files, n_threads()),
        };
        arguments.conclude(inputs, found, only_summary)
    });
    let concluded = concluded.map_err(|error| CaptureError::new_err(in_one_line(&error)))?;
    let json = concluded.json.map(|json| String::from_utf8_lossy(&json).into_owned());
    Ok((concluded.exit.code(), concluded.out, concluded.err, json))
}

/// The files that `marey aggregate` with these arguments reads, and the cluster that was asked for.
#[pyfunction]
pub(crate) fn aggregation_inputs(
    py: Python<'_>,
    args: Vec<OsString>,
) -> PyResult<(Files, Option<String>)> {
    let arguments = Aggregation::of(args).map_err(PyValueError::new_err)?;
    let inputs = py
        .detach(|| arguments.inputs())
        .map_err(|error| CaptureError::new_err(in_one_line(&error)))?;
    let files = inputs.files.into_iter().map(|file| (file.name, file.path));
    Ok((files.collect(), arguments.address().map(str::to_owned)))
}

/// Summaries of these files as a document, read by this many threads. Files that cannot be read are in it.
#[pyfunction]
pub(crate) fn summarise(py: Python<'_>, files: Files, threads: usize) -> Bound<'_, PyBytes> {
    let document = py.detach(|| {
        let inputs: Vec<Input> =
            files.into_iter().map(|(name, path)| Input { name, path }).collect();
        summaries(&inputs, threads.max(1)).to_json()
    });
    PyBytes::new(py, &document)
}

/// Documents of summaries in one, with files that could not be read, and why.
#[pyfunction]
#[pyo3(signature = (documents, unread=None))]
pub(crate) fn merge_summaries(
    py: Python<'_>,
    documents: Vec<Vec<u8>>,
    unread: Option<Vec<(String, String)>>,
) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py.detach(|| {
        let mut all = Ranks::new();
        for document in documents {
            all.merge(Ranks::from_json(&document)?);
        }
        for (file, why) in unread.into_iter().flatten() {
            let rank = rank_in_name(&file);
            all.add_unread(Unread { file, rank, why, is_merged: false });
        }
        Ok(all.to_json())
    });
    let merged = merged.map_err(|error: marey_analysis::job::RanksError| report_error(error))?;
    Ok(PyBytes::new(py, &merged))
}
