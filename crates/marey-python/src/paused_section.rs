//! The section of a generator: open while the generator runs, closed while its consumer does, recorded once at the end.

use marey::{Ending, NodeKind};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::names::id_of;
use crate::open_section::OpenSection;
use crate::slots;

/// One run of a generator. Each `with` is one resume; `finish` records the whole: from the first resume, as long as all resumes
/// together took.
#[pyclass(module = "marey._core", name = "PausedSection")]
pub(crate) struct PausedSection {
    name: Option<marey::NameId>,
    open: Option<(marey::Slot, OpenSection)>,
    /// Node, flow and start of the first resume, and the ticks of all that ended.
    first: Option<(u32, u16, u64)>,
    ticks: u64,
    n_resumes: u64,
}

#[pymethods]
impl PausedSection {
    #[new]
    fn new(name: &Bound<'_, PyAny>) -> Self {
        Self {
            name: id_of(name),
            open: None,
            first: None,
            ticks: 0,
            n_resumes: 0,
        }
    }

    fn __enter__(&mut self, py: Python<'_>) {
        let (Some(lane), Some(name)) = (crate::thread::lane(py), self.name) else {
            return;
        };
        let Some(slot) = slots::take(py) else { return };
        let (open, _, _) = OpenSection::begin(py, lane, slot, name, NodeKind::Section);
        self.open = Some((slot, open));
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&mut self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        let Some((slot, open)) = self.open.take() else {
            return;
        };
        if let Some(lane) = crate::thread::lane(py) {
            let end = marey::ticks();
            if let Some((start, node, flow)) = open.pause(py, lane, slot) {
                self.first.get_or_insert((node, flow, start));
                self.ticks += end.saturating_sub(start);
                self.n_resumes += 1;
            }
        }
        slots::give(py, slot);
    }

    /// Records the section.
    fn finish(&mut self, py: Python<'_>, is_failed: bool) {
        let (Some((node, flow, start)), Some(lane)) = (self.first.take(), crate::thread::lane(py))
        else {
            return;
        };
        let ending = Ending {
            flow,
            is_failed,
            has_pauses: self.n_resumes > 1,
        };
        lane.complete(node, start, start + self.ticks, ending);
    }
}
