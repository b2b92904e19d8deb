//! From a run to its summary.
//!
//! ```text
//! totals of call paths ──────────────► sections
//! sections recorded one by one ─┬────► stages        of the main thread
//!                               ├────► collectives   by their names
//!                               └─ iterations ─► steps, blocks, with the collectives in them
//! events that mark a moment ─────────► marks
//! series of samplers ────────────────► machine
//! ```
//!
//! Cost: a few passes over the recorded sections. The questions of a report that take longer are not asked.

mod calls;
mod sections;
mod stages;

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests;

use marey::{MemorySource, Run, Status, Thresholds, Warning};

use super::collectives::keep_bounded;
use super::iteration_cells::{Communication, Iteration, iteration_sums};
use super::{
    Ended, GpuSums, IterationSums, MachineSums, Range, RankProcess, RankSummary, Source, Work,
};
use crate::Steps;
use crate::questions::diffusion::{Diffusion, FrameKind, diffusion};
use crate::questions::memory::process_peak_bytes;
use crate::questions::telemetry::{GpuUse, brief_telemetry};
use crate::readings::Figures;

/// The event that `marey.distributed.start_mark()` records.
const MARK: &str = "start_mark";

impl RankSummary {
    /// What a run comes to, read from a capture of this name.
    pub fn of_run(run: &Run, file: &str) -> Self {
        Self::of_run_with(run, file, None)
    }

    /// The same, where something else than its sections says when a collective was open.
    pub(super) fn of_run_with(
        run: &Run,
        file: &str,
        communication: Option<&Communication>,
    ) -> Self {
        let found = diffusion(run, &Thresholds::of(run)).unwrap_or_default();
        let known = calls::Known::of(run);
        let (of_sections, mut collectives) = calls::collectives(run, &known);
        let communication = communication.or(of_sections.as_ref());
        let stages = stages::Stages::of(run, &known);
        let n_collectives_left_out = keep_bounded(&mut collectives);
        let (marks, n_marks_left_out) = marks(run);
        Self {
            process: process(run),
            source: Source::Capture,
            file: file.to_owned(),
            session_id: None,
            marey: fact(run, "marey").map(str::to_owned),
            ended: ended(&run.status),
            is_truncated: run
                .warnings
                .iter()
                .any(|warning| matches!(warning, Warning::Truncated { .. })),
            wall_ns: run.wall_ns,
            n_lost: n_lost(run),
            warnings: warnings(run),
            sections: sections::sections(run),
            steps: iterations(found.steps.as_ref(), communication),
            blocks: iterations(found.blocks.as_ref(), communication),
            stages: stages.pieces,
            stage_names: stages.names,
            communication_names: stages.communication_names,
            collectives,
            n_collectives_left_out,
            marks,
            n_marks_left_out,
            device: None,
            dump: None,
            machine: machine(run),
            work: work(run, &found),
            findings: Vec::new(),
        }
    }
}

fn process(run: &Run) -> RankProcess {
    let info = &run.info;
    let number = |key: &str| fact(run, key).and_then(|value| value.parse().ok());
    RankProcess {
        job_id: info.job_id.clone(),
        rank: info.rank,
        host: info.host.clone(),
        pid: info.pid,
        start_unix_ns: info.start_unix_ns,
        world_size: info.world_size,
        local_rank: info.local_rank,
        forked_from: number("forked_from"),
        boot_id: fact(run, "boot_id").unwrap_or_default().to_owned(),
    }
}

/// The last fact of this name that says something.
fn fact<'a>(run: &'a Run, key: &str) -> Option<&'a str> {
    let mut facts = run.info.facts.iter().rev();
    let (_, value) = facts.find(|(known, _)| known == key)?;
    (!value.is_empty()).then_some(value.as_str())
}

fn ended(status: &Status) -> Ended {
    match status {
        Status::Running => Ended::Running,
        Status::Finished => Ended::Finished,
        Status::Failed(reason) => Ended::Failed(reason.clone()),
        Status::OutOfMemory(reason) => Ended::Failed(format!("out of memory: {reason}")),
        Status::Killed(signal) => Ended::Killed(*signal),
        Status::EndedWithoutClosing => Ended::WithoutClosing,
    }
}

fn n_lost(run: &Run) -> u64 {
    let losses = &run.losses;
    losses
        .sections_missing()
        .saturating_add(losses.sections_unrecorded)
        .saturating_add(losses.notes_dropped)
}

fn warnings(run: &Run) -> Vec<String> {
    let first = run.warnings.iter().take(RankSummary::MAX_WARNINGS);
    first.map(ToString::to_string).collect()
}

