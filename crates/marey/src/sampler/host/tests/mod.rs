//! Made-up machines, drawn as texts; what is expected is computed by hand.

mod cgroups;
mod devices;
mod memory;
mod processes;
mod processors;

use std::path::PathBuf;

use super::{HostOptions, HostSource};
use crate::sampler::Source;

/// Nanoseconds; further apart than any pace.
const HOUR: u64 = 3_600_000_000_000;

/// A root folder with files of a kernel.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    /// Each file is a line `== path` and the lines below it.
    fn drawn(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let machine = Self { folder };
        machine.draw(text);
        machine
    }

    fn draw(&self, text: &str) {
        for file in text.split("== ").skip(1) {
            let (path, content) = file.split_once('\n').unwrap();
            self.write(path.trim_end(), content);
        }
    }

    /// Writes in place, as a kept descriptor sees it.
    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn options(&self) -> HostOptions {
        HostOptions { root: self.folder.path().into(), pid: Some(100), ..HostOptions::default() }
    }

    fn sampled(&self) -> Sampled {
        Sampled::new(&self.options())
    }
}

/// A source and its last readings.
struct Sampled {
    source: HostSource,
    values: Vec<f64>,
    now_ns: u64,
}

impl Sampled {
    fn new(options: &HostOptions) -> Self {
        let source = HostSource::new(options);
        let mut sampled = Self { values: Vec::new(), source, now_ns: 0 };
        sampled.read_after(0);
        sampled
    }

    fn read_again(&mut self) {
        self.read_after(HOUR);
    }

    fn read_after(&mut self, pause_ns: u64) {
        self.now_ns += pause_ns;
        self.values = vec![f64::NAN; self.source.series().len()];
        self.source.read_at(self.now_ns, &mut self.values);
    }

    /// The last reading, if there is such a series.
    fn get(&self, name: &str, subject: &str) -> Option<f64> {
        let series = self.source.series();
        let is_it = |series: &crate::SeriesInfo| series.name == name && series.subject == subject;
        Some(self.values[series.iter().position(is_it)?])
    }

    #[track_caller]
    fn assert(&self, name: &str, subject: &str, expected: f64) {
        let value = self.get(name, subject);
        let is_close =
            value.is_some_and(|value| (value - expected).abs() < 1e-9 * expected.max(1.0));
        assert!(is_close, "{name} {subject}: {value:?}, not {expected}");
    }

    #[track_caller]
    fn assert_nan(&self, name: &str, subject: &str) {
        assert!(self.get(name, subject).is_some_and(f64::is_nan), "{name} {subject}");
    }

    /// Why there is no such series; asserts that there is none.
    #[track_caller]
    fn why_not(&self, name: &str) -> String {
        assert!(self.source.series().iter().all(|series| series.name != name), "{name} exists");
        let unavailable = self.source.unavailable();
        let of_name = unavailable.iter().find(|lack| lack.what.contains(name));
        of_name.unwrap_or_else(|| panic!("nothing says why there is no {name}")).why.clone()
    }

    fn fact(&self, key: &str) -> Option<String> {
        let facts = self.source.facts();
        facts.into_iter().find(|(each, _)| each == key).map(|(_, value)| value)
    }

    fn names(&self) -> Vec<String> {
        self.source.series().into_iter().map(|series| series.name).collect()
    }
}

#[test]
fn where_there_is_nothing_nothing_fails_and_every_lack_has_a_reason() {
    let machine = Machine::drawn("");
    let sampled = machine.sampled();
    assert_eq!(sampled.names(), Vec::<String>::new());
    for name in [
        "host.cpu.busy",
        "host.load",
        "process.cpu.user",
        "process.io.read",
        "host.memory.used",
        "disk.read",
        "pressure.io.full",
    ] {
        assert!(!sampled.why_not(name).is_empty());
    }
}

