//! Records sections as fast as it can until it is killed, and counts them in a file of its own: the other side of the kill test.
//!
//! `flood COUNTER THREADS HOLD` maps the file COUNTER (8 bytes a thread) and adds one after each completed section.
//! HOLD `open` keeps an outer section open for ever.

#![allow(unsafe_code, reason = "maps the counter, independently of the recorder")]
#![allow(clippy::unwrap_used, reason = "a test program")]

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering::Release};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let n_threads: usize = arguments[2].parse().unwrap();
    let counters = map_counters(&arguments[1], n_threads);
    let recording = marey::start_from_env().expect("MAREY_ENABLED=1");
    let outer = (arguments[3] == "open").then(|| marey::section!("outer"));
    std::thread::scope(|scope| {
        for counter in &counters[1..] {
            scope.spawn(move || flood(counter));
        }
        flood(&counters[0]);
    });
    drop(outer);
    recording.finish();
}

fn flood(counter: &AtomicU64) {
    let mut n = 0_u64;
    loop {
        {
            let _step = marey::section!("step");
            if n.is_multiple_of(3) {
                let _inner = marey::section!("inner");
            }
        }
        n += 1;
        // Sections completed so far: one step each, and an inner one every third.
        counter.store(n + n.div_ceil(3), Release);
    }
}

fn map_counters(path: &str, n: usize) -> &'static [AtomicU64] {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    file.set_len(4096).unwrap();
    // SAFETY: maps a page of a file that this process opened for reading and writing; the length was just set.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(base, libc::MAP_FAILED);
    // SAFETY: a page holds 512 aligned, zeroed words, and is never unmapped.
    unsafe { std::slice::from_raw_parts(base.cast::<AtomicU64>(), n) }
}