/// When it set the first marks, and how many others it set.
fn marks(run: &Run) -> (Vec<u64>, u64) {
    let events = run.events.iter().filter(|event| event.name == MARK);
    let mut marks: Vec<u64> = events.map(|mark| mark.at_ns).collect();
    marks.sort_unstable();
    let n_all = marks.len();
    marks.truncate(RankSummary::MAX_MARKS);
    let n_left_out = (n_all - marks.len()) as u64;
    (marks, n_left_out)
}

/// Steps and blocks, and which of them warm up; `None` when none has a duration. `communication` is `None` where no collective was recorded.
fn iterations(
    found: Option<&Steps>,
    communication: Option<&Communication>,
) -> Option<IterationSums> {
    let iterations = found?.each.iter().filter_map(|step| {
        let (time, duration_ns) = (step.time()?, step.duration_ns?);
        Some(Iteration { time, duration_ns, is_warm_up: step.is_warm_up })
    });
    iteration_sums(&iterations.collect::<Vec<Iteration>>(), communication)
}

/// The machine while it ran.
fn machine(run: &Run) -> MachineSums {
    let read = brief_telemetry(run);
    let (cpu, memory) = (read.cpu.as_ref(), read.memory.as_ref());
    MachineSums {
        gpus: read.gpus.iter().flat_map(|gpus| &gpus.each).map(gpu).collect(),
        process_cores: cpu.and_then(|cpu| cpu.process?.cores).map(range),
        host_cpu_ratio: cpu.and_then(|cpu| cpu.busy_ratio).map(range),
        host_memory_bytes: memory.and_then(|memory| memory.used).map(range),
        process_memory_peak_bytes: process_peak_bytes(run),
        torch_allocated_peak_bytes: torch_peak(run, |reading| {
            Some(reading.allocated_bytes.max(reading.peak_bytes.unwrap_or(0)))
        })
        .max(of_sections(run, |memory| memory.allocated_peak)),
        torch_reserved_peak_bytes: torch_peak(run, |reading| reading.reserved_bytes)
            .max(of_sections(run, |memory| memory.reserved_peak)),
    }
}

fn gpu(gpu: &GpuUse) -> GpuSums {
    GpuSums {
        uuid: gpu.uuid.clone(),
        name: gpu.name.clone(),
        memory_bytes: gpu.memory_used.map(range),
        memory_total_bytes: gpu.memory_total.map(|total| total.last),
        utilization_ratio: gpu.utilization.map(range),
        temperature_celsius: gpu.temperature.map(range),
        power_watts: gpu.power.map(range),
        energy_joules: gpu.energy.map(|energy| energy.joules),
        is_at_thermal_risk: gpu.is_at_thermal_risk(),
    }
}

fn range(figures: Figures) -> Range {
    Range { min: figures.min, mean: figures.mean, max: figures.max }
}

fn torch_peak(run: &Run, bytes: impl Fn(&marey::MemoryReading) -> Option<u64>) -> Option<u64> {
    let readings = run.memory.iter();
    let of_devices = readings.filter(|r| matches!(r.source, MemorySource::TorchCuda(_)));
    of_devices.filter_map(bytes).max()
}

fn of_sections(run: &Run, bytes: impl Fn(&marey::DeviceMemory) -> u64) -> Option<u64> {
    run.section_memory.iter().map(|m| bytes(&m.figures)).max()
}

fn work(run: &Run, found: &Diffusion) -> Work {
    let (blocks, steps) = (found.blocks.as_ref(), found.steps.as_ref());
    let pixels = found.rates.iter().filter(|r| r.kind == FrameKind::Pixel);
    let pixels = pixels.max_by_key(|rate| rate.over_ns);
    let delivered = crate::streaming(run).and_then(|streamed| streamed.frames);
    let ended = run.sessions.iter().filter(|s| s.end_ns.is_some());
    Work {
        latent_frames: blocks
            .and_then(|blocks| blocks.total_frames)
            .or_else(|| steps?.total_frames),
        pixel_frames: delivered.or_else(|| pixels.map(|rate| rate.frames)),
        latent_frames_per_second: blocks
            .and_then(|blocks| blocks.frames_per_second)
            .or_else(|| steps?.frames_per_second),
        pixel_frames_per_second: pixels.map(|rate| rate.per_second),
        blocks_per_second: blocks.and_then(|blocks| blocks.loops_per_second),
        n_sessions: ended.count() as u64,
    }
}
