//! Whose profiler a decorated function records with.

use pyo3::prelude::*;

use crate::callback;
use crate::numbers::or_absent;
use crate::once_object::OnceObject;
use crate::profiler::ProfilerCore;

/// The profiler that stands for the process's own recorder: what decorators use where an object has none.
#[pyfunction]
pub(crate) fn process_profiler(py: Python<'_>) -> PyResult<Py<ProfilerCore>> {
    static PROFILER: OnceObject<ProfilerCore> = OnceObject::new();
    let made = PROFILER.get_or_make(py, || Py::new(py, ProfilerCore::of_process()));
    made.map(|profiler| profiler.clone().unbind())
}

/// The profiler for what an object's method records: its `_profiler`. The process's where it has none; also where that one is disabled, if
/// recording is on all the same.
#[pyfunction]
#[pyo3(signature = (owner=None))]
pub(crate) fn profiler_of(
    py: Python<'_>,
    owner: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<ProfilerCore>> {
    let own = match owner {
        Some(owner) => or_absent(py, callback::attribute(owner, "_profiler"))?,
        None => None,
    };
    let own = own.as_ref().and_then(|own| own.cast::<ProfilerCore>().ok());
    match own {
        Some(own) if own.get().config().is_some() || !marey::is_on() => Ok(own.clone().unbind()),
        _ => process_profiler(py),
    }
}
