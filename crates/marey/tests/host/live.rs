//! Readings of the real `/proc`.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command};

use marey::{HostOptions, HostSource, Source};

const MIB: f64 = 1_048_576.0;

/// A new source's first reading of one series.
fn reading(options: &HostOptions, name: &str) -> f64 {
    let mut source = HostSource::new(options);
    let series = source.series();
    let mut values = vec![f64::NAN; series.len()];
    source.read(&mut values);
    let at = series.iter().position(|series| series.name == name).unwrap();
    values[at]
}

fn now(name: &str) -> f64 {
    reading(&HostOptions::default(), name)
}

#[test]
fn what_is_written_and_read_is_counted() {
    let names = ["process.io.written", "process.io.read", "process.disk.written"];
    let before = names.map(now);
    let mut file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(&vec![7; 8 << 20]).unwrap();
    file.sync_all().unwrap();
    let text = std::fs::read("/proc/self/maps").unwrap();
    let after = names.map(now);
    assert!(after[0] - before[0] >= 8.0 * MIB);
    assert!(after[1] - before[1] >= f64::from(u32::try_from(text.len()).unwrap()));
    // Only a file on a disk is written to one.
    let device = file.metadata().unwrap().dev();
    let device = format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device));
    if std::fs::exists(device).unwrap() {
        assert!(after[2] - before[2] >= 8.0 * MIB);
    }
}

#[test]
fn touched_memory_is_resident_and_proportional_memory_is_no_more_than_that() {
    let before = now("process.memory.resident");
    let touched = vec![1u8; 256 << 20];
    let after = now("process.memory.resident");
    // Other tests of this process come and go with a few MiB.
    assert!(after - before >= 224.0 * MIB, "{before} {after}");
    let proportional = now("process.memory.proportional");
    assert!(proportional >= 256.0 * MIB && proportional <= after + 64.0 * MIB, "{proportional}");
    assert!(touched.iter().all(|byte| *byte == 1));
    let free = now("host.memory.available") + now("host.memory.used");
    assert!(free >= after);
}

#[test]
fn switches_of_threads_that_ended_are_counted() {
    let before = now("process.context_switches.voluntary");
    let (to, from) = std::sync::mpsc::sync_channel(0);
    let (back, answer) = std::sync::mpsc::sync_channel(0);
    let thread = std::thread::Builder::new().spawn(move || {
        for () in from {
            back.send(()).unwrap();
        }
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse::<f64>().unwrap()
    });
    for _ in 0..200 {
        to.send(()).unwrap();
        answer.recv().unwrap();
    }
    drop(to);
    let of_thread = thread.unwrap().join().unwrap();
    assert!(of_thread > 0.0);
    assert!(now("process.context_switches.voluntary") - before >= of_thread);
}

#[test]
fn threads_that_want_a_processor_and_have_none_wait() {
    let mut source = HostSource::new(&HostOptions::default());
    let series = source.series();
    let at = series.iter().position(|series| series.name == "process.cpu.wait");
    let mut values = vec![f64::NAN; series.len()];
    let mut read = || {
        // It is read twice a second at most.
        values.fill(f64::NAN);
        while values[at.unwrap()].is_nan() {
            source.read(&mut values);
        }
        values[at.unwrap()]
    };
    let before = read();
    let n_threads = 2 * std::thread::available_parallelism().unwrap().get() + 1;
    let barrier = std::sync::Barrier::new(n_threads + 1);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while of_this_thread() < 0.005 {}
                barrier.wait();
                // Alive until it was looked at.
                barrier.wait();
            });
        }
        barrier.wait();
        let waited = 0.005 * f64::from(u32::try_from(n_threads).unwrap());
        // New threads are looked for once a second: a reading that never has them never ends this.
        while read() - before < waited {}
        barrier.wait();
    });
}

/// Seconds that this thread waited for a processor.
fn of_this_thread() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').nth(1).unwrap().parse::<f64>().unwrap() / 1e9
}

/// A child that spins until it is killed.
struct Spinning(Child);

impl Spinning {
    fn start() -> Self {
        let script = "while :; do :; done";
        Self(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    /// Waits until it has used that many hundredths of a second, as its own file says.
    fn wait_for(&self, ticks: u64) {
        let path = format!("/proc/{}/stat", self.0.id());
        let used = || {
            let text = std::fs::read_to_string(&path).unwrap();
            let (_, fields) = text.rsplit_once(") ").unwrap();
            let fields = fields.split(' ').skip(11).take(2);
            fields.map(|field| field.parse::<u64>().unwrap()).sum::<u64>()
        };
        while used() < ticks {
            std::thread::yield_now();
        }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn the_time_of_a_child_counts_while_it_lives_and_after_it() {
    let mut source = HostSource::new(&HostOptions::default());
    let series = source.series();
    let at = series.iter().position(|series| series.name == "children.cpu.time").unwrap();
    let resident =
        series.iter().position(|series| series.name == "children.memory.resident").unwrap();
    let child = Spinning::start();
    child.wait_for(20);
    let mut values = vec![f64::NAN; series.len()];
    source.read(&mut values);
    let alive = values[at];
    assert!(alive >= 0.20 && values[resident] > 0.0, "{alive}");
    drop(child);
    values.fill(f64::NAN);
    source.read(&mut values);
    assert!(values[at] >= alive && values[at] < alive + 1e6, "{}", values[at]);
    // Another source did not see it live.
    assert!(now("children.cpu.time") >= 0.20);
}

#[test]
fn every_series_has_a_value_and_is_there_once() {
    let mut source = HostSource::new(&HostOptions::default());
    let series = source.series();
    let mut values = vec![f64::NAN; series.len()];
    source.read(&mut values);
    for (at, (info, value)) in series.iter().zip(&values).enumerate() {
        assert!(*value >= 0.0, "{info:?} {value}");
        assert!(!series[..at].contains(info), "{info:?}");
    }
    let facts = source.facts();
    assert!(
        facts.iter().any(|(key, value)| key == "host.cpus" && value.parse::<usize>().unwrap() > 0)
    );
}
