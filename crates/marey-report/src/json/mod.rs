//! `profiling_report.json`. Its fields are described in `docs/schema/profiling_report.schema.json`.

mod activity;
mod allocations;
mod attributes;
mod blocks;
mod caches;
mod calls;
mod counters;
mod cpu;
mod device_work;
mod diffusion;
mod disk;
mod durations;
mod figures;
mod gpu;
mod job;
mod layers;
mod listed;
mod memory;
mod models;
mod pipelines;
mod quality;
mod raw;
mod recommendations;
mod run;
mod section_resources;
mod sections;
mod snapshot;
mod stages;
mod streaming;
mod summary;
mod trace;
mod windows;

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::escape;
use crate::model::{Report, TraceFile};
use crate::quantity::float;

use activity::{SessionInfo, SessionObject};
use allocations::MemoryEvents;
use attributes::AttributedObject;
use blocks::BlockAnalysis;
use caches::CacheAnalysis;
use calls::{IterationStats, TimingStats};
use counters::CounterObject;
use cpu::CpuMetrics;
use device_work::{GpuTimeObject, SectionPeakObject};
use diffusion::DiffusionAnalysis;
use figures::Scope;
use gpu::GpuMetrics;
use layers::LayerAnalysis;
use memory::MemoryAnalysis;
use models::ModelAnalysis;
use pipelines::PipelineObject;
use quality::DataQuality;
use recommendations::{Checks, Recommendation};
pub use run::LaunchObject;
use run::{EventObject, RunObject, StatusObject};
use section_resources::SectionResourcesObject;
use sections::{SectionObject, UnderNoSectionObject};
use snapshot::SnapshotObject;
use stages::StageAnalysis;
use streaming::StreamingAnalysis;
use summary::Summary;
use windows::WindowObject;

pub use job::aggregation_json;
pub(crate) use memory::snapshots;
pub use raw::{raw_profiling_data, raw_profiling_data_of_session};
pub(crate) use sections::reason;
pub use snapshot::snapshot_json;
pub use trace::trace_json;

/// Version of the document's shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

/// The whole document, in the order in which a person would read it.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    timestamp: f64,
    run: RunObject<'a>,
    status: StatusObject<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<LaunchObject>,
    session_info: SessionInfo<'a>,
    summary: Summary,
    timing_stats: Pairs<&'a str, TimingStats>,
    memory_snapshots: Vec<memory::Snapshot<'a>>,
    iteration_stats: MaybeEmpty<IterationStats>,
    iteration_profilers: Pairs<&'a str, IterationStats>,
    sections: Vec<SectionObject<'a>>,
    under_no_section: UnderNoSectionObject,
    gpu_time: Option<GpuTimeObject<'a>>,
    stage_analysis: StageAnalysis<'a>,
    memory: Option<MemoryAnalysis<'a>>,
    section_memory: Vec<SectionPeakObject>,
    section_resources: Vec<SectionResourcesObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory_snapshot_files: Vec<SnapshotObject<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    trace_files: &'a [TraceFile],
    gpu_metrics: Option<GpuMetrics<'a>>,
    cpu_metrics: Option<CpuMetrics<'a>>,
    streaming_analysis: Option<StreamingAnalysis>,
    diffusion_analysis: Option<DiffusionAnalysis<'a>>,
    model_analysis: Option<ModelAnalysis<'a>>,
    block_analysis: Option<BlockAnalysis<'a>>,
    layer_analysis: Option<LayerAnalysis<'a>>,
    memory_events: Option<MemoryEvents<'a>>,
    cache_analysis: Option<CacheAnalysis<'a>>,
    profiler_windows: Vec<WindowObject<'a>>,
    counters: Pairs<&'a str, CounterObject>,
    section_attributes: Vec<AttributedObject<'a>>,
    section_attributes_left_out: u64,
    pipelines: Vec<PipelineObject<'a>>,
    sessions: Vec<SessionObject<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    sessions_left_short: usize,
    events: Vec<EventObject<'a>>,
    recommendations: Vec<Recommendation<'a>>,
    checks: Checks<'a>,
    data_quality: DataQuality<'a>,
}

