//! What a `MemoryTracker` read: kept here for its own tables, while the recorder gets it too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use marey::{MemoryReading, MemorySource, Note};
use marey_report::Report;
use pyo3::prelude::*;

use crate::attributes::text_of;
use crate::errors::report_error;
use crate::kept::{Kept, Log};
use crate::{session_context, state, thread};

/// The most resident memory of each tracker, by its number, up to when the kernel last began to count anew: it keeps one count for all.
static RESIDENT: Kept<BTreeMap<u64, u64>> = Kept::new(BTreeMap::new());
static N_TRACKERS: AtomicU64 = AtomicU64::new(0);

/// The most memory that was resident since a tracker's first reading.
struct ResidentPeak {
    number: u64,
}

impl ResidentPeak {
    /// `None` where the kernel's count cannot be begun anew.
    fn begin() -> Option<Self> {
        let mut resident = RESIDENT.lock();
        let peak = marey::counted_peak_bytes()?;
        if !marey::reset_peak_resident() {
            return None;
        }
        resident.values_mut().for_each(|own| *own = peak.max(*own));
        let number = N_TRACKERS.fetch_add(1, Relaxed);
        resident.insert(number, 0);
        Some(Self { number })
    }

    fn bytes(&self) -> Option<u64> {
        let resident = RESIDENT.lock();
        Some(marey::counted_peak_bytes()?.max(*resident.get(&self.number)?))
    }
}

impl Drop for ResidentPeak {
    fn drop(&mut self) {
        RESIDENT.lock().remove(&self.number);
    }
}

/// Readings of one tracker.
#[pyclass(frozen, module = "marey._core")]
#[derive(Default)]
pub(crate) struct MemoryLog(Kept<Readings>);

#[derive(Default)]
struct Readings {
    log: Log<MemoryReading>,
    peak_bytes: Option<u64>,
    /// From the first reading of the process on.
    resident: Option<ResidentPeak>,
}

#[pymethods]
impl MemoryLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Reads the process's memory under a label.
    fn read_process(&self, label: &Bound<'_, PyAny>) {
        let py = label.py();
        let label = labelled(label);
        // Before the reading, so that what a recording and a thread's ring take when they begin is not the program's.
        let _lane = state::recorder().and_then(|_| thread::lane(py));
        let peak_bytes = {
            let mut kept = self.0.lock();
            if kept.resident.is_none() {
                kept.resident = ResidentPeak::begin();
            }
            kept.resident.as_ref().and_then(ResidentPeak::bytes)
        };
        if let Some(allocated_bytes) = marey::resident_bytes() {
            // What threads have just touched is in the count late.
            let peak_bytes = peak_bytes.map(|bytes| bytes.max(allocated_bytes));
            let source = MemorySource::Process;
            let reading = MemoryReading { source, allocated_bytes, peak_bytes, ..label };
            self.keep(py, reading);
        }
    }

    /// Takes what torch's allocator said of a device under a label.
    fn take_torch_cuda(
        &self,
        label: &Bound<'_, PyAny>,
        device: u32,
        allocated_bytes: u64,
        reserved_bytes: u64,
        peak_bytes: u64,
    ) {
        let reading = MemoryReading {
            source: MemorySource::TorchCuda(device),
            allocated_bytes,
            reserved_bytes: Some(reserved_bytes),
            peak_bytes: Some(peak_bytes),
            ..labelled(label)
        };
        self.keep(label.py(), reading);
    }

    /// Forgets the readings; the capture keeps them.
    fn clear(&self) {
        self.0.take();
    }

    /// The console table and what was read, as text.
    fn summary(&self) -> String {
        let table = marey_report::memory_summary(&self.report());
        let sources: BTreeSet<String> =
            self.0.lock().log.records.iter().map(|reading| in_words(reading.source)).collect();
        if sources.is_empty() {
            return table;
        }
        let sources: Vec<String> = sources.into_iter().collect();
        format!("{table}Measured: {}\n", sources.join(", "))
    }

    /// Writes the readings as a JSON list.
    fn export(&self, path: PathBuf) -> PyResult<()> {
        let bytes = marey_report::memory_log(&self.report());
        // A pipe or a link that the user named is written to, not replaced.
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return std::fs::write(&path, bytes).map_err(|error| {
                report_error(format!("cannot write {}: {error}", path.display()))
            });
        }
        marey_folder::run_folder::replace_named(path, &bytes).map(drop).map_err(report_error)
    }

    /// Highest memory in use that any reading knows of, in GiB; None before the first.
    #[getter]
    #[expect(clippy::cast_precision_loss, reason = "shown with a few digits")]
    fn peak_gib(&self) -> Option<f64> {
        self.0.lock().peak_bytes.map(|bytes| bytes as f64 / f64::from(1 << 30))
    }

    /// The peak and what it was read from, in words.
    fn peak_line(&self) -> String {
        let kept = self.0.lock();
        let known =
            |reading: &&MemoryReading| reading.allocated_bytes.max(reading.peak_bytes.unwrap_or(0));
        let highest = kept.log.records.iter().rev().max_by_key(known);
        match (kept.peak_bytes, highest) {
            (Some(bytes), Some(reading)) => {
                let source = marey_analysis::memory_source_name(reading.source);
                let what = match reading.peak_bytes {
                    Some(_) => "",
                    None => ", the highest reading",
                };
                let bytes = marey_report::quantity::bytes(bytes);
                format!("Peak memory usage: {bytes} ({source}{what})")
            }
            _ => "Peak memory usage: not available: no reading was taken".into(),
        }
    }

    fn __len__(&self) -> usize {
        self.0.lock().log.records.len()
    }
}

fn labelled(label: &Bound<'_, PyAny>) -> MemoryReading {
    MemoryReading { label: Some(text_of(label)), ..MemoryReading::default() }
}

fn in_words(source: MemorySource) -> String {
    match source {
        MemorySource::Process => "process memory (resident set)".into(),
        MemorySource::TorchCuda(_) => {
            format!("torch's allocator on {}", marey_analysis::memory_source_name(source))
        }
    }
}

impl MemoryLog {
    fn keep(&self, py: Python<'_>, reading: MemoryReading) {
        if let Some(recorder) = state::recorder() {
            let session = session_context::current_number(py);
            recorder.note_in(session, &Note::Memory(reading.clone()));
        }
        let mut kept = self.0.lock();
        let known = reading.peak_bytes.max(Some(reading.allocated_bytes));
        kept.peak_bytes = kept.peak_bytes.max(known);
        kept.log.keep(|at_ns| MemoryReading { at_ns, ..reading });
    }

    /// The readings as a run of their own.
    pub(crate) fn report(&self) -> Report {
        self.0.lock().log.report(|run| &mut run.memory)
    }

    /// When the first reading was taken, nanoseconds since 1970.
    pub(crate) fn start_unix_ns(&self) -> u64 {
        self.0.lock().log.start_unix_ns.unwrap_or_default()
    }
}