#[test]
fn each_switch_takes_its_series_away_and_no_others() {
    let machine = Machine::drawn(
        "== proc/stat\ncpu  1 1 1 1 1 1 1 1\ncpu0 1 1 1 1 1 1 1 1\nctxt 5\n\
         == proc/meminfo\nMemTotal: 8 kB\nMemAvailable: 4 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n\
         == proc/pressure/cpu\nsome avg10=0 total=1\n\
         == proc/pressure/io\nsome avg10=0 total=1\nfull avg10=0 total=1\n\
         == proc/100/stat\n100 (p) S 1 0 0 0 0 0 0 0 0 0 1 1 0 0 20 0 1 0 5 6 7 0\n",
    );
    let with =
        |cpu, memory| Sampled::new(&HostOptions { cpu, memory, ..machine.options() }).names();
    let of_cpu = [
        "host.cpu.busy",
        "host.cpu.iowait",
        "host.cpu.steal",
        "core.cpu.busy",
        "host.context_switches",
        "process.cpu.user",
        "process.cpu.system",
        "process.threads",
        "children.cpu.time",
        "pressure.cpu.some",
    ];
    let of_memory = [
        "process.memory.resident",
        "children.memory.resident",
        "host.swap.used",
        "host.memory.used",
        "host.memory.available",
        "pressure.io.some",
        "pressure.io.full",
    ];
    assert_eq!(with(true, false), of_cpu);
    assert_eq!(with(false, true), of_memory);
    assert_eq!(with(true, true).len(), of_cpu.len() + of_memory.len());
    assert_eq!(with(false, false), Vec::<String>::new());
}

#[test]
fn a_file_that_became_unreadable_is_nan() {
    let machine = Machine::drawn("== proc/loadavg\n0.50 0.25 0.125 1/2 3\n");
    let mut sampled = machine.sampled();
    sampled.assert("host.load", "1", 0.5);
    machine.write("proc/loadavg", "");
    std::fs::remove_file(machine.path("proc/loadavg")).unwrap();
    sampled.read_again();
    sampled.assert_nan("host.load", "1");
    sampled.assert_nan("host.load", "15");
}

#[test]
fn a_thread_with_descriptors_of_its_own_stays_with_the_file_that_it_opened() {
    let machine = Machine::drawn("== proc/loadavg\n0.50 0.25 0.125 1/2 3\n");
    let read = crate::descriptors::apart(move || {
        let mut sampled = machine.sampled();
        std::fs::remove_file(machine.path("proc/loadavg")).unwrap();
        machine.write("proc/loadavg", "7 7 7 1/2 3\n");
        sampled.read_again();
        sampled.assert("host.load", "1", 0.5);
    });
    assert_eq!(read, Some(()));
}

#[test]
fn garbage_is_nan_and_never_zero() {
    let machine = Machine::drawn(
        "== proc/loadavg\n0.50 0.25 0.125 1/2 3\n\
         == proc/stat\ncpu  1 1 1 1 1 1 1 1\ncpu0 1 1 1 1 1 1 1 1\nctxt 5\n\
         == proc/100/io\nrchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n",
    );
    let mut sampled = machine.sampled();
    machine.write("proc/loadavg", "much NaN -\n");
    machine.write(
        "proc/stat",
        "cpu  a b c\ncpu0 1 1 x\ncpu99999999999999999999 1 1 1\ncpuX 1\nctxt -5\n",
    );
    machine.write("proc/100/io", "rchar: -1\nwchar:\nread_bytes 3\n\0\0\0");
    sampled.read_again();
    assert!(sampled.values.iter().all(|value| value.is_nan()), "{:?}", sampled.values);
}

#[test]
fn a_text_that_outgrows_the_buffer_is_read_whole() {
    let machine = Machine::drawn("== proc/stat\ncpu  1 1 1 1 1 1 1 1\nctxt 5\n");
    let mut sampled = machine.sampled();
    let interrupts = " 0".repeat(100_000);
    machine.write("proc/stat", format!("cpu  2 0 0 0 0 0 0 0\nintr 9{interrupts}\nctxt 6\n"));
    sampled.read_again();
    sampled.assert("host.context_switches", "", 6.0);
}
