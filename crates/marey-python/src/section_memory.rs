//! What torch's allocator held during sections, without changing the peaks that others see.
//!
//! There is one set of peaks in torch, and a reset is for everybody ([`marey_gpu::PeakLedger`] draws it). So torch's functions that
//! read and reset it are replaced by those of [`PeakView`] while sections are watched: who reads sees what they would see
//! without Marey, who resets does so for themselves only. A reading takes some 20 us a device, so only sections that lie at most
//! three deep are watched, and no more than 50 a second. The figures are the process's: what other threads allocate meanwhile counts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use marey::{DeviceMemory, Lane, Note, SectionKey};
use marey_gpu::PeakLedger;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device_watch::{self, drop_error, unavailable};

const WHAT: &str = "peak memory of sections";
/// Deepest level of sections that are watched, in a thread.
const MAX_DEPTH: usize = 3;
const MAX_OPEN: usize = 64;
/// Sections a second that are watched, and as many at once.
const PER_SECOND: u64 = 50;
/// So often all devices are looked at; in between only those in use.
const LOOK_EVERY: u64 = 64;

static IS_ON: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<State> = Mutex::new(State::new());
static VIEW: Mutex<Option<Py<PeakView>>> = Mutex::new(None);

pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

#[derive(Debug)]
struct State {
    epoch: u32,
    /// Number and thread of each section that is open.
    open: Vec<(u64, u32)>,
    n_begun: u64,
    devices: BTreeMap<u32, PeakLedger>,
    /// Places of the peaks in the ledgers, by their names in torch.
    places: BTreeMap<String, usize>,
    allowance: Allowance,
}

/// How many more sections may be watched: grows with time.
#[derive(Debug)]
struct Allowance {
    left: u64,
    as_of_ticks: u64,
}

/// What the begin of a section read.
#[derive(Debug)]
pub(crate) struct Begun {
    epoch: u32,
    number: u64,
    before: Vec<(u32, Figures)>,
}

/// What torch counts on one device. Bytes.
#[derive(Clone, Debug)]
struct Figures {
    allocated: u64,
    reserved: u64,
    inactive_split: Option<u64>,
    /// By place.
    peaks: Vec<u64>,
}

/// The peaks as others see them: what stands for torch's own functions while sections are watched.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct PeakView {
    read: Py<PyAny>,
    reset_peaks: Py<PyAny>,
    read_accelerator: Option<Py<PyAny>>,
    reset_accelerator: Option<Py<PyAny>>,
    device_count: Py<PyAny>,
    current_device: Py<PyAny>,
    /// Puts torch's own functions back.
    undo: Py<PyAny>,
}

#[pymethods]
impl PeakView {
    #[new]
    #[pyo3(signature = (*, read, reset, read_accelerator, reset_accelerator, device_count, current_device, undo))]
    fn new(
        read: Py<PyAny>,
        reset: Py<PyAny>,
        read_accelerator: Option<Py<PyAny>>,
        reset_accelerator: Option<Py<PyAny>>,
        device_count: Py<PyAny>,
        current_device: Py<PyAny>,
        undo: Py<PyAny>,
    ) -> Self {
        Self {
            read,
            reset_peaks: reset,
            read_accelerator,
            reset_accelerator,
            device_count,
            current_device,
            undo,
        }
    }

    /// Stands for `torch._C._cuda_memoryStats`.
    fn stats(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let stats = self.read.call1(py, (device,))?;
        Ok(shown(py, device, stats))
    }

    /// Stands for `torch._C._cuda_resetPeakMemoryStats`.
    fn reset(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.before_reset(py, device);
        self.reset_peaks.call1(py, (device,))
    }

    /// Stands for `torch._C._accelerator_getDeviceStats`.
    fn accelerator_stats(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let read = self.read_accelerator.as_ref().unwrap_or(&self.read);
        let stats = read.call1(py, (device,))?;
        Ok(shown(py, device, stats))
    }

