//! What the machine did meanwhile.

use marey_analysis::findings::{Figure, FigureUnit};
use marey_analysis::{
    EnergySource, Figures, GpuUse, Growth, HostMemory, Moment, PageCache, Telemetry,
};

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
    let columns = [
        ("what", "Machine"),
        ("mean", "Mean"),
        ("peak", "Peak"),
        ("peak_start_ns", "At"),
        ("peak_end_ns", "Until"),
        ("section", "Where"),
    ];
    let found = &report.activity.telemetry;
    let table = Table::new("machine", "Machine", &columns).limited(MAX_ROWS);
    let mut rows = Rows { report, table };
    rows.cpu(found);
    rows.memory(found);
    rows.gpus(found);
    rows.disk(found);
    rows.pressure(found);
    rows.table.notes = notes(found);
    rows.table
}

struct Rows<'a> {
    report: &'a Report,
    table: Table,
}

impl Rows<'_> {
    /// A row, if it was read.
    fn add(&mut self, what: impl Into<String>, found: Option<Figures>, unit: FigureUnit) {
        let Some(found) = found else { return };
        let figure = |value: f64| {
            let is_number = unit == FigureUnit::Number;
            let value = if is_number { (value * 100.0).round() / 100.0 } else { value };
            Cell::Figure(Figure { value, unit })
        };
        let Moment { start_ns, end_ns, node } = found.peak;
        let is_moment = start_ns == end_ns;
        self.table.row(vec![
            Cell::name(what),
            figure(found.mean),
            figure(found.max),
            Cell::Moment(start_ns),
            Cell::moment((!is_moment).then_some(end_ns)),
            match node {
                Some(node) => path(self.report, node),
                None if is_moment => Cell::text("under no section"),
                // A time between two readings, which no single section spans.
                None => Cell::Absent,
            },
        ]);
    }

    fn add_rate(&mut self, what: &str, found: Option<Growth>) {
        let moved = found.filter(|growth| growth.total > 0.0);
        let rate = moved.map(|growth| growth.per_second);
        self.add(what, rate, FigureUnit::BytesPerSecond);
    }

    fn cpu(&mut self, found: &Telemetry) {
        let Some(cpu) = &found.cpu else { return };
        self.add("CPU", cpu.busy_ratio, FigureUnit::Ratio);
        let process = cpu.process.and_then(|process| process.cores);
        self.add("CPU of the process (cores)", process, FigureUnit::Number);
        let waited = cpu.waited.map(|waited| waited.per_second);
        let waited = waited.filter(|waited| waited.mean > NOTABLE);
        self.add("Own threads without a CPU", waited, FigureUnit::Number);
        let children = cpu.children_cores.filter(|cores| cores.max > 0.0);
        self.add("CPU of its children (cores)", children, FigureUnit::Number);
        let stolen = cpu.steal_ratio.filter(|steal| steal.max > NOTABLE);
        self.add("CPU given to others", stolen, FigureUnit::Ratio);
    }

    fn memory(&mut self, found: &Telemetry) {
        let Some(memory) = &found.memory else { return };
        self.add("Memory in use", memory.used, FigureUnit::Bytes);
        self.add("Memory of the process", memory.process_resident, FigureUnit::Bytes);
        self.add("Memory of the cgroup", memory.cgroup_used, FigureUnit::Bytes);
        if memory.has_swapped() {
            self.add("Swap in use", memory.swap_used, FigureUnit::Bytes);
            self.add("Process in swap", memory.process_swapped, FigureUnit::Bytes);
        }
    }

    fn gpus(&mut self, found: &Telemetry) {
        let gpus = found.gpus.iter().flat_map(|gpus| &gpus.each);
        for gpu in gpus.take(MAX_GPUS) {
            let name = name(gpu);
            let named = |what: &str| format!("{name} {what}");
            self.add(named("busy"), gpu.utilization, FigureUnit::Ratio);
            let controller = gpu.memory_controller;
            self.add(named("memory controller busy"), controller, FigureUnit::Ratio);
            self.add(named("memory"), gpu.memory_used, FigureUnit::Bytes);
            self.add(named("temperature"), gpu.temperature, FigureUnit::Celsius);
            self.add(named("power"), gpu.power, FigureUnit::Watts);
        }
    }

    fn disk(&mut self, found: &Telemetry) {
        let Some(disk) = &found.disk else { return };
        self.add_rate("Process reads from disks", disk.process_read);
        self.add_rate("Process writes to disks", disk.process_written);
        for device in &disk.devices {
            let is_busy = |busy: &Figures| busy.mean > NOTABLE;
            let name = format!("Disk {} busy", cut(&device.device, 24));
            self.add(name, device.busy_ratio.filter(is_busy), FigureUnit::Ratio);
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
            self.add(what, share.filter(|share| share.mean > NOTABLE), FigureUnit::Ratio);
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
