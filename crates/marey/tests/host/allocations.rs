//! What reading allocates.

#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use marey::{HostOptions, HostSource, Source};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all is handed on to the system's allocator; `realloc` and `alloc_zeroed` come here, too, by their defaults.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn rounds_allocate_nothing_but_when_new_processes_and_threads_are_looked_for() {
    let mut source = HostSource::new(&HostOptions::default());
    let series = source.series();
    let busy = series.iter().position(|info| info.name == "host.cpu.busy");
    let mut values = vec![f64::NAN; series.len()];
    let (mut rounds, mut rounds_that_allocated) = (0, 0);
    // The first one looks at all processes and threads; from then on each of both is looked for at most once a second.
    let begun_ns = marey::monotonic_ns();
    source.read(&mut values);
    while rounds < 50 {
        values.fill(f64::NAN);
        let before = ALLOCATIONS.get();
        source.read(&mut values);
        rounds_that_allocated += u64::from(ALLOCATIONS.get() != before);
        // Not all files are read in every round.
        rounds += u64::from(!values[busy.unwrap()].is_nan());
    }
    let seconds = (marey::monotonic_ns() - begun_ns) / 1_000_000_000;
    assert!(rounds_that_allocated <= 4 + 2 * seconds, "{rounds_that_allocated} in {seconds} s");
}
