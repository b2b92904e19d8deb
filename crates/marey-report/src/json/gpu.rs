//! `gpu_metrics`: all GPUs together, over time, and each one.

use marey_analysis::{EnergySource, GpuPoint, GpuUse, Throttling};
use serde::Serialize;

use super::figures::{FiguresObject, MEGAHERTZ, MIB, PERCENT, PeakPlace, Scope};
use super::{Pairs, float_seconds};

/// `gpu_metrics` of the report.
#[derive(Serialize)]
pub(super) struct GpuMetrics<'a> {
    total_samples: u64,
    timeline: Vec<PointObject>,
    #[serde(flatten)]
    together: Analyses<'a>,
    devices: Pairs<&'a str, DeviceObject<'a>>,
}

/// The documented analyses; `null` where nothing was read.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of the document")]
struct Analyses<'a> {
    memory_analysis: Option<MemoryAnalysis<'a>>,
    utilization_analysis: Option<UtilizationAnalysis<'a>>,
    temperature_analysis: Option<TemperatureAnalysis<'a>>,
    power_analysis: Option<PowerAnalysis<'a>>,
}

#[derive(Serialize)]
struct PointObject {
    timestamp: f64,
    memory_used_mb: Option<f64>,
    memory_total_mb: Option<f64>,
    utilization: Option<f64>,
    temperature: Option<f64>,
    power: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct MemoryAnalysis<'a> {
    pub(super) peak_usage_mb: f64,
    pub(super) avg_usage_mb: f64,
    pub(super) min_usage_mb: f64,
    pub(super) total_memory_mb: Option<f64>,
    pub(super) peak_utilization_percent: Option<f64>,
    #[serde(flatten)]
    pub(super) place: PeakPlace<'a>,
}

#[derive(Serialize)]
struct UtilizationAnalysis<'a> {
    peak_utilization: f64,
    avg_utilization: f64,
    min_utilization: f64,
    utilization_efficiency: Option<f64>,
    #[serde(flatten)]
    place: PeakPlace<'a>,
}

#[derive(Serialize)]
struct TemperatureAnalysis<'a> {
    peak_temperature: Option<f64>,
    avg_temperature: Option<f64>,
    min_temperature: Option<f64>,
    thermal_throttling_risk: Option<bool>,
    peak_at: Option<f64>,
    peak_section: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct PowerAnalysis<'a> {
    peak_power_watts: Option<f64>,
    avg_power_watts: Option<f64>,
    total_energy_wh: Option<f64>,
    total_energy_joules: Option<f64>,
    energy_over_s: Option<f64>,
    energy_source: Option<EnergySource>,
    peak_at: Option<f64>,
    peak_section: Option<Vec<&'a str>>,
}

/// One GPU.
#[derive(Serialize)]
struct DeviceObject<'a> {
    index: Option<&'a str>,
    name: Option<&'a str>,
    #[serde(flatten)]
    analyses: Analyses<'a>,
    process_memory_mb: Option<FiguresObject<'a>>,
    memory_controller_percent: Option<FiguresObject<'a>>,
    power_limit_watts: Option<FiguresObject<'a>>,
    clock_sm_mhz: Option<FiguresObject<'a>>,
    clock_memory_mhz: Option<FiguresObject<'a>>,
    throttling: Option<ThrottlingObject>,
    pcie_sent_mb_per_s: Option<FiguresObject<'a>>,
    pcie_received_mb_per_s: Option<FiguresObject<'a>>,
    ecc_corrected: Option<f64>,
    ecc_uncorrected: Option<f64>,
    others: Pairs<&'a str, Option<FiguresObject<'a>>>,
}

#[derive(Serialize)]
struct ThrottlingObject {
    thermal_s: f64,
    power_s: f64,
    any_s: f64,
    known_s: f64,
    was_thermal: bool,
}

impl<'a> GpuMetrics<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Option<Self> {
        let gpus = scope.activity.telemetry.gpus.as_ref()?;
        let timeline = gpus.timeline.iter();
        let each = gpus.each.iter();
        Some(Self {
            total_samples: gpus.n_readings,
            timeline: timeline.map(|p| PointObject::new(scope, p)).collect(),
            together: Analyses::new(scope, &gpus.together, gpus.is_any_at_thermal_risk()),
            devices: Pairs(
                each.map(|gpu| (gpu.uuid.as_str(), DeviceObject::new(scope, gpu)))
                    .collect(),
            ),
        })
    }
}

