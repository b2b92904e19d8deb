//! The table of what monitoring systems get. Names are those that OpenTelemetry's conventions have in Prometheus, and begin with
//! `diffusion` where they have none.

use Kind::{Counter, Gauge, Summary};
use Read::{Iterations, Parts, Process, Sections, Series, Told};
use marey::Unit;
use marey::live::Totals;

use super::{LiveSnapshot, seconds};
use crate::quantity::float;

/// A figure.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What it is, in one line.
    pub(super) help: &'static str,
    pub(super) read: Read,
}

/// What a value says about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only grows.
    Counter,
    /// A reading of now.
    Gauge,
    /// Number, sum and some quantiles of durations.
    Summary,
}

/// Where it is in a snapshot.
pub(super) enum Read {
    /// One value.
    Process(fn(&LiveSnapshot) -> Option<f64>),
    /// Several values, by a label.
    Parts(&'static str, fn(&LiveSnapshot) -> Vec<(&'static str, f64)>),
    /// One of each section.
    Sections(fn(&Totals) -> f64),
    /// Durations of each loop.
    Iterations,
    /// What samplers read, in a unit: series, each with the label that it has beside others of its figure. Figures that begin with `hw_` are
    /// of the machine, which several processes may read.
    Series(Unit, &'static [(&'static str, Option<Part>)]),
    /// Given by whoever looks.
    Told,
}

/// A label with its value.
pub(super) type Part = (&'static str, &'static str);

/// Call paths of a process that have series of their own: those that came first, so that a series that is there stays.
pub(super) const MAX_SECTIONS: usize = 200;
/// The figure that says how many processes there was no room for.
pub(super) const LEFT_OUT: &str = "diffusion_processes_left_out";

