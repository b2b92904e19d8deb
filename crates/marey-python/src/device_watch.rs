//! What is watched of a section besides its times: what the GPU did for it, and what torch's allocator held meanwhile.
//!
//! ```text
//!          memory · event · |------ section ------| · event · memory
//! ```
//!
//! Both lie around the section, so its own time stays what it is; what watching costs is the parent's. Off until torch has CUDA
//! initialised; until then a section costs what it costs without ([`is_on`] is looked at where a section is opened, and the
//! fast objects do not even do that: [`crate::profile_section`] hands out others while something is watched).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use marey::{Lane, Note, SectionKey};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::{gpu_times, section_memory};

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Python has been told to begin as soon as there is something to watch.
static IS_ARMED: AtomicBool = AtomicBool::new(false);
static N_LOOKS: AtomicU32 = AtomicU32::new(0);

/// First looks for torch that are all made; later ones are rare.
const FIRST_LOOKS: u32 = 1024;
const LOOK_EVERY: u32 = 64;

/// Something is watched.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Follows what is watched.
pub(crate) fn follow() {
    IS_ON.store(gpu_times::is_on() || section_memory::is_on(), Relaxed);
    crate::profile_section::follow_watch();
}

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
        let modules = py.import("sys")?.getattr("modules")?;
        if !modules.contains("torch")? {
            return Ok(false);
        }
        // Before the call: what it imports may open sections, too.
        IS_ARMED.store(true, Relaxed);
        let begin = py.import("marey.gpu_times")?.getattr("watch")?;
        begin.call0()?.is_truthy()
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
}

impl Watched {
    /// Before the section begins; `None` when nothing is watched of it.
    #[cold]
    pub(crate) fn begin(py: Python<'_>, lane: &Lane) -> Option<Self> {
        let memory = section_memory::begin(py, lane);
        let gpu = gpu_times::begin(py, lane);
        (gpu.is_some() || memory.is_some()).then_some(Self { gpu, memory })
    }

    /// After the section has ended.
    #[cold]
    pub(crate) fn end(self, py: Python<'_>, lane: &Lane, node: u32, start_ticks: u64) {
        let section = SectionKey {
            thread: lane.thread_number(),
            node,
            start_ticks,
        };
        if let Some(gpu) = self.gpu {
            gpu_times::end(py, lane, gpu, section);
        }
        if let Some(memory) = self.memory {
            section_memory::end(py, lane, memory, section);
        }
    }
}

/// Reads what is done by now; waits for nothing. For reports in the middle of a recording.
#[pyfunction]
pub(crate) fn read_gpu_times(py: Python<'_>) {
    if let Some(lane) = crate::thread::lane_for_end(py) {
        gpu_times::read_all(py, lane);
    }
}

/// The recording ends.
pub(crate) fn stop(py: Python<'_>) {
    if let Some(lane) = is_on().then(|| crate::thread::lane_for_end(py)).flatten() {
        gpu_times::stop(py, lane);
    }
    section_memory::stop(py);
    look_again(py);
}

/// In the child of a fork nothing of the parent's GPU can be used, not even given back.
#[pyfunction]
pub(crate) fn forget_device_watch(py: Python<'_>) {
    gpu_times::forget();
    section_memory::forget(py);
    look_again(py);
}

/// From the next section on.
fn look_again(py: Python<'_>) {
    IS_ARMED.store(false, Relaxed);
    N_LOOKS.store(0, Relaxed);
    crate::section_pool::forget_names(py);
    follow();
}

/// Notes why something is not measured.
pub(crate) fn unavailable(lane: &Lane, what: &str, why: String) {
    let what = what.to_owned();
    lane.recorder().note(&Note::Unavailable { what, why });
}

/// An error as one line. What is no error but meant for the program (Ctrl-C, which Python delivers wherever it can) is
/// handed back to it.
pub(crate) fn drop_error(py: Python<'_>, error: &PyErr) -> String {
    let text = error.to_string();
    if !error.is_instance_of::<PyException>(py) {
        // Last: whatever asks Python for anything after this would meet the interrupt here.
        py.import("_thread")
            .and_then(|thread| thread.call_method0("interrupt_main"))
            .ok();
    }
    text.lines().next().unwrap_or_default().to_owned()
}
