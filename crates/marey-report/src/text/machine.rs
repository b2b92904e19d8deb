//! What the machine did meanwhile.

use marey_analysis::{
    EnergySource, Figures, GpuUse, Growth, HostMemory, Moment, PageCache, SamplerUse, Telemetry,
};

use super::columns::{Columns, Last};
use super::sections::shown_path;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{UNKNOWN, bytes_of, duration, float, known, number, percent, time_s};

const PATH_WIDTH: usize = 60;
/// More GPUs than this do not help anybody on a terminal.
const MAX_GPUS: usize = 8;
/// Waiting for less than this share of the time is not worth a line.
const NOTABLE: f64 = 0.01;

/// Processor, memory, GPUs and disks, each with its peak and where that was; `None` when nothing was sampled.
pub(super) fn table(report: &Report) -> Option<String> {
    let found = &report.activity.telemetry;
    if !found.has_machine() && found.gpus.is_none() {
        return None;
    }
    let mut rows = Rows {
        report,
        table: Columns::new(&["Machine", "Mean", "Peak", "At", "Where"], Last::Text),
    };
    rows.cpu(found);
    rows.memory(found);
    rows.gpus(found);
    rows.disk(found);
    rows.pressure(found);
    Some(rows.table.block("MACHINE", &notes(found)))
}

/// A sampler that did not keep its times, in a line each.
pub(super) fn late_samplers(report: &Report) -> Vec<String> {
    let samplers = report.activity.telemetry.samplers.iter();
    let late = samplers.filter(|sampler| sampler.missed.is_some_and(|missed| missed > 0.0));
    late.map(late_line).collect()
}

fn late_line(sampler: &SamplerUse) -> String {
    let late = sampler
        .late_s
        .map(|late| format!(", up to {} late", duration(late.max * 1e9)));
    let cost = sampler
        .cpu
        .map(|cpu| format!(", took {} of a core", percent(cpu.per_second.mean)));
    format!(
        "Sampler {}: left out {} rounds{}{}",
        cut(&sampler.name, 40),
        known(sampler.missed, number),
        late.unwrap_or_default(),
        cost.unwrap_or_default()
    )
}

struct Rows<'a> {
    report: &'a Report,
    table: Columns,
}

impl Rows<'_> {
    /// A row, if it was read.
    fn add(&mut self, what: &str, found: Option<Figures>, show: impl Fn(f64) -> String) {
        if let Some(found) = found {
            let cells = [what.to_owned(), show(found.mean), show(found.max)];
            let mut cells = cells.to_vec();
            cells.extend(self.place(found.peak));
            self.table.row(cells);
        }
    }

    fn add_rate(&mut self, what: &str, found: Option<Growth>) {
        let moved = found.filter(|growth| growth.total > 0.0);
        let show = |rate| format!("{}/s", bytes_of(rate));
        self.add(what, moved.map(|growth| growth.per_second), show);
    }

    fn place(&self, peak: Moment) -> [String; 2] {
        let path = match peak.node {
            Some(node) => shown_path(&self.report.call_path(node), PATH_WIDTH),
            None if peak.start_ns == peak.end_ns => "under no section".into(),
            // A time between two readings, which no single section spans.
            None => UNKNOWN.into(),
        };
        // What was counted between two readings.
        let until = (peak.end_ns > peak.start_ns).then(|| format!("–{}", time_s(peak.end_ns)));
        let when = format!("{}{} s", time_s(peak.start_ns), until.unwrap_or_default());
        [when, path]
    }

    fn cpu(&mut self, found: &Telemetry) {
        let Some(cpu) = &found.cpu else { return };
        let cores = |n: f64| format!("{n:.2} cores");
        let threads = |n: f64| format!("{n:.2} threads");
        self.add("CPU", cpu.busy_ratio, percent);
        let process = cpu.process.and_then(|process| process.cores);
        self.add("CPU of the process", process, cores);
        let waited = cpu.waited.map(|waited| waited.per_second);
        let waited = waited.filter(|waited| waited.mean > NOTABLE);
        self.add("Own threads without a CPU", waited, threads);
        let children = cpu.children_cores.filter(|cores| cores.max > 0.0);
        self.add("CPU of its children", children, cores);
        let stolen = cpu.steal_ratio.filter(|steal| steal.max > NOTABLE);
        self.add("CPU given to others", stolen, percent);
    }

    fn memory(&mut self, found: &Telemetry) {
        let Some(memory) = &found.memory else { return };
        self.add("Memory in use", memory.used, bytes_of);
        self.add("Memory of the process", memory.process_resident, bytes_of);
        self.add("Memory of the cgroup", memory.cgroup_used, bytes_of);
        if memory.has_swapped() {
            self.add("Swap in use", memory.swap_used, bytes_of);
            self.add("Process in swap", memory.process_swapped, bytes_of);
        }
    }

    fn gpus(&mut self, found: &Telemetry) {
        let gpus = found.gpus.iter().flat_map(|gpus| &gpus.each);
        for gpu in gpus.take(MAX_GPUS) {
            let name = name(gpu);
            let named = |what: &str| format!("{name} {what}");
            self.add(&named("busy"), gpu.utilization, percent);
            let controller = gpu.memory_controller;
            self.add(&named("memory controller busy"), controller, percent);
            self.add(&named("memory"), gpu.memory_used, bytes_of);
            self.add(&named("temperature"), gpu.temperature, |t| {
                format!("{t:.0} °C")
            });
            self.add(&named("power"), gpu.power, |watts| format!("{watts:.0} W"));
        }
    }

    fn disk(&mut self, found: &Telemetry) {
        let Some(disk) = &found.disk else { return };
        self.add_rate("Process reads from disks", disk.process_read);
        self.add_rate("Process writes to disks", disk.process_written);
        for device in &disk.devices {
            let is_busy = |busy: &Figures| busy.mean > NOTABLE;
            let name = format!("Disk {} busy", cut(&device.device, 24));
            self.add(&name, device.busy_ratio.filter(is_busy), percent);
        }
    }

    fn pressure(&mut self, found: &Telemetry) {
        let Some(pressure) = &found.pressure else {
            return;
        };
        let waits = [
            ("Machine waiting for memory", pressure.memory_some),
            ("Machine waiting for disks", pressure.io_some),
        ];
        for (what, share) in waits {
            self.add(what, share.filter(|share| share.mean > NOTABLE), percent);
        }
    }
}

