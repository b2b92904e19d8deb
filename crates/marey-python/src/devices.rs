//! On which device and stream the work of a section runs, by functions of torch's C part.
//!
//! | who says so | where the work runs |
//! |---|---|
//! | a `with` block ([`Place::Device`]) | on that device, on the thread's current stream there |
//! | a `with` block ([`Place::Stream`]) | on that stream |
//! | nobody | on the program's current device, where it has chosen one; else on the only device that is in use |
//!
//! A device is in use when it has a context, and nothing here opens one. A program has chosen devices if another one than 0 was
//! current, or if it is one of a launcher's ranks. Where nobody says, several devices are in use and none was chosen, it is not known
//! where: device 0 is current then, and most work may be elsewhere.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) mod captures;

use crate::callback;
use crate::kept::Kept;

/// Streams whose objects are kept.
const MAX_STREAMS: usize = 64;

static WATCHED: Kept<Option<Arc<Devices>>> = Kept::new(None);

/// A device's number and a stream's.
pub(crate) type StreamKey = (u32, u64);

/// A stream on which events may be recorded now.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) key: StreamKey,
    pub(crate) object: Arc<Py<PyAny>>,
}

/// Why a section that is watched has no GPU time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotMeasured {
    OtherStream,
    Capture,
    UnknownDevice,
    UnusedDevice,
    TooMany,
}

impl NotMeasured {
    /// In words, in their order.
    pub(crate) const WHY: [&str; 5] = [
        "ended on another stream or device",
        "began or ended while a graph was captured",
        "ran on a device that is not known: several were in use, and none was chosen",
        "began before the device was in use",
        "came while too many were waiting",
    ];
}

/// Why nothing may be recorded for a section that begins or ends now.
#[derive(Debug)]
pub(crate) enum Hindrance {
    Known(NotMeasured),
    /// Torch failed.
    Error(PyErr),
}

impl From<NotMeasured> for Hindrance {
    fn from(why: NotMeasured) -> Self {
        Self::Known(why)
    }
}

impl From<PyErr> for Hindrance {
    fn from(error: PyErr) -> Self {
        Self::Error(error)
    }
}

/// Torch's devices, and its functions that tell of them.
#[derive(Debug)]
pub(crate) struct Devices {
    number: u32,
    current: Py<PyAny>,
    /// `None` where torch does not tell: every device is taken for used.
    has_context: Option<Py<PyAny>>,
    current_stream: Py<PyAny>,
    is_current_capturing: Py<PyAny>,
    new_stream: Py<PyAny>,
    /// `None` where torch tells it of the current stream only.
    is_capturing: Option<Py<PyAny>>,
    /// A bit for each device that was found in use, because it stays so.
    used: AtomicU64,
    /// The program chooses devices.
    is_chosen: AtomicBool,
    streams: Kept<BTreeMap<StreamKey, Arc<Py<PyAny>>>>,
}

/// From now on sections have a place, by functions of `torch._C`. Returns whether that can be another one than the current device,
/// which is so if there are several.
#[pyfunction]
#[pyo3(signature = (*, number, is_chosen, current, has_context, current_stream, is_current_capturing, new_stream))]
#[expect(clippy::too_many_arguments, reason = "one for each function of torch")]
pub(crate) fn watch_devices(
    py: Python<'_>,
    number: u32,
    is_chosen: bool,
    current: Py<PyAny>,
    has_context: Option<Py<PyAny>>,
    current_stream: Py<PyAny>,
    is_current_capturing: Py<PyAny>,
    new_stream: Py<PyAny>,
) -> bool {
    if !marey::is_on() {
        return false;
    }
    let devices = Devices {
        number,
        current,
        has_context,
        current_stream,
        is_current_capturing,
        is_capturing: new_stream.getattr(py, "is_capturing").ok(),
        new_stream,
        used: AtomicU64::new(0),
        is_chosen: AtomicBool::new(is_chosen),
        streams: Kept::default(),
    };
    drop(WATCHED.replace(Some(Arc::new(devices))));
    number > 1
}

/// The devices, while sections are watched.
pub(crate) fn watched() -> Option<Arc<Devices>> {
    WATCHED.lock().clone()
}

/// The recording ends.
pub(crate) fn forget() {
    drop(WATCHED.take());
}

/// In the child of a fork nothing of torch is freed.
pub(crate) fn forget_in_child() {
    std::mem::forget(WATCHED.take());
    captures::forget_in_child();
}

impl Devices {
    /// The stream on which work runs now, or why nothing may be recorded there. On one device that costs two calls of torch.
    pub(crate) fn stream(&self, py: Python<'_>) -> Result<Stream, Hindrance> {
        if captures::is_any(py) {
            return Err(NotMeasured::Capture.into());
        }
        let said = said();
        let device = match said {
            Some(place) => place.device(),
            None => self.where_nobody_says(py)?,
        };
        if !self.is_used(py, device)? {
            return Err(NotMeasured::UnusedDevice.into());
        }
        if self.is_current_capturing(py)? {
            return Err(NotMeasured::Capture.into());
        }
        let told = match said {
            Some(Place::Stream(told)) => told,
            _ => self.current_stream(py, device)?,
        };
        let stream = self.object(py, told)?;
        // That of another device, or no current one.
        if said.is_some() && self.is_captured(py, &stream)? {
            return Err(NotMeasured::Capture.into());
        }
        Ok(stream)
    }

