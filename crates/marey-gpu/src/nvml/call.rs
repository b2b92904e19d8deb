//! The table of what is asked of the library in each round.

use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureSensor,
};
use nvml_wrapper::error::NvmlError;

use super::process::Pids;
use crate::metric::{
    CLOCK_MEMORY, CLOCK_SM, ECC_CORRECTED, ECC_UNCORRECTED, ENERGY, MEMORY_CONTROLLER,
    MEMORY_PROCESS, MEMORY_TOTAL, MEMORY_USED, Metric, PCIE_RECEIVED, PCIE_SENT, POWER,
    POWER_LIMIT, TEMPERATURE, THROTTLE, UTILIZATION, reading,
};
use crate::options::Group;

/// One question to the library. Its answer is one value or two.
pub(super) struct Call {
    pub group: Group,
    pub metrics: &'static [Metric],
    /// At most one part in this many of the time is spent on it; 1 asks in every round.
    pub one_in: u64,
    pub ask: fn(&Asked, &mut [f64]) -> Result<(), NvmlError>,
}

/// Whom the library is asked about.
pub(super) struct Asked {
    pub device: Device<'static>,
    pub pids: Pids,
}

/// What waits for a while within the driver: 5 % of the time.
const WAITS: u64 = 20;
/// What seldom changes, or costs much: 0.05 % of the time, so that a call of 50 µs is made every 100 ms, one of 1 ms every 2 s.
const SELDOM: u64 = 2000;

pub(super) static CALLS: [Call; 14] = [
    Call {
        group: Group::Memory,
        metrics: &[MEMORY_USED, MEMORY_TOTAL],
        one_in: 1,
        ask: |of, values| {
            let memory = of.device.memory_info()?;
            put(values, &[reading(memory.used), reading(memory.total)])
        },
    },
    Call {
        group: Group::Memory,
        metrics: &[MEMORY_PROCESS],
        one_in: SELDOM,
        ask: |of, values| put(values, &[of.pids.memory(&of.device)?]),
    },
    Call {
        group: Group::Utilization,
        metrics: &[UTILIZATION, MEMORY_CONTROLLER],
        one_in: 1,
        ask: |of, values| {
            let busy = of.device.utilization_rates()?;
            let ratio = |percent| f64::from(percent) / 100.0;
            put(values, &[ratio(busy.gpu), ratio(busy.memory)])
        },
    },
    Call {
        group: Group::Temperature,
        metrics: &[TEMPERATURE],
        one_in: 1,
        ask: |of, values| {
            let degrees = of.device.temperature(TemperatureSensor::Gpu)?;
            put(values, &[f64::from(degrees)])
        },
    },
    Call {
        group: Group::Power,
        metrics: &[POWER],
        one_in: 1,
        ask: |of, values| put(values, &[milli(of.device.power_usage()?)]),
    },
    Call {
        group: Group::Power,
        metrics: &[POWER_LIMIT],
        one_in: SELDOM,
        ask: |of, values| put(values, &[milli(of.device.enforced_power_limit()?)]),
    },
    Call {
        group: Group::Power,
        metrics: &[ENERGY],
        // 2.7 to 3.7 ms on an H200 with driver 580, where nearly all else takes a microsecond.
        one_in: SELDOM,
        ask: |of, values| {
            let millijoules = of.device.total_energy_consumption()?;
            put(values, &[reading(millijoules) / 1e3])
        },
    },
    Call {
        group: Group::Utilization,
        metrics: &[CLOCK_SM],
        one_in: 1,
        ask: |of, values| put(values, &[mega(of.device.clock_info(Clock::SM)?)]),
    },
    Call {
        group: Group::Utilization,
        metrics: &[CLOCK_MEMORY],
        one_in: SELDOM,
        ask: |of, values| put(values, &[mega(of.device.clock_info(Clock::Memory)?)]),
    },
    Call {
        group: Group::Utilization,
        metrics: &[THROTTLE],
        one_in: 1,
        ask: |of, values| {
            let bits = of.device.current_throttle_reasons()?.bits();
            put(values, &[reading(bits)])
        },
    },
    Call {
        group: Group::Utilization,
        metrics: &[PCIE_SENT],
        one_in: 2 * WAITS,
        ask: |of, values| {
            let sent = of.device.pcie_throughput(PcieUtilCounter::Send)?;
            put(values, &[kilo(sent)])
        },
    },
    Call {
        group: Group::Utilization,
        metrics: &[PCIE_RECEIVED],
        one_in: 2 * WAITS,
        ask: |of, values| {
            let received = of.device.pcie_throughput(PcieUtilCounter::Receive)?;
            put(values, &[kilo(received)])
        },
    },
    Call {
        group: Group::Memory,
        metrics: &[ECC_CORRECTED],
        one_in: SELDOM,
        ask: |of, values| put(values, &[errors(of, MemoryError::Corrected)?]),
    },
    Call {
        group: Group::Memory,
        metrics: &[ECC_UNCORRECTED],
        one_in: SELDOM,
        ask: |of, values| put(values, &[errors(of, MemoryError::Uncorrected)?]),
    },
];

fn errors(of: &Asked, kind: MemoryError) -> Result<f64, NvmlError> {
    let count = of.device.total_ecc_errors(kind, EccCounter::Volatile)?;
    Ok(reading(count))
}

#[allow(clippy::unnecessary_wraps, reason = "the last line of a question that can fail")]
fn put(values: &mut [f64], read: &[f64]) -> Result<(), NvmlError> {
    for (value, read) in values.iter_mut().zip(read) {
        *value = *read;
    }
    Ok(())
}

fn milli(value: u32) -> f64 {
    f64::from(value) / 1e3
}

fn kilo(value: u32) -> f64 {
    f64::from(value) * 1e3
}

fn mega(value: u32) -> f64 {
    f64::from(value) * 1e6
}
