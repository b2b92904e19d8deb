//! Where somebody says that the work of a thread runs.

use std::cell::Cell;

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
