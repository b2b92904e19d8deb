//! Everything that is known of a process at one moment.

use std::collections::BTreeMap;

use marey::live::{Iterations, LiveState, OpenNow, Process, Reading, Totals};
use marey::{NodeKind, SeriesKind};
use serde::{Serialize, Serializer};

use super::seconds;
use crate::json::list;
use crate::json::object::{Fields, Json, object};
use crate::model::{Loss, RunStatus};
use crate::quantity::float;

/// Everything that is known of a process at one moment. What is not known is absent, never 0; texts are as the program gave them, never
/// safe to print. Its keys as a document are in `docs/formats.md`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSnapshot {
    /// Which process; `None` where it looks at itself.
    pub process: Option<Process>,
    /// What its shared memory says. Of a recording that is over with the readings that it had before.
    pub look: LiveState,
    /// Time since the look before; `None` at the first.
    pub interval_ns: Option<u64>,
    /// Completed calls in a second, by node and the times at which they ended.
    pub calls_per_second: BTreeMap<u32, f64>,
    /// Growth between the latest two readings of each series of the look; `None` for a gauge.
    pub growth_per_second: Vec<Option<f64>>,
    /// The loop that turned last.
    pub newest_loop: Option<LoopNow>,
    /// What the program makes.
    pub made: Made,
    /// GPUs that are sampled, in the order in which the sampler has them, which is that of their numbers.
    pub gpus: Vec<GpuNow>,
    /// The machine, and what the process takes of it.
    pub host: HostNow,
}

/// A loop, wherever in the program it runs: all call paths that end in its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopNow {
    /// Its name.
    pub name: String,
    /// All of them together; those of the newest iterations that were seen one by one are of each call path.
    pub totals: Totals,
    /// By the times at which iterations ended.
    pub per_second: Option<f64>,
}

/// Steps and blocks as the program reports them, else calls with such names that did not fail. Rates are those between records of the last
/// half minute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Made {
    /// Denoising steps.
    pub steps: u64,
    /// Blocks of frames.
    pub blocks: u64,
    /// Delivered frames where the program reports those, otherwise latent frames of finished blocks.
    pub frames_per_second: Option<f64>,
    /// Blocks.
    pub blocks_per_second: Option<f64>,
    /// Denoising steps.
    pub steps_per_second: Option<f64>,
}

/// What is known of one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuNow {
    /// Its UUID, or what else tells it from others.
    pub id: String,
    /// Share of the last sample period with work on the GPU.
    pub utilization_ratio: Option<f64>,
    /// Memory in use, by all processes.
    pub memory_used_bytes: Option<f64>,
    /// Memory that it has.
    pub memory_total_bytes: Option<f64>,
    /// Memory in use by this process.
    pub memory_process_bytes: Option<f64>,
    /// Power.
    pub power_watts: Option<f64>,
    /// Temperature.
    pub temperature_celsius: Option<f64>,
    /// Clock of the multiprocessors.
    pub clock_hertz: Option<f64>,
}

/// The machine, and what the process takes of it. Rates are those between the latest two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostNow {
    /// CPU time of the machine as a share of all its cores.
    pub cpu_ratio: Option<f64>,
    /// CPU time of the process in cores.
    pub process_cpu_cores: Option<f64>,
    /// What is in use of the machine's memory, or of what the control group may use where that is less.
    pub memory_used_bytes: Option<f64>,
    /// Memory of the machine, or the limit of the control group.
    pub memory_total_bytes: Option<f64>,
    /// Resident memory of the process.
    pub process_memory_bytes: Option<f64>,
    /// Read from disks, by the process where that is known, otherwise by all.
    pub disk_read_bytes_per_second: Option<f64>,
    /// Written to them.
    pub disk_written_bytes_per_second: Option<f64>,
}

impl LiveSnapshot {
    /// How long a section has been open; `None` when it began with the last thing that is known of a process that is over.
    pub fn open_for_ns(&self, open: &OpenNow) -> Option<u64> {
        let for_ns = self.look.at_ns.saturating_sub(open.start_ns);
        (for_ns > 0 || self.look.is_running()).then_some(for_ns)
    }
}

impl GpuNow {
    /// Memory in use as a share of what there is.
    pub fn memory_ratio(&self) -> Option<f64> {
        ratio(self.memory_used_bytes, self.memory_total_bytes)
    }
}

impl HostNow {
    /// Memory in use as a share of what there is.
    pub fn memory_ratio(&self) -> Option<f64> {
        ratio(self.memory_used_bytes, self.memory_total_bytes)
    }
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    Some(part? / whole)
}

