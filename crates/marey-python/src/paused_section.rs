//! The section of a generator: open while the generator runs, closed while its consumer does, recorded once at the end.

use marey::{Ending, NameId, NodeKind, Slot};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

use crate::callback;
use crate::guarded::guarded;
use crate::kept::Kept;
use crate::names::section_id_of;
use crate::open_section::{OpenSection, SectionMeta};
use crate::slots;

/// One run of a generator. Each `with` is one resume; `finish` records the whole: from the first resume, as long as all resumes
/// together took.
#[pyclass(frozen, module = "marey._core", name = "PausedSection")]
pub(crate) struct PausedSection {
    name: Option<NameId>,
    meta: SectionMeta,
    is_sync: bool,
    run: Kept<Resumes>,
}

#[derive(Default)]
struct Resumes {
    /// Taken with the first resume, given back at the end. While the generator is suspended its section lies there, so that a crash
    /// names it.
    slot: Option<Slot>,
    open: Option<OpenSection>,
    /// Node, flow and start of the first resume, and the ticks of all that ended.
    first: Option<(u32, u16, u64)>,
    ticks: u64,
    n: u64,
}

#[pymethods]
impl PausedSection {
    #[new]
    fn new(name: &Bound<'_, PyAny>) -> Self {
        Self::with(section_id_of(name), SectionMeta::default(), false)
    }

    fn __enter__(&self, py: Python<'_>) {
        if self.is_sync {
            crate::sync::synchronize(py);
        }
        let (Some(lane), Some(name)) = (crate::thread::lane(py), self.name) else {
            return;
        };
        let parked = self.run.lock().slot;
        let Some(slot) = parked.or_else(|| slots::take(py)) else {
            lane.recorder().count_unrecorded();
            return;
        };
        if parked.is_some() {
            lane.unpark(slot);
        }
        let (open, _, _) = OpenSection::begin_unwatched(py, lane, slot, name, NodeKind::Section);
        let mut run = self.run.lock();
        run.slot = Some(slot);
        run.open = Some(open);
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        if self.is_sync {
            crate::sync::synchronize(py);
        }
        let (opened, slot) = {
            let mut run = self.run.lock();
            (run.open.take(), run.slot)
        };
        let (Some(open), Some(slot)) = (opened, slot) else {
            return;
        };
        let end = marey::ticks();
        guarded(|| {
            let lane = crate::thread::lane_for_end(py)?;
            let (start, node, flow) = open.pause(py, lane, slot)?;
            let mut run = self.run.lock();
            let (node, _, first_start) = *run.first.get_or_insert((node, flow, start));
            run.ticks += end.saturating_sub(start);
            run.n += 1;
            lane.park(slot, node, first_start);
            Some(())
        });
    }

    /// Records the section. What the generator returned is none of it.
    #[pyo3(signature = (is_failed, _result=None))]
    fn finish(&self, py: Python<'_>, is_failed: bool, _result: Option<&Bound<'_, PyAny>>) {
        let run = self.run.take();
        let lane = crate::thread::lane_for_end(py);
        if let Some(slot) = run.slot {
            if let Some(lane) = lane {
                lane.unpark(slot);
            }
            slots::give(py, slot);
        }
        let (Some((node, flow, start)), Some(lane)) = (run.first, lane) else {
            return;
        };
        let ending = Ending { flow, is_failed, has_pauses: run.n > 1 };
        self.meta.clone().note(lane, node, start);
        lane.complete(node, start, start + run.ticks, ending);
    }
}

impl PausedSection {
    /// One run of a generator, of which something is noted.
    pub(crate) fn with(name: Option<NameId>, meta: SectionMeta, is_sync: bool) -> Self {
        Self { name, meta, is_sync, run: Kept::default() }
    }
}

/// What a section makes of the function that it decorates: each call enters it, but that of a generator is a paused one. Without a name
/// it is the function itself.
pub(crate) fn decorated<'py>(
    section: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
    name: Option<NameId>,
    meta: SectionMeta,
    is_sync: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let given = function.extract::<(Bound<'py, PyAny>,)>();
    let (function,) =
        given.map_err(|_| PyTypeError::new_err("a section decorates one function"))?;
    let Some(name) = name else {
        return Ok(function);
    };
    let py = section.py();
    let paused = move |_: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        PausedSection::with(Some(name), meta.clone(), is_sync)
    };
    let paused = PyCFunction::new_closure(py, None, None, paused)?;
    let module = callback::import(py, "marey.functions")?;
    callback::method(&module, "in_section", (function, section, paused))
}