    /// Stands for `torch._C._accelerator_resetPeakStats`.
    fn accelerator_reset(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.before_reset(py, device);
        let reset = self.reset_accelerator.as_ref().unwrap_or(&self.reset_peaks);
        reset.call1(py, (device,))
    }
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
pub(crate) fn begin(py: Python<'_>, lane: &Lane) -> Option<Begun> {
    if !is_on() {
        return None;
    }
    let view = view(py)?;
    let view = view.get();
    let (epoch, number) = state().admit(lane)?;
    let devices = view.devices(py, number);
    let mut before = Vec::new();
    for device in devices {
        match view.begin(py, device, number) {
            Ok(Some(figures)) => before.push((device, figures)),
            Ok(None) => {}
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

/// What was read from torch as somebody else is to see it; as it is when that cannot be told.
fn shown(py: Python<'_>, device: &Bound<'_, PyAny>, stats: Py<PyAny>) -> Py<PyAny> {
    let show = || -> PyResult<()> {
        let device: u32 = device.extract()?;
        let stats = stats.bind(py).cast::<PyDict>()?;
        let mut found = Vec::new();
        peaks_of(stats, &mut String::new(), &mut found)?;
        let figures: Vec<u64> = {
            let mut state = state();
            let places: Vec<usize> = found.iter().map(|(name, _, _)| state.place(name)).collect();
            let peaks = by_place(&places, &found);
            let Some(ledger) = state.devices.get(&device) else {
                return Ok(());
            };
            let shown = ledger.shown(&peaks);
            places
                .iter()
                .map(|at| shown.get(*at).copied().unwrap_or(0))
                .collect()
        };
        for ((_, of, raw), figure) in found.iter().zip(figures) {
            if figure > *raw {
                of.set_item("peak", figure)?;
            }
        }
        Ok(())
    };
    if let Err(error) = show() {
        drop_error(py, &error);
    }
    stats
}

/// Something failed: it is said once, and nothing is measured from here on. Peaks stay as others are to see them.
fn switch_off(py: Python<'_>, lane: &Lane, error: &PyErr) {
    let why = drop_error(py, error);
    if IS_ON.swap(false, Relaxed) {
        device_watch::follow();
        unavailable(lane, WHAT, format!("switched off after an error: {why}"));
    }
}

impl PeakView {
    /// Devices to read: the current one and those in use, and now and then all.
    fn devices(&self, py: Python<'_>, number: u64) -> Vec<u32> {
        let number_of = |function: &Py<PyAny>| function.call0(py)?.extract::<u32>(py);
        let mut devices: Vec<u32> = state().devices.keys().copied().collect();
        if number.is_multiple_of(LOOK_EVERY) {
            devices.extend(0..number_of(&self.device_count).unwrap_or(0).min(64));
        } else {
            devices.extend(number_of(&self.current_device));
        }
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// `None` for a device that torch holds nothing of.
    fn begin(&self, py: Python<'_>, device: u32, number: u64) -> PyResult<Option<Figures>> {
        let figures = self.figures(py, device)?;
        {
            let mut state = state();
            if figures.reserved == 0 && !state.devices.contains_key(&device) && number > 0 {
                return Ok(None);
            }
            let ledger = state.devices.entry(device).or_default();
            ledger.begin(number, &figures.peaks);
        }
        self.reset_peaks.call1(py, (device,))?;
        Ok(Some(figures))
    }

    fn figures(&self, py: Python<'_>, device: u32) -> PyResult<Figures> {
        let stats = self.read.call1(py, (device,))?;
        let stats = stats.bind(py).cast::<PyDict>()?;
        let mut found = Vec::new();
        peaks_of(stats, &mut String::new(), &mut found)?;
        let peaks = {
            let mut state = state();
            let places: Vec<usize> = found.iter().map(|(name, _, _)| state.place(name)).collect();
            by_place(&places, &found)
        };
        Ok(Figures {
            allocated: current(stats, "allocated_bytes")?.unwrap_or(0),
            reserved: current(stats, "reserved_bytes")?.unwrap_or(0),
            inactive_split: current(stats, "inactive_split_bytes")?,
            peaks,
        })
    }

    /// What is to happen before somebody else's reset. Never fails.
    fn before_reset(&self, py: Python<'_>, device: &Bound<'_, PyAny>) {
        let fold = || -> PyResult<()> {
            let device: u32 = device.extract()?;
            if !state().devices.contains_key(&device) {
                return Ok(());
            }
            let figures = self.figures(py, device)?;
            if let Some(ledger) = state().devices.get_mut(&device) {
                ledger.reset_by_others(&figures.peaks);
            }
            Ok(())
        };
        if let Err(error) = fold() {
            drop_error(py, &error);
        }
        if !is_on() {
            self.undo_when_possible(py);
        }
    }

    fn undo_when_possible(&self, py: Python<'_>) {
        let shows_more = state()
            .devices
            .values()
            .any(|ledger| ledger.shown(&[]).iter().any(|peak| *peak > 0));
        if !shows_more && let Err(error) = self.undo.call0(py) {
            drop_error(py, &error);
        }
    }
}

impl State {
    const fn new() -> Self {
        Self {
            epoch: 0,
            open: Vec::new(),
            n_begun: 0,
            devices: BTreeMap::new(),
            places: BTreeMap::new(),
            allowance: Allowance {
                left: PER_SECOND,
                as_of_ticks: 0,
            },
        }
    }

    /// Epoch and number of a section that is watched; `None` for one that lies too deep, or comes too soon.
    fn admit(&mut self, lane: &Lane) -> Option<(u32, u64)> {
        let thread = lane.thread_number();
        let depth = self.open.iter().filter(|(_, of)| *of == thread).count();
        if depth >= MAX_DEPTH || self.open.len() >= MAX_OPEN || !self.allowance.take(lane) {
            return None;
        }
        let number = self.n_begun;
        self.n_begun += 1;
        self.open.push((number, thread));
        Some((self.epoch, number))
    }

    /// Whether it was open.
    fn leave(&mut self, begun: &Begun) -> bool {
        let at = self.open.iter().position(|(open, _)| *open == begun.number);
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

impl Allowance {
    fn take(&mut self, lane: &Lane) -> bool {
        let now = marey::ticks();
        let passed_ns = lane
            .recorder()
            .duration_ns(now.saturating_sub(self.as_of_ticks));
        let more = passed_ns.saturating_mul(PER_SECOND) / 1_000_000_000;
        if more > 0 {
            self.left = self.left.saturating_add(more).min(PER_SECOND);
            self.as_of_ticks = now;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        true
    }
}

/// Everything in torch's figures that has a peak: its name, the dict that it is in, and the peak.
fn peaks_of<'py>(
    stats: &Bound<'py, PyDict>,
    name: &mut String,
    found: &mut Vec<(String, Bound<'py, PyDict>, u64)>,
) -> PyResult<()> {
    for (key, value) in stats.iter() {
        let key: String = key.extract()?;
        if let Ok(within) = value.cast::<PyDict>() {
            let length = name.len();
            name.push_str(&key);
            name.push('.');
            peaks_of(within, name, found)?;
            name.truncate(length);
        } else if key == "peak" {
            // Some figures can be negative for a moment.
            let peak = value.extract::<i64>()?.max(0).cast_unsigned();
            found.push((name.clone(), stats.clone(), peak));
        }
    }
    Ok(())
}

fn by_place(places: &[usize], found: &[(String, Bound<'_, PyDict>, u64)]) -> Vec<u64> {
    let n = places.iter().max().map_or(0, |most| most + 1);
    let mut peaks = vec![0; n];
    for (at, (_, _, peak)) in places.iter().zip(found) {
        peaks[*at] = *peak;
    }
    peaks
}

/// What is held now of one kind, in all pools; `None` where torch does not count that.
fn current(stats: &Bound<'_, PyDict>, kind: &str) -> PyResult<Option<u64>> {
    let Some(of_kind) = stats.get_item(kind)? else {
        return Ok(None);
    };
    let all = of_kind.get_item("all")?.get_item("current")?;
    Ok(Some(all.extract::<i64>()?.max(0).cast_unsigned()))
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
