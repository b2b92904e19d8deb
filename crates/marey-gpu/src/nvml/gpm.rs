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
    /// A value in the series' unit; NaN for what cannot be.
    convert: fn(f64) -> f64,
}

static COUNTERS: [Counter; 9] = [
    counter(GpmMetricId::SmUtil, SM_ACTIVE, ratio),
    counter(GpmMetricId::SmOccupancy, SM_OCCUPANCY, ratio),
    counter(GpmMetricId::AnyTensorUtil, TENSOR_ACTIVE, ratio),
    counter(GpmMetricId::DramBwUtil, DRAM_ACTIVE, ratio),
    counter(GpmMetricId::Fp16Util, FP16_ACTIVE, ratio),
    counter(GpmMetricId::Fp32Util, FP32_ACTIVE, ratio),
    counter(GpmMetricId::Fp64Util, FP64_ACTIVE, ratio),
    counter(GpmMetricId::PcieTxPerSec, PCIE_SENT, bytes),
    counter(GpmMetricId::PcieRxPerSec, PCIE_RECEIVED, bytes),
];

const fn counter(id: GpmMetricId, metric: Metric, convert: fn(f64) -> f64) -> Counter {
    Counter { id, metric, convert }
}

/// Of percent. Counters of parts that run at different clocks can say a little more than all.
fn ratio(percent: f64) -> f64 {
    if (0.0..=110.0).contains(&percent) { (percent / 100.0).min(1.0) } else { f64::NAN }
}

/// Of MiB.
fn bytes(mebibytes: f64) -> f64 {
    if mebibytes.is_finite() && mebibytes >= 0.0 { mebibytes * 1_048_576.0 } else { f64::NAN }
}

/// The counters of one GPU.
pub(super) struct Gpm {
    counters: Vec<&'static Counter>,
    ids: Vec<GpmMetricId>,
    /// The sample that the next one is compared with.
    previous: Option<GpmSample<'static>>,
    /// In a row.
    failures: u32,
    /// Rounds until the next attempt.
    pause_rounds: u32,
    /// Why there are no further attempts.
    given_up: Option<String>,
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
            failures: 0,
            pause_rounds: 0,
            given_up: None,
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
        if self.given_up.is_some() {
            return Ok(());
        }
        if self.pause_rounds > 0 {
            self.pause_rounds -= 1;
            return Ok(());
        }
        match self.read_now(device, values) {
            Ok(()) => self.failures = 0,
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
        self.given_up.as_deref()
    }

    fn read_now(&mut self, device: &Device<'static>, values: &mut [f64]) -> Result<(), NvmlError> {
        let sample = device.gpm_sample()?;
        if let Some(previous) = &self.previous {
            let results = gpm_metrics_get(device.nvml(), previous, &sample, &self.ids)?;
            let results = results.into_iter().zip(&self.counters);
            for (value, (result, counter)) in values.iter_mut().zip(results) {
                *value = result.map_or(f64::NAN, |result| (counter.convert)(result.value));
            }
        }
        self.previous = Some(sample);
        Ok(())
    }

    fn failed(&mut self, error: &NvmlError) {
        // What lies before the pause would count for the time after it.
        self.previous = None;
        self.failures += 1;
        self.pause_rounds = PAUSE_ROUNDS;
        if self.failures >= MOST_FAILURES {
            let why = reason::of_reading(error, false);
            self.given_up = Some(format!("given up after {} failures: {why}", self.failures));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "expected values are exact")]

    use super::*;

    #[test]
    fn shares_are_of_one_and_throughput_is_in_bytes() {
        assert_eq!(ratio(25.0), 0.25);
        assert_eq!(ratio(0.0), 0.0);
        assert_eq!(ratio(100.4), 1.0);
        assert_eq!(bytes(2.0), 2_097_152.0);
    }

    #[test]
    fn what_cannot_be_is_no_reading() {
        for value in [-1.0, 1e9, f64::NAN, f64::INFINITY] {
            assert!(ratio(value).is_nan(), "{value}");
        }
        assert!(bytes(-0.5).is_nan());
        assert!(bytes(f64::NAN).is_nan());
    }
}
