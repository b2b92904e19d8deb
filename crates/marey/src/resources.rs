//! What a section used: processor time, disk traffic and resident memory, as differences of what the kernel counted at its two ends. And
//! what a child did until its end.
//!
//! ```text
//! load          |------ 1.5 GiB read ------|
//! reading       1                          2        read: 2 less 1, whoever of the process read it
//! pure_compute                                |---|  its own two readings: 0
//! ```
//!
//! Sources: `getrusage` for the process and for the calling thread (`ru_inblock` and `ru_oublock` are `read_bytes` and `write_bytes` of
//! `/proc/<pid>/io` in units of 512 bytes), `/proc/self/statm` for resident memory. No file stays open.

#![allow(unsafe_code, reason = "getrusage and wait4")]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::OnceLock;

use crate::launch::Usage;
use crate::process_memory::resident_bytes;

/// What was used between two moments, by a process or by a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Processor time, in user code and in the kernel.
    pub cpu_ns: u64,
    /// Bytes fetched from storage; what the page cache had is not among them. `None` where the kernel does not count them.
    pub read_bytes: Option<u64>,
    /// Bytes that were made to be written to storage, now or later. `None` as above.
    pub written_bytes: Option<u64>,
}

/// What was used while a section was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// By the whole process.
    pub process: Spent,
    /// By the section's own thread; `None` for one in a task, whose thread runs other tasks meanwhile.
    pub thread: Option<Spent>,
    /// Resident memory of the process when the section was entered; `None` without `/proc`.
    pub resident_before: Option<u64>,
    /// And when it was left.
    pub resident_after: Option<u64>,
    /// The most that the process had, if it reached that meanwhile (`ru_maxrss` rose); `None` where it had had more before.
    pub peak_bytes: Option<u64>,
}

/// What one section used. Only some sections are read, see [`crate::Lane::enter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionResources {
    /// The section's thread: an index into [`crate::Run::threads`].
    pub thread: u32,
    /// The section's node: an index into [`crate::Run::nodes`].
    pub node: u32,
    /// When the section was entered.
    pub start_ns: u64,
    /// What was used.
    pub used: Resources,
}

/// What the kernel counted until a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    process: Spent,
    thread: Spent,
    resident: Option<u64>,
    /// Most that was resident.
    peak: u64,
}

impl Counted {
    /// Reads it now: 3 to 8 µs. `None` where the kernel does not tell.
    pub(crate) fn now() -> Option<Self> {
        let process = rusage(libc::RUSAGE_SELF)?;
        Some(Self {
            process: Spent::of(&process),
            thread: Spent::of(&rusage(libc::RUSAGE_THREAD)?),
            resident: resident_bytes(),
            peak: u64::try_from(process.ru_maxrss).unwrap_or(0) * 1024,
        })
    }

    /// What was used since an earlier moment.
    pub(crate) fn since(&self, before: &Self) -> Resources {
        Resources {
            process: self.process.since(&before.process),
            thread: Some(self.thread.since(&before.thread)),
            resident_before: before.resident,
            resident_after: self.resident,
            peak_bytes: (self.peak > before.peak).then_some(self.peak),
        }
    }
}

impl Spent {
    fn of(usage: &libc::rusage) -> Self {
        let bytes = |blocks: libc::c_long| {
            let blocks = u64::try_from(blocks).ok()?;
            counts_disk().then_some(blocks * 512)
        };
        Self {
            cpu_ns: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
            read_bytes: bytes(usage.ru_inblock),
            written_bytes: bytes(usage.ru_oublock),
        }
    }

    fn since(&self, before: &Self) -> Self {
        let grown = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            read_bytes: grown(self.read_bytes, before.read_bytes),
            written_bytes: grown(self.written_bytes, before.written_bytes),
        }
    }
}

/// What `getrusage` says of `RUSAGE_SELF` or `RUSAGE_THREAD`.
pub(crate) fn rusage(who: libc::c_int) -> Option<libc::rusage> {
    // SAFETY: a `rusage` is numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the duration of the call.
    let code = unsafe { libc::getrusage(who, &raw mut usage) };
    (code == 0).then_some(usage)
}

/// Waits for the end of a child, takes it off the list of processes, and says what it and the descendants that were waited for used.
///
/// # Errors
/// When it is no child of this process, or was waited for already.
pub fn wait_with_usage(pid: u32) -> io::Result<(ExitStatus, Usage)> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: a `rusage` is numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both are valid places for the duration of the call.
        let found = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if found == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let usage = Usage {
        cpu_user_ns: nanoseconds(usage.ru_utime),
        cpu_system_ns: nanoseconds(usage.ru_stime),
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
        is_peak_at_most: false,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

/// A time of `rusage` in nanoseconds.
pub(crate) fn nanoseconds(time: libc::timeval) -> u64 {
    let whole = u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000;
    whole + u64::try_from(time.tv_usec).unwrap_or(0) * 1000
}

/// A kernel that does not count what a process reads has no such file, and zeros in `rusage`.
fn counts_disk() -> bool {
    static COUNTS: OnceLock<bool> = OnceLock::new();
    *COUNTS.get_or_init(|| Path::new("/proc/self/io").exists())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_a_thread_used_is_the_processs_too() {
        let before = Counted::now().unwrap();
        let mut sum = 0u64;
        while Counted::now().unwrap().thread.cpu_ns < before.thread.cpu_ns + 20_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        let used = Counted::now().unwrap().since(&before);
        let thread = used.thread.unwrap();
        assert!(thread.cpu_ns >= 20_000_000 && used.process.cpu_ns >= 20_000_000);
        assert!(used.resident_before.unwrap() > 0 && used.resident_after.unwrap() > 0);
    }

    #[test]
    fn disk_traffic_is_what_the_kernel_says_of_the_thread() {
        let of_thread = |key: &str| -> u64 {
            let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
            let value = text.lines().find_map(|line| line.strip_prefix(key));
            value.unwrap().trim().parse().unwrap()
        };
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (before, kernel_before) = (Counted::now().unwrap(), of_thread("write_bytes:"));
        std::io::Write::write_all(&mut &file, &vec![1; 3 << 20]).unwrap();
        let (after, kernel_after) = (Counted::now().unwrap(), of_thread("write_bytes:"));
        let used = after.since(&before).thread.unwrap();
        assert_eq!(used.written_bytes, Some(kernel_after - kernel_before));
    }

    #[test]
    fn a_child_is_waited_for_once_with_what_it_used() {
        let loops = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3";
        let mut shell = Command::new("/bin/sh");
        let child = shell.args(["-c", loops]).stdin(Stdio::null()).spawn();
        let pid = child.unwrap().id();
        let (status, usage) = wait_with_usage(pid).unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(usage.cpu_user_ns > 1_000_000, "{usage:?}");
        assert!(usage.peak_bytes > 100 << 10, "{usage:?}");
        assert!(wait_with_usage(pid).is_err());
    }
}
