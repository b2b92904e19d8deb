//! The machine and the process as Linux tells of them: `/proc`, `/sys`, cgroups.
//!
//! Files are opened once and read again with `pread` into one buffer, so that a round costs some 40 µs and allocates nothing. No file may
//! cost more than 0.1 % of the time: where one does (`/proc/stat` of a machine with very many processors), it is read more seldom. What
//! costs more than a file (page tables, the list of all processes, what the page cache holds of a file), or changes slowly, is read once a
//! second at most. In between a series is NaN.

mod catalogue;
mod cgroup;
mod children;
mod cpu;
mod disks;
mod fields;
mod hierarchy;
mod kept_file;
mod memory;
mod network;
mod own_usage;
mod pace;
mod page_cache;
mod pressure;
mod process;
mod run_queue;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use self::catalogue::{Catalogue, Part, Round};
use self::kept_file::Buffer;
use self::pace::Pace;
use super::Source;
use crate::series::{SeriesInfo, SeriesKind, Unavailable};

/// Processes that the kernel killed for lack of memory so far, in the control group of this process and those below it. `None` when no group
/// tells. Costs some 100 µs.
pub fn oom_kills() -> Option<u64> {
    cgroup::oom_kills(&HostOptions::default())
}

/// What to read of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostOptions {
    /// The folder that holds `proc` and `sys`: `/`, or a made-up one.
    pub root: PathBuf,
    /// The process; `None` is this one.
    pub pid: Option<u32>,
    /// Processor time, load, threads, context switches, waiting for processors.
    pub cpu: bool,
    /// Memory, swap, disks, page cache, network, waiting for memory and disks.
    pub memory: bool,
    /// Files whose share in the page cache is of interest, such as weights.
    pub files: Vec<PathBuf>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self { root: "/".into(), pid: None, cpu: true, memory: true, files: Vec::new() }
    }
}

/// Reads the host: processors, memory, disks, network, cgroup, and one process with its children.
pub struct HostSource {
    parts: Vec<(Pace, Box<dyn Part>)>,
    series: Vec<SeriesInfo>,
    unavailable: Vec<Unavailable>,
    facts: Vec<(String, String)>,
    buffer: Buffer,
    /// The highest value so far of each cumulative series.
    highest: Vec<f64>,
}

impl std::fmt::Debug for HostSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostSource")
            .field("series", &self.series)
            .field("unavailable", &self.unavailable)
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl HostSource {
    /// Opens everything that there is. What there is not is in [`Source::unavailable`].
    pub fn new(options: &HostOptions) -> Self {
        let mut catalogue = Catalogue::new(options);
        let mut parts: Vec<Box<dyn Part>> = Vec::new();
        if options.cpu || options.memory {
            open_parts(&mut catalogue, &mut parts);
        }
        Self {
            parts: parts.into_iter().map(|part| (part.pace(), part)).collect(),
            highest: vec![f64::NAN; catalogue.series.len()],
            series: catalogue.series,
            unavailable: catalogue.unavailable,
            facts: catalogue.facts,
            buffer: Buffer::default(),
        }
    }

    fn read_at(&mut self, now_ns: u64, values: &mut [f64]) {
        let mut round = Round { now_ns, buffer: &mut self.buffer, values, n_started: None };
        for (pace, part) in &mut self.parts {
            pace.keep(now_ns, || part.read(&mut round));
        }
        let cumulative = self
            .series
            .iter()
            .zip(&mut self.highest)
            .zip(values)
            .filter(|((series, _), _)| series.kind == SeriesKind::Cumulative);
        for ((_, highest), value) in cumulative {
            if *value < *highest {
                *value = *highest;
            } else if !value.is_nan() {
                *highest = *value;
            }
        }
    }
}

impl Source for HostSource {
    fn series(&self) -> Vec<SeriesInfo> {
        self.series.clone()
    }

    /// Allocates only when a process was started since the last second, and where a text has outgrown all before.
    fn read(&mut self, values: &mut [f64]) {
        self.read_at(crate::clock::monotonic_ns(), values);
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        self.unavailable.clone()
    }

    fn facts(&self) -> Vec<(String, String)> {
        self.facts.clone()
    }
}

fn open_parts(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let (cpu, memory) = (catalogue.options.cpu, catalogue.options.memory);
    if let Ok((_, release)) =
        kept_file::KeptFile::open(&catalogue.path("proc/sys/kernel/osrelease"))
    {
        let release = crate::readable_text::readable(release.trim_ascii());
        catalogue.fact("host.kernel", &release);
    }
    cpu::open(catalogue, parts);
    process::open(catalogue, parts);
    children::open(catalogue, parts);
    memory::open(catalogue, parts);
    cgroup::open(catalogue, parts);
    pressure::open(catalogue, parts);
    own_usage::open(catalogue, parts);
    if cpu {
        run_queue::open(catalogue, parts);
    }
    if memory {
        disks::open(catalogue, parts);
        network::open(catalogue, parts);
        page_cache::open(catalogue, parts);
    }
}
