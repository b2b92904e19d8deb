//! What can be read of a GPU: the table of series.

use marey::{SeriesInfo, SeriesKind, Unit};

/// A series before it is known of which GPU.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Metric {
    pub name: &'static str,
    unit: Unit,
    kind: SeriesKind,
}

impl Metric {
    const fn gauge(name: &'static str, unit: Unit) -> Self {
        Self { name, unit, kind: SeriesKind::Gauge }
    }

    const fn cumulative(name: &'static str, unit: Unit) -> Self {
        Self { name, unit, kind: SeriesKind::Cumulative }
    }

    /// The series of one GPU.
    pub(crate) fn of(&self, subject: &str) -> SeriesInfo {
        SeriesInfo { kind: self.kind, ..SeriesInfo::gauge(self.name, subject, self.unit) }
    }
}

pub(crate) const MEMORY_USED: Metric = Metric::gauge("gpu.memory.used", Unit::Bytes);
pub(crate) const MEMORY_TOTAL: Metric = Metric::gauge("gpu.memory.total", Unit::Bytes);
pub(crate) const MEMORY_PROCESS: Metric = Metric::gauge("gpu.memory.process", Unit::Bytes);
pub(crate) const MEMORY_BORROWED: Metric = Metric::gauge("gpu.memory.borrowed", Unit::Bytes);
pub(crate) const MEMORY_BORROWABLE: Metric = Metric::gauge("gpu.memory.borrowable", Unit::Bytes);
pub(crate) const UTILIZATION: Metric = Metric::gauge("gpu.utilization", Unit::Ratio);
pub(crate) const MEMORY_CONTROLLER: Metric =
    Metric::gauge("gpu.memory_controller.utilization", Unit::Ratio);
pub(crate) const TEMPERATURE: Metric = Metric::gauge("gpu.temperature", Unit::Celsius);
pub(crate) const POWER: Metric = Metric::gauge("gpu.power", Unit::Watts);
pub(crate) const POWER_LIMIT: Metric = Metric::gauge("gpu.power.limit", Unit::Watts);
pub(crate) const ENERGY: Metric = Metric::cumulative("gpu.energy", Unit::Joules);
pub(crate) const CLOCK_SM: Metric = Metric::gauge("gpu.clock.sm", Unit::Hertz);
pub(crate) const CLOCK_MEMORY: Metric = Metric::gauge("gpu.clock.memory", Unit::Hertz);
pub(crate) const THROTTLE: Metric = Metric::gauge("gpu.throttle", Unit::Bits);
pub(crate) const PCIE_SENT: Metric = Metric::gauge("gpu.pcie.sent", Unit::BytesPerSecond);
pub(crate) const PCIE_RECEIVED: Metric = Metric::gauge("gpu.pcie.received", Unit::BytesPerSecond);
pub(crate) const ECC_CORRECTED: Metric = Metric::cumulative("gpu.ecc.corrected", Unit::Count);
pub(crate) const ECC_UNCORRECTED: Metric = Metric::cumulative("gpu.ecc.uncorrected", Unit::Count);
pub(crate) const SM_ACTIVE: Metric = Metric::gauge("gpu.sm.active", Unit::Ratio);
pub(crate) const SM_OCCUPANCY: Metric = Metric::gauge("gpu.sm.occupancy", Unit::Ratio);
pub(crate) const TENSOR_ACTIVE: Metric = Metric::gauge("gpu.tensor.active", Unit::Ratio);
pub(crate) const DRAM_ACTIVE: Metric = Metric::gauge("gpu.dram.active", Unit::Ratio);
pub(crate) const FP16_ACTIVE: Metric = Metric::gauge("gpu.fp16.active", Unit::Ratio);
pub(crate) const FP32_ACTIVE: Metric = Metric::gauge("gpu.fp32.active", Unit::Ratio);
pub(crate) const FP64_ACTIVE: Metric = Metric::gauge("gpu.fp64.active", Unit::Ratio);

/// Counters of a driver as a reading: 53 bits hold every byte, microjoule and error that occurs.
#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 bytes are 8 PiB; above that a reading is off by some bytes"
)]
pub(crate) fn reading(counter: u64) -> f64 {
    counter as f64
}