impl PointObject {
    fn new(scope: Scope<'_>, point: &GpuPoint) -> Self {
        Self {
            timestamp: scope.timestamp(point.at_ns),
            memory_used_mb: point.memory_used_bytes.map(|bytes| bytes * MIB),
            memory_total_mb: point.memory_total_bytes.map(|bytes| bytes * MIB),
            utilization: point.utilization_ratio.map(|ratio| ratio * PERCENT),
            temperature: point.temperature,
            power: point.power,
        }
    }
}

impl<'a> Analyses<'a> {
    fn new(scope: Scope<'a>, gpu: &GpuUse, thermal_risk: Option<bool>) -> Self {
        Self {
            memory_analysis: gpu.memory_used.map(|used| MemoryAnalysis {
                peak_usage_mb: used.max * MIB,
                avg_usage_mb: used.mean * MIB,
                min_usage_mb: used.min * MIB,
                total_memory_mb: gpu.memory_total.map(|total| total.last * MIB),
                peak_utilization_percent: gpu.peak_memory_ratio.map(|ratio| ratio * PERCENT),
                place: scope.place(used.peak),
            }),
            utilization_analysis: gpu.utilization.map(|busy| UtilizationAnalysis {
                peak_utilization: busy.max * PERCENT,
                avg_utilization: busy.mean * PERCENT,
                min_utilization: busy.min * PERCENT,
                utilization_efficiency: gpu.well_used_ratio.map(|ratio| ratio * PERCENT),
                place: scope.place(busy.peak),
            }),
            temperature_analysis: temperature(scope, gpu, thermal_risk),
            power_analysis: power(scope, gpu),
        }
    }
}

fn temperature<'a>(
    scope: Scope<'a>,
    gpu: &GpuUse,
    thermal_risk: Option<bool>,
) -> Option<TemperatureAnalysis<'a>> {
    let read = gpu.temperature;
    (read.is_some() || thermal_risk.is_some()).then(|| TemperatureAnalysis {
        peak_temperature: read.map(|t| t.max),
        avg_temperature: read.map(|t| t.mean),
        min_temperature: read.map(|t| t.min),
        thermal_throttling_risk: thermal_risk,
        peak_at: read.map(|t| scope.timestamp(t.peak.start_ns)),
        peak_section: read.and_then(|t| Some(scope.report.call_path(t.peak.node?))),
    })
}

fn power<'a>(scope: Scope<'a>, gpu: &GpuUse) -> Option<PowerAnalysis<'a>> {
    let (read, energy) = (gpu.power, gpu.energy);
    (read.is_some() || energy.is_some()).then(|| PowerAnalysis {
        peak_power_watts: read.map(|p| p.max),
        avg_power_watts: read.map(|p| p.mean),
        total_energy_wh: energy.map(|e| e.watt_hours()),
        total_energy_joules: energy.map(|e| e.joules),
        energy_over_s: energy.map(|e| float_seconds(e.over_ns)),
        energy_source: energy.map(|e| e.source),
        peak_at: read.map(|p| scope.timestamp(p.peak.start_ns)),
        peak_section: read.and_then(|p| Some(scope.report.call_path(p.peak.node?))),
    })
}

impl<'a> DeviceObject<'a> {
    fn new(scope: Scope<'a>, gpu: &'a GpuUse) -> Self {
        let others = gpu.others.iter();
        Self {
            index: gpu.index.as_deref(),
            name: gpu.name.as_deref(),
            analyses: Analyses::new(scope, gpu, gpu.is_at_thermal_risk()),
            process_memory_mb: scope.figures(gpu.memory_process, MIB),
            memory_controller_percent: scope.figures(gpu.memory_controller, PERCENT),
            power_limit_watts: scope.figures(gpu.power_limit, 1.0),
            clock_sm_mhz: scope.figures(gpu.clock_sm, MEGAHERTZ),
            clock_memory_mhz: scope.figures(gpu.clock_memory, MEGAHERTZ),
            throttling: gpu.throttling.map(ThrottlingObject::new),
            pcie_sent_mb_per_s: scope.figures(gpu.pcie_sent, MIB),
            pcie_received_mb_per_s: scope.figures(gpu.pcie_received, MIB),
            ecc_corrected: gpu.ecc_corrected.map(|errors| errors.total),
            ecc_uncorrected: gpu.ecc_uncorrected.map(|errors| errors.total),
            others: Pairs(
                others
                    .map(|m| (m.name.as_str(), scope.figures(Some(m.figures), 1.0)))
                    .collect(),
            ),
        }
    }
}

impl ThrottlingObject {
    fn new(found: Throttling) -> Self {
        Self {
            thermal_s: float_seconds(found.thermal_ns),
            power_s: float_seconds(found.power_ns),
            any_s: float_seconds(found.any_ns),
            known_s: float_seconds(found.known_ns),
            was_thermal: found.was_thermal,
        }
    }
}
