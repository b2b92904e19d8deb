//! Memory and the machine: one peak of each kind, and how busy processors and GPUs were.

use marey::MemorySource;
use marey_analysis::{GpuUse, HostMemory, SourceMemory};

use super::account::total_ns;
use super::headline::INTERRUPT;
use crate::first_screen::brief::{rounded, seconds, short};
use crate::first_screen::line::name;
use crate::first_screen::{AccountRows, Labelled};
use crate::json::object::{Fields, Json, object};
use crate::model::{Report, StatusKind};
use crate::quantity::{counted, float, per_second, share, size, size_of, time_ns, whole};
use crate::width::columns;

/// Readings that a mean needs.
const FEW: u64 = 3;
const MOST_PEAKS: usize = 2;
const MOST_GPUS: usize = 2;
/// Columns of a name, and of a reason.
const NAME: usize = 24;
const REASON: usize = 40;

/// The most memory of one kind, and where that was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Peak {
    /// Bytes.
    pub(super) bytes: u64,
    /// Whose: `process`, `GPU 0`.
    pub(super) whose: String,
    /// When, since the start of the run; `None` of what was counted between two readings.
    pub(super) at_ns: Option<u64>,
    /// The section; not safe to print.
    pub(super) place: Option<String>,
    /// The label of the reading where it was in no section; not safe to print.
    pub(super) label: Option<String>,
}

/// How busy the machine was.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SystemFigures {
    /// Processor time of the command over its wall time.
    pub(super) own_cores: Option<f64>,
    /// Share of the machine's processors that was busy, where the command's own time is not known.
    pub(super) busy_ratio: Option<f64>,
    /// Processors.
    pub(super) n_cores: Option<u64>,
    /// GPUs that were read.
    pub(super) gpus: Vec<GpuFigures>,
    /// GPUs that are not in `gpus`.
    pub(super) n_more_gpus: u64,
    /// Why no GPU was read.
    pub(super) why_no_gpu: Option<String>,
}

/// How busy a GPU was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GpuFigures {
    /// Its number, or its name.
    pub(super) name: String,
    /// Mean share of the time in which a kernel ran.
    pub(super) busy_ratio: f64,
    /// Most of its memory that was in use.
    pub(super) peak_bytes: Option<f64>,
}

/// Of devices first, then of the process.
pub(super) fn peaks(report: &Report, account: Option<&AccountRows>) -> Vec<Peak> {
    let sources = report.memory.iter().flat_map(|memory| &memory.sources);
    let mut peaks: Vec<Peak> = sources.map(|source| peak(report, account, source)).collect();
    let is_process = |peak: &Peak| peak.whose == "process";
    if !peaks.iter().any(is_process) {
        let usage = report.run.launch.as_ref().and_then(|launch| launch.usage);
        peaks.extend(usage.filter(|usage| !usage.is_peak_at_most).map(|usage| Peak {
            bytes: usage.peak_bytes,
            whose: "process".into(),
            at_ns: None,
            place: None,
            label: None,
        }));
    }
    peaks.sort_by_key(|peak| (is_process(peak), std::cmp::Reverse(peak.bytes)));
    peaks.truncate(MOST_PEAKS);
    peaks
}

/// `peak 372 MiB in vae_decode (process)`, with the same for programs; of a run that failed what the process had at last, of one that was
/// killed what was free of the memory that bounded it.
pub(super) fn memory(report: &Report, peaks: &[Peak]) -> (Labelled, impl Fields + Json + use<>) {
    let kind = report.status.kind;
    let host = report.activity.telemetry.memory.as_ref();
    let is_interrupted = report.status.signal == Some(INTERRUPT);
    let is_killed = matches!(kind, StatusKind::Killed | StatusKind::OutOfMemory) && !is_interrupted;
    let bound = host.and_then(HostMemory::bound).filter(|_| is_killed);
    let free = bound.map(|bound| whole((bound.limit_bytes - bound.used.last).max(0.0)));
    let last = host.and_then(|host| host.process_resident.as_ref());
    let last = last.filter(|last| last.n_readings > 1 && kind.has_failed() && free.is_none());
    let last = last.map(|last| format!("{} at the end", size_of(whole(last.last))));
    let of_bound = bound.zip(free).map(|(bound, free)| {
        let [free, all] = [free, whole(bound.limit_bytes)].map(size_of);
        let place = if bound.is_of_group { "in the container" } else { "on the machine" };
        format!("{free} of {all} free {place}")
    });
    let said = peaks.iter().map(Peak::text).chain(last).chain(of_bound).collect();
    let of_peaks = peaks.iter().map(|peak| {
        let place = peak.place.as_ref().or(peak.label.as_ref());
        object! {
            peak_bytes: peak.bytes,
            source: peak.whose.clone(),
            peak_at_s?: peak.at_ns.map(seconds),
            peak_in?: place.map(|place| short(place)),
        }
    });
    let free = |is_of_group: bool| {
        free.filter(|_| bound.is_some_and(|bound| bound.is_of_group == is_of_group))
    };
    let facts = object! {
        /// Peaks.
        memory: of_peaks.collect::<Vec<_>>(),
        machine_free_bytes?: free(false),
        container_free_bytes?: free(true),
    };
    (Labelled::new("Memory", said), facts)
}

