//! Keeps a panic from unwinding into the interpreter, which would end the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` returns. A panic would be a defect of Marey, and the program goes on without what was to be recorded; Rust's own
/// message on stderr tells of it. For what is rare: on the fast path there is nothing that can panic.
#[cold]
pub(crate) fn guarded<T: Default>(work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_default()
}
