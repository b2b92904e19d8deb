//! The table of what is read of files: which file, how often, which series, and where their numbers stand in its text.

use super::HostOptions;
use super::fields::{bytes_of, decimal, fields, lines, nth, number_of, whole};
use super::own_usage;
use super::pace::Pace;
use super::process::ProcessStat;
use crate::series::SeriesInfo;
use crate::series::SeriesKind::{self, Cumulative, Gauge};
use crate::series::Unit::{self, Bytes, Count, Seconds};
use Switch::{Cpu, CpuOfAnother, Memory};

/// A file, or one kind of file.
pub(super) struct File {
    /// Below the root; `<pid>` is the process. Empty where it is looked for.
    pub path: &'static str,
    /// How often it is read, at most.
    pub pace: Pace,
    /// Its series.
    pub columns: &'static [Column],
    /// Why the file has nothing of a series. `<folder>` is where it lies.
    pub lack: &'static str,
    /// What helps where there is no such file.
    pub remedy: &'static str,
}

/// A series of a file.
pub(super) struct Column {
    pub switch: Switch,
    pub kind: SeriesKind,
    pub name: &'static str,
    /// Where a file has several of the name.
    pub subject: &'static str,
    pub unit: Unit,
    pub value: Value,
}

/// The number of a series in the text of its file; `None` when it has none.
type Value = fn(&[u8]) -> Option<f64>;

/// What has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    Cpu,
    /// Of the process itself `getrusage` knows it to the microsecond.
    CpuOfAnother,
    Memory,
}

impl Switch {
    /// Whether it is asked for.
    pub(super) fn is_on(self, options: &HostOptions) -> bool {
        match self {
            Cpu => options.cpu,
            CpuOfAnother => options.cpu && !own_usage::is_own(options),
            Memory => options.memory,
        }
    }
}

impl File {
    const fn new(path: &'static str, pace: Pace, columns: &'static [Column]) -> Self {
        let lack = "this kernel does not count it";
        Self { path, pace, columns, lack, remedy: "" }
    }

    const fn lack(self, lack: &'static str) -> Self {
        Self { lack, ..self }
    }
}

impl Switch {
    /// A series of readings of now.
    const fn gauge(self, name: &'static str, unit: Unit, value: Value) -> Column {
        Column { switch: self, kind: Gauge, name, subject: "", unit, value }
    }

    /// A series of readings that only grow.
    const fn counter(self, name: &'static str, unit: Unit, value: Value) -> Column {
        Column { kind: Cumulative, ..self.gauge(name, unit, value) }
    }
}

impl Column {
    const fn of(self, subject: &'static str) -> Self {
        Self { subject, ..self }
    }

    /// Of something that there are several of, or of nothing more.
    pub(super) fn series(&self, subject: &str) -> SeriesInfo {
        let subject = if self.subject.is_empty() { subject } else { self.subject };
        SeriesInfo { kind: self.kind, ..SeriesInfo::gauge(self.name, subject, self.unit) }
    }
}

/// Of the process.
pub(super) static PROCESS: [File; 4] = [
    File::new(
        "proc/<pid>/stat",
        Pace::of_file(),
        &[
            CpuOfAnother.counter("process.cpu.user", Seconds, |t| Some(ProcessStat::of(t)?.user)),
            CpuOfAnother
                .counter("process.cpu.system", Seconds, |t| Some(ProcessStat::of(t)?.system)),
            Cpu.gauge("process.threads", Count, |t| Some(ProcessStat::of(t)?.threads)),
            // A process that has ended, and was not waited for yet, has none left.
            Memory.gauge("process.memory.resident", Bytes, |t| {
                Some(ProcessStat::of(t)?.resident_bytes).filter(|bytes| *bytes > 0.0)
            }),
        ],
    )
    .lack("<folder>/stat is not understood"),
    File::new(
        "proc/<pid>/status",
        Pace::of_seconds(),
        &[Memory.gauge("process.memory.swapped", Bytes, |t| bytes_of(t, b"VmSwap:"))],
    ),
    // What went to and from disks, and what was read and written by calls.
    File::new(
        "proc/<pid>/io",
        Pace::of_file(),
        &[
            Memory.counter("process.disk.read", Bytes, |t| number_of(t, b"read_bytes:")),
            Memory.counter("process.disk.written", Bytes, |t| number_of(t, b"write_bytes:")),
            Memory.counter("process.io.read", Bytes, |t| number_of(t, b"rchar:")),
            Memory.counter("process.io.written", Bytes, |t| number_of(t, b"wchar:")),
        ],
    ),
    // Resident memory where what is shared counts in parts. The kernel walks all page tables for it, hence the pace.
    File::new(
        "proc/<pid>/smaps_rollup",
        Pace::of_pages(),
        &[Memory.gauge("process.memory.proportional", Bytes, |t| bytes_of(t, b"Pss:"))],
    ),
];