/// `GPU 0`, else its UUID.
fn name(gpu: &GpuUse) -> String {
    match &gpu.index {
        Some(index) => format!("GPU {}", cut(index, 24)),
        None => cut(&gpu.uuid, 44),
    }
}

fn notes(found: &Telemetry) -> Vec<String> {
    let mut notes: Vec<String> = found.memory.iter().filter_map(memory_note).collect();
    let is_of_gpu = |what: &str| what.contains("gpu") || what.contains("nvml");
    let missing = found.unavailable.iter().find(|u| is_of_gpu(&u.what));
    if let (None, Some(missing)) = (&found.gpus, missing) {
        notes.push(format!("GPU: not available: {}.", cut(&missing.why, 120)));
    }
    if let Some(gpus) = &found.gpus {
        notes.extend(gpus.each.iter().take(MAX_GPUS).filter_map(gpu_note));
        if gpus.each.len() > MAX_GPUS {
            notes.push(format!("… and {} more GPUs", gpus.each.len() - MAX_GPUS));
        }
    }
    match found.disk.as_ref().and_then(|disk| disk.page_cache) {
        Some(PageCache::Share(share)) => notes.push(format!(
            "Page cache: {} of what the process read with calls came from no disk.",
            percent(share)
        )),
        Some(PageCache::MappedFiles) => notes.push(
            "More came from disks than the process read with calls: files were mapped, or read ahead of what was asked for. What the page cache served is not known."
                .into(),
        ),
        None => {}
    }
    notes
}

fn memory_note(memory: &HostMemory) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(
        memory
            .total_bytes
            .map(|total| format!("{} of memory", bytes_of(float(total)))),
    );
    for (way, moved) in [
        ("read from swap", memory.swapped_in),
        ("written to swap", memory.swapped_out),
    ] {
        let moved = moved.filter(|growth| growth.total > 0.0);
        parts.extend(moved.map(|growth| format!("{} {way}", bytes_of(growth.total))));
    }
    (!parts.is_empty()).then(|| format!("Machine: {}.", parts.join(", ")))
}

fn gpu_note(gpu: &GpuUse) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(gpu.name.as_ref().map(|name| cut(name, 48)));
    let total = gpu.memory_total.map(|total| bytes_of(total.last));
    parts.extend(total.map(|total| format!("{total} of memory")));
    parts.extend(gpu.energy.map(|energy| {
        let how = match energy.source {
            EnergySource::Counter => "as it counts it",
            EnergySource::Power => "power over time",
        };
        let watt_hours = energy.watt_hours();
        let digits = if watt_hours < 0.1 { 4 } else { 2 };
        format!("{watt_hours:.digits$} Wh ({how})")
    }));
    if let Some(found) = gpu.throttling {
        for (reason, ns) in [("heat", found.thermal_ns), ("power", found.power_ns)] {
            if ns > 0.0 {
                parts.push(format!("held down for {reason} for {}", duration(ns)));
            }
        }
    }
    (!parts.is_empty()).then(|| format!("{}: {}.", name(gpu), parts.join(", ")))
}
