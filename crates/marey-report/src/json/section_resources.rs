//! `section_resources`, and `resources` of a session: what was used between two readings.

use marey_analysis::{Used, UsedResources};

use super::object::{Json, object};
use super::seconds;

/// What a call path used.
pub(super) fn of(row: &UsedResources) -> impl Json + use<> {
    object! {
        struct SectionResources;
        /// id of the call path.
        section: row.node,
        /// Calls that were made.
        calls: row.n_calls,
        /// Calls that were read; all figures are sums over these, and nothing is estimated for the others.
        calls_measured: row.n_measured,
        /// Of the whole process while the calls were open; null where some were open at the same time, for what the process did then cannot
        /// be told apart. So are both growths.
        process: row.process.map(used),
        /// Of the threads of the calls; null when one of them ran in a task.
        thread: row.thread.map(used),
        /// Resident memory of the process after a call less before it, summed over calls; null where it was not read.
        growth_bytes: row.growth_bytes,
        /// The largest of these differences.
        largest_growth_bytes: row.largest_growth_bytes,
    }
}

pub(super) fn used(used: Used) -> impl Json {
    object! {
        struct UsedResources;
        /// Processor time in user code and in the kernel, seconds.
        cpu_s: seconds(used.cpu_ns),
        /// Fetched from storage; what the page cache had is not among them. null where the kernel does not count it.
        read_bytes: used.read_bytes,
        /// Made to be written to storage, now or later. null as above.
        written_bytes: used.written_bytes,
    }
}
