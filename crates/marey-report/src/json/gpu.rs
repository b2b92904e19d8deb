//! `gpu_metrics`: all GPUs together, over time, and each one.

use marey_analysis::{Figures, GpuUse};

use super::figures::{MEGAHERTZ, MIB, PERCENT, Scope, timestamp};
use super::object::{Fields, Json, object};
use super::{float_seconds, list, pairs};

/// `None` when there was none.
pub(super) fn of(scope: Scope<'_>) -> Option<impl Json> {
    let gpus = scope.activity.telemetry.gpus.as_ref()?;
    Some(object! {
        /// All GPUs together, and each one.
        struct GpuMetrics;
        /// Rounds in which they were read.
        total_samples: gpus.n_readings,
        /// In order of time.
        timeline: list(&gpus.timeline, |point| object! {
            /// Seconds since 1970.
            timestamp: timestamp(scope.activity, point.at_ns),
            /// Of all GPUs.
            memory_used_mb: point.memory_used_bytes.map(|bytes| bytes * MIB),
            /// Of all GPUs.
            memory_total_mb: point.memory_total_bytes.map(|bytes| bytes * MIB),
            /// The highest, percent.
            utilization: point.utilization_ratio.map(|ratio| ratio * PERCENT),
            /// The highest, degrees Celsius.
            temperature: point.temperature,
            /// Of all GPUs, watts.
            power: point.power,
        }),
        ..analyses(scope, &gpus.together, gpus.is_any_at_thermal_risk()),
        /// Each GPU by UUID.
        devices: pairs(&gpus.each, |gpu| (gpu.uuid.as_str(), device(scope, gpu))),
    })
}

/// The documented analyses; `null` where nothing was read.
fn analyses<'a>(
    scope: Scope<'a>,
    gpu: &GpuUse,
    thermal_risk: Option<bool>,
) -> impl Fields + use<'a> {
    object! {
        /// Memory in use by anybody; of several GPUs added up. null when not read.
        memory_analysis: gpu.memory_used.map(|used| {
            let total = gpu.memory_total.map(|total| total.last);
            memory_analysis(scope, used, total, gpu.peak_memory_ratio)
        }),
        /// Utilisation; of several GPUs the highest at each reading. null when not read.
        utilization_analysis: gpu.utilization.map(|busy| object! {
            /// Highest.
            peak_utilization: busy.max * PERCENT,
            /// Mean over the time.
            avg_utilization: busy.mean * PERCENT,
            /// Lowest.
            min_utilization: busy.min * PERCENT,
            /// Share of the time with a utilisation of at least 50 %; null for a single reading.
            utilization_efficiency: gpu.well_used_ratio.map(|ratio| ratio * PERCENT),
            ..scope.place(busy.peak),
        }),
        /// Temperature; of several GPUs the highest at each reading. null when not read.
        temperature_analysis: temperature(scope, gpu, thermal_risk),
        /// Power and energy; of several GPUs added up. null when not read.
        power_analysis: power(scope, gpu),
    }
}

/// Of a GPU or of the machine.
pub(super) fn memory_analysis(
    scope: Scope<'_>,
    used: Figures,
    total_bytes: Option<f64>,
    peak_ratio: Option<f64>,
) -> impl Json {
    object! {
        /// Memory in use, MiB.
        struct MemoryAnalysis;
        /// Highest.
        peak_usage_mb: used.max * MIB,
        /// Mean over the time.
        avg_usage_mb: used.mean * MIB,
        /// Lowest.
        min_usage_mb: used.min * MIB,
        /// Memory that there is.
        total_memory_mb: total_bytes.map(|bytes| bytes * MIB),
        /// Highest share of it that was in use.
        peak_utilization_percent: peak_ratio.map(|ratio| ratio * PERCENT),
        ..scope.place(used.peak),
    }
}

