//! Ends in a way that no program should: the other side of the tests of endings.
//!
//! `endings HOW` records 100 steps with an inner section each under an open `outer`, then ends as HOW says.

#![allow(unsafe_code, reason = "the point of this program")]
#![allow(clippy::unwrap_used, clippy::exit, clippy::disallowed_methods, reason = "a test program")]

use std::os::unix::process::CommandExt;

fn main() {
    let how = std::env::args().nth(1).expect("how to end");
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let outer = marey::section!("outer");
    work();
    match how.as_str() {
        // SAFETY: ends the process at once, which is always allowed.
        "_exit" => unsafe { libc::_exit(3) },
        "abort" => std::process::abort(),
        "panic" => panic!("as a test demands"),
        "threads" => exit_while_threads_record(),
        "exec" => exec(),
        "return" => {
            drop(outer);
            recording.finish();
        }
        _ => unreachable!("no such ending"),
    }
}

fn work() {
    for _ in 0..100 {
        let _step = marey::section!("step");
        let _inner = marey::section!("inner");
    }
}

fn exit_while_threads_record() {
    let (started, is_started) = std::sync::mpsc::channel();
    for n in 0..4 {
        let started = started.clone();
        let thread = std::thread::Builder::new().name(format!("worker-{n}"));
        let forever = move || {
            work();
            started.send(()).unwrap();
            loop {
                work();
            }
        };
        thread.spawn(forever).unwrap();
    }
    is_started.iter().take(4).for_each(drop);
    std::process::exit(0);
}

fn exec() {
    let error = std::process::Command::new(std::env::current_exe().unwrap()).arg("return").exec();
    panic!("{error}");
}