#[rustfmt::skip]
pub(super) const FIGURES: [Figure; 26] = [
    figure("diffusion_process_running", Gauge, "1 while the process records, 0 when that is over", Process(|now| Some(f64::from(u8::from(now.look.is_running()))))),
    figure("diffusion_recording_time_seconds", Gauge, "Time since the process began to record", Process(|now| Some(seconds(now.look.at_ns)))),
    figure("diffusion_steps_total", Counter, "Denoising steps that the program reported, else those that are known by the names of loops", Process(|now| said(now.made.steps))),
    figure("diffusion_step_number", Gauge, "Number of the denoising step that the program reported last, as it gave it", Process(|now| now.look.step.filter(|_| now.look.is_running()).map(float))),
    figure("diffusion_cache_lookups_total", Counter, "Lookups of caches that the program reported, by what came of them", Parts("outcome", lookups)),
    figure("diffusion_blocks_total", Counter, "Blocks of frames that the program reported, else those that are known by the names of loops", Process(|now| said(now.made.blocks))),
    figure("diffusion_block_frames_total", Counter, "Latent frames in the blocks that the program reported", Process(|now| said(now.look.generated.block_frames))),
    figure("diffusion_frames_delivered_total", Counter, "Frames that were delivered", Process(|now| said(now.look.generated.streamed_frames))),
    figure("diffusion_frames_dropped_total", Counter, "Frames that were to be delivered and were not", Process(|now| said(now.look.generated.dropped_frames))),
    figure("diffusion_iteration_time_seconds", Summary, "Time of completed iterations of a loop; quantiles of the newest iterations that were seen, 256 at most", Iterations),
    figure("diffusion_section_time_seconds_total", Counter, "Time in completed calls of a section, with that of the sections inside", Sections(|calls| seconds(calls.sum_ns))),
    figure("diffusion_section_calls_total", Counter, "Completed calls of a section", Sections(|calls| float(calls.count))),
    figure("diffusion_section_errors_total", Counter, "Completed calls of a section that an error ended", Sections(|calls| float(calls.errors))),
    figure("diffusion_sections_left_out", Gauge, "Call paths beyond the limit, which have no series of their own", Process(|now| said(now.look.totals.len().saturating_sub(MAX_SECTIONS) as u64))),
    figure("diffusion_records_lost_total", Counter, "Sections and notes that could not be recorded one by one", Process(|now| Some(lost(now)))),
    figure("process_cpu_time_seconds_total", Counter, "CPU time of the process", Series(Unit::Seconds, &[("process.cpu.user", Some(("cpu_mode", "user"))), ("process.cpu.system", Some(("cpu_mode", "system")))])),
    figure("process_memory_usage_bytes", Gauge, "Resident memory of the process", Series(Unit::Bytes, &[("process.memory.resident", None)])),
    figure("diffusion_gpu_memory_usage_bytes", Gauge, "Memory of the GPU that the process holds", Series(Unit::Bytes, &[("gpu.memory.process", None)])),
    figure("hw_gpu_utilization_ratio", Gauge, "Share of the driver's last sample period with work on the GPU", Series(Unit::Ratio, &[("gpu.utilization", Some(("hw_gpu_task", "general")))])),
    figure("hw_gpu_memory_usage_bytes", Gauge, "Memory of the GPU in use by all processes", Series(Unit::Bytes, &[("gpu.memory.used", None)])),
    figure("hw_gpu_memory_limit_bytes", Gauge, "Memory of the GPU", Series(Unit::Bytes, &[("gpu.memory.total", None)])),
    figure("hw_power_watts", Gauge, "Power of the GPU's board", Series(Unit::Watts, &[("gpu.power", None)])),
    figure("hw_energy_joules_total", Counter, "Energy that the GPU took since its driver was loaded", Series(Unit::Joules, &[("gpu.energy", None)])),
    figure("hw_temperature_celsius", Gauge, "Temperature of the GPU", Series(Unit::Celsius, &[("gpu.temperature", None)])),
    figure("hw_errors_total", Counter, "Errors of the GPU's memory since its driver was loaded", Series(Unit::Count, &[("gpu.ecc.corrected", Some(("error_type", "corrected"))), ("gpu.ecc.uncorrected", Some(("error_type", "uncorrected")))])),
    figure(LEFT_OUT, Gauge, "Processes of the job beyond the limit, which have no series", Told),
];

const fn figure(name: &'static str, kind: Kind, help: &'static str, read: Read) -> Figure {
    Figure { name, kind, help, read }
}

impl Kind {
    /// What Prometheus calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Counter => "counter",
            Gauge => "gauge",
            Summary => "summary",
        }
    }
}

/// A count that is 0 was never reported: it is absent.
fn said(count: u64) -> Option<f64> {
    (count > 0).then(|| float(count))
}

/// Where lookups are reported, no hit is a number, too.
fn lookups(now: &LiveSnapshot) -> Vec<(&'static str, f64)> {
    match (now.look.cache_hits, now.look.cache_misses) {
        (0, 0) => vec![],
        (hits, misses) => vec![("hit", float(hits)), ("miss", float(misses))],
    }
}

fn lost(now: &LiveSnapshot) -> f64 {
    let losses = &now.look.losses;
    let lost = [
        losses.sections_ring_full,
        losses.sections_not_written,
        losses.sections_unrecorded,
        losses.notes_dropped,
    ];
    float(lost.into_iter().fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_in_the_table_of_the_documentation() {
        let documented = include_str!("../../../../docs/metrics.md");
        let begins = ["| `diffusion_", "| `hw_", "| `process_"];
        let is_row = |line: &&str| begins.iter().any(|start| line.starts_with(start));
        let rows: Vec<&str> = documented.lines().filter(is_row).collect();
        for (Figure { name, kind, .. }, row) in FIGURES.iter().zip(&rows) {
            let start = format!("| `{name}` | {} |", kind.name());
            assert!(row.starts_with(&start), "{start}\n{row}");
        }
        assert_eq!(rows.len(), FIGURES.len(), "each once");
    }
}
