//! What the machine did meanwhile.

use marey_analysis::findings::{Figure, FigureUnit};
use marey_analysis::{EnergySource, Figures, GpuUse, Growth, HostMemory, PageCache, Telemetry};

use super::path;
use crate::document::{Cell, Table};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{bytes_of, counted, duration, float, percent};

/// More GPUs than this do not help anybody on a terminal.
const MAX_GPUS: usize = 8;
/// Rows of GPUs and disks among them.
const MAX_ROWS: usize = 100;
/// Waiting for less than this share of the time is not worth a line.
const NOTABLE: f64 = 0.01;

/// Processor, memory, GPUs and disks, each with its peak and where that was.
pub(super) fn table(report: &Report) -> Table {
    let found = &report.activity.telemetry;
    let mut table = Table::of_each(
        "machine",
        "Machine",
        rows(found),
        &[
            ("what", "Machine", &|(what, ..)| Cell::name(what)),
            ("mean", "Mean", &|(_, read, unit)| figure(read.mean, *unit)),
            ("peak", "Peak", &|(_, read, unit)| figure(read.max, *unit)),
            ("peak_start_ns", "At", &|(_, read, _)| Cell::Moment(read.peak.start_ns)),
            ("peak_end_ns", "Until", &|(_, read, _)| {
                Cell::moment(Some(read.peak.end_ns).filter(|_| !is_moment(read)))
            }),
            ("section", "Where", &|(_, read, _)| match read.peak.node {
                Some(node) => path(report, node),
                None if is_moment(read) => Cell::text("under no section"),
                // A time between two readings, which no single section spans.
                None => Cell::Absent,
            }),
        ],
    );
    table.notes = notes(found);
    table.limited(MAX_ROWS)
}

fn is_moment(read: &Figures) -> bool {
    read.peak.start_ns == read.peak.end_ns
}

fn figure(value: f64, unit: FigureUnit) -> Cell {
    let is_number = unit == FigureUnit::Number;
    let value = if is_number { (value * 100.0).round() / 100.0 } else { value };
    Cell::Figure(Figure { value, unit })
}

/// What was read, and is worth a row.
fn rows(found: &Telemetry) -> Vec<(String, Figures, FigureUnit)> {
    let mut rows = Vec::new();
    let mut add = |what: &str, read: Option<Figures>, unit| {
        rows.extend(read.map(|read| (what.to_owned(), read, unit)));
    };
    let notable = |read: Option<Figures>| read.filter(|read| read.mean > NOTABLE);
    let rate = |moved: Option<Growth>| Some(moved.filter(|moved| moved.total > 0.0)?.per_second);
    if let Some(cpu) = &found.cpu {
        let process = cpu.process.and_then(|process| process.cores);
        let waited = notable(cpu.waited.map(|waited| waited.per_second));
        let children = cpu.children_cores.filter(|cores| cores.max > 0.0);
        let stolen = cpu.steal_ratio.filter(|steal| steal.max > NOTABLE);
        add("CPU", cpu.busy_ratio, FigureUnit::Ratio);
        add("CPU of the process (cores)", process, FigureUnit::Number);
        add("Own threads without a CPU", waited, FigureUnit::Number);
        add("CPU of its children (cores)", children, FigureUnit::Number);
        add("CPU given to others", stolen, FigureUnit::Ratio);
    }
    if let Some(memory) = &found.memory {
        let swap = |read: Option<Figures>| read.filter(|_| memory.has_swapped());
        add("Memory in use", memory.used, FigureUnit::Bytes);
        add("Memory of the process", memory.process_resident, FigureUnit::Bytes);
        add("Memory of the cgroup", memory.cgroup_used, FigureUnit::Bytes);
        add("Swap in use", swap(memory.swap_used), FigureUnit::Bytes);
        add("Process in swap", swap(memory.process_swapped), FigureUnit::Bytes);
    }
    for gpu in found.gpus.iter().flat_map(|gpus| &gpus.each).take(MAX_GPUS) {
        let mut of_gpu = |what: &str, read, unit| add(&format!("{} {what}", name(gpu)), read, unit);
        of_gpu("busy", gpu.utilization, FigureUnit::Ratio);
        of_gpu("memory controller busy", gpu.memory_controller, FigureUnit::Ratio);
        of_gpu("memory", gpu.memory_used, FigureUnit::Bytes);
        of_gpu("temperature", gpu.temperature, FigureUnit::Celsius);
        of_gpu("power", gpu.power, FigureUnit::Watts);
    }
    if let Some(disk) = &found.disk {
        add("Process reads from disks", rate(disk.process_read), FigureUnit::BytesPerSecond);
        add("Process writes to disks", rate(disk.process_written), FigureUnit::BytesPerSecond);
        for device in &disk.devices {
            let name = format!("Disk {} busy", cut(&device.device, 24));
            add(&name, notable(device.busy_ratio), FigureUnit::Ratio);
        }
    }
    if let Some(pressure) = &found.pressure {
        add("Machine waiting for memory", notable(pressure.memory_some), FigureUnit::Ratio);
        add("Machine waiting for disks", notable(pressure.io_some), FigureUnit::Ratio);
    }
    rows
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
            let n_more = (gpus.each.len() - MAX_GPUS) as u64;
            notes.push(format!("… and {}", counted(n_more, "more GPU", "more GPUs")));
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
    parts.extend(memory.total_bytes.map(|total| format!("{} of memory", bytes_of(float(total)))));
    for (way, moved) in
        [("read from swap", memory.swapped_in), ("written to swap", memory.swapped_out)]
    {
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
    parts.extend(gpu.shares_memory.then(|| "it uses the machine's memory".to_owned()));
    let borrowed = gpu.memory_borrowed().map(|borrowed| bytes_of(borrowed.max));
    parts.extend(borrowed.map(|borrowed| format!("{borrowed} borrowed from the machine at most")));
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
