//! Forks while it records: the other side of the tests of forks.
//!
//! `forks CASE` records 10 times `before` under an open `outer`, forks as CASE says, then records 5 times `after`.

#![allow(unsafe_code, reason = "fork")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test program")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn main() {
    let case = std::env::args().nth(1).expect("a case");
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let outer = marey::section!("outer");
    record("before", 10);
    match case.as_str() {
        "child" => {
            // The first round of the host's sampler.
            while marey::recorder().is_some_and(|r| r.latest_readings().is_empty()) {
                std::thread::yield_now();
            }
            wait_for(in_child(|| record("child", 7)));
        }
        "deep" => deep(),
        "future" => future(),
        "silent" => wait_for(in_child(|| {})),
        "grandchild" => wait_for(in_child(|| {
            record("child", 3);
            wait_for(in_child(|| record("grandchild", 4)));
            record("child", 2);
        })),
        "grandchild of a silent child" => wait_for(in_child(|| {
            wait_for(in_child(|| record("grandchild", 4)));
        })),
        "while off" => {
            recording.finish();
            wait_for(in_child(|| record("child", 7)));
            return;
        }
        "without room" => without_room(outer),
        "another user" => (0..2).for_each(|_| wait_for(in_child(as_another_user))),
        "storm" => storm(),
        // Of so many sections that completing a capture takes a while.
        "leftovers" => leave_captures(),
        "beside the dead" => beside_the_dead(),
        _ => unreachable!("no such case"),
    }
    record("after", 5);
    drop(outer);
    recording.finish();
}

fn record(name: &str, n: usize) {
    for _ in 0..n {
        drop(marey::section_named(name));
    }
}

/// More sections open at the fork than there are slots for guards; the child drops them all.
fn deep() {
    let open: Vec<_> = (0..100).map(|_| marey::section!("deep")).collect();
    let mut open = Some(open);
    // SAFETY: the child goes on with what fork leaves to it, like any other program.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        record("child", 1);
        drop(open.take());
        record("child", 6);
        exit();
    }
    wait_for(pid);
    drop(open);
}

/// The section of a future is open at the fork; the child ends the future, too.
fn future() {
    use marey::InSection;
    use std::task::{Context, Poll, Waker};
    let mut has_waited = false;
    let waits = std::future::poll_fn(|_| {
        if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }
    });
    let mut waits = std::pin::pin!(waits.in_section("waits"));
    let mut poll = || waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!poll());
    // SAFETY: the child goes on with what fork leaves to it, like any other program.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        record("child", 1);
        assert!(poll());
        record("child", 6);
        exit();
    }
    wait_for(pid);
    assert!(poll());
}

/// Forks while there is room for 2 MiB of data, less than the recorder's tables; the child ends its parent's section and records. Ends at once.
fn without_room(outer: marey::SectionGuard) -> ! {
    let mut outer = Some(outer);
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let data = libc::RLIMIT_DATA;
    // SAFETY: a valid structure.
    assert_eq!(unsafe { libc::getrlimit(data, &raw mut limit) }, 0);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let data_kb = status.lines().find_map(|line| line.strip_prefix("VmData:"));
    let data_kb = data_kb.and_then(|rest| rest.trim().strip_suffix(" kB"));
    let little = libc::rlimit {
        rlim_cur: (data_kb.unwrap().parse::<u64>().unwrap() << 10) + (2 << 20),
        ..limit
    };
    // SAFETY: a valid structure.
    assert_eq!(unsafe { libc::setrlimit(data, &raw const little) }, 0);
    let pid = in_child(|| {
        record("child", 3);
        drop(outer.take());
        record("child", 4);
    });
    // SAFETY: a valid structure.
    assert_eq!(unsafe { libc::setrlimit(data, &raw const limit) }, 0);
    wait_for(pid);
    record("after", 5);
    exit();
}

/// Gives up the output folder before it records, as a worker does that becomes another user: where only root may, somebody else's file stands in
/// the folder's place.
fn as_another_user() {
    const NOBODY: libc::uid_t = 65_534;
    let folder = std::path::PathBuf::from(std::env::var_os("MAREY_OUTPUT_DIR").unwrap());
    // SAFETY: a number.
    let is_other = unsafe { libc::setuid(NOBODY) } == 0;
    let moved = folder.with_extension("moved");
    if !is_other {
        std::fs::rename(&folder, &moved).unwrap();
        std::fs::write(&folder, "").unwrap();
    }
    record("child", 7);
    if !is_other {
        std::fs::remove_file(&folder).unwrap();
        std::fs::rename(&moved, &folder).unwrap();
    }
}

/// Forks 200 times while three threads record as fast as they can.
fn storm() {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    record("flood", 1);
                    marey::event("flood", &[]);
                }
            });
        }
        for _ in 0..200 {
            wait_for(in_child(|| record("child", 1)));
        }
        is_over.store(true, Relaxed);
    });
}

/// Children that end without closing, whose captures nobody completes: the drain rests.
fn leave_captures() {
    marey::recorder().unwrap().pause_threads();
    (0..N_DEAD).for_each(|_| wait_for(in_child(|| record("child", 20_000))));
}

/// More than a start completes by itself.
const N_DEAD: usize = 16;

/// Pauses whenever one more of the captures that dead processes left was completed, and prints how many threads there were at most, at work
/// and then.
fn beside_the_dead() {
    let recorder = marey::recorder().unwrap();
    let own = recorder.ring_folder().unwrap();
    let n_left = || std::fs::read_dir(own.parent().unwrap()).unwrap().count() - 1;
    let n_threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let (mut at_work, mut paused) = (n_threads(), 0);
    for n in (0..N_DEAD).rev() {
        while n_left() > n {
            at_work = at_work.max(n_threads());
        }
        recorder.pause_threads();
        paused = paused.max(n_threads());
        recorder.resume_threads();
    }
    println!("{at_work} and {paused} threads");
}

fn in_child(work: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child goes on with what fork leaves to it, like any other program.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        work();
        exit();
    }
    pid
}

fn exit() -> ! {
    // SAFETY: ends the process at once, as `os._exit` in a worker does.
    unsafe { libc::_exit(0) }
}

fn wait_for(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: waits for a child of this process, into a valid place.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((waited, status), (pid, 0));
}
