//! Metrics of a GPU's units between two samples of its counters (GPM), from Hopper on.

use nvml_wrapper::Device;
use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::{GpmSample, gpm_metrics_get};

use super::reason;
use crate::metric::{
    DRAM_ACTIVE, FP16_ACTIVE, FP32_ACTIVE, FP64_ACTIVE, Metric, PCIE_RECEIVED, PCIE_SENT,
    SM_ACTIVE, SM_OCCUPANCY, TENSOR_ACTIVE,
};

/// Rounds that pass after a failure before the next attempt.
const PAUSE_ROUNDS: u32 = 50;
/// Failures in a row after which there is no further attempt.
const MOST_FAILURES: u32 = 5;

struct Counter {
    id: GpmMetricId,
    metric: Metric,
    unit: CounterUnit,
}

enum CounterUnit {
    Percent,
    MebibytesPerSecond,
}

static COUNTERS: [Counter; 9] = [
    percent(GpmMetricId::SmUtil, SM_ACTIVE),
    percent(GpmMetricId::SmOccupancy, SM_OCCUPANCY),
    percent(GpmMetricId::AnyTensorUtil, TENSOR_ACTIVE),
    percent(GpmMetricId::DramBwUtil, DRAM_ACTIVE),
    percent(GpmMetricId::Fp16Util, FP16_ACTIVE),
    percent(GpmMetricId::Fp32Util, FP32_ACTIVE),
    percent(GpmMetricId::Fp64Util, FP64_ACTIVE),
    mebibytes(GpmMetricId::PcieTxPerSec, PCIE_SENT),
    mebibytes(GpmMetricId::PcieRxPerSec, PCIE_RECEIVED),
];

const fn percent(id: GpmMetricId, metric: Metric) -> Counter {
    let unit = CounterUnit::Percent;
    Counter { id, metric, unit }
}

const fn mebibytes(id: GpmMetricId, metric: Metric) -> Counter {
    let unit = CounterUnit::MebibytesPerSecond;
    Counter { id, metric, unit }
}

/// The counters of one GPU.
pub(super) struct Gpm {
    counters: Vec<&'static Counter>,
    ids: Vec<GpmMetricId>,
    /// The sample that the next one is compared with.
    previous: Option<GpmSample<'static>>,
    state: State,
}

enum State {
    Works,
    /// Failures in a row, and rounds until the next attempt.
    Pauses {
        failures: u32,
        rounds: u32,
    },
    /// Why there are no further attempts.
    GivenUp(String),
}

impl Gpm {
    /// Finds out which metrics the GPU gives. `Err` says why none.
    pub(super) fn open(device: &Device<'static>) -> Result<Self, String> {
        let why = |error: NvmlError| match error {
            NvmlError::NotSupported => {
                "this GPU has no such counters; GPUs have them from Hopper on".to_owned()
            }
            error => reason::of_reading(&error, false),
        };
        if !device.gpm_support().map_err(why)? {
            return Err(why(NvmlError::NotSupported));
        }
        let first = device.gpm_sample().map_err(why)?;
        let second = device.gpm_sample().map_err(why)?;
        let ids: Vec<GpmMetricId> = COUNTERS.iter().map(|counter| counter.id).collect();
        let mut counters: Vec<&'static Counter> = COUNTERS.iter().collect();
        match gpm_metrics_get(device.nvml(), &first, &second, &ids) {
            // A metric may have no value over so short a time; only what will never have one is left out.
            Ok(results) => {
                let mut results = results.into_iter();
                counters.retain(|_| match results.next() {
                    Some(Err(error)) => !reason::is_for_good(&error),
                    _ => true,
                });
            }
            Err(error) if reason::is_for_good(&error) => return Err(why(error)),
            Err(_) => {}
        }
        Ok(Self {
            ids: counters.iter().map(|counter| counter.id).collect(),
            counters,
            previous: Some(second),
            state: State::Works,
        })
    }

    pub(super) fn metrics(&self) -> impl Iterator<Item = &'static Metric> {
        self.counters.iter().map(|counter| &counter.metric)
    }

    /// Reads what happened since the last round. `Err` only if the GPU is lost.
    pub(super) fn read(
        &mut self,
        device: &Device<'static>,
        values: &mut [f64],
    ) -> Result<(), NvmlError> {
        match &mut self.state {
            State::GivenUp(_) => return Ok(()),
            State::Pauses { rounds, .. } if *rounds > 0 => {
                *rounds -= 1;
                return Ok(());
            }
            State::Pauses { .. } | State::Works => {}
        }
        match self.read_now(device, values) {
            Ok(()) => self.state = State::Works,
            Err(error) if reason::is_lost(&error) => {
                self.previous = None;
                return Err(error);
            }
            Err(error) => self.failed(&error),
        }
        Ok(())
    }

    /// Why it was given up, if it was.
    pub(super) fn given_up(&self) -> Option<&str> {
        match &self.state {
            State::GivenUp(why) => Some(why),
            State::Works | State::Pauses { .. } => None,
        }
    }

    fn read_now(&mut self, device: &Device<'static>, values: &mut [f64]) -> Result<(), NvmlError> {
        let sample = device.gpm_sample()?;
        if let Some(previous) = &self.previous {
            let results = gpm_metrics_get(device.nvml(), previous, &sample, &self.ids)?;
            let results = results.into_iter().zip(&self.counters);
            for (value, (result, counter)) in values.iter_mut().zip(results) {
                *value = result.map_or(f64::NAN, |result| counter.unit.convert(result.value));
            }
        }
        self.previous = Some(sample);
        Ok(())
    }

    fn failed(&mut self, error: &NvmlError) {
        // What lies before the pause would count for the time after it.
        self.previous = None;
        let failures = match self.state {
            State::Pauses { failures, .. } => failures + 1,
            State::Works | State::GivenUp(_) => 1,
        };
        self.state = if failures < MOST_FAILURES {
            let rounds = PAUSE_ROUNDS;
            State::Pauses { failures, rounds }
        } else {
            let why = reason::of_reading(error, false);
            State::GivenUp(format!("given up after {failures} failures: {why}"))
        };
    }
}

impl CounterUnit {
    /// In the series' unit; NaN for what cannot be. Counters of parts that run at different clocks can say a little more than all.
    fn convert(&self, value: f64) -> f64 {
        match self {
            Self::Percent if (0.0..=110.0).contains(&value) => (value / 100.0).min(1.0),
            Self::MebibytesPerSecond if value.is_finite() && value >= 0.0 => value * 1_048_576.0,
            _ => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "expected values are exact")]

    use super::*;

    #[test]
    fn shares_are_of_one_and_throughput_is_in_bytes() {
        assert_eq!(CounterUnit::Percent.convert(25.0), 0.25);
        assert_eq!(CounterUnit::Percent.convert(0.0), 0.0);
        assert_eq!(CounterUnit::Percent.convert(100.4), 1.0);
        assert_eq!(CounterUnit::MebibytesPerSecond.convert(2.0), 2_097_152.0);
    }

    #[test]
    fn what_cannot_be_is_no_reading() {
        for value in [-1.0, 1e9, f64::NAN, f64::INFINITY] {
            assert!(CounterUnit::Percent.convert(value).is_nan(), "{value}");
        }
        assert!(CounterUnit::MebibytesPerSecond.convert(-0.5).is_nan());
        assert!(CounterUnit::MebibytesPerSecond.convert(f64::NAN).is_nan());
    }
}
