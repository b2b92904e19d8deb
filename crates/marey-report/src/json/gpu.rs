//! `gpu_metrics`: all GPUs together, over time, and each one.

use marey_analysis::{Figures, GpuUse};
use serde::Serialize;

use super::figures::{MEGAHERTZ, MIB, PERCENT, Scope, timestamp};
use super::object::{Fields, object};
use super::{Pairs, float_seconds};

/// `None` when there was none.
pub(super) fn of(scope: Scope<'_>) -> Option<impl Serialize> {
    let gpus = scope.activity.telemetry.gpus.as_ref()?;
    let timeline = gpus.timeline.iter().map(|point| {
        object! {
            timestamp: timestamp(scope.activity, point.at_ns),
            memory_used_mb: point.memory_used_bytes.map(|bytes| bytes * MIB),
            memory_total_mb: point.memory_total_bytes.map(|bytes| bytes * MIB),
            utilization: point.utilization_ratio.map(|ratio| ratio * PERCENT),
            temperature: point.temperature,
            power: point.power,
        }
    });
    let each = gpus
        .each
        .iter()
        .map(|gpu| (gpu.uuid.as_str(), device(scope, gpu)));
    Some(object! {
        total_samples: gpus.n_readings,
        timeline: timeline.collect::<Vec<_>>(),
        ..analyses(scope, &gpus.together, gpus.is_any_at_thermal_risk()),
        devices: Pairs(each.collect()),
    })
}

/// The documented analyses; `null` where nothing was read.
fn analyses<'a>(
    scope: Scope<'a>,
    gpu: &GpuUse,
    thermal_risk: Option<bool>,
) -> impl Fields + use<'a> {
    object! {
        memory_analysis: gpu.memory_used.map(|used| {
            let total = gpu.memory_total.map(|total| total.last);
            memory_analysis(scope, used, total, gpu.peak_memory_ratio)
        }),
        utilization_analysis: gpu.utilization.map(|busy| object! {
            peak_utilization: busy.max * PERCENT,
            avg_utilization: busy.mean * PERCENT,
            min_utilization: busy.min * PERCENT,
            utilization_efficiency: gpu.well_used_ratio.map(|ratio| ratio * PERCENT),
            ..scope.place(busy.peak),
        }),
        temperature_analysis: temperature(scope, gpu, thermal_risk),
        power_analysis: power(scope, gpu),
    }
}

/// Of a GPU or of the machine.
pub(super) fn memory_analysis(
    scope: Scope<'_>,
    used: Figures,
    total_bytes: Option<f64>,
    peak_ratio: Option<f64>,
) -> impl Serialize {
    object! {
        peak_usage_mb: used.max * MIB,
        avg_usage_mb: used.mean * MIB,
        min_usage_mb: used.min * MIB,
        total_memory_mb: total_bytes.map(|bytes| bytes * MIB),
        peak_utilization_percent: peak_ratio.map(|ratio| ratio * PERCENT),
        ..scope.place(used.peak),
    }
}

fn temperature<'a>(
    scope: Scope<'a>,
    gpu: &GpuUse,
    thermal_risk: Option<bool>,
) -> Option<impl Serialize + use<'a>> {
    let read = gpu.temperature;
    (read.is_some() || thermal_risk.is_some()).then(|| {
        object! {
            peak_temperature: read.map(|t| t.max),
            avg_temperature: read.map(|t| t.mean),
            min_temperature: read.map(|t| t.min),
            thermal_throttling_risk: thermal_risk,
            ..peak(scope, read),
        }
    })
}

fn power<'a>(scope: Scope<'a>, gpu: &GpuUse) -> Option<impl Serialize + use<'a>> {
    let (read, energy) = (gpu.power, gpu.energy);
    (read.is_some() || energy.is_some()).then(|| {
        object! {
            peak_power_watts: read.map(|p| p.max),
            avg_power_watts: read.map(|p| p.mean),
            total_energy_wh: energy.map(|e| e.watt_hours()),
            total_energy_joules: energy.map(|e| e.joules),
            energy_over_s: energy.map(|e| float_seconds(e.over_ns)),
            energy_source: energy.map(|e| e.source),
            ..peak(scope, read),
        }
    })
}

fn peak(scope: Scope<'_>, read: Option<Figures>) -> impl Fields {
    let peak = read.map(|read| read.peak);
    object! {
        peak_at: peak.map(|peak| timestamp(scope.activity, peak.start_ns)),
        peak_section: peak.and_then(|peak| Some(scope.report.call_path(peak.node?))),
    }
}

fn device<'a>(scope: Scope<'a>, gpu: &'a GpuUse) -> impl Serialize + use<'a> {
    let others = gpu.others.iter();
    let others = others.map(|m| (m.name.as_str(), scope.figures(Some(m.figures), 1.0)));
    object! {
        index: &gpu.index,
        name: &gpu.name,
        ..analyses(scope, gpu, gpu.is_at_thermal_risk()),
        process_memory_mb: scope.figures(gpu.memory_process, MIB),
        memory_controller_percent: scope.figures(gpu.memory_controller, PERCENT),
        power_limit_watts: scope.figures(gpu.power_limit, 1.0),
        clock_sm_mhz: scope.figures(gpu.clock_sm, MEGAHERTZ),
        clock_memory_mhz: scope.figures(gpu.clock_memory, MEGAHERTZ),
        throttling: gpu.throttling.map(|found| object! {
            thermal_s: float_seconds(found.thermal_ns),
            power_s: float_seconds(found.power_ns),
            any_s: float_seconds(found.any_ns),
            known_s: float_seconds(found.known_ns),
            was_thermal: found.was_thermal,
        }),
        pcie_sent_mb_per_s: scope.figures(gpu.pcie_sent, MIB),
        pcie_received_mb_per_s: scope.figures(gpu.pcie_received, MIB),
        ecc_corrected: gpu.ecc_corrected.map(|errors| errors.total),
        ecc_uncorrected: gpu.ecc_uncorrected.map(|errors| errors.total),
        others: Pairs(others.collect()),
    }
}
