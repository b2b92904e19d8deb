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
use crate::options::{self, Switch};

/// One question to the library. Its answer is one value or two.
pub(super) struct Call {
    /// Asks whether it is wanted.
    pub switch: Switch,
    pub metrics: &'static [Metric],
    /// At most one part in this many of the time is spent on it; 1 asks in every round.
    pub one_in: u64,
    pub ask: Ask,
}

/// Fills in the values, in the order of the metrics.
type Ask = fn(&Asked, &mut [f64]) -> Result<(), NvmlError>;

/// Whom the library is asked about.
pub(super) struct Asked {
    pub device: Device<'static>,
    pub pids: Pids,
}

const EACH_ROUND: u64 = 1;
/// What waits for a while within the driver, two calls of it: 5 % of the time.
const WAITS: u64 = 40;
/// What seldom changes, or costs much: 0.05 % of the time, so that a call of 50 µs is made every 100 ms, one of 1 ms every 2 s.
const SELDOM: u64 = 2000;

const fn call(switch: Switch, metrics: &'static [Metric], one_in: u64, ask: Ask) -> Call {
    Call { switch, metrics, one_in, ask }
}

pub(super) static CALLS: [Call; 14] = [
    call(options::MEMORY, &[MEMORY_USED, MEMORY_TOTAL], EACH_ROUND, |of, values| {
        let memory = of.device.memory_info()?;
        put(values, &[reading(memory.used), reading(memory.total)])
    }),
    call(options::MEMORY, &[MEMORY_PROCESS], SELDOM, |of, values| {
        put(values, &[of.pids.memory(&of.device)?])
    }),
    call(options::UTILIZATION, &[UTILIZATION, MEMORY_CONTROLLER], EACH_ROUND, |of, values| {
        let busy = of.device.utilization_rates()?;
        let ratio = |percent| f64::from(percent) / 100.0;
        put(values, &[ratio(busy.gpu), ratio(busy.memory)])
    }),
    call(options::TEMPERATURE, &[TEMPERATURE], EACH_ROUND, |of, values| {
        put(values, &[f64::from(of.device.temperature(TemperatureSensor::Gpu)?)])
    }),
    call(options::POWER, &[POWER], EACH_ROUND, |of, values| {
        put(values, &[f64::from(of.device.power_usage()?) / 1e3])
    }),
    call(options::POWER, &[POWER_LIMIT], SELDOM, |of, values| {
        put(values, &[f64::from(of.device.enforced_power_limit()?) / 1e3])
    }),
    // 2.7 to 3.7 ms on an H200 with driver 580, where nearly all else takes a microsecond.
    call(options::POWER, &[ENERGY], SELDOM, |of, values| {
        put(values, &[reading(of.device.total_energy_consumption()?) / 1e3])
    }),
    call(options::UTILIZATION, &[CLOCK_SM], EACH_ROUND, |of, values| {
        put(values, &[f64::from(of.device.clock_info(Clock::SM)?) * 1e6])
    }),
    call(options::UTILIZATION, &[CLOCK_MEMORY], SELDOM, |of, values| {
        put(values, &[f64::from(of.device.clock_info(Clock::Memory)?) * 1e6])
    }),
    call(options::UTILIZATION, &[THROTTLE], EACH_ROUND, |of, values| {
        put(values, &[reading(of.device.current_throttle_reasons()?.bits())])
    }),
    call(options::UTILIZATION, &[PCIE_SENT], WAITS, |of, values| {
        put(values, &[f64::from(of.device.pcie_throughput(PcieUtilCounter::Send)?) * 1e3])
    }),
    call(options::UTILIZATION, &[PCIE_RECEIVED], WAITS, |of, values| {
        put(values, &[f64::from(of.device.pcie_throughput(PcieUtilCounter::Receive)?) * 1e3])
    }),
    call(options::MEMORY, &[ECC_CORRECTED], SELDOM, |of, values| {
        put(values, &[errors(of, MemoryError::Corrected)?])
    }),
    call(options::MEMORY, &[ECC_UNCORRECTED], SELDOM, |of, values| {
        put(values, &[errors(of, MemoryError::Uncorrected)?])
    }),
];

fn errors(of: &Asked, kind: MemoryError) -> Result<f64, NvmlError> {
    Ok(reading(of.device.total_ecc_errors(kind, EccCounter::Volatile)?))
}

#[allow(clippy::unnecessary_wraps, reason = "the last line of a question that can fail")]
fn put(values: &mut [f64], read: &[f64]) -> Result<(), NvmlError> {
    for (value, read) in values.iter_mut().zip(read) {
        *value = *read;
    }
    Ok(())
}
