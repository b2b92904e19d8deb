//! The atomics of ring and totals: those of the standard library. The models in `loom/` put loom's in their place.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
