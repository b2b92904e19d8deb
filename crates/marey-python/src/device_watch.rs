//! What is watched of a section besides its times: what the GPU did for it, what torch's allocator held meanwhile, and whether other
//! profilers see it.
//!
//! ```text
//!          memory · event · |------ section ------| · event · memory
//! ```
//!
//! Both lie around the section, so its own time stays what it is; what watching costs is the parent's. Off until torch has CUDA
//! initialised; until then a section costs what it costs without ([`crate::section_mode`]).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use marey::{Lane, NameId, SectionKey};
use pyo3::prelude::*;

use crate::callback;
use crate::errors::drop_error;
use crate::known_names::forget_section_names;
use crate::{devices, gpu_times, section_memory, section_mode, section_ranges};

/// Python will begin as soon as there is something to watch.
static IS_ARMED: AtomicBool = AtomicBool::new(false);
static N_LOOKS: AtomicU32 = AtomicU32::new(0);

/// First looks for torch that are all made; later ones are rare.
const FIRST_LOOKS: u32 = 1024;
const LOOK_EVERY: u32 = 64;

/// A section of a new name is about to be opened: has the program imported torch meanwhile? Costs a look into `sys.modules`,
/// until it has.
#[cold]
pub(crate) fn look(py: Python<'_>) {
    let n = N_LOOKS.fetch_add(1, Relaxed);
    if IS_ARMED.load(Relaxed)
        || (n >= FIRST_LOOKS && !n.is_multiple_of(LOOK_EVERY))
        || !marey::is_on()
    {
        return;
    }
    let armed = || -> PyResult<bool> {
        let modules = callback::import(py, "sys")?.getattr("modules")?;
        if !modules.contains("torch")? {
            return Ok(false);
        }
        // Before the call: what it imports may open sections, too.
        IS_ARMED.store(true, Relaxed);
        let begin = callback::import(py, "marey.gpu_times")?.getattr("watch")?;
        callback::is_true(&callback::call(&begin, ())?)
    };
    match armed() {
        Ok(is_armed) => IS_ARMED.store(is_armed, Relaxed),
        Err(error) => {
            drop_error(py, &error);
        }
    }
}

/// What is watched of one section that is open.
#[derive(Debug)]
pub(crate) struct Watched {
    gpu: Option<gpu_times::Begun>,
    memory: Option<section_memory::Begun>,
    range: Option<Py<PyAny>>,
}

/// Before the section begins; `None` when nothing is watched of it.
#[cold]
pub(crate) fn begin(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Watched> {
    let memory = section_memory::begin(py, lane, name);
    let gpu = gpu_times::begin(py, lane);
    let range = section_ranges::begin(py, lane, name);
    if gpu.is_none() && memory.is_none() && range.is_none() {
        return None;
    }
    Some(Watched { gpu, memory, range })
}

impl Watched {
    /// After the section has ended.
    #[cold]
    pub(crate) fn end(self, py: Python<'_>, lane: &Lane, section: SectionKey) {
        if let Some(range) = self.range {
            section_ranges::end(py, range);
        }
        if let Some(gpu) = self.gpu {
            gpu_times::end(py, lane, gpu, section);
        }
        if let Some(memory) = self.memory {
            section_memory::end(py, lane, memory, section);
        }
    }
}

/// Reads what is done by now, unless this thread may not ask; waits for nothing. For reports in the middle of a recording.
#[pyfunction]
pub(crate) fn read_gpu_times(py: Python<'_>) {
    if let Some(lane) = crate::thread::lane_for_end(py) {
        gpu_times::read_all(py, lane);
    }
}

/// The recording ends.
pub(crate) fn stop(py: Python<'_>) {
    if let Some(lane) =
        section_mode::is_watched().then(|| crate::thread::lane_for_end(py)).flatten()
    {
        gpu_times::stop(py, lane);
    }
    gpu_times::put_functions_back(py);
    section_memory::stop();
    section_ranges::want(false);
    devices::forget();
    look_again(py);
}

/// In the child of a fork nothing of the parent's GPU can be used, not even given back.
#[pyfunction]
pub(crate) fn forget_device_watch(py: Python<'_>) {
    gpu_times::forget();
    section_memory::forget();
    devices::forget_in_child();
    look_again(py);
}

/// From the next section on.
fn look_again(py: Python<'_>) {
    IS_ARMED.store(false, Relaxed);
    N_LOOKS.store(0, Relaxed);
    forget_section_names(py);
}
