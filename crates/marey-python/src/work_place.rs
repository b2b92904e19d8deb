//! Devices and streams of work, as `with` blocks.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::callback;
use crate::devices::{self, Place, StreamId, said, say};
use crate::under_gil::UnderGil;

/// For a `with` block whose work runs there.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct WorkPlace {
    place: Place,
    /// What was said around the block.
    outer: UnderGil<Cell<Option<Place>>>,
}

#[pymethods]
impl WorkPlace {
    /// The thread's current stream on a device, by default the current one. `None` for a device that torch does not have, and while no
    /// sections are watched.
    #[staticmethod]
    #[pyo3(signature = (device=None))]
    fn at(py: Python<'_>, device: Option<u32>) -> PyResult<Option<Self>> {
        let Some(devices) = devices::watched() else {
            return Ok(None);
        };
        let device = match device {
            Some(device) => device,
            None => devices.current(py)?,
        };
        Ok(devices.has(device).then(|| Self::new(Place::Device(device))))
    }

    /// One of torch's streams. `None` as above.
    #[staticmethod]
    fn on(stream: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some(devices) = devices::watched() else {
            return Ok(None);
        };
        let told = StreamId {
            id: callback::attribute(stream, "stream_id")?.extract()?,
            device: callback::attribute(stream, "device_index")?.extract()?,
            kind: callback::attribute(stream, "device_type")?.extract()?,
        };
        Ok(devices.has(told.device).then(|| Self::new(Place::Stream(told))))
    }

    /// Where this thread's work runs now; `None` where nobody says.
    #[staticmethod]
    fn here() -> Option<Self> {
        said().map(Self::new)
    }

    /// The number of its device.
    #[getter]
    fn device(&self) -> u32 {
        self.place.device()
    }

    fn __enter__(&self, py: Python<'_>) {
        let outer = say(Some(self.place));
        self.outer.get(py).set(outer);
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        say(self.outer.get(py).take());
    }
}

impl WorkPlace {
    fn new(place: Place) -> Self {
        let outer = UnderGil::new(Cell::new(None));
        Self { place, outer }
    }
}
