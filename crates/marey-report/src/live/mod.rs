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

pub use fleet::Fleet;
pub use snapshot::{GpuNow, HostNow, LiveSnapshot, LoopNow, Made};
pub use watch::Watch;

/// Readings that are older say nothing about now.
const STALE_NS: u64 = 30_000_000_000;

/// Exact to a microsecond also for times since 1970.
fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}