impl Peak {
    fn text(&self) -> String {
        let at = self.at_ns.map(|ns| format!(" at {}", time_ns(ns)));
        let place = self.place.as_ref().map(|place| format!(" in {}", name(place, NAME)));
        let label = self.label.as_ref().map(|label| format!(" at {}", name(label, NAME)));
        let at = label.unwrap_or_else(|| at.unwrap_or_default() + &place.unwrap_or_default());
        format!("peak {}{at} ({})", size_of(self.bytes), self.whose)
    }
}

fn peak(report: &Report, account: Option<&AccountRows>, source: &SourceMemory) -> Peak {
    let read = &source.peak;
    let bytes = source.counted_peak_bytes.unwrap_or(read.allocated_bytes);
    // What was counted may lie between two readings: then only a section that was read at both ends knows where.
    let is_read = bytes == read.allocated_bytes;
    let node = source.counted_peak_node.or(read.node.filter(|_| is_read));
    let name = node.and_then(|node| row_or_own(report, account, node));
    let label = read.label.clone().filter(|_| is_read && name.is_none());
    Peak {
        bytes,
        whose: match source.source {
            MemorySource::Process => "process".into(),
            MemorySource::TorchCuda(device) => format!("GPU {device}"),
        },
        at_ns: is_read.then_some(read.at_ns),
        place: name,
        label,
    }
}

/// The row of the account that holds a node, by its name; else the node's own.
pub(super) fn row_or_own(
    report: &Report,
    account: Option<&AccountRows>,
    node: u32,
) -> Option<String> {
    let rows = account.map_or(&[][..], |account| &account.rows);
    let path = report.call_path(node);
    let is_row = |name: &&&str| rows.iter().any(|row| row.name == **name);
    let found = path.iter().rev().find(is_row).or(path.last());
    found.map(|name| (*name).to_owned())
}

impl SystemFigures {
    pub(super) fn new(report: &Report) -> Self {
        let found = &report.activity.telemetry;
        let launch = report.run.launch.as_ref();
        let cpu = found.cpu.as_ref();
        let used = launch.and_then(|launch| launch.usage).filter(|_| cpu.is_some());
        let wall = float(total_ns(report).max(1));
        let busy = cpu.and_then(|cpu| cpu.busy_ratio.as_ref());
        let busy = busy.filter(|busy| busy.n_readings >= FEW && used.is_none());
        let all = found.gpus.as_ref().map(|gpus| gpus.each.as_slice());
        let each = all.unwrap_or_default();
        let said = report.quality.unavailable.iter();
        let is_of_gpu = |what: &str| what.contains("nvml") || what.contains("gpu_metrics");
        let why = said.rev().find(|said| is_of_gpu(&said.what));
        Self {
            own_cores: used
                .map(|used| float(used.cpu_user_ns.saturating_add(used.cpu_system_ns)) / wall),
            busy_ratio: busy.map(|busy| busy.mean),
            n_cores: cpu.and_then(|cpu| cpu.n_cores),
            gpus: each.iter().filter_map(GpuFigures::new).take(MOST_GPUS).collect(),
            n_more_gpus: each.len().saturating_sub(MOST_GPUS) as u64,
            why_no_gpu: why.filter(|_| each.is_empty()).map(|said| said.why.clone()),
        }
    }

    /// There is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        self.own_cores.is_none() && self.busy_ratio.is_none() && self.gpus.is_empty()
    }

    /// `CPU 0.90 of 2 cores · no GPU (no NVIDIA driver)`
    pub(super) fn text(&self) -> Vec<String> {
        let cores = self.n_cores.map(|n| format!(" of {}", counted(n, "core", "cores")));
        let cores = cores.unwrap_or_default();
        let own = self.own_cores.map(|own| format!("CPU {}{cores}", per_second(own)));
        let busy = self.busy_ratio.map(|busy| format!("CPU {}{cores}", share(busy)));
        let gpus = self.gpus.iter().map(|gpu| {
            let memory = gpu.peak_bytes.map(|peak| format!(", {} at most", size(peak)));
            format!(
                "GPU {} {} busy{}",
                name(&gpu.name, 12),
                share(gpu.busy_ratio),
                memory.unwrap_or_default()
            )
        });
        let more =
            (self.n_more_gpus > 0).then(|| counted(self.n_more_gpus, "more GPU", "more GPUs"));
        let none = self.why_no_gpu.as_ref().map(|why| {
            let why = why.split(" (").next().unwrap_or_default();
            if columns(why) <= REASON && why != "no GPU was sampled" {
                return format!("no GPU ({why})");
            }
            "no GPU".into()
        });
        own.or(busy).into_iter().chain(gpus).chain(more).chain(none).collect()
    }

    /// For programs.
    pub(super) fn facts(&self) -> impl Json + use<> {
        let gpus = self.gpus.iter().map(|gpu| rounded(gpu.busy_ratio));
        let gpus: Vec<f64> = gpus.collect();
        object! {
            /// Processor time of the command over its wall time.
            cpu_cores?: self.own_cores.map(rounded),
            /// Of the machine, where the command's own time is not known.
            cpu_busy_ratio?: self.busy_ratio.map(rounded),
            cores?: self.n_cores,
            gpu_busy_ratios?: Some(gpus).filter(|gpus| !gpus.is_empty()),
        }
    }
}

impl GpuFigures {
    fn new(gpu: &GpuUse) -> Option<Self> {
        let busy = gpu.utilization.filter(|busy| busy.n_readings >= FEW)?;
        Some(Self {
            name: gpu.index.clone().unwrap_or_else(|| gpu.uuid.clone()),
            busy_ratio: busy.mean,
            peak_bytes: gpu.memory_used.map(|used| used.max),
        })
    }
}
