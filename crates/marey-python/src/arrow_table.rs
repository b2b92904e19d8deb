//! `load`, `Run`, `ArrowTable`: recorded runs as Arrow tables, handed over by the Arrow `PyCapsule` protocol.
//!
//! Whoever takes a table asks for a capsule, takes the stream out of it, and reads batch by batch, in any thread and without the
//! GIL; the memory of a batch stays where it is until its reader lets go of it. A capsule that nobody took frees its stream when it
//! is collected. PyO3 owns the capsules and `arrow-array` the streams in them, so nothing here is unsafe.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use marey_folder::run_folder::{captures, newest_job};
use marey_report::parquet::{Batches, Kind, Process};
use marey_report::quantity::counted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{CaptureError, report_error};

/// Names that the protocol gives to capsules.
const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// What one process recorded, or all processes of a job. Get one from `marey.load`.
#[pyclass(frozen, module = "marey")]
pub(crate) struct Run {
    processes: Vec<Arc<Process>>,
    problems: Vec<String>,
}

/// A table of a run, for whatever reads Arrow: `pyarrow.table(…)`, `polars.DataFrame(…)`, `duckdb.sql("… FROM …")`.
#[pyclass(frozen, module = "marey")]
pub(crate) struct ArrowTable {
    kind: Kind,
    processes: Vec<Arc<Process>>,
}

/// Reads what was recorded: a capture (`*.marey`), or a job's folder with all its captures.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "arguments of Python are converted to owned values"
)]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    py.detach(|| read(&path))
}

fn read(path: &Path) -> PyResult<Run> {
    if !path.is_dir() {
        let run = marey::load(path).map_err(|error| CaptureError::new_err(error.to_string()))?;
        return Ok(Run {
            processes: vec![Arc::new(Process::new(Arc::new(run)))],
            problems: Vec::new(),
        });
    }
    let mut found = captures(path).map_err(|error| CaptureError::new_err(error.to_string()))?;
    if found.is_empty() {
        let newest = newest_job(path);
        found = newest.map_or_else(Vec::new, |job| captures(&job).unwrap_or_default());
    }
    let (mut processes, mut problems) = (Vec::new(), Vec::new());
    for capture in found {
        match marey::load(&capture) {
            Ok(run) => processes.push(Arc::new(Process::new(Arc::new(run)))),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if processes.is_empty() {
        let none = format!("no capture (*.marey) in {} can be read", path.display());
        return Err(CaptureError::new_err([vec![none], problems].concat().join("; ")));
    }
    processes.sort_by_key(|process| process.order());
    Ok(Run { processes, problems })
}

#[pymethods]
impl Run {
    /// The rows of a kind as a table; `kinds` names them. Every process's rows have its `process` and `rank`.
    #[pyo3(signature = (kind = "sections"))]
    fn to_arrow(&self, kind: &str) -> PyResult<ArrowTable> {
        let kind = Kind::named(kind).ok_or_else(|| {
            let names = Kind::ALL.map(Kind::name).join(", ");
            PyValueError::new_err(format!("no table is called {kind:?}; there are {names}"))
        })?;
        Ok(ArrowTable { kind, processes: self.processes.clone() })
    }

    /// Names of the kinds of tables.
    #[getter]
    #[expect(clippy::unused_self, reason = "an attribute of the object in Python")]
    fn kinds(&self) -> Vec<&'static str> {
        Kind::ALL.map(Kind::name).to_vec()
    }

    /// Captures that could not be read, each with why. Their processes are not in the tables.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    fn __repr__(&self) -> String {
        format!("<marey.Run of {}>", counted(self.processes.len() as u64, "process", "processes"))
    }
}

#[pymethods]
impl ArrowTable {
    /// Which kind of table it is.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// Its schema, as the protocol wants it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.kind.schema()).map_err(report_error)?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// Its rows from the first one on, as the protocol wants them. `requested_schema` is a wish that the protocol allows to be passed
    /// over: whoever reads converts.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = Batches::new(self.kind, self.processes.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    fn __repr__(&self) -> String {
        format!("<marey.ArrowTable {}>", self.kind.name())
    }
}
