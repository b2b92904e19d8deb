//! Answers about recorded runs.
//!
//! Everything here is pure: a [`marey::Run`] goes in, values come out. No clock, environment, files, printing or
//! randomness, and no order that depends on hashing: the same run gives the same answer.
//!
//! The answers serialize, because the report model is made of them; field names carry their unit.

#![forbid(unsafe_code)]

mod account;
mod calls;
pub mod compare;
mod coverage;
pub mod findings;
pub mod import;
mod intervals;
pub mod job;
mod model;
pub mod quantity;
mod readings;
mod records;
mod requests;
mod section_lookup;
mod stats;

mod questions;

pub use account::{
    Account, AccountRow, PathTime, PathTimes, SharedAccount, SharedRow, path_times, wall_account,
};
pub use calls::{CallStats, Percentiles};
pub use compare::{CompareOptions, Comparison, TracedSide, compare, compare_traces, trend};
pub use findings::{
    Facts, Findings, Thresholds, findings, job_findings, rank_findings, trace_findings,
};
pub use intervals::{Interval, union, union_length_ns};
pub use model::NumberFormat;
pub use questions::allocations::{Allocated, AllocationUse, Allocations, allocations};
pub use questions::attributes::{
    AttributeRow, AttributeUse, AttributedCall, SynchronisedRow, attributes,
};
pub use questions::caches::{CacheUse, Caches, caches};
pub use questions::counters::{Counter, CounterPoint, counters};
pub use questions::diffusion::{
    CleanPasses, ContextGrowth, Delivery, DeliveryPoint, Diffusion, Durations, FrameKind,
    FrameRate, Guidance, GuidanceWay, Model, Models, Named, PeakFlops, Spread, StepCaching,
    StepPoint, StepSource, Steps, diffusion,
};
pub use questions::gpu_times::{
    GPU_TIMES, GpuTimes, SectionGpuTime, StreamGpuTime, gpu_times, place as place_of_span,
};
pub use questions::iterations::{Iterations, iterations};
pub use questions::layers::{Layer, Layers, layers};
pub use questions::memory::{
    LabelledReading, Memory, MemoryPeak, SourceMemory, fragmentation_ratio, memory,
    memory_source_name, process_peak_bytes,
};
pub use questions::names::NameRow;
pub use questions::phase::Phase;
pub use questions::ranks;
pub use questions::section_memory::{Highest, SectionPeak, section_peaks};
pub use questions::section_resources::{Used, UsedInSession, UsedResources, used_resources};
pub use questions::sections::{
    Kind, NotAvailable, OpenCalls, SectionRow, Sections, UnderNoSection, sections,
};
pub use questions::session_assignment::{SectionSessions, SessionAssignment};
pub use questions::session_runs::{Pipeline, SessionRun, SessionRuns};
pub use questions::snapshot::{
    Alive, AliveInSection, AliveRow, CurvePoint, DeviceMemory, GrowthOf, GrowthPoint, Level,
    MemoryGrowth, OutOfMemory, OutOfMemoryCause, PoolUse, SnapshotAnswers, StackFrame, StackFrames,
    TimeOrigin, snapshot,
};
pub use questions::stages::{Stage, Stages, stages};
pub use questions::stop::{Stop, StoppedIn, stop};
pub use questions::streaming::{Buffer, Streaming, streaming};
pub use questions::telemetry::{
    CoreUse, CpuPoint, CpuTime, CpuUse, DeviceUse, DiskUse, Energy, EnergySource, FileCached,
    GpuMetric, GpuPoint, GpuUse, Gpus, HostMemory, InterfaceUse, LoadAverage, MemoryBound,
    PageCache, Pressure, SamplerUse, Telemetry, Throttling, telemetry,
};
pub use questions::trace::*;
pub use questions::windows::{WindowUse, Windows, windows};
pub use readings::{Figures, Growth};
pub use requests::{Requests, requests};
pub use section_lookup::Moment;
pub use stats::{mean, median, percentile, sample_std_dev};
