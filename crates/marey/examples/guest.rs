//! A program that closes descriptors which it did not open, as daemons and launchers do: the other side of the tests of guests.
//!
//! `guest CASE FOLDER` makes its own files in FOLDER and prints what it saw.

#![allow(unsafe_code, reason = "descriptors, fork, seccomp and an allocator that counts")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use marey::{Recording, SamplerOptions, SeriesInfo, Source, Unavailable, Unit};

/// Allocations that were not given back yet.
static HELD: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is handed on to the system's allocator; `realloc` and `alloc_zeroed` come here, too, by their defaults.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(1, Relaxed);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (case, folder) = (arguments.next().unwrap(), arguments.next().unwrap());
    let folder = Path::new(&folder);
    match case.as_str() {
        "closes" => closes(folder, sampled(), record),
        "closes on an old kernel" => {
            refuse(&[CLOSE_RANGE]);
            closes(folder, sampled(), record);
        }
        "closes in a sandbox" => closes_in_a_sandbox(folder),
        "daemon" => daemon(folder),
        "descriptors" => descriptors(),
        "has none free" => has_none_free(),
        "has a dead neighbour" => has_a_dead_neighbour(),
        "starts and stops" => starts_and_stops(),
        "shares its memory" => shares_its_memory(),
        "has many names" => has_many_names(),
        _ => unreachable!("no such case"),
    }
}

/// Records, closes everything, opens files and a socket of its own, and records on: what came into those is printed.
fn closes(folder: &Path, recording: Recording, record: fn(usize)) {
    record(1000);
    close_from(3);
    let files: Vec<File> =
        (0..10).map(|n| File::create_new(folder.join(n.to_string())).unwrap()).collect();
    let (mut near, far) = UnixStream::pair().unwrap();
    far.set_nonblocking(true).unwrap();
    near.set_nonblocking(true).unwrap();
    for _ in 0..3 {
        record(1000);
        marey::recorder().unwrap().drain_now();
    }
    recording.finish();
    let in_files: u64 = files.iter().map(|f| f.metadata().unwrap().len()).sum();
    let mut far = far;
    let in_socket = far.read(&mut [0; 64]).is_ok() || near.read(&mut [0; 64]).is_ok();
    println!("in files {in_files}");
    println!("in socket {}", u8::from(in_socket));
}

/// As [`closes`], where threads get no descriptors of their own; before that it closes everything while a sampler has a file open, if one reads
/// there. Prints how many threads there are.
fn closes_in_a_sandbox(folder: &Path) {
    refuse(&[CLOSE_RANGE, libc::SYS_unshare]);
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let recorder = marey::recorder().unwrap();
    println!("threads {}", entries("/proc/self/task"));
    let (opened, is_open) = channel();
    let (close, may_close) = channel();
    let options = SamplerOptions {
        name: "reading",
        interval: Duration::from_hours(1),
        max_points: 2,
        switches: 0,
        has_own_descriptors: true,
    };
    let make = move || -> Box<dyn Source> { Box::new(Reading { opened, may_close }) };
    if recorder.start_sampler(options, make) {
        is_open.recv().unwrap();
        close_from(3);
        drop(close);
        is_open.recv().expect("it has closed its file");
    }
    let many = 20_000;
    (0..many).for_each(|_| drop(marey::section!("many")));
    closes(folder, recording, |n| {
        (0..n).for_each(|_| drop(marey::section!("step")));
        marey::recorder().unwrap().drain_now();
    });
}

/// Has a file open until it may close it.
struct Reading {
    opened: Sender<()>,
    may_close: Receiver<()>,
}

impl Source for Reading {
    fn series(&self) -> Vec<SeriesInfo> {
        vec![SeriesInfo::gauge("test.reading", "", Unit::Count)]
    }

    fn read(&mut self, _: &mut [f64]) {
        let file = File::open("/proc/stat").unwrap();
        self.opened.send(()).ok();
        self.may_close.recv().ok();
        drop(file);
        self.opened.send(()).ok();
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        Vec::new()
    }
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// Becomes a daemon while it records.
fn daemon(folder: &Path) {
    let recording = sampled();
    record(1000);
    if is_parent() {
        recording.finish();
        return;
    }
    // SAFETY: no arguments.
    unsafe { libc::setsid() };
    if is_parent() {
        leave();
    }
    close_from(0);
    let files: Vec<File> =
        (0..13).map(|n| File::create_new(folder.join(n.to_string())).unwrap()).collect();
    record(2000);
    recording.finish();
    let in_files: u64 = files.iter().map(|f| f.metadata().unwrap().len()).sum();
    std::fs::write(folder.join("said"), format!("in files {in_files}\n")).unwrap();
    std::fs::rename(folder.join("said"), folder.join("done")).unwrap();
    leave();
}

/// How many descriptors are open before a recording and in it.
fn descriptors() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    let recording = sampled();
    record(1000);
    println!("more {}", open() - before);
    recording.finish();
    println!("left {}", open() - before);
}

