//! Flight recorder for diffusion image and video generation.
//!
//! Open sections around what takes time; the recorder writes them to a capture that survives a kill, and costs about as
//! much as reading the clock twice.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let config = marey::Config { output_dir: Some(folder.path().into()), ..Default::default() };
//! let recording = marey::start(config)?;
//! {
//!     let _session = marey::session("clip-0", &[("seed", 7.into())]);
//!     for block in 0..2 {
//!         let _block = marey::section!("block", index = block);
//!         for _ in 0..4 {
//!             let _step = marey::iteration!("denoising_step");
//!             // … one iteration of the denoising loop
//!         }
//!     }
//!     marey::memory_reading("after_denoising");
//! }
//! let capture = recording.finish().expect("recorded into a folder");
//! let run = marey::load(&capture)?;
//! assert_eq!(run.sections.len(), 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Under `marey run -- program` the environment says where to record; a program that wants that calls [`start_from_env`].
//! With recording off every call here returns at once.
//!
//! Two halves: the [`Recorder`] writes, [`load`] reads what it wrote into a [`Run`], which is all that analysis sees.

mod atomics;
mod capture;
mod clock;
mod clock_map;
mod descriptors;
mod device_work;
mod folder;
mod generation;
mod histogram;
mod internals;
mod launch;
pub mod live;
mod note;
mod private_files;
mod process_memory;
pub mod profiling_config;
mod recorder;
mod resources;
mod run;
mod sampler;
mod series;
mod successor;
mod thresholds;
#[cfg(feature = "tracing")]
mod tracing_layer;
mod value;
mod warning;
mod window;
mod wire;

pub use capture::{ReadError, load};
pub use device_work::{DeviceMemory, GpuSpan, SectionMemory};
pub use generation::{
    Allocation, BlockComputation, DiffusionStep, Generation, GenerationRecord, LayerComputation,
    ModelParameters, StreamingEvent,
};
pub use histogram::Histogram;
#[doc(hidden)]
pub use internals::*;
pub use launch::{Launch, Usage};
#[cfg(feature = "macros")]
pub use marey_macros::profile_function;
pub use profiling_config::ProfilingConfig;
pub use recorder::{
    Config, Error, InSection, Recorder, Recording, SectionGuard, Sectioned, SessionGuard, Site,
    is_on, recorder, section_named, set_rank, start, start_from_env,
};
pub use resources::{Resources, SectionResources};
pub use run::{
    CacheEvent, CacheOutcome, CounterReading, Event, Gap, Losses, MemoryReading, MemorySource,
    Node, NodeKind, NodeTotals, OpenSection, Outcome, Run, RunInfo, Section, SectionAttributes,
    Session, SessionWork, Status, Thread,
};
pub use series::{Series, SeriesInfo, SeriesKind, SeriesPoint, Unavailable, Unit};
pub use thresholds::{THRESHOLDS, Threshold, ThresholdError, Thresholds};
#[cfg(feature = "tracing")]
pub use tracing_layer::TracingLayer;
pub use value::{Attributes, Value};
pub use warning::Warning;
pub use window::{Window, WindowChange, WindowFailure, WindowFile};

/// Opens a session: a named interval with tags, what a user calls one generation.
pub fn session(name: &str, tags: &[(&str, Value)]) -> SessionGuard {
    SessionGuard::open(name, owned(tags))
}

/// Records a point in time with a name.
pub fn event(name: &str, attributes: &[(&str, Value)]) {
    note(|| Note::event(name, owned(attributes)));
}

/// Records a reading of a counter. NaN and infinities are not recorded.
pub fn counter(name: &str, value: f64) {
    if value.is_finite() {
        note(|| Note::counter(name, value));
    }
}

/// Records the resident memory of the process, and its peak, under a label. Costs some 20 µs.
pub fn memory_reading(label: &str) {
    if !is_on() {
        return;
    }
    let Some(allocated_bytes) = resident_bytes() else {
        return;
    };
    note(|| {
        Note::Memory(MemoryReading {
            label: Some(label.into()),
            source: MemorySource::Process,
            allocated_bytes,
            peak_bytes: peak_resident_bytes(),
            ..MemoryReading::default()
        })
    });
}

/// Records what a program says of its own work, at the end of that work: a [`DiffusionStep`], a [`BlockComputation`], [`ModelParameters`], a
/// [`StreamingEvent`], a [`LayerComputation`], an [`Allocation`], a [`CacheEvent`] or a [`MemoryReading`]. What a field leaves
/// out is unknown, not 0.
///
/// ```
/// for step in 0..4 {
///     // … one denoising step
///     marey::record(marey::DiffusionStep { step: Some(step), ..Default::default() });
/// }
/// ```
pub fn record(what: impl Into<Note>) {
    note(|| what.into());
}

fn note(make: impl FnOnce() -> Note) {
    if let Some(lane) = lane() {
        lane.recorder().note_in_flow(None, lane.flow(), &make());
    }
}

fn owned(attributes: &[(&str, Value)]) -> Attributes {
    attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}
