//! What samplers read, as figures: of a process, and of GPUs, which several processes may read.

use std::collections::BTreeMap;

use marey::Unit;
use marey::live::{Look, Reading};

use super::figures::{Figures, Label, grow, put, short};
use super::metric::{Kind, Metric};

/// Readings that are older say nothing about now.
pub(super) const STALE_NS: u64 = 30_000_000_000;

/// Age and value of the reading that is told.
pub(super) type Newest = BTreeMap<(Metric, Vec<Label>), (u64, f64)>;

pub(super) fn readings(look: &Look, figures: &mut Figures, gpus: &mut Newest) {
    for reading in &look.series {
        let Some((metric, detail)) = metric_of(reading) else {
            continue;
        };
        let only_grows = metric.kind() == Kind::Counter;
        let is_of_now = look.is_running() && reading.age_ns <= STALE_NS;
        if !only_grows && !is_of_now || !reading.value.is_finite() {
            continue;
        }
        let is_of_gpu = reading.info.name.starts_with("gpu.");
        let mut labels: Vec<Label> = Vec::new();
        if is_of_gpu {
            labels.push(("hw_id", short(&reading.info.subject)));
            labels.push(("hw_type", "gpu".into()));
        }
        labels.extend(detail.map(|(name, value)| (name, value.to_owned())));
        match metric {
            Metric::ProcessGpuMemory => put(figures, metric, labels, reading.value),
            _ if !is_of_gpu && only_grows => grow(figures, metric, labels, reading.value),
            _ if !is_of_gpu => put(figures, metric, labels, reading.value),
            _ => {
                let known = gpus
                    .entry((metric, labels))
                    .or_insert((u64::MAX, reading.value));
                if only_grows {
                    known.1 = known.1.max(reading.value);
                } else if reading.age_ns <= known.0 {
                    *known = (reading.age_ns, reading.value);
                }
            }
        }
    }
}

/// The metric of a series, and what tells its parts apart; `None` for one that is not told.
fn metric_of(reading: &Reading) -> Option<(Metric, Option<(&'static str, &'static str)>)> {
    let info = &reading.info;
    let (metric, unit, detail) = match info.name.as_str() {
        "process.cpu.user" => (Metric::CpuTime, Unit::Seconds, Some(("cpu_mode", "user"))),
        "process.cpu.system" => (Metric::CpuTime, Unit::Seconds, Some(("cpu_mode", "system"))),
        "process.memory.resident" => (Metric::Memory, Unit::Bytes, None),
        "gpu.memory.process" => (Metric::ProcessGpuMemory, Unit::Bytes, None),
        "gpu.utilization" => (
            Metric::GpuUtilization,
            Unit::Ratio,
            Some(("hw_gpu_task", "general")),
        ),
        "gpu.memory.used" => (Metric::GpuMemoryUsage, Unit::Bytes, None),
        "gpu.memory.total" => (Metric::GpuMemoryLimit, Unit::Bytes, None),
        "gpu.power" => (Metric::Power, Unit::Watts, None),
        "gpu.energy" => (Metric::Energy, Unit::Joules, None),
        "gpu.temperature" => (Metric::Temperature, Unit::Celsius, None),
        "gpu.ecc.corrected" => (
            Metric::Errors,
            Unit::Count,
            Some(("error_type", "corrected")),
        ),
        "gpu.ecc.uncorrected" => (
            Metric::Errors,
            Unit::Count,
            Some(("error_type", "uncorrected")),
        ),
        _ => return None,
    };
    // A process of another version may count something else by that name.
    (info.unit == unit).then_some((metric, detail))
}
