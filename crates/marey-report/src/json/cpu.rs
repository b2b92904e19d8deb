//! `cpu_metrics`: the machine over time, and what is behind it.

use marey_analysis::{CpuUse, DiskUse, Figures, HostMemory, PageCache};

use super::figures::{MIB, PERCENT, Scope, timestamp};
use super::gpu::memory_analysis;
use super::object::{Json, object};
use super::{list, pairs};
use crate::quantity::float;

/// `None` when nothing of the machine was read.
pub(super) fn of(scope: Scope<'_>) -> Option<impl Json> {
    let found = &scope.activity.telemetry;
    if !found.has_machine() {
        return None;
    }
    let cpu = found.cpu.as_ref();
    let memory = found.memory.as_ref();
    let total_bytes = memory.and_then(|memory| memory.total_bytes);
    let percent = |of: fn(&CpuUse) -> Option<Figures>| scope.figures(cpu.and_then(of), PERCENT);
    let cores = cpu.map_or(&[][..], |cpu| &cpu.cores);
    let load = cpu.map_or(&[][..], |cpu| &cpu.load);
    Some(object! {
        /// The machine and the process.
        struct CpuMetrics;
        /// Rounds in which the machine was read.
        total_samples: found.n_host_readings,
        /// Cores of the machine.
        core_count: cpu.and_then(|cpu| cpu.n_cores),
        /// In order of time.
        timeline: list(&found.cpu_timeline, |point| object! {
            /// Seconds since 1970.
            timestamp: timestamp(scope.activity, point.at_ns),
            /// Share of the machine's processor time since the reading before, percent.
            cpu_usage: point.busy_ratio.map(|ratio| ratio * PERCENT),
            /// In use on the machine.
            memory_used_mb: point.memory_used_bytes.map(|bytes| bytes * MIB),
            /// That there is.
            memory_total_mb: total_bytes.map(|bytes| float(bytes) * MIB),
        }),
        /// null when not read twice.
        cpu_analysis: cpu.and_then(|cpu| cpu.busy_ratio).map(|busy| object! {
            /// Highest between two readings.
            peak_usage: busy.max * PERCENT,
            /// Over all the time.
            avg_usage: busy.mean * PERCENT,
            /// Lowest between two readings.
            min_usage: busy.min * PERCENT,
            ..scope.place(busy.peak),
        }),
        /// Memory in use of the machine, or of the control group where its limit is lower; null when not read.
        memory_analysis: memory.and_then(|memory| {
            let bound = memory.bound();
            let used = bound.map(|bound| bound.used).or(memory.used)?;
            let limit_bytes = bound.map(|bound| bound.limit_bytes);
            Some(memory_analysis(scope, used, limit_bytes, memory.peak_used_ratio()))
        }),
        /// Each core by number.
        cores_percent: pairs(cores, |c| (c.core.as_str(), scope.figures(Some(c.busy_ratio), PERCENT))),
        /// Share of the machine's processor time that waited for disks.
        iowait_percent: percent(|cpu| cpu.iowait_ratio),
        /// Share of the machine's processor time that a hypervisor gave to others.
        steal_percent: percent(|cpu| cpu.steal_ratio),
        /// By minutes: 1, 5, 15.
        load_average: pairs(load, |l| (l.minutes.as_str(), scope.figures(Some(l.load), 1.0))),
        /// Of the machine.
        context_switches: scope.growth(cpu.and_then(|cpu| cpu.switches), 1.0),
        /// This process.
        process: process(scope, cpu, memory),
        /// The processes below this one.
        children: object! {
            /// Cores that they kept busy.
            cores: scope.figures(cpu.and_then(|cpu| cpu.children_cores), 1.0),
            /// Resident memory.
            resident_mb: scope.figures(memory.and_then(|m| m.children_resident), MIB),
        },
        /// The control group of the process.
        cgroup: object! {
            /// In use.
            memory_used_mb: scope.figures(memory.and_then(|m| m.cgroup_used), MIB),
            /// What it may use.
            memory_limit_mb: memory.and_then(|m| Some(m.cgroup_limit?.last * MIB)),
            /// Most that it ever used.
            memory_peak_mb: memory.and_then(|m| Some(m.cgroup_peak?.max * MIB)),
            /// Time in which it was not let run, seconds.
            throttled_s: cpu.and_then(|c| Some(c.throttled?.total)),
        },
        /// Swap of the machine.
        swap: object! {
            /// In use.
            used_mb: scope.figures(memory.and_then(|m| m.swap_used), MIB),
            /// Read back.
            read_mb: scope.growth(memory.and_then(|m| m.swapped_in), MIB),
            /// Written.
            written_mb: scope.growth(memory.and_then(|m| m.swapped_out), MIB),
        },
        /// null when not read twice.
        disk: found.disk.as_ref().map(|found| disk(scope, found)),
        /// null when the kernel does not say.
        pressure_percent: found.pressure.map(|p| object! {
            /// For a processor.
            cpu_some: scope.figures(p.cpu_some, PERCENT),
            /// For memory.
            memory_some: scope.figures(p.memory_some, PERCENT),
            /// For memory.
            memory_full: scope.figures(p.memory_full, PERCENT),
            /// For a disk.
            io_some: scope.figures(p.io_some, PERCENT),
            /// For a disk.
            io_full: scope.figures(p.io_full, PERCENT),
        }),
        /// Each interface by name.
        network: pairs(&found.network, |n| (n.interface.as_str(), object! {
            /// By anybody.
            received_mb: scope.growth(n.received, MIB),
            /// By anybody.
            sent_mb: scope.growth(n.sent, MIB),
        })),
    })
}

