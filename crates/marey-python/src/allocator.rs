//! The module's memory: the C library's, by the names that nobody stands in for.
//!
//! Who watches a program's allocations (memray, heaptrack) puts functions of its own in the place of `malloc`, and they write what they see
//! into a file of theirs, on whichever thread allocates. A thread of ours does not have that file: its table of descriptors is its own
//! (`crates/marey/src/descriptors.rs`).
//!
//! ```text
//! program's table   3 = out.bin     the program allocates → their malloc → write(3)      as ever
//! sampler's table   3 = nothing     it allocates → their malloc → write(3) fails         they lose their place in the file, and end the program
//! drain's table     3 = capture     it allocates → their malloc → write(3)               theirs in ours
//! ```
//!
//! So nothing here calls `malloc`: what Marey takes for itself stands in nobody's profile, either. An allocator that replaces the C
//! library's as a whole (jemalloc, tcmalloc, mimalloc) has these names, too.

#![allow(unsafe_code, reason = "a global allocator over the C library's")]

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;

#[global_allocator]
static MEMORY: OfTheLibrary = OfTheLibrary;

struct OfTheLibrary;

unsafe extern "C" {
    fn __libc_malloc(n_bytes: usize) -> *mut c_void;
    fn __libc_calloc(n: usize, n_bytes: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, n_bytes: usize) -> *mut c_void;
    fn __libc_realloc(place: *mut c_void, n_bytes: usize) -> *mut c_void;
    fn __libc_free(place: *mut c_void);
}

/// What the C library aligns everything to.
const ALIGNMENT: usize = 2 * size_of::<usize>();

// SAFETY: as `malloc` and its like, of which these are the other names: a place is of so many bytes, aligned, and nobody else's until it is
// freed, by whichever thread.
unsafe impl GlobalAlloc for OfTheLibrary {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: a number.
            unsafe { __libc_malloc(layout.size()) }.cast()
        } else {
            // SAFETY: a power of two that is larger than a pointer, and a number.
            unsafe { __libc_memalign(layout.align(), layout.size()) }.cast()
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: two numbers.
            return unsafe { __libc_calloc(1, layout.size()) }.cast();
        }
        // SAFETY: the caller's layout.
        let place = unsafe { self.alloc(layout) };
        if !place.is_null() {
            // SAFETY: so many bytes from there on are the caller's.
            unsafe { place.write_bytes(0, layout.size()) };
        }
        place
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, n_bytes: usize) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: a place that is of one of these functions.
            return unsafe { __libc_realloc(place.cast(), n_bytes) }.cast();
        }
        // SAFETY: the caller's size does not overflow with this alignment.
        let larger = unsafe { Layout::from_size_align_unchecked(n_bytes, layout.align()) };
        // SAFETY: not an empty layout: the caller's size is none.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            let kept = layout.size().min(n_bytes);
            // SAFETY: both places have so many bytes, and the second is new.
            unsafe { place.copy_to_nonoverlapping(moved, kept) };
            // SAFETY: the caller's place, which nobody uses any more.
            unsafe { self.dealloc(place, layout) };
        }
        moved
    }

    unsafe fn dealloc(&self, place: *mut u8, _: Layout) {
        // SAFETY: a place that is of one of these functions.
        unsafe { __libc_free(place.cast()) };
    }
}
