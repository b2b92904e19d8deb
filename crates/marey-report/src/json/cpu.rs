//! `cpu_metrics`: the machine over time, and what is behind it.

use marey_analysis::{CpuPoint, CpuUse, Figures, HostMemory, Telemetry};
use serde::Serialize;

use super::Pairs;
use super::disk::{DiskObject, NetworkObject};
use super::figures::{FiguresObject, GrowthObject, MIB, PERCENT, PeakPlace, Scope};
use super::gpu::MemoryAnalysis;
use crate::quantity::float;

/// `cpu_metrics` of the report.
#[derive(Serialize)]
pub(super) struct CpuMetrics<'a> {
    total_samples: u64,
    core_count: Option<u64>,
    timeline: Vec<PointObject>,
    cpu_analysis: Option<CpuAnalysis<'a>>,
    memory_analysis: Option<MemoryAnalysis<'a>>,
    cores_percent: Pairs<&'a str, Option<FiguresObject<'a>>>,
    iowait_percent: Option<FiguresObject<'a>>,
    steal_percent: Option<FiguresObject<'a>>,
    load_average: Pairs<&'a str, Option<FiguresObject<'a>>>,
    context_switches: Option<GrowthObject<'a>>,
    process: ProcessObject<'a>,
    children: ChildrenObject<'a>,
    cgroup: CgroupObject<'a>,
    swap: SwapObject<'a>,
    disk: Option<DiskObject<'a>>,
    pressure_percent: Option<PressureObject<'a>>,
    network: Pairs<&'a str, NetworkObject<'a>>,
}

#[derive(Serialize)]
struct PointObject {
    timestamp: f64,
    cpu_usage: Option<f64>,
    memory_used_mb: Option<f64>,
    memory_total_mb: Option<f64>,
}

#[derive(Serialize)]
struct CpuAnalysis<'a> {
    peak_usage: f64,
    avg_usage: f64,
    min_usage: f64,
    #[serde(flatten)]
    place: PeakPlace<'a>,
}

#[derive(Serialize)]
struct ProcessObject<'a> {
    user_s: Option<f64>,
    system_s: Option<f64>,
    waited_s: Option<f64>,
    cores: Option<FiguresObject<'a>>,
    resident_mb: Option<FiguresObject<'a>>,
    proportional_mb: Option<FiguresObject<'a>>,
    swapped_mb: Option<FiguresObject<'a>>,
    voluntary_switches: Option<GrowthObject<'a>>,
    involuntary_switches: Option<GrowthObject<'a>>,
}

#[derive(Serialize)]
struct ChildrenObject<'a> {
    cores: Option<FiguresObject<'a>>,
    resident_mb: Option<FiguresObject<'a>>,
}

#[derive(Serialize)]
struct CgroupObject<'a> {
    memory_used_mb: Option<FiguresObject<'a>>,
    memory_limit_mb: Option<f64>,
    memory_peak_mb: Option<f64>,
    throttled_s: Option<f64>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of the document")]
struct SwapObject<'a> {
    used_mb: Option<FiguresObject<'a>>,
    read_mb: Option<GrowthObject<'a>>,
    written_mb: Option<GrowthObject<'a>>,
}

#[derive(Serialize)]
struct PressureObject<'a> {
    cpu_some: Option<FiguresObject<'a>>,
    memory_some: Option<FiguresObject<'a>>,
    memory_full: Option<FiguresObject<'a>>,
    io_some: Option<FiguresObject<'a>>,
    io_full: Option<FiguresObject<'a>>,
}

impl<'a> CpuMetrics<'a> {
    /// `None` when nothing of the machine was read.
    pub(super) fn new(scope: Scope<'a>) -> Option<Self> {
        let found = &scope.activity.telemetry;
        if !found.has_machine() {
            return None;
        }
        let cpu = found.cpu.as_ref();
        let memory = found.memory.as_ref();
        let percent = |of: fn(&CpuUse) -> Option<Figures>| scope.figures(cpu.and_then(of), PERCENT);
        let total_bytes = memory.and_then(|m| m.total_bytes);
        let network = found.network.iter();
        Some(Self {
            total_samples: found.n_host_readings,
            core_count: cpu.and_then(|cpu| cpu.n_cores),
            timeline: timeline(scope, found, total_bytes),
            cpu_analysis: cpu.and_then(|cpu| cpu_analysis(scope, cpu)),
            memory_analysis: memory.and_then(|memory| memory_analysis(scope, memory)),
            cores_percent: Pairs(cores(scope, cpu)),
            iowait_percent: percent(|cpu| cpu.iowait_ratio),
            steal_percent: percent(|cpu| cpu.steal_ratio),
            load_average: Pairs(load(scope, cpu)),
            context_switches: scope.growth(cpu.and_then(|cpu| cpu.switches), 1.0),
            process: ProcessObject::new(scope, cpu, memory),
            children: ChildrenObject {
                cores: scope.figures(cpu.and_then(|cpu| cpu.children_cores), 1.0),
                resident_mb: scope.figures(memory.and_then(|m| m.children_resident), MIB),
            },
            cgroup: CgroupObject::new(scope, cpu, memory),
            swap: SwapObject {
                used_mb: scope.figures(memory.and_then(|m| m.swap_used), MIB),
                read_mb: scope.growth(memory.and_then(|m| m.swapped_in), MIB),
                written_mb: scope.growth(memory.and_then(|m| m.swapped_out), MIB),
            },
            disk: found.disk.as_ref().map(|disk| DiskObject::new(scope, disk)),
            pressure_percent: found.pressure.map(|p| PressureObject {
                cpu_some: scope.figures(p.cpu_some, PERCENT),
                memory_some: scope.figures(p.memory_some, PERCENT),
                memory_full: scope.figures(p.memory_full, PERCENT),
                io_some: scope.figures(p.io_some, PERCENT),
                io_full: scope.figures(p.io_full, PERCENT),
            }),
            network: Pairs(
                network
                    .map(|n| (n.interface.as_str(), NetworkObject::new(scope, n)))
                    .collect(),
            ),
        })
    }
}

