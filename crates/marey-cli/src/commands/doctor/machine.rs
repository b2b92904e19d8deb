//! Clock, memory and disk.

use std::path::Path;

use marey::ClockKind;
use marey_folder::environment;
use marey_folder::run_folder::{output_dir, ring_root};
use marey_report::quantity::{bytes, percent};

use super::State::{self, Available, Limited, NotAvailable};

const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// What a process may put into shared memory by default.
const SHARED_BYTES_PER_PROCESS: u64 = 64 << 20;
/// A capture's largest size by default.
const CAPTURE_BYTES: u64 = 40 << 20;

/// How time is read while recording.
pub(super) fn clock() -> (State, String) {
    if marey::clock_kind() == ClockKind::Tsc {
        return (Available, "time stamp counter (tsc), the processor's own".into());
    }
    let reason = match read_line(CLOCK_SOURCE) {
        Some(source) if source == "tsc" => {
            "the processor does not promise that its time stamp counter is invariant".to_owned()
        }
        Some(source) => format!("the kernel uses the clock source {source}, not tsc"),
        None => "this system does not say which clock source it uses".to_owned(),
    };
    (Limited, format!("CLOCK_MONOTONIC, which costs a little more: {reason}"))
}

/// Where rings are put, so that a kill loses nothing.
pub(super) fn shared_memory() -> (State, String) {
    let Some(root) = ring_root() else {
        let text = "there is no /dev/shm; rings go to the output folder, where writing them costs disk traffic";
        return (Limited, text.into());
    };
    let disk = match environment("MAREY_RING_DIR") {
        Some(_) => existing(&root),
        None => Path::new("/dev/shm"),
    };
    let Some(space) = space(disk) else {
        return (Limited, format!("{} cannot be looked at", disk.display()));
    };
    let text =
        format!("rings in {}, {} free of {}", root.display(), bytes(space.free), bytes(space.size));
    if space.free < SHARED_BYTES_PER_PROCESS {
        let full = "; when it is full, threads record in private memory, and a kill loses their last records";
        return (Limited, text + full);
    }
    (Available, text)
}

/// Where captures go by default.
pub(super) fn output_disk() -> (State, String) {
    let Ok(out) = std::path::absolute(output_dir()) else {
        return (NotAvailable, "the working directory is gone".into());
    };
    let disk = existing(&out);
    let Some(space) = space(disk) else {
        return (NotAvailable, format!("{} cannot be looked at", disk.display()));
    };
    let text = format!("{}, {} free", out.display(), bytes(space.free));
    if rustix::fs::access(disk, rustix::fs::Access::WRITE_OK).is_err() {
        return (NotAvailable, text + ", not writable; choose another with --output");
    }
    if space.free < CAPTURE_BYTES {
        let most =
            "; a capture may grow to 40.0 MiB, with the first sections of a run and the last";
        return (Limited, text + most);
    }
    (Available, text)
}

/// What the container or session may use.
pub(super) fn memory_limit() -> (State, String) {
    let Some((limit, used)) = cgroup_memory() else {
        return (Available, "no limit set by a control group".into());
    };
    let share = used.and_then(|used| Some(f64::from(per_mille(used, limit)?) / 1000.0));
    let used = share.map(|share| format!(", {} of it in use", percent(share)));
    (Available, format!("{} (control group){}", bytes(limit), used.unwrap_or_default()))
}

/// Pressure stall information: whether tasks wait for processor, memory or disk.
pub(super) fn pressure() -> (State, String) {
    let readings = ["cpu", "memory", "io"].into_iter().filter_map(|what| {
        let line = read_line(&format!("/proc/pressure/{what}"))?;
        let value = line.split_whitespace().find_map(|field| field.strip_prefix("avg10="))?;
        Some(format!("{what} {value} %"))
    });
    let readings: Vec<String> = readings.collect();
    if readings.is_empty() {
        let why = "this kernel gives no pressure stall information (/proc/pressure); it may need psi=1 at boot";
        return (NotAvailable, why.into());
    }
    (Available, format!("some tasks waited, last 10 s: {}", readings.join(", ")))
}

/// Limit and use of the control group, version 2 then 1; `None` without a limit.
fn cgroup_memory() -> Option<(u64, Option<u64>)> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let v2 = own.lines().find_map(|line| line.strip_prefix("0::"));
    let v1 = own.lines().find_map(|line| Some(line.split_once(":memory:")?.1));
    let number = |path: String| read_line(&path)?.parse::<u64>().ok();
    let (new, old) = (
        ("", "memory.max", "memory.current"),
        ("/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    );
    let places = [(v2, new), (Some(""), new), (v1, old), (Some(""), old)];
    let limits = places.into_iter().filter_map(|(group, (version, limit, used))| {
        let folder = format!("/sys/fs/cgroup{version}{}", group?);
        // Version 1 writes the largest number of pages for "none".
        let limit = number(format!("{folder}/{limit}")).filter(|limit| *limit < 1 << 62)?;
        Some((limit, number(format!("{folder}/{used}"))))
    });
    limits.min_by_key(|(limit, _)| *limit)
}

fn per_mille(part: u64, whole: u64) -> Option<u32> {
    u32::try_from(u128::from(part) * 1000 / u128::from(whole.max(1))).ok()
}

/// Size of a file system in bytes, and what a user may still write.
struct Space {
    size: u64,
    free: u64,
}

fn space(path: &Path) -> Option<Space> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(Space {
        size: stat.f_blocks.saturating_mul(stat.f_frsize),
        free: stat.f_bavail.saturating_mul(stat.f_frsize),
    })
}

/// The nearest folder above that exists.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."))
}

fn read_line(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}