/// The profiling report as UTF-8 JSON, indented. It is finite and valid whatever names the user chose; strings in it
/// hold nothing that a terminal or a browser would act on.
pub fn profiling_report(report: &Report) -> Vec<u8> {
    let activity = &report.activity;
    let scope = Scope::new(report, activity);
    let stats = |found: &marey_analysis::Iterations| IterationStats::new(found);
    let first = report.iterations.first().map(stats);
    bytes_of(&Document {
        schema_version: SCHEMA_VERSION,
        timestamp: seconds(report.run.start_unix_ns),
        run: RunObject::new(&report.run),
        status: StatusObject::new(&report.status),
        launch: report.run.launch.as_ref().map(LaunchObject::new),
        session_info: SessionInfo::new(report),
        summary: Summary::new(activity),
        timing_stats: Pairs(
            report
                .sections
                .by_name
                .iter()
                .map(|row| (row.name.as_str(), TimingStats::new(row)))
                .collect(),
        ),
        memory_snapshots: snapshots(report),
        iteration_stats: MaybeEmpty(first),
        iteration_profilers: Pairs(
            report
                .iterations
                .iter()
                .map(|found| (found.name.as_str(), stats(found)))
                .collect(),
        ),
        sections: report
            .sections
            .tree
            .iter()
            .map(|row| SectionObject::new(report, row))
            .collect(),
        under_no_section: UnderNoSectionObject::new(report),
        gpu_time: report.gpu_times.as_ref().map(GpuTimeObject::new),
        stage_analysis: StageAnalysis::new(&activity.stages),
        memory: report
            .memory
            .as_ref()
            .map(|memory| MemoryAnalysis::new(report, memory)),
        section_memory: report
            .section_peaks
            .iter()
            .map(SectionPeakObject::new)
            .collect(),
        section_resources: report
            .used_resources
            .iter()
            .map(SectionResourcesObject::new)
            .collect(),
        memory_snapshot_files: report
            .snapshot_files
            .iter()
            .map(SnapshotObject::new)
            .collect(),
        trace_files: &report.trace_files,
        gpu_metrics: GpuMetrics::new(scope),
        cpu_metrics: CpuMetrics::new(scope),
        streaming_analysis: StreamingAnalysis::new(activity),
        diffusion_analysis: DiffusionAnalysis::new(activity),
        model_analysis: ModelAnalysis::new(activity),
        block_analysis: BlockAnalysis::new(activity),
        layer_analysis: activity.layers.as_ref().map(LayerAnalysis::new),
        memory_events: MemoryEvents::new(activity),
        cache_analysis: CacheAnalysis::new(activity),
        profiler_windows: WindowObject::of(activity),
        counters: Pairs(
            report
                .counters
                .iter()
                .map(|found| (found.name.as_str(), CounterObject::new(report, found)))
                .collect(),
        ),
        section_attributes: report
            .attributes
            .calls
            .iter()
            .map(AttributedObject::new)
            .collect(),
        section_attributes_left_out: report.attributes.n_calls_left_out,
        pipelines: report.pipelines.iter().map(PipelineObject::new).collect(),
        sessions: report
            .sessions
            .iter()
            .map(|session| SessionObject::new(report, session))
            .collect(),
        sessions_left_short: report.n_sessions_left_short(),
        events: EventObject::of(activity),
        recommendations: Recommendation::of(scope),
        checks: Checks::new(&activity.findings),
        data_quality: DataQuality::new(report),
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A value as indented JSON with a line feed at its end.
pub(crate) fn bytes_of(value: &impl Serialize) -> Vec<u8> {
    let text =
        serde_json::to_string_pretty(value).expect("string keys and plain values always serialize");
    let mut shown = match escape::json(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    };
    shown.push('\n');
    shown.into_bytes()
}

/// A JSON object with its keys in the given order. Keys differ.
struct Pairs<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The object, or `{}`.
struct MaybeEmpty<T>(Option<T>);

impl<T: Serialize> Serialize for MaybeEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => Pairs::<&str, &str>(Vec::new()).serialize(serializer),
        }
    }
}

/// Nanoseconds as seconds. Whole seconds apart, because nanoseconds since 1970 do not fit into a float.
fn seconds(ns: u64) -> f64 {
    float(ns / 1_000_000_000) + float(ns % 1_000_000_000) / 1e9
}

/// Fractions of nanoseconds as seconds.
fn float_seconds(ns: f64) -> f64 {
    ns / 1e9
}

/// Bytes as MiB.
fn mebibytes(bytes: u64) -> f64 {
    float(bytes) / 1_048_576.0
}