fn timeline(scope: Scope<'_>, found: &Telemetry, total_bytes: Option<u64>) -> Vec<PointObject> {
    let point = |point: &CpuPoint| PointObject {
        timestamp: scope.timestamp(point.at_ns),
        cpu_usage: point.busy_ratio.map(|ratio| ratio * PERCENT),
        memory_used_mb: point.memory_used_bytes.map(|bytes| bytes * MIB),
        memory_total_mb: total_bytes.map(|bytes| float(bytes) * MIB),
    };
    found.cpu_timeline.iter().map(point).collect()
}

fn cpu_analysis<'a>(scope: Scope<'a>, cpu: &CpuUse) -> Option<CpuAnalysis<'a>> {
    let busy = cpu.busy_ratio?;
    Some(CpuAnalysis {
        peak_usage: busy.max * PERCENT,
        avg_usage: busy.mean * PERCENT,
        min_usage: busy.min * PERCENT,
        place: scope.place(busy.peak),
    })
}

fn memory_analysis<'a>(scope: Scope<'a>, memory: &HostMemory) -> Option<MemoryAnalysis<'a>> {
    let used = memory.used?;
    let peak_ratio = memory.peak_used_ratio();
    Some(MemoryAnalysis {
        peak_usage_mb: used.max * MIB,
        avg_usage_mb: used.mean * MIB,
        min_usage_mb: used.min * MIB,
        total_memory_mb: memory.total_bytes.map(|bytes| float(bytes) * MIB),
        peak_utilization_percent: peak_ratio.map(|ratio| ratio * PERCENT),
        place: scope.place(used.peak),
    })
}

type Named<'a> = Vec<(&'a str, Option<FiguresObject<'a>>)>;

fn cores<'a>(scope: Scope<'a>, cpu: Option<&'a CpuUse>) -> Named<'a> {
    let cores = cpu.into_iter().flat_map(|cpu| &cpu.cores);
    cores
        .map(|c| (c.core.as_str(), scope.figures(Some(c.busy_ratio), PERCENT)))
        .collect()
}

fn load<'a>(scope: Scope<'a>, cpu: Option<&'a CpuUse>) -> Named<'a> {
    let load = cpu.into_iter().flat_map(|cpu| &cpu.load);
    load.map(|l| (l.minutes.as_str(), scope.figures(Some(l.load), 1.0)))
        .collect()
}

impl<'a> ProcessObject<'a> {
    fn new(scope: Scope<'a>, cpu: Option<&CpuUse>, memory: Option<&HostMemory>) -> Self {
        let process = cpu.and_then(|cpu| cpu.process);
        let mebibytes =
            |of: fn(&HostMemory) -> Option<Figures>| scope.figures(memory.and_then(of), MIB);
        Self {
            user_s: process.and_then(|p| p.user_s),
            system_s: process.and_then(|p| p.system_s),
            waited_s: cpu.and_then(|c| Some(c.waited?.total)),
            cores: scope.figures(process.and_then(|p| p.cores), 1.0),
            resident_mb: mebibytes(|m| m.process_resident),
            proportional_mb: mebibytes(|m| m.process_proportional),
            swapped_mb: mebibytes(|m| m.process_swapped),
            voluntary_switches: scope.growth(cpu.and_then(|c| c.voluntary_switches), 1.0),
            involuntary_switches: scope.growth(cpu.and_then(|c| c.involuntary_switches), 1.0),
        }
    }
}

impl<'a> CgroupObject<'a> {
    fn new(scope: Scope<'a>, cpu: Option<&CpuUse>, memory: Option<&HostMemory>) -> Self {
        Self {
            memory_used_mb: scope.figures(memory.and_then(|m| m.cgroup_used), MIB),
            memory_limit_mb: memory.and_then(|m| Some(m.cgroup_limit?.last * MIB)),
            memory_peak_mb: memory.and_then(|m| Some(m.cgroup_peak?.max * MIB)),
            throttled_s: cpu.and_then(|c| Some(c.throttled?.total)),
        }
    }
}
