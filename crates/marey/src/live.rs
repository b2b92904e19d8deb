//! Looks at recording processes from outside, while they work: by their shared files alone.
//!
//! ```no_run
//! let root = marey::ring_root().expect("/dev/shm");
//! for process in marey::live::processes(&root) {
//!     if let Some(mut live) = marey::live::Live::attach(&process.folder) {
//!         let look = live.look();
//!         println!("{}: {} sections open", process.identity.pid, look.open.len());
//!     }
//! }
//! ```
//!
//! The process neither helps nor waits: what it shares is mapped to be read, and read without a lock. Figures of one node are of
//! one moment, those of two may be microseconds apart. What lies there may be torn or damaged; then it is left out, or has a
//! stand-in.

mod attached;
mod process;
mod state;

pub use attached::Live;
pub use process::{Process, job_of, processes};
pub use state::{Iterations, LiveState, OpenNow, Reading, Totals};
