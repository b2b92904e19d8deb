//! What did the machine do meanwhile?
//!
//! Figures of the series that samplers recorded; the tables of series are in `docs/explanation/series.md`. What was not read is
//! absent: a metric is never 0 because nobody measured it.

mod cpu;
mod disk;
mod gpu;
mod gpu_lanes;
mod host_memory;
mod network;
mod pressure;
mod sampled;
mod sampler;
mod throttling;
mod timeline;

use marey::{Run, Unavailable};
use serde::Serialize;

use sampled::Sampled;

pub use cpu::{CoreUse, CpuTime, CpuUse, LoadAverage};
pub use disk::{DeviceUse, DiskUse, FileCached, PageCache};
pub use gpu::{Energy, EnergySource, GpuMetric, GpuUse, Gpus};
pub use host_memory::{HostMemory, MemoryBound};
pub use network::InterfaceUse;
pub use pressure::Pressure;
pub use sampler::SamplerUse;
pub use throttling::Throttling;
pub use timeline::{CpuPoint, GpuPoint};

/// What samplers read of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Telemetry {
    /// Processor time; `None` when none was read.
    pub cpu: Option<CpuUse>,
    /// Memory of the machine and of the process; `None` when none was read.
    pub memory: Option<HostMemory>,
    /// Disks; `None` when none were read.
    pub disk: Option<DiskUse>,
    /// Time that was lost to waiting for the machine; `None` when the kernel does not say.
    pub pressure: Option<Pressure>,
    /// Each network interface, by name.
    pub network: Vec<InterfaceUse>,
    /// GPUs; `None` when none was read.
    pub gpus: Option<Gpus>,
    /// Each sampler, by name.
    pub samplers: Vec<SamplerUse>,
    /// Rounds in which the machine was read: readings of the series that has most of them.
    pub n_host_readings: u64,
    /// The machine over time, a point a reading.
    pub cpu_timeline: Vec<CpuPoint>,
    /// What could not be read, and why.
    #[serde(skip)]
    pub unavailable: Vec<Unavailable>,
}

impl Telemetry {
    /// Something of the machine itself was read, not only of GPUs.
    pub fn has_machine(&self) -> bool {
        let has_memory = self.memory.is_some() || self.disk.is_some();
        self.cpu.is_some() || has_memory || self.pressure.is_some() || !self.network.is_empty()
    }
}

/// Figures of processors, memory and GPUs alone, without the sections in which they were highest: no section is looked at.
pub(crate) fn brief_telemetry(run: &Run) -> Telemetry {
    let sampled = Sampled::without_places(run);
    Telemetry {
        cpu: cpu::cpu(&sampled),
        memory: host_memory::host_memory(&sampled),
        gpus: gpu::gpus(&sampled),
        ..Telemetry::default()
    }
}

/// Figures of all that was sampled.
pub fn telemetry(run: &Run) -> Telemetry {
    let sampled = Sampled::new(run);
    Telemetry {
        cpu: cpu::cpu(&sampled),
        memory: host_memory::host_memory(&sampled),
        disk: disk::disk(&sampled),
        pressure: pressure::pressure(&sampled),
        network: network::network(&sampled),
        gpus: gpu::gpus(&sampled),
        samplers: sampler::samplers(&sampled),
        n_host_readings: sampled.n_host_readings(),
        cpu_timeline: timeline::of_machine(&sampled),
        unavailable: run.unavailable.clone(),
    }
}
