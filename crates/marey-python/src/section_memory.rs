//! What torch's allocator held during sections, without changing the peaks that others see.
//!
//! There is one set of peaks in torch, and a reset is for everybody ([`marey_gpu::PeakLedger`] draws it). So torch's functions that
//! read and reset it are replaced by those of [`PeakView`] while sections are watched: who reads sees what they would see
//! without Marey, who resets does so for themselves only. A section takes two readings and a reset, together some 50 us a device, so
//! [`ReadingAllowance`] says which calls are watched; those that are not are in the peak of what lies around them. The figures are the
//! process's: what other threads allocate meanwhile counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use marey::{DeviceMemory, Lane, NameId, Note, SectionKey};
use marey_gpu::{Allowance, PeakLedger, ReadingAllowance};
use pyo3::prelude::*;

mod peak_view;

pub(crate) use peak_view::PeakView;

use peak_view::Figures;

use crate::device_watch::{self, drop_error, unavailable};
use crate::flow;

const WHAT: &str = "peak memory of sections";
/// A level that is never watched; sections further down are not told from it.
const TOO_DEEP: usize = 64;
const MAX_OPEN: usize = 64;
/// Looks at all devices at the begin of outermost sections, at once and a second; in between only those in use are read.
const LOOKS: u64 = 10;

static IS_ON: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State::new());
/// When the first call was looked at; 0 before.
static FIRST_TICKS: AtomicU64 = AtomicU64::new(0);
static VIEW: Mutex<Option<Py<PeakView>>> = Mutex::new(None);

pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

#[derive(Debug)]
struct State {
    epoch: u32,
    /// Number of each section that is open.
    open: Vec<u64>,
    n_begun: u64,
    devices: BTreeMap<u32, PeakLedger>,
    /// Devices that held something when they were read.
    in_use: BTreeSet<u32>,
    /// Places of the peaks in the ledgers, by their names in torch.
    places: BTreeMap<String, usize>,
    allowance: ReadingAllowance,
    looks: Allowance,
}

/// A call that is to be watched.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// Which call path it is of.
    path: u64,
    /// 1 for an outermost section.
    level: usize,
    now_ns: u64,
}

/// A call that is watched.
#[derive(Clone, Copy, Debug)]
struct Admitted {
    epoch: u32,
    number: u64,
    /// All devices are looked at.
    is_look: bool,
}

/// What the begin of a section read.
#[derive(Debug)]
pub(crate) struct Begun {
    epoch: u32,
    number: u64,
    before: Vec<(u32, Figures)>,
}

/// Begins to measure; the functions of `view` take the place of torch's. False when that was begun before or recording is off.
#[pyfunction]
pub(crate) fn start_section_memory(view: Py<PeakView>) -> bool {
    if !marey::is_on() || IS_ON.swap(true, Relaxed) {
        return false;
    }
    let before = VIEW
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .replace(view);
    drop(before);
    device_watch::follow();
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
    let Admitted {
        epoch,
        number,
        is_look,
    } = state().admit(&call)?;
    let devices = view.devices(py, is_look);
    let mut before = Vec::new();
    for device in devices {
        match view.begin(py, device, number) {
            Ok(figures) => before.push((device, figures)),
            Err(error) => {
                switch_off(py, lane, &error);
                return None;
            }
        }
    }
    Some(Begun {
        epoch,
        number,
        before,
    })
}

/// Notes what it was, on each device.
pub(crate) fn end(py: Python<'_>, lane: &Lane, begun: Begun, section: SectionKey) {
    let Some(view) = view(py) else {
        return;
    };
    let view = view.get();
    if !state().leave(&begun) {
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
            lane.recorder()
                .note(&Note::SectionMemory { section, figures });
        }
    }
}

/// The recording ends. Torch gets its functions back at once if its own peaks say what others are to see, else with their next reset.
pub(crate) fn stop(py: Python<'_>) {
    IS_ON.store(false, Relaxed);
    let mut state = state();
    state.epoch = state.epoch.wrapping_add(1);
    state.open.clear();
    state.allowance = ReadingAllowance::new();
    state.looks = Allowance::new();
    FIRST_TICKS.store(0, Relaxed);
    for ledger in state.devices.values_mut() {
        ledger.forget_open();
    }
    drop(state);
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
    if IS_ON.swap(false, Relaxed) {
        device_watch::follow();
        unavailable(lane, WHAT, format!("switched off after an error: {why}"));
    }
}

impl State {
    const fn new() -> Self {
        Self {
            epoch: 0,
            open: Vec::new(),
            n_begun: 0,
            devices: BTreeMap::new(),
            in_use: BTreeSet::new(),
            places: BTreeMap::new(),
            allowance: ReadingAllowance::new(),
            looks: Allowance::new(),
        }
    }

    /// `None` for one that comes too soon.
    fn admit(&mut self, call: &Call) -> Option<Admitted> {
        let Call {
            path,
            level,
            now_ns,
        } = *call;
        if self.open.len() >= MAX_OPEN || !self.allowance.take(path, level, now_ns) {
            return None;
        }
        let number = self.n_begun;
        self.n_begun += 1;
        self.open.push(number);
        Some(Admitted {
            epoch: self.epoch,
            number,
            is_look: level == 1 && self.looks.take(now_ns, LOOKS, LOOKS),
        })
    }

    /// Whether it was open.
    fn leave(&mut self, begun: &Begun) -> bool {
        let at = self.open.iter().position(|open| *open == begun.number);
        if let Some(at) = at.filter(|_| self.epoch == begun.epoch) {
            self.open.swap_remove(at);
            return true;
        }
        false
    }

    /// The place of a peak; those of all allocated and all reserved bytes come first.
    fn place(&mut self, name: &str) -> usize {
        if self.places.is_empty() {
            self.places.insert("allocated_bytes.all.".into(), 0);
            self.places.insert("reserved_bytes.all.".into(), 1);
        }
        if let Some(known) = self.places.get(name) {
            return *known;
        }
        let next = self.places.len();
        self.places.insert(name.to_owned(), next);
        next
    }
}

impl Call {
    /// `None` for one that lies too deep.
    fn of(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Self> {
        let parent = flow::parent(py, lane).node();
        let level = lane.level(parent, TOO_DEEP) + 1;
        ReadingAllowance::has_level(level).then(|| Self {
            path: u64::from(parent) << 32 | u64::from(name.number()),
            level,
            now_ns: since_first_ns(lane),
        })
    }
}

/// Time since the first call of the recording that was looked at. Counted from there, because the length of a tick is known ever better.
fn since_first_ns(lane: &Lane) -> u64 {
    let now = marey::ticks();
    let first = match FIRST_TICKS.compare_exchange(0, now, Relaxed, Relaxed) {
        Ok(_) => now,
        Err(first) => first,
    };
    lane.recorder().duration_ns(now.saturating_sub(first))
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
