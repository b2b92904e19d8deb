//! `summary`: the figures that a person looks at first.

use serde::Serialize;

use super::figures::{MIB, PERCENT};
use super::object::object;
use super::seconds;
use crate::model::Activity;

pub(super) fn of(activity: &Activity) -> impl Serialize + use<> {
    object! {
        duration: seconds(activity.stages.wall_ns),
        gpu: gpu(activity),
        cpu: cpu(activity),
    }
}

fn gpu(activity: &Activity) -> Option<impl Serialize + use<>> {
    let gpu = &activity.telemetry.gpus.as_ref()?.together;
    Some(object! {
        peak_memory_usage_mb: gpu.memory_used.map(|m| m.max * MIB),
        avg_memory_usage_mb: gpu.memory_used.map(|m| m.mean * MIB),
        peak_memory_utilization: gpu.peak_memory_ratio.map(|ratio| ratio * PERCENT),
        avg_gpu_utilization: gpu.utilization.map(|u| u.mean * PERCENT),
        peak_gpu_utilization: gpu.utilization.map(|u| u.max * PERCENT),
        total_energy_wh: gpu.energy.map(|e| e.watt_hours()),
    })
}

fn cpu(activity: &Activity) -> Option<impl Serialize + use<>> {
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
        avg_cpu_usage: busy.map(|b| b.mean * PERCENT),
        peak_cpu_usage: busy.map(|b| b.max * PERCENT),
        avg_memory_usage_mb: used.map(|m| m.mean * MIB),
        peak_memory_usage_mb: used.map(|m| m.max * MIB),
        avg_process_cores: cores.map(|c| c.mean),
        peak_process_memory_mb: resident.map(|m| m.max * MIB),
    })
}