impl Serialize for LiveSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { look, host, .. } = self;
        let status = RunStatus::new(&look.status);
        let phase = look.phase().map(|open| look.path(open.node));
        object! {
            ..self.process.as_ref().map(process),
            status: object! { kind: status.kind, signal?: status.signal, reason?: status.reason },
            is_alive?: look.is_alive,
            uptime_s: seconds(look.at_ns),
            interval_s?: self.interval_ns.map(seconds),
            phase: phase.unwrap_or_default(),
            open_sections: list(&look.open, |open| object! {
                ..call_path(look, open.node),
                thread: open.lane,
                flow: open.flow,
                open_s?: self.open_for_ns(open).map(seconds),
            }),
            sections: list(&look.totals, |totals| object! {
                ..call_path(look, totals.node),
                kind: match look.kind(totals.node) {
                    NodeKind::Section => "section",
                    NodeKind::Iteration => "iteration",
                },
                ..calls(totals),
                min_s: seconds(totals.min_ns),
                max_s: seconds(totals.max_ns),
                calls_per_second?: self.calls_per_second.get(&totals.node),
            }),
            newest_loop?: self.newest_loop.as_ref().map(|newest| object! {
                name: &newest.name,
                ..calls(&newest.totals),
                calls_per_second?: newest.per_second,
            }),
            generation: self.generation(),
            gpus: list(&self.gpus, |gpu| object! {
                id: &gpu.id,
                utilization_ratio?: gpu.utilization_ratio,
                memory_used_bytes?: gpu.memory_used_bytes,
                memory_total_bytes?: gpu.memory_total_bytes,
                memory_process_bytes?: gpu.memory_process_bytes,
                power_watts?: gpu.power_watts,
                temperature_celsius?: gpu.temperature_celsius,
                clock_hz?: gpu.clock_hertz,
            }),
            cpu_ratio?: host.cpu_ratio,
            process_cpu_cores?: host.process_cpu_cores,
            memory_used_bytes?: host.memory_used_bytes,
            memory_total_bytes?: host.memory_total_bytes,
            process_memory_bytes?: host.process_memory_bytes,
            disk_read_bytes_per_second?: host.disk_read_bytes_per_second,
            disk_written_bytes_per_second?: host.disk_written_bytes_per_second,
            series: look.series.iter().zip(&self.growth_per_second).map(series).collect::<Vec<_>>(),
            losses: list(&Loss::all(&look.losses, &look.status), |loss| object! {
                kind: loss.kind,
                count: loss.count,
            }),
        }
        .serialize(serializer)
    }
}

impl LiveSnapshot {
    fn generation(&self) -> impl Json {
        let (look, made) = (&self.look, &self.made);
        object! {
            steps: made.steps,
            step?: look.step,
            schedule_made?: look.schedule.map(|(n_made, _)| n_made),
            schedule_steps?: look.schedule.map(|(_, n_steps)| n_steps),
            blocks: made.blocks,
            latent_frames: look.generated.block_frames,
            streamed_frames: look.generated.streamed_frames,
            dropped_frames: look.generated.dropped_frames,
            cache_hits: look.cache_hits,
            cache_misses: look.cache_misses,
            frames_per_second?: made.frames_per_second,
            blocks_per_second?: made.blocks_per_second,
            steps_per_second?: made.steps_per_second,
        }
    }
}

fn process(process: &Process) -> impl Fields {
    let capture = process.capture.as_ref();
    object! {
        pid: process.pid(),
        job_id?: process.job_id.as_ref(),
        rank?: process.rank,
        forked_from?: process.forked_from,
        command: &process.command,
        capture?: capture.map(|path| path.to_string_lossy()),
        start_unix_ns?: process.start_unix_ns,
    }
}

fn call_path(look: &LiveState, node: u32) -> impl Fields {
    let (parent, is_detached) = look.parent(node);
    object! {
        id: node,
        parent?: parent,
        is_detached: is_detached,
        path: look.path(node),
    }
}

fn calls(totals: &Totals) -> impl Fields {
    let iterations = |iterations: &Iterations| {
        let quantile = |of| iterations.quantile_ns(of).map(seconds);
        object! {
            count: iterations.newest_ns.len(),
            p50_s?: quantile(0.5),
            p95_s?: quantile(0.95),
        }
    };
    object! {
        count: totals.count,
        errors: totals.errors,
        total_s: seconds(totals.sum_ns),
        mean_s: seconds(totals.sum_ns) / float(totals.count.max(1)),
        last_s: seconds(totals.last_ns),
        newest_turns?: totals.iterations.as_ref().map(iterations),
    }
}

fn series((reading, growth): (&Reading, &Option<f64>)) -> impl Json {
    let info = &reading.info;
    object! {
        name: &info.name,
        subject: &info.subject,
        unit: info.unit.symbol(),
        kind: match info.kind {
            SeriesKind::Gauge => "gauge",
            SeriesKind::Cumulative => "cumulative",
        },
        value: reading.value,
        age_s: seconds(reading.age_ns),
        per_second?: growth.as_ref(),
    }
}
