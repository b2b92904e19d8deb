//! The machine while a process ran.

use marey::{MemorySource, Run};

use crate::job::{GpuSums, MachineSums, Range};
use crate::questions::memory::process_peak_bytes;
use crate::questions::telemetry::{GpuUse, brief_telemetry};
use crate::readings::Figures;

pub(super) fn machine(run: &Run) -> MachineSums {
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