/// Starts with every descriptor in use.
fn has_none_free() {
    let limit = libc::rlimit { rlim_cur: 16, rlim_max: 16 };
    // SAFETY: a valid structure.
    let code = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(code, 0);
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
    }
    let recording = marey::start_from_env();
    record(1000);
    drop(open);
    drop(recording);
    println!("done");
}

/// Records until what a dead process left beside it is gone.
fn has_a_dead_neighbour() {
    let recording = sampled();
    let root = std::env::var("MAREY_RING_DIR").unwrap();
    assert_eq!(marey::leftovers(root.as_ref()).len(), 1, "its own");
    recording.finish();
}

/// 400 recordings, one after the other; prints how many allocations, mappings, threads and files are held more than after the first 50, and
/// what is still mapped of their rings.
fn starts_and_stops() {
    let maps = || std::fs::read_to_string("/proc/self/maps").unwrap();
    let held = || {
        [
            HELD.load(Relaxed),
            maps().lines().count(),
            entries("/proc/self/task"),
            entries("/proc/self/fd"),
        ]
    };
    let mut early = [0; 4];
    for n in 0..400 {
        let recording = sampled();
        (0..100).for_each(|_| drop(marey::section!("step")));
        recording.finish();
        if n == 50 {
            early = held();
        }
    }
    let what = ["allocations", "mappings", "threads", "files"];
    for (what, (late, early)) in what.into_iter().zip(held().into_iter().zip(early)) {
        println!("{what} {}", late.saturating_sub(early));
    }
    let rings = std::env::var("MAREY_RING_DIR").unwrap();
    let of_rings = maps().lines().filter(|line| line.contains(&rings)).count();
    println!("rings {of_rings}");
}

/// Thirty-two threads record where items of 8 MiB are handed on, too, then where nothing at all is free, then so do eight new ones. Prints how
/// many items there was room for.
fn shares_its_memory() {
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let rings = std::env::var("MAREY_RING_DIR").unwrap();
    let folder = Path::new(&rings).parent().unwrap();
    let steps = || (0..1000).for_each(|_| drop(marey::section!("step")));
    let (turn, item) = (Barrier::new(33), vec![7; 8 << 20]);
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                steps();
                turn.wait();
                turn.wait();
                steps();
            });
        }
        turn.wait();
        let hand_on = |n: &u32| std::fs::write(folder.join(n.to_string()), &item).is_ok();
        println!("items {}", (0..100).take_while(hand_on).count());
        turn.wait();
    });
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(steps))));
    recording.finish();
}

/// A million names; prints by how much memory grew after the first tenth.
fn has_many_names() {
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let mut early = 0;
    for n in 0..1_000_000 {
        drop(marey::section_named(&format!("name-{n}")));
        if n == 100_000 {
            // Names, rings and totals have gone through the drain once.
            marey::recorder().unwrap().drain_now();
            early = marey::resident_bytes().unwrap();
        }
    }
    let late = marey::resident_bytes().unwrap();
    println!("resident {}", late.saturating_sub(early));
    recording.finish();
}

/// A recording whose host sampler has had its first round, and whose drain has written.
fn sampled() -> Recording {
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    while marey::recorder().is_some_and(|r| r.latest_readings().is_empty()) {
        std::thread::yield_now();
    }
    recording
}

/// So many sections, which the drain thread has written when this returns.
fn record(n: usize) {
    let written = || marey::recorder().map_or(0, marey::Recorder::capture_bytes);
    let before = written();
    (0..n).for_each(|_| drop(marey::section!("step")));
    while marey::is_on() && marey::recorder().is_some() && written() == before {
        std::thread::yield_now();
    }
}

fn close_from(first: libc::c_int) {
    for number in first..4096 {
        // SAFETY: numbers; what they stand for is not used afterwards.
        unsafe { libc::close(number) };
    }
}

fn is_parent() -> bool {
    // SAFETY: the child goes on with what fork leaves to it, like any other program.
    unsafe { libc::fork() != 0 }
}

fn leave() -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(0) }
}

/// The number of the system call on every architecture.
const CLOSE_RANGE: libc::c_long = 436;

/// As in a container whose filter does not know these calls.
fn refuse(calls: &[libc::c_long]) {
    let say = |code, value| libc::sock_filter { code, jt: 0, jf: 0, k: value };
    let mut program = vec![say(0x20, 0)];
    for call in calls {
        let (is_equal, number) = (0x15, u32::try_from(*call).unwrap());
        program.push(libc::sock_filter { jf: 1, ..say(is_equal, number) });
        program.push(say(0x06, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()));
    }
    program.push(say(0x06, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog {
        len: u16::try_from(program.len()).unwrap(),
        filter: program.as_mut_ptr(),
    };
    // SAFETY: numbers.
    let code = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(code, 0);
    let (what, mode) = (libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER);
    // SAFETY: a valid program.
    let code = unsafe { libc::prctl(what, mode, &raw const filter) };
    assert_eq!(code, 0);
    for call in calls {
        // SAFETY: numbers that close nothing, and ask for nothing.
        let code = unsafe { libc::syscall(*call, 9999, 9999, 0) };
        let error = std::io::Error::last_os_error();
        assert_eq!((code, error.raw_os_error()), (-1, Some(libc::ENOSYS)));
    }
}
