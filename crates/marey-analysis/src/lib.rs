//! Answers about recorded runs.
//!
//! Everything here is pure: a [`marey::Run`] goes in, values come out. No clock, environment, files, printing or
//! randomness, and no order that depends on hashing: the same run gives the same answer.
//!
//! The answers serialize, because the report model is made of them; field names carry their unit.

#![forbid(unsafe_code)]

mod calls;
pub mod compare;
mod coverage;
pub mod findings;
pub mod import;
mod intervals;
mod readings;
mod records;
mod stats;
mod whereabouts;

mod questions;

pub use calls::{CallStats, Percentiles};
pub use compare::{CompareOptions, Comparison, TracedSide, compare, compare_traces, trend};
pub use findings::{Facts, Findings, Thresholds, findings, trace_findings};
pub use intervals::{Interval, union, union_length_ns};
pub use questions::attributes::{
    AttributeRow, AttributeUse, AttributedCall, SynchronisedRow, attributes,
};
pub use questions::belonging::Belonging;
pub use questions::caches::{CacheUse, Caches, caches};
pub use questions::counters::{Counter, CounterPoint, counters};
pub use questions::diffusion::{
    BlockPoint, Blocks, CleanPasses, ContextGrowth, Delivery, DeliveryPoint, Diffusion, Durations,
    FrameKind, FrameRate, Guidance, Model, Models, PeakFlops, Spread, StepCaching, StepPoint,
    StepSource, Steps, diffusion,
};
pub use questions::gpu_times::{
    GpuTimes, SectionGpuTime, StreamGpuTime, gpu_times, place as place_of_span,
};
pub use questions::iterations::{IterationPoint, Iterations, iterations};
pub use questions::memory::{
    LabelledReading, Memory, MemoryPeak, SectionMemory, SourceMemory, fragmentation_ratio, memory,
    memory_source_name,
};
pub use questions::names::NameRow;
pub use questions::phases::{Phase, Phases, Purpose, PurposeTime, phases};
pub use questions::section_memory::{SectionPeak, section_peaks};
pub use questions::sections::{
    Kind, NotAvailable, OpenCalls, SectionRow, Sections, UnderNoSection, sections,
};
pub use questions::session_runs::{SessionRun, SessionRuns};
pub use questions::sessions::{SessionRow, sessions};
pub use questions::snapshot::{
    Alive, AliveInSection, AliveRow, CurvePoint, DeviceMemory, GrowthOf, GrowthPoint, Level,
    MemoryGrowth, OutOfMemory, OutOfMemoryCause, PoolUse, SnapshotAnswers, StackFrame, StackFrames,
    TimeOrigin, snapshot,
};
pub use questions::stages::{Stage, Stages, stages};
pub use questions::streaming::{Buffer, Streaming, streaming};
pub use questions::telemetry::{
    CoreUse, CpuPoint, CpuTime, CpuUse, DeviceUse, DiskUse, Energy, EnergySource, FileCached,
    GpuMetric, GpuPoint, GpuUse, Gpus, HostMemory, InterfaceUse, LoadAverage, PageCache, Pressure,
    SamplerUse, Telemetry, Throttling, telemetry,
};
pub use questions::trace::{
    AttentionCalls, AttentionFallback, AttentionOperator, AttentionOwner, AttentionPath,
    AttentionUse, ByLaunch, CauseTime, ClassRow, CollectiveKind, Communication, CriticalPath,
    DeviceAnswers, DeviceTimeline, DeviceWork, FallbackReason, Gap, GapCause, GapReason, HostKind,
    HostOperation, HostRange, HostRows, HtaAnswers, HtaIdle, HtaIdleCategory, HtaKernelType,
    IdleGaps, KernelClass, KernelRow, Kernels, LargeTransfer, LaunchCall, LaunchDelay, LaunchQueue,
    LaunchedWork, Launches, LongSegment, MatchedCollective, MatrixKernel, MatrixTime, ModuleRow,
    Modules, OperatorBytes, OperatorRow, Operators, Overlap, OwnedKernel, OwnedKernels, Owners,
    PartFigures, PartList, PartSpread, PartWork, PathKind, PathKindTime, PathNameTime, PathPlace,
    PathPlaceTime, PathSegment, PhaseRole, RankCalls, RankCommunication, RankWaiting, ReasonTime,
    RestOfWork, RestPlace, Scope, StepRule, StreamUse, SuspiciousDuration, SuspiciousDurations,
    SyncCall, SyncPlace, Synchronisation, TensorCores, ToldBy, TraceAnswers, TraceContext,
    TraceMemory, TracePart, TracePartLists, TraceParts, TracePhase, TraceSteps, TransferMemory,
    Transfers, Utilization, WorkKind, across_ranks, annotations, attention, attention_fallbacks,
    attention_operators, attention_owners, communication, critical_path, critical_path_segments,
    device_timelines, find_scope, host_communication, hta_compat, idle_gaps, is_communication,
    kernel_class, kernels, kernels_of, largest_transfers, launches, modules, operator_class,
    operators, overlap, owned_kernels, part_lists, profiler_steps, rank_calls, scopes,
    suspicious_durations, synchronisation, tensor_cores, trace_answers, trace_memory, trace_phases,
    trace_steps, transfers, transfers_by_memory, uses_tensor_cores, utilization,
};
pub use questions::windows::{WindowFailureUse, WindowFileUse, WindowUse, Windows, windows};
pub use readings::{Figures, Growth, Moment};
pub use stats::{mean, median, percentile, sample_std_dev};
