//! Threads of ours: with descriptors that the program neither sees nor closes, and without its signals.
//!
//! A program may close numbers that it did not open (`os.closerange(3, 256)`, a daemon at its start); the next file or socket that it opens
//! then has our number, and what we write goes there. So each thread of ours leaves the program's table before it opens anything:
//!
//! ```text
//! program's table   0 1 2 3 4 …          closerange(3, 4096) · open() = 3
//! drain's table     0 1 2 capture        what it opens, nobody else can close, and does not count against `ulimit -n`
//! sampler's table   0 1 2 /proc/stat …
//! ```
//!
//! A number means something in its own table only. A [`Kept`] file knows which that is: on any other thread it is not there, and letting
//! go of it closes nothing.
//!
//! **In the program's table a thread of ours opens nothing.** Whatever it opened there the program may close at any moment and have the number
//! for a file of its own, before the thread reads, writes or closes it. Where the kernel gives a thread no table of its own, nothing is sampled, and
//! the program's threads write the capture: they open it for as long as a call takes, at a high number ([`out_of_reach`]), where a
//! program's own files do not come to lie.

#![allow(unsafe_code, reason = "close_range, unshare, fcntl, pthread_sigmask and pre_exec")]

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::folder::names_in;

/// The table of the program.
const PROGRAMS: u64 = 0;

thread_local! {
    static TABLE: Cell<u64> = const { Cell::new(PROGRAMS) };
}

/// Gives the calling thread, one of ours, an empty table of descriptors. False where the kernel refuses (in a sandbox): the thread must open
/// nothing then, and had best end.
#[must_use]
pub(crate) fn leave_the_programs_table() -> bool {
    if !begin_empty_table() && !empty_a_copy() {
        return false;
    }
    // In place of the standard streams, which would not end for their readers while we keep them: whoever prints here fails, and does not
    // print into the first file that is opened.
    let nowhere = || OpenOptions::new().read(true).custom_flags(libc::O_PATH).open("/");
    let streams: Vec<File> = (0..3).filter_map(|_| nowhere().ok()).collect();
    let is_ready = streams.len() == 3;
    if is_ready {
        static N_TABLES: AtomicU64 = AtomicU64::new(PROGRAMS + 1);
        TABLE.set(N_TABLES.fetch_add(1, Relaxed));
    }
    streams.into_iter().for_each(std::mem::forget);
    is_ready
}

/// Linux 5.9 and later.
fn begin_empty_table() -> bool {
    let nothing_is_kept = 0;
    let unshare = libc::CLOSE_RANGE_UNSHARE;
    // SAFETY: three numbers; this thread has opened nothing, and what the others have open stays open in their table.
    let code = unsafe { libc::syscall(CLOSE_RANGE, nothing_is_kept, u32::MAX, unshare) };
    code == 0
}

/// The same in two steps. Where the second one fails the thread has to end, and its copy with it.
fn empty_a_copy() -> bool {
    // SAFETY: a number; the table that the other threads share stays as it is.
    if unsafe { libc::unshare(libc::CLONE_FILES) } != 0 {
        return false;
    }
    let Ok(listed) = names_in("/proc/thread-self/fd".as_ref()) else {
        return false;
    };
    let number = |name: OsString| name.to_str()?.parse().ok();
    let numbers: Vec<libc::c_int> = listed.filter_map(number).collect();
    for number in numbers {
        // SAFETY: a number of this thread's own table, in which nothing of ours is open.
        unsafe { libc::close(number) };
    }
    true
}

/// Works on a short thread with descriptors of its own, for who must stay in the program's table and has a file to read. `None` where
/// the kernel gives a thread none.
pub fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let work = || leave_the_programs_table().then(work);
    let thread = std::thread::Builder::new().name("marey-files".into()).stack_size(256 << 10);
    std::thread::scope(|scope| {
        let begun = without_signals(|| thread.spawn_scoped(scope, work));
        begun.ok()?.join().ok()?
    })
}

