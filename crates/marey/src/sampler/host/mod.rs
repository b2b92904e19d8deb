//! The machine and the process as Linux tells of them: `/proc`, `/sys`, cgroups.
//!
//! Files are opened once and read again with `pread` into one buffer, so that a round costs some 40 µs and allocates nothing. No file may
//! cost more than 0.1 % of the time: where one does (`/proc/stat` of a machine with very many processors), it is read more seldom. What
//! costs more than a file (page tables, the list of all processes, what the page cache holds of a file), or changes slowly, is read once a
//! second at most. In between a series is NaN.

mod catalogue;
mod cgroup;
mod children;
mod counter;
mod cpu;
mod disks;
mod fields;
mod hierarchy;
mod kept_file;
mod network;
mod own_usage;
mod pace;
mod page_cache;
mod process;
mod run_queue;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use self::catalogue::{Catalogue, Part, Round};
use self::counter::Counter;
use self::fields::bytes_of;
use self::kept_file::{Buffer, KeptFile};
use self::pace::Pace;
use self::table::File;
use super::{SamplerOptions, Source};
use crate::clock;
use crate::profiling_config::ProfilingConfig;
use crate::recorder::Recorder;
use crate::series::{SeriesInfo, Unavailable};

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
    parts: Vec<(Pace, Part)>,
    series: Vec<SeriesInfo>,
    /// What is known of each series, if it only grows.
    counters: Vec<Option<Counter>>,
    unavailable: Vec<Unavailable>,
    facts: Vec<(String, String)>,
    buffer: Buffer,
}

impl HostSource {
    /// Opens everything that there is. What there is not is in [`Source::unavailable`].
    pub fn new(options: &HostOptions) -> Self {
        let mut catalogue = Catalogue::new(options);
        if options.cpu || options.memory {
            open(&mut catalogue);
        }
        let Catalogue { parts, series, unavailable, facts, .. } = catalogue;
        let counters = series.iter().map(Counter::of).collect();
        Self { parts, series, counters, unavailable, facts, buffer: Buffer::default() }
    }

    fn read_at(&mut self, now_ns: u64, values: &mut [f64]) {
        let begun_ns = clock::monotonic_ns();
        let mut round = Round { now_ns, buffer: &mut self.buffer, values, n_started: None };
        for (pace, read) in &mut self.parts {
            pace.keep(now_ns, || read(&mut round));
        }
        let ended_ns = now_ns + clock::monotonic_ns().saturating_sub(begun_ns);
        for (counter, value) in self.counters.iter_mut().zip(values) {
            if let Some(counter) = counter {
                *value = counter.kept(now_ns, ended_ns, *value);
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
        self.read_at(clock::monotonic_ns(), values);
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        self.unavailable.clone()
    }

    fn facts(&self) -> Vec<(String, String)> {
        self.facts.clone()
    }
}

impl Recorder {
    /// Samples the host and the process that the recording is about, as a configuration says, in place of the host sampler that is at
    /// work, if one is. False when it says that nothing is to be sampled, or no thread is to be had.
    pub fn sample_host(&'static self, config: &ProfilingConfig) -> bool {
        let host = HostOptions {
            pid: self.outside_pid(),
            cpu: config.monitor_cpu_usage,
            memory: config.monitor_system_memory,
            files: self.config().watched_files.clone(),
            ..HostOptions::default()
        };
        let switches = [host.cpu, host.memory];
        let options = SamplerOptions {
            has_own_descriptors: true,
            ..SamplerOptions::of("host", config.cpu_monitor_interval, config, &switches)
        };
        self.replace_sampler(options, move || Box::new(HostSource::new(&host)))
    }
}

fn open(catalogue: &mut Catalogue<'_>) {
    open_facts(catalogue);
    cpu::open(catalogue);
    open_table(catalogue, &table::PROCESS);
    children::open(catalogue);
    open_table(catalogue, &table::MACHINE);
    open_table(catalogue, &table::PRESSURE);
    cgroup::open(catalogue);
    own_usage::open(catalogue);
    if catalogue.options.cpu {
        run_queue::open(catalogue);
    }
    if catalogue.options.memory {
        disks::open(catalogue);
        network::open(catalogue);
        page_cache::open(catalogue);
    }
}

fn open_table(catalogue: &mut Catalogue<'_>, rows: &[File]) {
    for row in rows {
        catalogue.file(&catalogue.path(row.path), "", row);
    }
}

/// What is known of the machine, whatever is asked for.
fn open_facts(catalogue: &mut Catalogue<'_>) {
    let text = |path: &str| KeptFile::open(&catalogue.path(path)).map(|(_, text)| text);
    let (release, memory) = (text("proc/sys/kernel/osrelease"), text("proc/meminfo"));
    if let Ok(release) = release {
        catalogue.fact("host.kernel", &crate::value::readable(release.trim_ascii()));
    }
    let memory = memory.unwrap_or_default();
    for (fact, key) in
        [("host.memory_bytes", b"MemTotal:".as_slice()), ("host.swap_bytes", b"SwapTotal:")]
    {
        if let Some(bytes) = bytes_of(&memory, key) {
            catalogue.fact(fact, &bytes);
        }
    }
}
