//! What is known of a process while it works: one value for everybody who shows it.
//!
//! ```text
//! shared memory ─► look ─► Watch ─► LiveSnapshot ─┬─► marey top (screen, text, JSON)
//!                         (pace)                  ├─► text: consoles, logs, progress bars
//!                                                 ├─► get_current_metrics()
//!                                                 └─► fleet: Prometheus (figures: the table)
//! ```

mod figures;
mod fleet;
mod pace;
mod snapshot;
#[cfg(test)]
mod tests;
mod text;
mod watch;

use crate::json::seconds;

pub use fleet::Fleet;
pub use snapshot::{GpuNow, HostNow, LiveSnapshot, LoopNow, Made};
pub use watch::Watch;

/// Readings that are older say nothing about now.
const STALE_NS: u64 = 30_000_000_000;