/// Of the machine.
pub(super) static MACHINE: [File; 3] = [
    // The kernel computes it anew every five seconds.
    File::new(
        "proc/loadavg",
        Pace::of_seconds(),
        &[
            Cpu.gauge("host.load", Count, |t| decimal(fields(t).next()?)).of("1"),
            Cpu.gauge("host.load", Count, |t| decimal(fields(t).nth(1)?)).of("5"),
            Cpu.gauge("host.load", Count, |t| decimal(fields(t).nth(2)?)).of("15"),
        ],
    ),
    File::new(
        "proc/meminfo",
        Pace::of_file(),
        &[
            Memory.gauge("host.swap.used", Bytes, |t| {
                Some((bytes_of(t, b"SwapTotal:")? - bytes_of(t, b"SwapFree:")?).max(0.0))
            }),
            Memory.gauge("host.memory.used", Bytes, |t| {
                Some((bytes_of(t, b"MemTotal:")? - bytes_of(t, b"MemAvailable:")?).max(0.0))
            }),
            Memory.gauge("host.memory.available", Bytes, |t| bytes_of(t, b"MemAvailable:")),
        ],
    )
    .lack("this kernel does not estimate what is available"),
    // Pages moved to and from swap. The file is long.
    File::new(
        "proc/vmstat",
        Pace::of_counters(),
        &[
            Memory.counter("host.swap.in", Bytes, |t| Some(number_of(t, b"pswpin ")? * page())),
            Memory.counter("host.swap.out", Bytes, |t| Some(number_of(t, b"pswpout ")? * page())),
        ],
    )
    .lack("this kernel has no swap"),
];

/// Time that tasks waited for processors, memory and disks (pressure stall information). That all wait for a processor cannot happen on a
/// machine.
pub(super) static PRESSURE: [File; 3] = [
    pressure("proc/pressure/cpu", &[Cpu.counter("pressure.cpu.some", Seconds, some)]),
    pressure(
        "proc/pressure/memory",
        &[
            Memory.counter("pressure.memory.some", Seconds, some),
            Memory.counter("pressure.memory.full", Seconds, full),
        ],
    ),
    pressure(
        "proc/pressure/io",
        &[
            Memory.counter("pressure.io.some", Seconds, some),
            Memory.counter("pressure.io.full", Seconds, full),
        ],
    ),
];

const fn pressure(path: &'static str, columns: &'static [Column]) -> File {
    let remedy = "; it takes a kernel with CONFIG_PSI, started with psi=1";
    File { remedy, ..File::new(path, Pace::of_counters(), columns) }
}

/// Seconds: `total=`, microseconds, of a line.
fn some(text: &[u8]) -> Option<f64> {
    waited_s(text, b"some ")
}

fn full(text: &[u8]) -> Option<f64> {
    waited_s(text, b"full ")
}

fn waited_s(text: &[u8], line: &[u8]) -> Option<f64> {
    let rest = lines(text).find_map(|each| each.strip_prefix(line))?;
    let total = fields(rest).find_map(|field| field.strip_prefix(b"total="))?;
    Some(std::time::Duration::from_micros(whole(total)?).as_secs_f64())
}

/// Bytes of a sector in the counts of disks, whatever the disk's own is.
const SECTOR: f64 = 512.0;

/// Of a disk. Reads, merged, sectors, ms · the same of writes · in flight, ms busy.
pub(super) static DISK: File = File::new(
    "stat",
    Pace::of_file(),
    &[
        Memory.counter("disk.read", Bytes, |t| Some(nth(t, 2)? * SECTOR)),
        Memory.counter("disk.written", Bytes, |t| Some(nth(t, 6)? * SECTOR)),
        Memory.counter("disk.busy", Seconds, |t| Some(nth(t, 9)? / 1000.0)),
    ],
);

/// Of a cgroup with a controller for memory, versions 1 and 2: what it uses, and the most that it used.
pub(super) static GROUP_MEMORY: [[File; 2]; 2] = [
    [group_used("memory.usage_in_bytes"), group_peak("memory.max_usage_in_bytes")],
    [group_used("memory.current"), group_peak("memory.peak")],
];

const fn group_used(path: &'static str) -> File {
    const USED: &[Column] = &[Memory.gauge("cgroup.memory.used", Bytes, |t| nth(t, 0))];
    File::new(path, Pace::of_file(), USED)
}

const fn group_peak(path: &'static str) -> File {
    const PEAK: &[Column] = &[Memory.gauge("cgroup.memory.peak", Bytes, |t| nth(t, 0))];
    File::new(path, Pace::of_seconds(), PEAK)
}

/// Of a cgroup, versions 1 and 2: how long it had used up its quota and was stopped.
pub(super) static GROUP_THROTTLED: [File; 2] = [
    throttled(&[Cpu.counter("cgroup.cpu.throttled", Seconds, |t| {
        Some(number_of(t, b"throttled_time ")? / 1e9)
    })]),
    throttled(&[Cpu.counter("cgroup.cpu.throttled", Seconds, |t| {
        Some(number_of(t, b"throttled_usec ")? / 1e6)
    })]),
];

const fn throttled(columns: &'static [Column]) -> File {
    File::new("cpu.stat", Pace::of_counters(), columns)
        .lack("<folder> limits no processor time: none can be set there")
}

/// Bytes of a page.
#[expect(clippy::cast_precision_loss, reason = "a page is shorter than 2⁵³ bytes")]
pub(super) fn page() -> f64 {
    crate::process_memory::page_bytes() as f64
}
