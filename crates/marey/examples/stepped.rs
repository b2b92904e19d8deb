//! Stops, records two sections inside a third, one of them failed, and stops again: to be run instruction by instruction in
//! between. All that lies within two others, so that no section is read for what it uses, which takes a hundred thousand instructions.
//!
//! `stepped N` records N sections there instead, and stops nowhere: `scripts/cost` counts the instructions of one.

#![allow(unsafe_code, reason = "ptrace")]
#![allow(clippy::unwrap_used, reason = "a test program")]

fn main() {
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let around = (marey::section!("generate"), marey::section!("denoise"));
    match std::env::args().nth(1) {
        Some(n) => (0..n.parse::<u64>().unwrap()).for_each(|_| drop(marey::section!("counted"))),
        None => stepped(),
    }
    drop(around);
    recording.finish();
}

fn stepped() {
    for _ in 0..3 {
        record();
    }
    // SAFETY: lets the parent trace this thread.
    unsafe { libc::ptrace(libc::PTRACE_TRACEME) };
    stop();
    record();
    record();
    stop();
}

fn stop() {
    // SAFETY: stops this thread until the parent lets it go on.
    unsafe { libc::raise(libc::SIGSTOP) };
}

#[inline(never)]
fn record() {
    let _outer = marey::section!("outer");
    {
        let _inner = marey::section!("inner");
    }
    marey::section!("failed").fail();
}
