//! `cpu_metrics`: the machine over time, and what is behind it.

use marey_analysis::{
    CpuPoint, CpuUse, DiskUse, Figures, HostMemory, InterfaceUse, PageCache, Telemetry,
};
use serde::Serialize;

use super::Pairs;
use super::figures::{MIB, PERCENT, Scope, timestamp};
use super::gpu::memory_analysis;
use super::object::object;
use crate::quantity::float;

/// `None` when nothing of the machine was read.
pub(super) fn of(scope: Scope<'_>) -> Option<impl Serialize> {
    let found = &scope.activity.telemetry;
    if !found.has_machine() {
        return None;
    }
    let cpu = found.cpu.as_ref();
    let memory = found.memory.as_ref();
    let percent = |of: fn(&CpuUse) -> Option<Figures>| scope.figures(cpu.and_then(of), PERCENT);
    let cores = cpu.into_iter().flat_map(|cpu| &cpu.cores);
    let cores = cores.map(|c| (c.core.as_str(), scope.figures(Some(c.busy_ratio), PERCENT)));
    let load = cpu.into_iter().flat_map(|cpu| &cpu.load);
    let load = load.map(|l| (l.minutes.as_str(), scope.figures(Some(l.load), 1.0)));
    let network = found
        .network
        .iter()
        .map(|n| (n.interface.as_str(), interface(scope, n)));
    Some(object! {
        total_samples: found.n_host_readings,
        core_count: cpu.and_then(|cpu| cpu.n_cores),
        timeline: timeline(scope, found),
        cpu_analysis: cpu.and_then(|cpu| cpu.busy_ratio).map(|busy| object! {
            peak_usage: busy.max * PERCENT,
            avg_usage: busy.mean * PERCENT,
            min_usage: busy.min * PERCENT,
            ..scope.place(busy.peak),
        }),
        memory_analysis: memory.and_then(|memory| {
            let total = memory.total_bytes.map(float);
            Some(memory_analysis(scope, memory.used?, total, memory.peak_used_ratio()))
        }),
        cores_percent: Pairs(cores.collect()),
        iowait_percent: percent(|cpu| cpu.iowait_ratio),
        steal_percent: percent(|cpu| cpu.steal_ratio),
        load_average: Pairs(load.collect()),
        context_switches: scope.growth(cpu.and_then(|cpu| cpu.switches), 1.0),
        process: process(scope, cpu, memory),
        children: object! {
            cores: scope.figures(cpu.and_then(|cpu| cpu.children_cores), 1.0),
            resident_mb: scope.figures(memory.and_then(|m| m.children_resident), MIB),
        },
        cgroup: object! {
            memory_used_mb: scope.figures(memory.and_then(|m| m.cgroup_used), MIB),
            memory_limit_mb: memory.and_then(|m| Some(m.cgroup_limit?.last * MIB)),
            memory_peak_mb: memory.and_then(|m| Some(m.cgroup_peak?.max * MIB)),
            throttled_s: cpu.and_then(|c| Some(c.throttled?.total)),
        },
        swap: object! {
            used_mb: scope.figures(memory.and_then(|m| m.swap_used), MIB),
            read_mb: scope.growth(memory.and_then(|m| m.swapped_in), MIB),
            written_mb: scope.growth(memory.and_then(|m| m.swapped_out), MIB),
        },
        disk: found.disk.as_ref().map(|found| disk(scope, found)),
        pressure_percent: found.pressure.map(|p| object! {
            cpu_some: scope.figures(p.cpu_some, PERCENT),
            memory_some: scope.figures(p.memory_some, PERCENT),
            memory_full: scope.figures(p.memory_full, PERCENT),
            io_some: scope.figures(p.io_some, PERCENT),
            io_full: scope.figures(p.io_full, PERCENT),
        }),
        network: Pairs(network.collect()),
    })
}

fn timeline<'a>(scope: Scope<'a>, found: &Telemetry) -> Vec<impl Serialize + use<'a>> {
    let total_bytes = found.memory.as_ref().and_then(|memory| memory.total_bytes);
    let point = |point: &CpuPoint| {
        object! {
            timestamp: timestamp(scope.activity, point.at_ns),
            cpu_usage: point.busy_ratio.map(|ratio| ratio * PERCENT),
            memory_used_mb: point.memory_used_bytes.map(|bytes| bytes * MIB),
            memory_total_mb: total_bytes.map(|bytes| float(bytes) * MIB),
        }
    };
    found.cpu_timeline.iter().map(point).collect()
}

fn process<'a>(
    scope: Scope<'a>,
    cpu: Option<&CpuUse>,
    memory: Option<&HostMemory>,
) -> impl Serialize + use<'a> {
    let process = cpu.and_then(|cpu| cpu.process);
    let mebibytes =
        |of: fn(&HostMemory) -> Option<Figures>| scope.figures(memory.and_then(of), MIB);
    object! {
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

/// What was read from and written to disks.
fn disk<'a>(scope: Scope<'a>, found: &'a DiskUse) -> impl Serialize + use<'a> {
    let devices = found.devices.iter().map(|device| {
        let object = object! {
            read_mb: scope.growth(device.read, MIB),
            written_mb: scope.growth(device.written, MIB),
            busy_percent: scope.figures(device.busy_ratio, PERCENT),
        };
        (device.device.as_str(), object)
    });
    let files = found.files.iter();
    let files = files.map(|f| {
        (
            f.path.as_str(),
            scope.figures(Some(f.cached_ratio), PERCENT),
        )
    });
    object! {
        process_read_mb: scope.growth(found.process_read, MIB),
        process_written_mb: scope.growth(found.process_written, MIB),
        calls_read_mb: scope.growth(found.calls_read, MIB),
        calls_written_mb: scope.growth(found.calls_written, MIB),
        page_cache_percent: match found.page_cache {
            Some(PageCache::Share(share)) => Some(share * PERCENT),
            Some(PageCache::MappedFiles) | None => None,
        },
        reads_mapped_files: found.page_cache.map(|found| found == PageCache::MappedFiles),
        devices: Pairs(devices.collect()),
        files_cached_percent: Pairs(files.collect()),
    }
}

fn interface<'a>(scope: Scope<'a>, found: &InterfaceUse) -> impl Serialize + use<'a> {
    object! {
        received_mb: scope.growth(found.received, MIB),
        sent_mb: scope.growth(found.sent, MIB),
    }
}