/// What a command starts gets none of this process's descriptors but its standard streams.
pub fn without_descriptors(command: &mut Command) {
    let close = || {
        let beyond_streams: libc::c_uint = 3;
        let cloexec = libc::CLOSE_RANGE_CLOEXEC;
        // SAFETY: three numbers; the table is that of the process that is about to become another program.
        unsafe { libc::syscall(CLOSE_RANGE, beyond_streams, u32::MAX, cloexec) };
        Ok(())
    };
    // SAFETY: a system call is all that happens after the fork.
    unsafe { command.pre_exec(close) };
}

/// Begins threads, and processes, of ours, which no signal of the program's is delivered to: where all of its own threads hold one back, it has to wait,
/// and must not end the process from here. Faults of the threads themselves stay. The calling thread is as before afterwards.
pub fn without_signals<T>(begin: impl FnOnce() -> T) -> T {
    let before = change_mask(libc::SIG_SETMASK, &all_signals());
    let begun = begin();
    change_mask(libc::SIG_SETMASK, &before);
    begun
}

fn all_signals() -> libc::sigset_t {
    // SAFETY: a set of bits, which the next call fills.
    let mut set = unsafe { std::mem::zeroed() };
    // SAFETY: a set to be written to.
    unsafe { libc::sigfillset(&raw mut set) };
    for fault in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGABRT,
    ] {
        // SAFETY: a set that was filled, and a signal that there is.
        unsafe { libc::sigdelset(&raw mut set, fault) };
    }
    set
}

/// The mask of the calling thread before.
fn change_mask(how: libc::c_int, signals: &libc::sigset_t) -> libc::sigset_t {
    // SAFETY: a set of bits, which the next call writes.
    let mut before = unsafe { std::mem::zeroed() };
    // SAFETY: two sets, one to be read and one to be written to.
    unsafe { libc::pthread_sigmask(how, signals, &raw mut before) };
    before
}

/// The number of the system call on every architecture.
const CLOSE_RANGE: libc::c_long = 436;

/// A file that stays open in the table of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Always there until it is dropped.
    file: Option<File>,
    table: u64,
}

impl Kept {
    /// Keeps a file that the calling thread opened, under a high number: who stands in for a function of the C library may write to a number
    /// of the program's here. Gives the file back where the table is the program's.
    fn keep(file: File) -> Result<Self, File> {
        match TABLE.get() {
            PROGRAMS => Err(file),
            table => Ok(Self { file: Some(out_of_reach(file)), table }),
        }
    }

    /// Works with the file that is kept; otherwise with one that is opened, and kept if that can be.
    pub(crate) fn with<T>(
        kept: &mut Option<Self>,
        open: impl FnOnce() -> io::Result<File>,
        work: impl FnOnce(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        if let Some(file) = kept.as_ref().and_then(Self::get) {
            return work(file);
        }
        match Self::keep(open()?) {
            Ok(file) => work(kept.insert(file).get().ok_or(io::ErrorKind::NotFound)?),
            Err(file) => work(&file),
        }
    }

    /// The file, for a thread with the table in which it is open.
    fn get(&self) -> Option<&File> {
        self.file.as_ref().filter(|_| self.table == TABLE.get())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.table != TABLE.get() {
            // Its number is somebody else's here. The file was closed with its table, when the thread ended.
            std::mem::forget(self.file.take());
        }
    }
}

/// Where high numbers begin. Programs open files at the lowest free number, and few have so many.
const HIGH: libc::c_int = 1000;

/// The same open file under a high number of the program's table, if there is one: a number that the program closes by mistake while a
/// call lasts does not become one of its own files.
pub(crate) fn out_of_reach(file: File) -> File {
    at_or_above(HIGH, &file).unwrap_or(file)
}

/// The same open file under the first free number from one on.
fn at_or_above(number: libc::c_int, file: &File) -> Option<File> {
    // SAFETY: a valid descriptor and plain numbers.
    let found = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, number) };
    // SAFETY: a new descriptor that nobody else has.
    (found >= 0).then(|| unsafe { File::from_raw_fd(found) })
}

