//! What is told to monitoring systems: the table of metrics.

use Instrument::{Counter, Gauge, Summary, UpDownCounter};

/// A metric. Names are those of OpenTelemetry where it has one, and below `diffusion` where it has none.
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
pub enum Instrument {
    /// Only grows.
    Counter,
    /// A reading of now.
    Gauge,
    /// An amount of now; those of several processes can be added up.
    UpDownCounter,
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

    /// Name, instrument, unit (UCUM) and what it is.
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, Instrument, &'static str, &'static str) {
        match self {
            Self::Running => ("diffusion.process.running", UpDownCounter, "{process}", "1 while the process records, 0 when that is over"),
            Self::RecordingTime => ("diffusion.recording.time", Gauge, "s", "Time since the process began to record"),
            Self::Steps => ("diffusion.steps", Counter, "{step}", "Denoising steps that the program reported"),
            Self::StepNumber => ("diffusion.step.number", Gauge, "{step}", "Number of the denoising step that the program reported last, as it gave it"),
            Self::CacheLookups => ("diffusion.cache.lookups", Counter, "{lookup}", "Lookups of caches that the program reported, by what came of them"),
            Self::Blocks => ("diffusion.blocks", Counter, "{block}", "Blocks of frames that the program reported"),
            Self::BlockFrames => ("diffusion.block.frames", Counter, "{frame}", "Latent frames in those blocks"),
            Self::FramesDelivered => ("diffusion.frames.delivered", Counter, "{frame}", "Frames that were delivered"),
            Self::FramesDropped => ("diffusion.frames.dropped", Counter, "{frame}", "Frames that were to be delivered and were not"),
            Self::IterationTime => ("diffusion.iteration.time", Summary, "s", "Time of completed turns of a loop; quantiles of the newest turns that were seen, 256 at most"),
            Self::SectionTime => ("diffusion.section.time", Counter, "s", "Time in completed calls of a section, with that of the sections inside"),
            Self::SectionCalls => ("diffusion.section.calls", Counter, "{call}", "Completed calls of a section"),
            Self::SectionErrors => ("diffusion.section.errors", Counter, "{call}", "Completed calls of a section that an error ended"),
            Self::SectionsLeftOut => ("diffusion.sections.left_out", UpDownCounter, "{section}", "Call paths beyond the limit, which have no series of their own"),
            Self::RecordsLost => ("diffusion.records.lost", Counter, "{record}", "Sections and notes that could not be recorded one by one"),
            Self::CpuTime => ("process.cpu.time", Counter, "s", "CPU time of the process"),
            Self::Memory => ("process.memory.usage", UpDownCounter, "By", "Resident memory of the process"),
            Self::ProcessGpuMemory => ("diffusion.gpu.memory.usage", UpDownCounter, "By", "Memory of the GPU that the process holds"),
            Self::GpuUtilization => ("hw.gpu.utilization", Gauge, "1", "Share of the driver's last sample period with work on the GPU"),
            Self::GpuMemoryUsage => ("hw.gpu.memory.usage", UpDownCounter, "By", "Memory of the GPU in use by all processes"),
            Self::GpuMemoryLimit => ("hw.gpu.memory.limit", UpDownCounter, "By", "Memory of the GPU"),
            Self::Power => ("hw.power", Gauge, "W", "Power of the GPU's board"),
            Self::Energy => ("hw.energy", Counter, "J", "Energy that the GPU took since its driver was loaded"),
            Self::Temperature => ("hw.temperature", Gauge, "Cel", "Temperature of the GPU"),
            Self::Errors => ("hw.errors", Counter, "{error}", "Errors of the GPU's memory since its driver was loaded"),
            Self::ProcessesLeftOut => ("diffusion.processes.left_out", UpDownCounter, "{process}", "Processes of the job beyond the limit, which have no series"),
        }
    }

    /// Its name in OpenTelemetry.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What a value says about time.
    pub const fn instrument(self) -> Instrument {
        self.row().1
    }

    /// Its unit, in the spelling of UCUM that OpenTelemetry uses.
    pub const fn unit(self) -> &'static str {
        self.row().2
    }

    /// What it is, in one line.
    pub const fn help(self) -> &'static str {
        self.row().3
    }

    /// Its name in Prometheus, as collectors translate it: the unit in words, and `total` for what only grows.
    pub fn prometheus_name(self) -> String {
        let unit = match self.unit() {
            "s" => "_seconds",
            "By" => "_bytes",
            "J" => "_joules",
            "W" => "_watts",
            "Cel" => "_celsius",
            "1" => "_ratio",
            _ => "",
        };
        let total = match self.instrument() {
            Counter => "_total",
            Gauge | UpDownCounter | Summary => "",
        };
        format!("{}{unit}{total}", self.name().replace('.', "_"))
    }
}

impl Instrument {
    /// What Prometheus calls it.
    pub const fn prometheus_name(self) -> &'static str {
        match self {
            Counter => "counter",
            Gauge | UpDownCounter => "gauge",
            Summary => "summary",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_translated_as_collectors_do() {
        let names = [
            (Metric::SectionTime, "diffusion_section_time_seconds_total"),
            (Metric::Steps, "diffusion_steps_total"),
            (Metric::GpuUtilization, "hw_gpu_utilization_ratio"),
            (Metric::GpuMemoryUsage, "hw_gpu_memory_usage_bytes"),
            (Metric::Energy, "hw_energy_joules_total"),
            (Metric::Temperature, "hw_temperature_celsius"),
            (Metric::Running, "diffusion_process_running"),
        ];
        for (metric, name) in names {
            assert_eq!(metric.prometheus_name(), name);
        }
    }

    #[test]
    fn every_metric_is_in_the_table_of_the_documentation() {
        let documented = include_str!("../../../../docs/metrics.md");
        let rows: Vec<&str> = documented
            .lines()
            .filter(|line| {
                ["| `diffusion", "| `hw.", "| `process."]
                    .iter()
                    .any(|start| line.starts_with(start))
            })
            .collect();
        for (metric, row) in Metric::ALL.iter().zip(&rows) {
            let start = format!(
                "| `{}` | `{}` | {} | {:?} | `{}` |",
                metric.name(),
                metric.prometheus_name(),
                metric.instrument().prometheus_name(),
                metric.instrument(),
                metric.unit(),
            );
            assert!(row.starts_with(&start), "{start}\n{row}");
        }
        assert_eq!(rows.len(), Metric::ALL.len(), "each once");
    }
}