fn temperature<'a>(
    scope: Scope<'a>,
    gpu: &GpuUse,
    thermal_risk: Option<bool>,
) -> Option<impl Json + use<'a>> {
    let read = gpu.temperature;
    (read.is_some() || thermal_risk.is_some()).then(|| {
        object! {
            /// Degrees Celsius.
            struct Temperature;
            /// Highest.
            peak_temperature: read.map(|t| t.max),
            /// Mean over the time.
            avg_temperature: read.map(|t| t.mean),
            /// Lowest.
            min_temperature: read.map(|t| t.min),
            /// It was above 85 °C, or the driver held clocks down for heat; null when neither was read.
            thermal_throttling_risk: thermal_risk,
            ..peak(scope, read),
        }
    })
}

fn power<'a>(scope: Scope<'a>, gpu: &GpuUse) -> Option<impl Json + use<'a>> {
    let (read, energy) = (gpu.power, gpu.energy);
    (read.is_some() || energy.is_some()).then(|| {
        object! {
            /// Watts, and the energy taken.
            struct Power;
            /// Highest.
            peak_power_watts: read.map(|p| p.max),
            /// Mean over the time.
            avg_power_watts: read.map(|p| p.mean),
            /// Energy, watt hours.
            total_energy_wh: energy.map(|e| e.watt_hours()),
            /// The same, joules.
            total_energy_joules: energy.map(|e| e.joules),
            /// Time in which it was taken, seconds.
            energy_over_s: energy.map(|e| float_seconds(e.over_ns)),
            /// counter: the GPU counts it. power: power over time, each reading standing for the time half way to its neighbours.
            energy_source: energy.map(|e| e.source),
            ..peak(scope, read),
        }
    })
}

fn peak(scope: Scope<'_>, read: Option<Figures>) -> impl Fields {
    let peak = read.map(|read| read.peak);
    object! {
        /// When it was highest, seconds since 1970.
        peak_at: peak.map(|peak| timestamp(scope.activity, peak.start_ns)),
        /// Names of the innermost section that was open then, for a rate all the time between the two readings, from the outermost on; null
        /// when none was.
        peak_section: peak.and_then(|peak| Some(scope.report.call_path(peak.node?))),
    }
}

fn device<'a>(scope: Scope<'a>, gpu: &'a GpuUse) -> impl Json + use<'a> {
    object! {
        /// One GPU.
        struct GpuDevice;
        /// Its number among the machine's GPUs.
        index: &gpu.index,
        /// Its model.
        name: &gpu.name,
        ..analyses(scope, gpu, gpu.is_at_thermal_risk()),
        /// Memory in use by this process.
        process_memory_mb: scope.figures(gpu.memory_process, MIB),
        /// Share of the time in which its memory was read or written.
        memory_controller_percent: scope.figures(gpu.memory_controller, PERCENT),
        /// Power that it may take.
        power_limit_watts: scope.figures(gpu.power_limit, 1.0),
        /// Clock of its processors.
        clock_sm_mhz: scope.figures(gpu.clock_sm, MEGAHERTZ),
        /// Clock of its memory.
        clock_memory_mhz: scope.figures(gpu.clock_memory, MEGAHERTZ),
        /// Time in which the driver held clocks down, seconds; null when not read.
        throttling: gpu.throttling.map(|found| object! {
            /// For heat.
            thermal_s: float_seconds(found.thermal_ns),
            /// For power.
            power_s: float_seconds(found.power_ns),
            /// For any reason.
            any_s: float_seconds(found.any_ns),
            /// Time that these are about.
            known_s: float_seconds(found.known_ns),
            /// Heat was a reason at one reading at least.
            was_thermal: found.was_thermal,
        }),
        /// To the host.
        pcie_sent_mb_per_s: scope.figures(gpu.pcie_sent, MIB),
        /// From the host.
        pcie_received_mb_per_s: scope.figures(gpu.pcie_received, MIB),
        /// Memory errors that were put right meanwhile.
        ecc_corrected: gpu.ecc_corrected.map(|errors| errors.total),
        /// Memory errors that were not.
        ecc_uncorrected: gpu.ecc_uncorrected.map(|errors| errors.total),
        /// Everything else that was read of it, by name of the series.
        others: pairs(&gpu.others, |m| (m.name.as_str(), scope.figures(Some(m.figures), 1.0))),
    }
}
