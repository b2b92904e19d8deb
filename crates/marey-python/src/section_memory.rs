//! What torch's allocator held during sections, without changing the peaks that others see.
//!
//! There is one set of peaks in torch, and a reset is for everybody ([`marey_gpu::PeakLedger`] draws it). So torch's functions that
//! read and reset it are replaced by those of [`PeakView`] while sections are watched: who reads sees what they would see
//! without Marey, who resets does so for themselves only. A section takes two readings and a reset, together some 50 us a device, so
//! [`ReadingAllowance`] says which calls are watched; those that are not are in the peak of what lies around them. The figures are the
//! process's: what other threads allocate meanwhile counts.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use marey::{DeviceMemory, Lane, NameId, Note, SectionKey};
use pyo3::prelude::*;

mod peak_view;
mod state;

pub(crate) use peak_view::PeakView;

use peak_view::Figures;
use state::{Admitted, Call, State, state};

use crate::devices;
use crate::errors::drop_error;
use crate::section_mode::{self, Watch};

const WHAT: &str = "peak memory of sections";
static VIEW: Mutex<Option<Py<PeakView>>> = Mutex::new(None);

fn is_on() -> bool {
    section_mode::is_watched_for(Watch::Memory)
}

/// What the beginning of a section read.
#[derive(Debug)]
pub(crate) struct Begun {
    epoch: u32,
    number: u64,
    before: Vec<(u32, Figures)>,
}

/// Begins to measure; the functions of `view` take the place of torch's. False when that was begun before or recording is off.
#[pyfunction]
pub(crate) fn start_section_memory(view: Py<PeakView>) -> bool {
    if !marey::is_on() || section_mode::watch(Watch::Memory, true) {
        return false;
    }
    let before = VIEW.lock().unwrap_or_else(PoisonError::into_inner).replace(view);
    drop(before);
    true
}

fn view(py: Python<'_>) -> Option<Py<PeakView>> {
    let view = VIEW.lock().unwrap_or_else(PoisonError::into_inner);
    view.as_ref().map(|view| view.clone_ref(py))
}

/// Reads what is held, and lets the peaks count from here.
pub(crate) fn begin(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Begun> {
    if !is_on() {
        return None;
    }
    let call = Call::of(py, lane, name)?;
    let view = view(py)?;
    let view = view.get();
    let Admitted { epoch, number, is_look } = state().admit(&call)?;
    let mut before = Vec::new();
    for device in devices_to_read(py, is_look) {
        match view.begin(py, device, number) {
            Ok(figures) => before.push((device, figures)),
            Err(error) => {
                switch_off(py, lane, &error);
                return None;
            }
        }
    }
    Some(Begun { epoch, number, before })
}

/// The device of the work and those that held something; in a look all that have a context. Some allocators would open that of
/// another one to answer. Where torch cannot tell, those that held something.
fn devices_to_read(py: Python<'_>, is_look: bool) -> BTreeSet<u32> {
    let mut found = state().in_use.clone();
    let Some(devices) = devices::watched() else {
        return found;
    };
    if is_look {
        found.extend(devices.in_use(py).into_iter().flatten());
    } else {
        found.extend(devices.of_work(py).into_iter().flatten());
    }
    found
}

/// Notes what it was, on each device.
pub(crate) fn end(py: Python<'_>, lane: &Lane, begun: Begun, section: SectionKey) {
    let Some(view) = view(py) else {
        return;
    };
    let view = view.get();
    if !state().leave(begun.epoch, begun.number) {
        return;
    }
    for (device, before) in begun.before {
        let after = match view.figures(py, device) {
            Ok(after) => after,
            Err(error) => {
                switch_off(py, lane, &error);
                return;
            }
        };
        let ledger_end = |state: &mut State| {
            let ledger = state.devices.get_mut(&device)?;
            ledger.end(begun.number, &after.peaks)
        };
        let Some(peaks) = ledger_end(&mut state()) else {
            continue;
        };
        let peak = |at: usize, least: u64| peaks.get(at).copied().unwrap_or(0).max(least);
        let figures = DeviceMemory {
            device,
            allocated_before: before.allocated,
            allocated_after: after.allocated,
            allocated_peak: peak(0, before.allocated.max(after.allocated)),
            reserved_before: before.reserved,
            reserved_after: after.reserved,
            reserved_peak: peak(1, before.reserved.max(after.reserved)),
            inactive_split: after.inactive_split,
        };
        if figures.allocated_peak > 0 || figures.reserved_peak > 0 {
            lane.recorder().note(&Note::SectionMemory { section, figures });
        }
    }
}

/// The recording ends. Torch gets its functions back at once if its own peaks say what others are to see, else with their next reset.
pub(crate) fn stop(py: Python<'_>) {
    section_mode::watch(Watch::Memory, false);
    state().end();
    if let Some(view) = view(py) {
        view.get().undo_when_possible(py);
    }
}

/// A forked child cannot use the parent's GPU. What it sees of the peaks stays.
pub(crate) fn forget(py: Python<'_>) {
    stop(py);
}

/// Something failed: it is said once, and nothing is measured from here on. Peaks stay as others are to see them.
fn switch_off(py: Python<'_>, lane: &Lane, error: &PyErr) {
    let why = drop_error(py, error);
    if section_mode::watch(Watch::Memory, false) {
        let (what, why) = (WHAT.to_owned(), format!("switched off after an error: {why}"));
        lane.recorder().note(&Note::Unavailable { what, why });
    }
}
