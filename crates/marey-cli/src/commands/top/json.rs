//! `--once --json`: everything that is known now, for programs.

use std::time::Duration;

use marey::live::{Interval, OpenNow, Reading, Totals};
use marey::{NodeKind, SeriesKind};
use marey_report::{Loss, RunStatus, StatusKind, escape};
use serde::Serialize;

use super::sections::open_for_ns;
use super::shown::Shown;
use super::watch::Watch;

/// Version of this shape: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

/// What is not known has no key.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    at_unix_seconds: f64,
    processes: Vec<ProcessObject<'a>>,
}

#[derive(Serialize)]
struct ProcessObject<'a> {
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<u32>,
    command: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    capture: Option<String>,
    status: StatusObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_alive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_unix_seconds: Option<f64>,
    uptime_seconds: f64,
    /// Between the two looks that rates of sections and series come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_seconds: Option<f64>,
    phase: Vec<&'a str>,
    open_sections: Vec<OpenObject<'a>>,
    sections: Vec<SectionObject<'a>>,
    generation: GenerationObject,
    gpus: Vec<GpuObject<'a>>,
    #[serde(flatten)]
    host: HostObject,
    series: Vec<SeriesObject<'a>>,
    losses: Vec<LossObject>,
}

#[derive(Serialize)]
struct StatusObject {
    kind: StatusKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct OpenObject<'a> {
    path: Vec<&'a str>,
    thread: u32,
    flow: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_seconds: Option<f64>,
}

#[derive(Serialize)]
struct SectionObject<'a> {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    is_detached: bool,
    path: Vec<&'a str>,
    kind: &'static str,
    count: u64,
    errors: u64,
    total_seconds: f64,
    mean_seconds: f64,
    min_seconds: f64,
    max_seconds: f64,
    last_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_turns: Option<TurnsObject>,
}

#[derive(Serialize)]
struct TurnsObject {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    p50_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p95_seconds: Option<f64>,
}

#[derive(Serialize)]
struct GenerationObject {
    steps: u64,
    blocks: u64,
    latent_frames: u64,
    streamed_frames: u64,
    dropped_frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps_per_second: Option<f64>,
}

#[derive(Serialize)]
struct GpuObject<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    utilization_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_used_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_total_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_process_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_watts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_celsius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_hertz: Option<f64>,
}

#[derive(Serialize)]
struct HostObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_cpu_cores: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_used_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_total_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_memory_bytes: Option<f64>,
}

#[derive(Serialize)]
struct SeriesObject<'a> {
    name: &'a str,
    subject: &'a str,
    unit: &'static str,
    kind: &'static str,
    value: f64,
    age_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_second: Option<f64>,
}

#[derive(Serialize)]
struct LossObject {
    kind: &'static str,
    count: u64,
}

/// The document as UTF-8, safe to print, with a line end.
pub(super) fn document(watch: &Watch) -> String {
    of(watch.shown(), marey::unix_ns())
}

pub(super) fn of<'a>(shown: impl Iterator<Item = &'a Shown>, at_unix_ns: u64) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        at_unix_seconds: seconds(at_unix_ns),
        processes: shown.map(process).collect(),
    };
    let text = serde_json::to_string_pretty(&document)
        .expect("string keys and plain values always serialize");
    escape::json(&text).into_owned() + "\n"
}

