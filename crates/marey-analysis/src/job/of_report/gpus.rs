//! GPUs of a report.

use serde_json::Value;

use super::{MIB, at, number, range, text};
use crate::job::GpuSums;

/// Each GPU by its key in `gpu_metrics.devices`; of a report without them all GPUs as one without a name.
pub(super) fn gpus(report: &Value) -> Vec<GpuSums> {
    let devices = at(report, "gpu_metrics.devices").and_then(Value::as_object);
    if let Some(devices) = devices.filter(|devices| !devices.is_empty()) {
        let each = devices.iter();
        return each.map(|(uuid, device)| gpu(uuid, device)).collect();
    }
    let none = GpuSums::default();
    let found = report.get("gpu_metrics").map_or_else(|| none.clone(), |metrics| gpu("", metrics));
    let found = with_summary(found, report);
    if found == none { Vec::new() } else { vec![found] }
}

fn gpu(uuid: &str, of: &Value) -> GpuSums {
    let usage = ["min_usage_mb", "avg_usage_mb", "peak_usage_mb"];
    let busy = ["min_utilization", "avg_utilization", "peak_utilization"];
    let heat = ["min_temperature", "avg_temperature", "peak_temperature"];
    let watts = ["min_power_watts", "avg_power_watts", "peak_power_watts"];
    let joules = number(of, "power_analysis.total_energy_joules");
    let hours = number(of, "power_analysis.total_energy_wh");
    GpuSums {
        uuid: uuid.to_owned(),
        name: text(of, "name"),
        memory_bytes: range(of, "memory_analysis", usage, MIB),
        memory_total_bytes: number(of, "memory_analysis.total_memory_mb").map(|mb| mb * MIB),
        utilization_ratio: range(of, "utilization_analysis", busy, 0.01),
        temperature_celsius: range(of, "temperature_analysis", heat, 1.0),
        power_watts: range(of, "power_analysis", watts, 1.0),
        energy_joules: joules.or_else(|| hours.map(|hours| hours * 3600.0)),
        is_at_thermal_risk: at(of, "temperature_analysis.thermal_throttling_risk")
            .and_then(Value::as_bool),
    }
}

/// What only `summary.gpu` says.
fn with_summary(mut gpu: GpuSums, report: &Value) -> GpuSums {
    let summary = |keys: [&str; 3], factor: f64| range(report, "summary.gpu", keys, factor);
    let usage = ["", "avg_memory_usage_mb", "peak_memory_usage_mb"];
    let busy = ["", "avg_gpu_utilization", "peak_gpu_utilization"];
    let hours = number(report, "summary.gpu.total_energy_wh");
    gpu.memory_bytes = gpu.memory_bytes.or_else(|| summary(usage, MIB));
    gpu.utilization_ratio = gpu.utilization_ratio.or_else(|| summary(busy, 0.01));
    gpu.energy_joules = gpu.energy_joules.or_else(|| hours.map(|hours| hours * 3600.0));
    gpu
}
