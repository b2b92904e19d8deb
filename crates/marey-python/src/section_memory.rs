//! What torch's allocator held during sections, by what it says of itself at both ends. Nothing of torch's is changed or reset.
//!
//! Torch counts one set of peaks a device, from the program's last reset. Where the peak rose while a section was open, that is
//! the section's; otherwise the section's own is between what was held at the ends and torch's:
//!
//! ```text
//! held       2    9    3    5    3
//! torch's    2    9    9    9    9
//! load       |---------|            9
//! step                 |---------|  at least 3, and at most 9
//! ```
//!
//! After a reset of the program's, which is seen where any of torch's peaks is lower than when it was read last, nothing is known
//! of the time before it. A section takes two readings, together some 50 us a device, so [`ReadingAllowance`] says which calls
//! are watched; those that are not are in the peak of what lies around them. The figures are the process's: what other threads
//! allocate meanwhile counts.

use std::collections::{BTreeMap, BTreeSet};

use marey::{Allowance, DeviceMemory, Lane, NameId, Note, SectionKey};
use marey_gpu::ReadingAllowance;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::drop_error;
use crate::kept::Kept;
use crate::section_mode::{self, Watch};
use crate::{callback, devices, flow};

const WHAT: &str = "peak memory of sections";
/// A level that is never watched; sections further down are not distinguished from it.
const TOO_DEEP: usize = 64;
/// Looks at all devices at the beginning of outermost sections, at once and a second; in between only those in use are read.
const LOOKS: u64 = 10;

static STATE: Kept<State> = Kept::new(State::new());
/// `torch._C._cuda_memoryStats`.
static READ: Kept<Option<Py<PyAny>>> = Kept::new(None);

/// What is known of devices and of calls that are watched.
struct State {
    /// Grows with each end of a recording: what began before is not ended after.
    epoch: u32,
    /// When the first call was looked at: the length of a tick is known ever better, and counts from there.
    first_ticks: Option<u64>,
    /// Devices that held something when they were read.
    in_use: BTreeSet<u32>,
    /// All of torch's peaks by device as they were last, and how often they fell.
    peaks: BTreeMap<u32, (Vec<u64>, u64)>,
    allowance: ReadingAllowance,
    looks: Allowance,
}

/// What torch says of one device.
#[derive(Debug)]
struct Figures {
    allocated: Level,
    reserved: Level,
    inactive_split: Option<u64>,
    /// Resets that were seen so far.
    n_resets: u64,
}

/// Bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    now: u64,
    peak: u64,
}

/// What the beginning of a section read.
#[derive(Debug)]
pub(crate) struct Begun {
    epoch: u32,
    before: Vec<(u32, Figures)>,
}

/// Begins to measure, with this function of `torch._C`.
#[pyfunction]
pub(crate) fn start_section_memory(read: Py<PyAny>) {
    if marey::is_on() && !section_mode::watch(Watch::Memory, true) {
        drop(READ.replace(Some(read)));
    }
}

