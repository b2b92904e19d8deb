//! torch's figures of memory, read for sections, and as others are to see them.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::state::state;
use crate::callback;
use crate::errors::drop_error;
use crate::section_mode::{Watch, is_watched_for};

/// What torch counts on one device. Bytes.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) allocated: u64,
    pub(super) reserved: u64,
    pub(super) inactive_split: Option<u64>,
    /// By place.
    pub(super) peaks: Vec<u64>,
}

/// The peaks as others see them: what stands for torch's own functions while sections are watched.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct PeakView {
    read: Py<PyAny>,
    reset_peaks: Py<PyAny>,
    read_accelerator: Option<Py<PyAny>>,
    reset_accelerator: Option<Py<PyAny>>,
    /// Puts torch's own functions back.
    undo: Py<PyAny>,
}

#[pymethods]
impl PeakView {
    #[new]
    #[pyo3(signature = (*, read, reset, read_accelerator, reset_accelerator, undo))]
    fn new(
        read: Py<PyAny>,
        reset: Py<PyAny>,
        read_accelerator: Option<Py<PyAny>>,
        reset_accelerator: Option<Py<PyAny>>,
        undo: Py<PyAny>,
    ) -> Self {
        Self { read, reset_peaks: reset, read_accelerator, reset_accelerator, undo }
    }

    /// Stands for `torch._C._cuda_memoryStats`.
    fn stats(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let stats = callback::call(self.read.bind(py), (device,))?.unbind();
        Ok(shown(py, device, stats))
    }

    /// Stands for `torch._C._cuda_resetPeakMemoryStats`.
    fn reset(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.before_reset(py, device);
        Ok(callback::call(self.reset_peaks.bind(py), (device,))?.unbind())
    }

    /// Stands for `torch._C._accelerator_getDeviceStats`.
    fn accelerator_stats(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let read = self.read_accelerator.as_ref().unwrap_or(&self.read);
        let stats = callback::call(read.bind(py), (device,))?.unbind();
        Ok(shown(py, device, stats))
    }

    /// Stands for `torch._C._accelerator_resetPeakStats`.
    fn accelerator_reset(&self, py: Python<'_>, device: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.before_reset(py, device);
        let reset = self.reset_accelerator.as_ref().unwrap_or(&self.reset_peaks);
        Ok(callback::call(reset.bind(py), (device,))?.unbind())
    }
}

impl PeakView {
    pub(super) fn begin(&self, py: Python<'_>, device: u32, number: u64) -> PyResult<Figures> {
        let figures = self.figures(py, device)?;
        {
            let mut state = state();
            let ledger = state.devices.entry(device).or_default();
            ledger.begin(number, &figures.peaks);
        }
        callback::call(self.reset_peaks.bind(py), (device,))?;
        Ok(figures)
    }

    pub(super) fn figures(&self, py: Python<'_>, device: u32) -> PyResult<Figures> {
        let stats = callback::call(self.read.bind(py), (device,))?;
        let stats = stats.cast::<PyDict>()?;
        let mut found = Vec::new();
        peaks_of(stats, &mut String::new(), &mut found)?;
        let peaks = {
            let mut state = state();
            let places: Vec<usize> = found.iter().map(|(name, _, _)| state.place(name)).collect();
            by_place(&places, &found)
        };
        let reserved = current(stats, "reserved_bytes")?.unwrap_or(0);
        if reserved > 0 {
            state().in_use.insert(device);
        }
        Ok(Figures {
            allocated: current(stats, "allocated_bytes")?.unwrap_or(0),
            reserved,
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
        if !is_watched_for(Watch::Memory) {
            self.undo_when_possible(py);
        }
    }

    pub(super) fn undo_when_possible(&self, py: Python<'_>) {
        let shows_more =
            state().devices.values().any(|ledger| ledger.shown(&[]).iter().any(|peak| *peak > 0));
        if !shows_more && let Err(error) = callback::call(self.undo.bind(py), ()) {
            drop_error(py, &error);
        }
    }
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
            places.iter().map(|at| shown.get(*at).copied().unwrap_or(0)).collect()
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
