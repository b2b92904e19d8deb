//! Which process wrote this, so that a reader knows whether it still lives.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::layout::process;
use crate::clock;
use crate::folder::names_in;

/// Of `start_time`, on every Linux.
const TICKS_PER_S: i64 = 100;

/// Pid of the process that this one was forked from while that was recording; 0 for none.
static FORKED_FROM: AtomicU32 = AtomicU32::new(0);

/// What tells a process apart from all others of this machine, also from later ones with the same pid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// Clock ticks between boot and the start of the process (`/proc/<pid>/stat`, field 22), as outside of time namespaces.
    pub start_time: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: u128,
    /// Inode of the pid namespace.
    pub pid_namespace: u64,
}

impl Identity {
    /// The calling process.
    pub fn of_this_process() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: start_time(pid).unwrap_or(0),
            boot_id: boot_id().unwrap_or(0),
            pid_namespace: pid_namespace().unwrap_or(0),
        }
    }

    pub(crate) fn write_to(self, header: &[AtomicU64]) {
        header[process::PID].store(self.pid.into(), Relaxed);
        header[process::START_TIME].store(self.start_time, Relaxed);
        header[process::CLOCK].store(clock::kind().code(), Relaxed);
        let half = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
        let boot_id = self.boot_id.to_be_bytes();
        let (high, low) = (half(&boot_id[..8]), half(&boot_id[8..]));
        header[process::BOOT_ID].store(high, Relaxed);
        header[process::BOOT_ID + 1].store(low, Relaxed);
        header[process::PID_NAMESPACE].store(self.pid_namespace, Relaxed);
        header[process::WAITED_FOR_BY].store(waited_for_by().into(), Relaxed);
    }

    pub(crate) fn read_from(header: &[AtomicU64]) -> Self {
        let get = |at: usize| header[at].load(Relaxed);
        Self {
            pid: u32::try_from(get(process::PID)).unwrap_or(0),
            start_time: get(process::START_TIME),
            boot_id: u128::from(get(process::BOOT_ID)) << 64
                | u128::from(get(process::BOOT_ID + 1)),
            pid_namespace: get(process::PID_NAMESPACE),
        }
    }
}

/// The `marey run` that waits for the calling process, and not for one above it; 0 for none.
fn waited_for_by() -> u32 {
    let launcher = std::env::var("MAREY_LAUNCHER").unwrap_or_default();
    let parent = std::os::unix::process::parent_id();
    launcher.parse().ok().filter(|pid| *pid == parent).unwrap_or(0)
}

/// The recording process that this one was forked from, if it was.
pub(crate) fn forked_from() -> Option<u32> {
    Some(FORKED_FROM.load(Relaxed)).filter(|pid| *pid != 0)
}

/// In the child of a fork.
pub(super) fn set_forked_from(pid: u32) {
    FORKED_FROM.store(pid, Relaxed);
}

/// Whether that process still runs. `None` when this machine cannot tell: it wrote in another pid namespace.
pub fn is_alive(identity: &Identity) -> Option<bool> {
    if identity.boot_id != boot_id()? {
        return Some(false);
    }
    if identity.pid_namespace != pid_namespace()? {
        return None;
    }
    let stat = match std::fs::read_to_string(format!("/proc/{}/stat", identity.pid)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(false),
        // No such process, said while its file was open.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Some(false),
        stat => stat.ok()?,
    };
    let (state, start) = stat_fields(&stat)?;
    let has_ended = matches!(state, 'Z' | 'X') && !has_other_threads(identity.pid);
    // An offset that is no whole tick rounds either way.
    let is_same = shared_start(start)?.abs_diff(identity.start_time) <= 1;
    Some(is_same && !has_ended)
}

/// The first thread of a process can end before the others. When all have ended, only it is left, as a zombie.
fn has_other_threads(pid: u32) -> bool {
    names_in(format!("/proc/{pid}/task").as_ref()).is_ok_and(|tasks| tasks.count() > 1)
}

/// When a process started, in clock ticks since boot.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    shared_start(stat_fields(&stat)?.1)
}

