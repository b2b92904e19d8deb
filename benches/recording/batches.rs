//! Timing in batches.

#![allow(clippy::disallowed_methods, reason = "benches time")]
#![allow(unsafe_code, reason = "getrusage")]
#![allow(clippy::cast_precision_loss, reason = "times of minutes in an f64")]

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Sections of a batch: fewer than a ring of 8192 records holds.
pub(crate) const BATCH: u32 = 2000;
/// Batches of a process.
const N_BATCHES: u32 = 150;
/// Between batches: longer than the drain's interval.
const PAUSE: Duration = Duration::from_millis(25);

/// Medians of one call of `subject` and of two reads of the clock, nanoseconds, in alternate batches; and the CPU that the whole process
/// took for a call, without what the pauses alone take.
pub(crate) fn measure(mut subject: impl FnMut()) -> (f64, f64, f64) {
    // Decides which clock `ticks` reads, also in a process that does not record.
    marey::clock_kind();
    let (mut subjects, mut anchors) = (Vec::new(), Vec::new());
    time(&mut subject);
    let idle = cpu_of_pauses();
    let before = process_cpu_ns();
    let mut anchors_cpu = 0.0;
    for _ in 0..N_BATCHES {
        std::thread::sleep(PAUSE);
        subjects.push(time(&mut subject));
        let cpu = process_cpu_ns();
        anchors.push(time(&mut two_clock_reads));
        anchors_cpu += process_cpu_ns() - cpu;
    }
    std::thread::sleep(PAUSE);
    let used = process_cpu_ns() - before - anchors_cpu - idle;
    (median(subjects), median(anchors), used / f64::from(N_BATCHES * BATCH))
}

fn two_clock_reads() {
    black_box(marey::ticks());
    black_box(marey::ticks());
}

fn time(subject: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        subject();
        // Keeps a loop around nothing a loop.
        black_box(());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
}

/// CPU of as many pauses as a measurement has, with whatever background threads there are.
fn cpu_of_pauses() -> f64 {
    const SOME: u32 = 30;
    let before = process_cpu_ns();
    for _ in 0..SOME {
        std::thread::sleep(PAUSE);
    }
    (process_cpu_ns() - before) * f64::from(N_BATCHES + 1) / f64::from(SOME)
}

fn process_cpu_ns() -> f64 {
    // SAFETY: all zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for the result.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