fn process(shown: &Shown) -> ProcessObject<'_> {
    let (process, look) = (&shown.process, &shown.look);
    let interval = shown.before.as_ref().map(|earlier| Interval {
        earlier,
        later: look,
    });
    let status = RunStatus::new(&look.status);
    let metrics = &shown.metrics;
    ProcessObject {
        pid: process.pid(),
        job_id: process.job_id.as_deref(),
        rank: process.rank,
        forked_from: process.forked_from,
        command: &process.command,
        capture: process
            .capture
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned()),
        status: StatusObject {
            kind: status.kind,
            signal: status.signal,
            reason: status.reason,
        },
        is_alive: look.is_alive,
        start_unix_seconds: process.start_unix_ns.map(seconds),
        uptime_seconds: seconds(look.at_ns),
        interval_seconds: interval.and_then(|interval| interval.seconds()),
        phase: look
            .phase()
            .map(|open| look.path(open.node))
            .unwrap_or_default(),
        open_sections: look
            .open
            .iter()
            .map(|open| open_section(shown, open))
            .collect(),
        sections: look
            .totals
            .iter()
            .map(|totals| section(shown, totals, interval))
            .collect(),
        generation: generation(shown),
        gpus: metrics.gpus.iter().map(gpu).collect(),
        host: HostObject {
            cpu_ratio: metrics.cpu_ratio,
            process_cpu_cores: metrics.process_cpu_cores,
            memory_used_bytes: metrics.memory_used_bytes,
            memory_total_bytes: metrics.memory_total_bytes,
            process_memory_bytes: metrics.process_memory_bytes,
        },
        series: look
            .series
            .iter()
            .map(|reading| series(reading, interval))
            .collect(),
        losses: Loss::all(&look.losses, &look.status)
            .into_iter()
            .map(|loss| LossObject {
                kind: loss.kind,
                count: loss.count,
            })
            .collect(),
    }
}

fn open_section<'a>(shown: &'a Shown, open: &OpenNow) -> OpenObject<'a> {
    let look = &shown.look;
    OpenObject {
        path: look.path(open.node),
        thread: open.lane,
        flow: open.flow,
        open_seconds: open_for_ns(look, open).map(seconds),
    }
}

fn section<'a>(
    shown: &'a Shown,
    totals: &Totals,
    interval: Option<Interval<'_>>,
) -> SectionObject<'a> {
    let look = &shown.look;
    let turns = totals.turns.as_ref().map(|turns| TurnsObject {
        count: turns.newest_ns.len(),
        p50_seconds: turns.quantile_ns(0.5).map(seconds),
        p95_seconds: turns.quantile_ns(0.95).map(seconds),
    });
    let (parent, is_detached) = look.parent(totals.node);
    SectionObject {
        id: totals.node,
        parent,
        is_detached,
        path: look.path(totals.node),
        kind: match look.kind(totals.node) {
            NodeKind::Section => "section",
            NodeKind::Iteration => "iteration",
        },
        count: totals.count,
        errors: totals.errors,
        total_seconds: seconds(totals.sum_ns),
        mean_seconds: totals.mean_ns() / 1e9,
        min_seconds: seconds(totals.min_ns),
        max_seconds: seconds(totals.max_ns),
        last_seconds: seconds(totals.last_ns),
        calls_per_second: interval.and_then(|interval| interval.calls_per_second(totals.node)),
        newest_turns: turns,
    }
}

fn generation(shown: &Shown) -> GenerationObject {
    let generated = shown.look.generated;
    GenerationObject {
        steps: shown.metrics.steps,
        blocks: shown.metrics.blocks,
        latent_frames: generated.block_frames,
        streamed_frames: generated.streamed_frames,
        dropped_frames: generated.dropped_frames,
        frames_per_second: shown.frames_per_second(),
        blocks_per_second: shown.blocks_per_second(),
        steps_per_second: shown.steps_per_second(),
    }
}

fn gpu(gpu: &marey_report::GpuNow) -> GpuObject<'_> {
    GpuObject {
        id: &gpu.id,
        utilization_ratio: gpu.utilization_ratio,
        memory_used_bytes: gpu.memory_used_bytes,
        memory_total_bytes: gpu.memory_total_bytes,
        memory_process_bytes: gpu.memory_process_bytes,
        power_watts: gpu.power_watts,
        temperature_celsius: gpu.temperature_celsius,
        clock_hertz: gpu.clock_hertz,
    }
}

fn series<'a>(reading: &'a Reading, interval: Option<Interval<'_>>) -> SeriesObject<'a> {
    SeriesObject {
        name: &reading.info.name,
        subject: &reading.info.subject,
        unit: reading.info.unit.symbol(),
        kind: match reading.info.kind {
            SeriesKind::Gauge => "gauge",
            SeriesKind::Cumulative => "cumulative",
        },
        value: reading.value,
        age_seconds: seconds(reading.age_ns),
        per_second: interval.and_then(|interval| interval.growth_per_second(reading)),
    }
}

fn seconds(ns: u64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64()
}