/// A start time as this process reads it, in the clock that all time namespaces of the machine share.
fn shared_start(ticks: u64) -> Option<u64> {
    ticks.checked_add_signed(-boot_offset())
}

/// By how many ticks the boot clock of this process's time namespace is ahead of the machine's; 0 outside of namespaces.
fn boot_offset() -> i64 {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    offset_in(&offsets).unwrap_or(0)
}

/// The boot clock's offset in the text of `/proc/self/timens_offsets`: lines of a clock, seconds and nanoseconds.
fn offset_in(offsets: &str) -> Option<i64> {
    let mut lines = offsets.lines().map(|line| line.split_ascii_whitespace());
    let mut fields =
        lines.find_map(|mut fields| (fields.next()? == "boottime").then_some(fields))?;
    let (seconds, ns): (i64, i64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    seconds.checked_mul(TICKS_PER_S)?.checked_add(ns / (1_000_000_000 / TICKS_PER_S))
}

/// How old the calling process is, to 10 ms. A program that took the place of another one (`exec`) has its age.
pub(super) fn age_ms() -> Option<u64> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let (whole, hundredths) = uptime.split_whitespace().next()?.split_once('.')?;
    let ticks_per_s = TICKS_PER_S.unsigned_abs();
    let now = whole.parse::<u64>().ok()? * ticks_per_s + hundredths.parse::<u64>().ok()?;
    let age = shared_start(now)?.checked_sub(start_time(std::process::id())?)?;
    Some(age * 1000 / ticks_per_s)
}

/// The process that started this one, or that took it over.
pub(super) fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    fields.nth(1)?.parse().ok()
}

/// State and start time in the text of `/proc/<pid>/stat`. The name in field 2 may hold spaces and parentheses, so fields are counted from the last `)`.
fn stat_fields(stat: &str) -> Option<(char, u64)> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

fn boot_id() -> Option<u128> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    u128::from_str_radix(&text.trim().replace('-', ""), 16).ok()
}

fn pid_namespace() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/pid").ok().map(|m| m.ino())
}

/// The kernel's number of the calling thread. Opens nothing.
pub(crate) fn this_thread() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").ok();
    link.and_then(|path| path.file_name()?.to_str()?.parse().ok()).unwrap_or(0)
}

/// What the calling thread is called.
pub(crate) fn thread_name() -> String {
    let name = std::fs::read("/proc/thread-self/comm").unwrap_or_default();
    crate::value::readable(name.trim_ascii_end())
}

/// The kernel lets who waits for a thread go on a moment before it stops counting the one that ended.
pub(crate) fn wait_until_gone(os_id: u32, patience_ns: u64) {
    let task = format!("/proc/self/task/{os_id}");
    let deadline_ns = clock::monotonic_ns().saturating_add(patience_ns);
    while std::fs::metadata(&task).is_ok() && clock::monotonic_ns() < deadline_ns {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_an_earlier_one_with_its_pid_does_not() {
        let me = Identity::of_this_process();
        assert_eq!(is_alive(&me), Some(true));
        assert_eq!(is_alive(&Identity { start_time: me.start_time - 2, ..me }), Some(false));
        assert_eq!(is_alive(&Identity { boot_id: 1, ..me }), Some(false));
        assert_eq!(is_alive(&Identity { pid_namespace: 1, ..me }), None);
    }

    #[test]
    fn the_boot_clock_of_a_time_namespace_is_found_among_its_offsets() {
        for (offsets, ticks) in [
            ("monotonic           0         0\nboottime            0         0\n", Some(0)),
            ("monotonic  5 0\nboottime  100000 250000000\n", Some(10_000_025)),
            ("boottime  -3 0\n", Some(-300)),
            ("", None),
        ] {
            assert_eq!(offset_in(offsets), ticks, "{offsets}");
        }
    }

    #[test]
    fn an_ended_child_that_nobody_waited_for_is_not_alive() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let start_time = start_time(child.id()).unwrap();
        let identity = Identity { pid: child.id(), start_time, ..Identity::of_this_process() };
        while is_alive(&identity) == Some(true) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(is_alive(&identity), Some(false));
    }
}
