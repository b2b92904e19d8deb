//! What is told to monitoring systems: the table of metrics.

use Kind::{Counter, Gauge, Summary};

/// A metric. Names are those that OpenTelemetry's conventions have in Prometheus, and begin with `diffusion` where they have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Whether a process records.
    Running,
    /// Time since the recording began.
    RecordingTime,
    /// Denoising steps.
    Steps,
    /// Number of the newest denoising step.
    StepNumber,
    /// Lookups of caches.
    CacheLookups,
    /// Blocks of frames.
    Blocks,
    /// Latent frames in blocks.
    BlockFrames,
    /// Frames that were delivered.
    FramesDelivered,
    /// Frames that were not delivered in time.
    FramesDropped,
    /// Time of the turns of a loop.
    IterationTime,
    /// Time in a section.
    SectionTime,
    /// Calls of a section.
    SectionCalls,
    /// Calls of a section that an error ended.
    SectionErrors,
    /// Sections and loops beyond the limit.
    SectionsLeftOut,
    /// Records that were lost.
    RecordsLost,
    /// CPU time of a process.
    CpuTime,
    /// Resident memory of a process.
    Memory,
    /// Memory of a GPU that a process holds.
    ProcessGpuMemory,
    /// How busy a GPU is.
    GpuUtilization,
    /// Memory of a GPU in use.
    GpuMemoryUsage,
    /// Memory of a GPU.
    GpuMemoryLimit,
    /// Power of a GPU.
    Power,
    /// Energy that a GPU took.
    Energy,
    /// Temperature of a GPU.
    Temperature,
    /// Memory errors of a GPU.
    Errors,
    /// Processes beyond the limit.
    ProcessesLeftOut,
}

/// What a value says about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// A reading of now.
    Gauge,
    /// Number, sum and some quantiles of durations.
    Summary,
}

impl Metric {
    /// All, in the order in which they are written.
    pub const ALL: [Self; 26] = [
        Self::Running,
        Self::RecordingTime,
        Self::Steps,
        Self::StepNumber,
        Self::CacheLookups,
        Self::Blocks,
        Self::BlockFrames,
        Self::FramesDelivered,
        Self::FramesDropped,
        Self::IterationTime,
        Self::SectionTime,
        Self::SectionCalls,
        Self::SectionErrors,
        Self::SectionsLeftOut,
        Self::RecordsLost,
        Self::CpuTime,
        Self::Memory,
        Self::ProcessGpuMemory,
        Self::GpuUtilization,
        Self::GpuMemoryUsage,
        Self::GpuMemoryLimit,
        Self::Power,
        Self::Energy,
        Self::Temperature,
        Self::Errors,
        Self::ProcessesLeftOut,
    ];

    /// Name, kind and what it is.
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, Kind, &'static str) {
        match self {
            Self::Running => ("diffusion_process_running", Gauge, "1 while the process records, 0 when that is over"),
            Self::RecordingTime => ("diffusion_recording_time_seconds", Gauge, "Time since the process began to record"),
            Self::Steps => ("diffusion_steps_total", Counter, "Denoising steps that the program reported"),
            Self::StepNumber => ("diffusion_step_number", Gauge, "Number of the denoising step that the program reported last, as it gave it"),
            Self::CacheLookups => ("diffusion_cache_lookups_total", Counter, "Lookups of caches that the program reported, by what came of them"),
            Self::Blocks => ("diffusion_blocks_total", Counter, "Blocks of frames that the program reported"),
            Self::BlockFrames => ("diffusion_block_frames_total", Counter, "Latent frames in those blocks"),
            Self::FramesDelivered => ("diffusion_frames_delivered_total", Counter, "Frames that were delivered"),
            Self::FramesDropped => ("diffusion_frames_dropped_total", Counter, "Frames that were to be delivered and were not"),
            Self::IterationTime => ("diffusion_iteration_time_seconds", Summary, "Time of completed turns of a loop; quantiles of the newest turns that were seen, 256 at most"),
            Self::SectionTime => ("diffusion_section_time_seconds_total", Counter, "Time in completed calls of a section, with that of the sections inside"),
            Self::SectionCalls => ("diffusion_section_calls_total", Counter, "Completed calls of a section"),
            Self::SectionErrors => ("diffusion_section_errors_total", Counter, "Completed calls of a section that an error ended"),
            Self::SectionsLeftOut => ("diffusion_sections_left_out", Gauge, "Call paths beyond the limit, which have no series of their own"),
            Self::RecordsLost => ("diffusion_records_lost_total", Counter, "Sections and notes that could not be recorded one by one"),
            Self::CpuTime => ("process_cpu_time_seconds_total", Counter, "CPU time of the process"),
            Self::Memory => ("process_memory_usage_bytes", Gauge, "Resident memory of the process"),
            Self::ProcessGpuMemory => ("diffusion_gpu_memory_usage_bytes", Gauge, "Memory of the GPU that the process holds"),
            Self::GpuUtilization => ("hw_gpu_utilization_ratio", Gauge, "Share of the driver's last sample period with work on the GPU"),
            Self::GpuMemoryUsage => ("hw_gpu_memory_usage_bytes", Gauge, "Memory of the GPU in use by all processes"),
            Self::GpuMemoryLimit => ("hw_gpu_memory_limit_bytes", Gauge, "Memory of the GPU"),
            Self::Power => ("hw_power_watts", Gauge, "Power of the GPU's board"),
            Self::Energy => ("hw_energy_joules_total", Counter, "Energy that the GPU took since its driver was loaded"),
            Self::Temperature => ("hw_temperature_celsius", Gauge, "Temperature of the GPU"),
            Self::Errors => ("hw_errors_total", Counter, "Errors of the GPU's memory since its driver was loaded"),
            Self::ProcessesLeftOut => ("diffusion_processes_left_out", Gauge, "Processes of the job beyond the limit, which have no series"),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What a value says about time.
    pub const fn kind(self) -> Kind {
        self.row().1
    }

    /// What it is, in one line.
    pub const fn help(self) -> &'static str {
        self.row().2
    }
}

impl Kind {
    /// What Prometheus calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Counter => "counter",
            Gauge => "gauge",
            Summary => "summary",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_in_the_table_of_the_documentation() {
        let documented = include_str!("../../../../docs/metrics.md");
        let rows: Vec<&str> = documented
            .lines()
            .filter(|line| {
                ["| `diffusion_", "| `hw_", "| `process_"]
                    .iter()
                    .any(|start| line.starts_with(start))
            })
            .collect();
        for (metric, row) in Metric::ALL.iter().zip(&rows) {
            let start = format!("| `{}` | {} |", metric.name(), metric.kind().name());
            assert!(row.starts_with(&start), "{start}\n{row}");
        }
        assert_eq!(rows.len(), Metric::ALL.len(), "each once");
    }
}