/// Whether the calling thread's descriptors are the program's, too: it is one of the program's.
pub(crate) fn are_shared() -> bool {
    TABLE.get() == PROGRAMS
}

/// A file that is no link, opened without waiting for anybody.
pub(crate) fn open_plain(options: &mut OpenOptions, path: &std::path::Path) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    /// The ways to an empty table.
    const WAYS: [fn() -> bool; 2] = [begin_empty_table, empty_a_copy];

    #[test]
    fn a_thread_of_ours_takes_no_signal_of_the_programs() {
        let held_back = |thread: &str| -> u64 {
            let status = std::fs::read_to_string(format!("/proc/thread-self/{thread}")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
        };
        let before = held_back("status");
        let thread = std::thread::Builder::new().name("apart".into());
        let there = without_signals(|| thread.spawn(move || held_back("status")));
        let there = there.unwrap().join().unwrap();
        let is_held_back = |signal: i32| there >> (signal - 1) & 1 == 1;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGALRM] {
            assert!(is_held_back(signal), "{signal}");
        }
        assert!(!is_held_back(libc::SIGSEGV) && !is_held_back(libc::SIGBUS));
        assert_eq!(held_back("status"), before);
    }

    #[test]
    fn a_thread_of_ours_sees_none_of_the_programs_files_and_the_program_none_of_its() {
        let mine = tempfile::tempfile().unwrap();
        let number = mine.as_raw_fd();
        let is_seen = move || std::fs::read_link(format!("/proc/thread-self/fd/{number}")).is_ok();
        assert!(is_seen());
        let before = apart(move || {
            let before = is_seen();
            let files = std::fs::read_dir("/proc/thread-self/fd").unwrap();
            (before, files.count())
        });
        // Three that lead nowhere, and the folder that is being listed.
        assert_eq!(before, Some((false, 4)));
        assert!(is_seen());
    }

    #[test]
    fn either_way_a_table_is_empty_and_the_programs_stays_as_it_is() {
        let mine = tempfile::tempfile().unwrap();
        for begin in WAYS {
            let begun = || begin().then(|| File::open("/proc/thread-self/fd").unwrap().as_raw_fd());
            let first = std::thread::scope(|scope| {
                let thread = std::thread::Builder::new().spawn_scoped(scope, begun);
                thread.unwrap().join().unwrap()
            });
            assert_eq!(first, Some(0));
            assert!(mine.metadata().is_ok());
        }
    }

    #[test]
    fn what_is_printed_there_fails_and_goes_into_no_file() {
        let written = apart(|| {
            let file = tempfile::tempfile().unwrap();
            std::io::stderr().write_all(b"a panic").ok();
            file.metadata().unwrap().len()
        });
        assert_eq!(written, Some(0));
    }

    #[test]
    fn a_kept_file_is_open_in_its_own_table_only_and_closes_nothing_elsewhere() {
        // The same number in both tables, and in this one no other test has it.
        let mine = out_of_reach(tempfile::tempfile().unwrap());
        let number = mine.as_raw_fd();
        let kept = apart(move || {
            let file = at_or_above(number, &tempfile::tempfile().unwrap()).unwrap();
            assert_eq!(file.as_raw_fd(), number);
            let kept = Kept::keep(file).unwrap();
            assert!(kept.get().is_some());
            kept
        });
        let kept = kept.unwrap();
        assert!(kept.get().is_none());
        let identity = || mine.metadata().map(|file| (file.dev(), file.ino())).ok();
        let before = identity();
        drop(kept);
        assert!(before.is_some());
        assert_eq!(identity(), before);
        assert!(Kept::keep(tempfile::tempfile().unwrap()).is_err());
    }

    #[test]
    fn a_file_out_of_reach_is_the_same_file() {
        let mut high = out_of_reach(tempfile::tempfile().unwrap());
        high.write_all(b"five!").unwrap();
        assert!(high.as_raw_fd() >= HIGH);
        assert_eq!(high.metadata().unwrap().len(), 5);
    }
}
