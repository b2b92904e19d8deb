//! `summary`: the figures that a person looks at first.

use super::figures::{MIB, PERCENT};
use super::object::{Json, object};
use super::seconds;
use crate::model::Activity;

pub(super) fn of(activity: &Activity) -> impl Json + use<> {
    object! {
        /// The figures that one looks at first.
        struct Summary;
        /// Wall time, seconds.
        duration: seconds(activity.stages.wall_ns),
        /// All GPUs together, as in gpu_metrics; null when none was read.
        gpu: gpu(activity),
        /// The machine and the process; null when not read.
        cpu: cpu(activity),
    }
}

fn gpu(activity: &Activity) -> Option<impl Json + use<>> {
    let gpu = &activity.telemetry.gpus.as_ref()?.together;
    Some(object! {
        /// Highest memory in use.
        peak_memory_usage_mb: gpu.memory_used.map(|m| m.max * MIB),
        /// Mean over the time.
        avg_memory_usage_mb: gpu.memory_used.map(|m| m.mean * MIB),
        /// Highest share of the memory, percent.
        peak_memory_utilization: gpu.peak_memory_ratio.map(|ratio| ratio * PERCENT),
        /// Percent.
        avg_gpu_utilization: gpu.utilization.map(|u| u.mean * PERCENT),
        /// Percent.
        peak_gpu_utilization: gpu.utilization.map(|u| u.max * PERCENT),
        /// Energy, watt hours.
        total_energy_wh: gpu.energy.map(|e| e.watt_hours()),
    })
}

fn cpu(activity: &Activity) -> Option<impl Json + use<>> {
    let telemetry = &activity.telemetry;
    let (cpu, memory) = (telemetry.cpu.as_ref(), telemetry.memory.as_ref());
    if cpu.is_none() && memory.is_none() {
        return None;
    }
    let busy = cpu.and_then(|cpu| cpu.busy_ratio);
    let used = memory.and_then(|memory| memory.used);
    let cores = cpu.and_then(|cpu| cpu.process?.cores);
    let resident = memory.and_then(|memory| memory.process_resident);
    Some(object! {
        /// Share of the machine's processor time, percent.
        avg_cpu_usage: busy.map(|b| b.mean * PERCENT),
        /// Percent.
        peak_cpu_usage: busy.map(|b| b.max * PERCENT),
        /// In use on the machine.
        avg_memory_usage_mb: used.map(|m| m.mean * MIB),
        /// In use on the machine.
        peak_memory_usage_mb: used.map(|m| m.max * MIB),
        /// Cores that the process kept busy.
        avg_process_cores: cores.map(|c| c.mean),
        /// Resident memory of the process.
        peak_process_memory_mb: resident.map(|m| m.max * MIB),
    })
}