/// Reads what is held.
pub(crate) fn begin(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Begun> {
    if !section_mode::is_watched_for(Watch::Memory) {
        return None;
    }
    let (epoch, is_look) = admitted(py, lane, name)?;
    let devices = devices_to_read(py, is_look).into_iter();
    let before: PyResult<_> = devices.map(|device| Ok((device, read(py, device)?))).collect();
    let before = before.inspect_err(|error| switch_off(py, lane, error)).ok()?;
    Some(Begun { epoch, before })
}

/// Notes what it was, on each device.
pub(crate) fn end(py: Python<'_>, lane: &Lane, begun: Begun, section: SectionKey) {
    if STATE.lock().epoch != begun.epoch || !section_mode::is_watched_for(Watch::Memory) {
        return;
    }
    for (device, before) in begun.before {
        let after = match read(py, device) {
            Ok(after) => after,
            Err(error) => return switch_off(py, lane, &error),
        };
        let has_reset = before.n_resets != after.n_resets;
        let most = |before, after| highest(before, after, has_reset);
        let (allocated_peak, allocated_peak_error) = most(before.allocated, after.allocated);
        let (reserved_peak, reserved_peak_error) = most(before.reserved, after.reserved);
        let figures = DeviceMemory {
            device,
            allocated_before: before.allocated.now,
            allocated_after: after.allocated.now,
            allocated_peak,
            allocated_peak_error,
            reserved_before: before.reserved.now,
            reserved_after: after.reserved.now,
            reserved_peak,
            reserved_peak_error,
            inactive_split: after.inactive_split,
        };
        if allocated_peak > 0 || reserved_peak > 0 {
            lane.recorder().note(&Note::SectionMemory(section, figures));
        }
    }
}

/// What was held at least between two readings, and by how much more it may have been.
fn highest(before: Level, after: Level, has_reset: bool) -> (u64, u64) {
    let held = before.now.max(after.now);
    if has_reset {
        return (held.max(after.peak), u64::MAX);
    }
    let known = if after.peak > before.peak { held.max(after.peak) } else { held };
    (known, after.peak.saturating_sub(known))
}

/// The recording ends.
pub(crate) fn stop() {
    section_mode::watch(Watch::Memory, false);
    let next = State { epoch: STATE.lock().epoch.wrapping_add(1), ..State::new() };
    STATE.replace(next);
    drop(READ.take());
}

/// In the child of a fork nothing of torch is freed.
pub(crate) fn forget() {
    std::mem::forget(READ.take());
    stop();
}

/// The epoch, and whether all devices are to be looked at; `None` for a call that lies too deep, or comes too soon.
fn admitted(py: Python<'_>, lane: &Lane, name: NameId) -> Option<(u32, bool)> {
    let parent = flow::parent(py, lane).node();
    let level = lane.level(parent, TOO_DEEP) + 1;
    if !ReadingAllowance::has_level(level) {
        return None;
    }
    let path = u64::from(parent) << 32 | u64::from(name.number());
    let now = marey::ticks();
    let mut state = STATE.lock();
    let first = *state.first_ticks.get_or_insert(now);
    let now_ns = lane.recorder().duration_ns(now.saturating_sub(first));
    let is_admitted = state.allowance.take(path, level, now_ns);
    is_admitted.then(|| {
        let is_look = level == 1 && state.looks.take(now_ns, (LOOKS, LOOKS));
        (state.epoch, is_look)
    })
}

/// The device of the work and those that held something; in a look all that have a context. Some allocators would open that of
/// another one to answer. Where torch cannot tell, those that held something.
fn devices_to_read(py: Python<'_>, is_look: bool) -> BTreeSet<u32> {
    let mut found = STATE.lock().in_use.clone();
    if let Some(devices) = devices::watched() {
        if is_look {
            found.extend(devices.in_use(py).into_iter().flatten());
        } else {
            found.extend(devices.of_work(py).into_iter().flatten());
        }
    }
    found
}

/// Asks torch.
fn read(py: Python<'_>, device: u32) -> PyResult<Figures> {
    let function = READ.lock().as_ref().map(|read| read.clone_ref(py));
    let function = function.unwrap_or_else(|| py.None());
    let stats = callback::call(function.bind(py), (device,))?;
    let stats = stats.cast::<PyDict>()?;
    let of_kind = |kind| stats.get_item(kind)?.map(|kind| Level::of(&kind)).transpose();
    let mut figures = Figures {
        allocated: of_kind("allocated_bytes")?.unwrap_or_default(),
        reserved: of_kind("reserved_bytes")?.unwrap_or_default(),
        inactive_split: of_kind("inactive_split_bytes")?.map(|level| level.now),
        n_resets: 0,
    };
    let mut peaks = Vec::new();
    add_peaks(stats, &mut peaks)?;
    let mut state = STATE.lock();
    if figures.reserved.now > 0 {
        state.in_use.insert(device);
    }
    let (last, n_resets) = state.peaks.entry(device).or_default();
    *n_resets += u64::from(last.iter().zip(&peaks).any(|(last, now)| now < last));
    figures.n_resets = *n_resets;
    *last = peaks;
    Ok(figures)
}

/// All peaks in torch's figures, in an order that does not change.
fn add_peaks(stats: &Bound<'_, PyDict>, peaks: &mut Vec<u64>) -> PyResult<()> {
    for (key, value) in stats.iter() {
        if let Ok(within) = value.cast::<PyDict>() {
            add_peaks(within, peaks)?;
        } else if key.cast::<PyString>().is_ok_and(|key| key == "peak") {
            peaks.push(bytes(&value)?);
        }
    }
    Ok(())
}

/// Some figures can be negative for a moment.
fn bytes(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(value.extract::<i64>()?.max(0).cast_unsigned())
}

impl Level {
    /// In all pools.
    fn of(kind: &Bound<'_, PyAny>) -> PyResult<Self> {
        let all = kind.get_item("all")?;
        Ok(Self { now: bytes(&all.get_item("current")?)?, peak: bytes(&all.get_item("peak")?)? })
    }
}

impl State {
    const fn new() -> Self {
        Self {
            epoch: 0,
            first_ticks: None,
            in_use: BTreeSet::new(),
            peaks: BTreeMap::new(),
            allowance: ReadingAllowance::new(),
            looks: Allowance::new(),
        }
    }
}

/// Something failed: it is said once, and nothing is measured from here on.
fn switch_off(py: Python<'_>, lane: &Lane, error: &PyErr) {
    let why = drop_error(py, error);
    if section_mode::watch(Watch::Memory, false) {
        let why = format!("switched off after an error: {why}");
        lane.recorder().note(&Note::unavailable(WHAT, why));
    }
}
