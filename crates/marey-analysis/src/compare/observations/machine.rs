//! What the machine did meanwhile.

use super::{Asked, Observations};
use crate::compare::{MeasureKind, Subject};
use crate::readings::{Figures, Growth};
use crate::{CpuUse, GpuUse, Telemetry};

pub(super) fn observe(asked: &Asked<'_>, found: &mut Observations) {
    let telemetry = crate::telemetry(asked.run);
    let mut add = |kind, figure| found.add(kind, Subject::Run, figure);
    let mean = |figures: Option<Figures>| figures.map(|f| f.mean);
    let cpu = telemetry.cpu.as_ref();
    add(MeasureKind::CpuBusy, mean(cpu.and_then(|c| c.busy_ratio)));
    add(MeasureKind::IoWait, mean(cpu.and_then(|c| c.iowait_ratio)));
    let disk = telemetry.disk.as_ref();
    let total = |growth: Option<Growth>| growth.map(|g| g.total);
    let read = disk.and_then(|d| d.process_read);
    add(MeasureKind::BytesRead, total(read));
    add(MeasureKind::ReadRate, read.map(|g| g.per_second.mean));
    add(MeasureKind::BytesWritten, total(disk.and_then(|d| d.process_written)));
    let pressure = telemetry.pressure.unwrap_or_default();
    add(MeasureKind::IoPressure, mean(pressure.io_some));
    add(MeasureKind::MemoryPressure, mean(pressure.memory_some));
    add(MeasureKind::CpuWait, cpu.and_then(CpuUse::waited_ratio));
    let resident = telemetry.memory.as_ref().and_then(|m| m.process_resident);
    add(MeasureKind::ProcessMemoryPeak, resident.map(|f| f.max));
    observe_gpus(&telemetry, found);
}

fn observe_gpus(telemetry: &Telemetry, found: &mut Observations) {
    for gpu in telemetry.gpus.iter().flat_map(|gpus| &gpus.each) {
        let name = gpu.index.as_ref().unwrap_or(&gpu.uuid);
        let mut add = |kind, figure| found.add(kind, Subject::Gpu(name.clone()), figure);
        let mean = |figures: Option<Figures>| figures.map(|f| f.mean);
        add(MeasureKind::GpuMemoryPeak, gpu.memory_used.map(|f| f.max));
        add(MeasureKind::GpuUtilization, mean(gpu.utilization));
        add(MeasureKind::GpuPower, mean(gpu.power));
        add(MeasureKind::GpuEnergy, gpu.energy.map(|e| e.joules));
        add(MeasureKind::GpuTemperature, gpu.temperature.map(|f| f.max));
        add(MeasureKind::GpuClock, mean(gpu.clock_sm));
        add(MeasureKind::GpuThrottled, throttled(gpu));
    }
}

fn throttled(gpu: &GpuUse) -> Option<f64> {
    let throttling = gpu.throttling.filter(|t| t.known_ns > 0.0)?;
    Some(throttling.any_ns / throttling.known_ns)
}