    /// This thread captures a graph, or torch began to capture one: no event may be asked.
    pub(crate) fn is_capturing(&self, py: Python<'_>) -> bool {
        // With an error the context is broken, and so would be what events say.
        captures::is_any(py) || self.is_current_capturing(py).unwrap_or(true)
    }

    /// The number of the device on which work runs now, the current one where that is not known; `None` while it is not in use.
    pub(crate) fn of_work(&self, py: Python<'_>) -> PyResult<Option<u32>> {
        let found = match said() {
            Some(place) => Ok(place.device()),
            None => self.where_nobody_says(py),
        };
        let device = match found {
            Ok(device) => device,
            Err(Hindrance::Error(error)) => return Err(error),
            Err(_) => self.current(py)?,
        };
        Ok(self.is_used(py, device)?.then_some(device))
    }

    /// Devices that have a context, lowest first.
    pub(crate) fn in_use(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let mut found = Vec::new();
        for device in 0..self.number {
            if self.is_used(py, device)? {
                found.push(device);
            }
        }
        Ok(found)
    }

    /// Torch has one of this number.
    pub(crate) fn has(&self, device: u32) -> bool {
        device < self.number
    }

    fn where_nobody_says(&self, py: Python<'_>) -> Result<u32, Hindrance> {
        if self.number == 1 {
            return Ok(0);
        }
        let current = self.current(py)?;
        if current != 0 {
            self.is_chosen.store(true, Relaxed);
        }
        if self.is_chosen.load(Relaxed) {
            return Ok(current);
        }
        let mut only = None;
        for device in 0..self.number {
            if self.is_used(py, device)? && only.replace(device).is_some() {
                return Err(NotMeasured::UnknownDevice.into());
            }
        }
        Ok(only.ok_or(NotMeasured::UnusedDevice)?)
    }

    /// The thread's current one.
    pub(crate) fn current(&self, py: Python<'_>) -> PyResult<u32> {
        callback::call(self.current.bind(py), ())?.extract()
    }

    /// Whether a device has a context, which it keeps.
    fn is_used(&self, py: Python<'_>, device: u32) -> PyResult<bool> {
        let bit = 1_u64.checked_shl(device).unwrap_or(0);
        let Some(has_context) = &self.has_context else {
            return Ok(true);
        };
        if self.used.load(Relaxed) & bit != 0 {
            return Ok(true);
        }
        let is_used = callback::is_true(&callback::call(has_context.bind(py), (device,))?)?;
        if is_used {
            self.used.fetch_or(bit, Relaxed);
        }
        Ok(is_used)
    }

    fn is_current_capturing(&self, py: Python<'_>) -> PyResult<bool> {
        callback::is_true(&callback::call(self.is_current_capturing.bind(py), ())?)
    }

    fn is_captured(&self, py: Python<'_>, stream: &Stream) -> PyResult<bool> {
        match &self.is_capturing {
            Some(ask) => callback::is_true(&callback::call(ask.bind(py), (&*stream.object,))?),
            None => Ok(false),
        }
    }

    /// The thread's current stream on a device.
    fn current_stream(&self, py: Python<'_>, device: u32) -> PyResult<StreamId> {
        let told = callback::call(self.current_stream.bind(py), (device,))?;
        let (id, device, kind) = told.extract()?;
        Ok(StreamId { id, device, kind })
    }

    fn object(&self, py: Python<'_>, told: StreamId) -> PyResult<Stream> {
        let key = (told.device, told.id.cast_unsigned());
        if let Some(known) = self.streams.lock().get(&key) {
            let object = known.clone();
            return Ok(Stream { key, object });
        }
        let keywords = PyDict::new(py);
        keywords.set_item("stream_id", told.id)?;
        keywords.set_item("device_index", told.device)?;
        keywords.set_item("device_type", told.kind)?;
        let object = callback::call_with(self.new_stream.bind(py), (), Some(&keywords))?;
        let object = Arc::new(object.unbind());
        let mut streams = self.streams.lock();
        if streams.len() < MAX_STREAMS {
            streams.entry(key).or_insert_with(|| object.clone());
        }
        Ok(Stream { key, object })
    }
}

thread_local! {
    static SAID: Cell<Option<Place>> = const { Cell::new(None) };
}

/// A device or a stream, which the work of a thread does not leave.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The thread's current stream on a device.
    Device(u32),
    /// A stream that need not be the current one.
    Stream(StreamId),
}

/// A stream, as torch tells of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamId {
    pub(crate) id: i64,
    pub(crate) device: u32,
    /// Which kind of device that is.
    pub(crate) kind: i64,
}

impl Place {
    pub(crate) fn device(self) -> u32 {
        match self {
            Self::Device(device) => device,
            Self::Stream(stream) => stream.device,
        }
    }
}

/// Where this thread's work runs; `None` where nobody says.
pub(crate) fn said() -> Option<Place> {
    SAID.get()
}

/// Says where this thread's work runs from now on; what was said before.
pub(crate) fn say(place: Option<Place>) -> Option<Place> {
    SAID.replace(place)
}