fn process<'a>(
    scope: Scope<'a>,
    cpu: Option<&CpuUse>,
    memory: Option<&HostMemory>,
) -> impl Json + use<'a> {
    let process = cpu.and_then(|cpu| cpu.process);
    let mebibytes =
        |of: fn(&HostMemory) -> Option<Figures>| scope.figures(memory.and_then(of), MIB);
    object! {
        /// Processor time in the program, seconds.
        user_s: process.and_then(|p| p.user_s),
        /// Processor time in the kernel, seconds.
        system_s: process.and_then(|p| p.system_s),
        /// Seconds in which its threads could have run and had no processor, added up.
        waited_s: cpu.and_then(|c| Some(c.waited?.total)),
        /// Cores that it kept busy.
        cores: scope.figures(process.and_then(|p| p.cores), 1.0),
        /// Resident memory; its peak is the kernel's own count where that was read.
        resident_mb: mebibytes(|m| m.process_resident),
        /// The same with shared pages by their share.
        proportional_mb: mebibytes(|m| m.process_proportional),
        /// Memory that lay in swap.
        swapped_mb: mebibytes(|m| m.process_swapped),
        /// Context switches because it waited.
        voluntary_switches: scope.growth(cpu.and_then(|c| c.voluntary_switches), 1.0),
        /// Context switches because others were to run.
        involuntary_switches: scope.growth(cpu.and_then(|c| c.involuntary_switches), 1.0),
    }
}

/// What was read from and written to disks.
fn disk<'a>(scope: Scope<'a>, found: &'a DiskUse) -> impl Json + use<'a> {
    object! {
        /// Disks.
        struct DiskUse;
        /// Read by the process from real disks.
        process_read_mb: scope.growth(found.process_read, MIB),
        /// Written by the process to real disks.
        process_written_mb: scope.growth(found.process_written, MIB),
        /// Read by the process with calls: also from the page cache, pipes and sockets, but not through mappings.
        calls_read_mb: scope.growth(found.calls_read, MIB),
        /// Written by the process with calls.
        calls_written_mb: scope.growth(found.calls_written, MIB),
        /// Share of calls_read_mb that came from no disk; null when files were read through mappings.
        page_cache_percent: match found.page_cache {
            Some(PageCache::Share(share)) => Some(share * PERCENT),
            Some(PageCache::MappedFiles) | None => None,
        },
        /// More came from disks than calls read: files were read through mappings.
        reads_mapped_files: found.page_cache.map(|found| found == PageCache::MappedFiles),
        /// Each disk by name.
        devices: pairs(&found.devices, |device| (device.device.as_str(), object! {
            /// Read from it, by anybody.
            read_mb: scope.growth(device.read, MIB),
            /// Written to it, by anybody.
            written_mb: scope.growth(device.written, MIB),
            /// Share of the time in which it had something to do.
            busy_percent: scope.figures(device.busy_ratio, PERCENT),
        })),
        /// How much of a file lay in the page cache, by path.
        files_cached_percent: pairs(&found.files, |f| {
            (f.path.as_str(), scope.figures(Some(f.cached_ratio), PERCENT))
        }),
    }
}
