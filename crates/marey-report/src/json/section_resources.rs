//! `section_resources`, and `resources` of a session: what was used between two readings.

use marey_analysis::{Used, UsedResources};
use serde::Serialize;

use super::object::object;
use super::seconds;

/// What a call path used.
pub(super) fn of(row: &UsedResources) -> impl Serialize + use<> {
    object! {
        section: row.node,
        calls: row.n_calls,
        calls_measured: row.n_measured,
        process: row.process.map(used),
        thread: row.thread.map(used),
        growth_bytes: row.growth_bytes,
        largest_growth_bytes: row.largest_growth_bytes,
    }
}

pub(super) fn used(used: Used) -> impl Serialize {
    object! {
        cpu_s: seconds(used.cpu_ns),
        read_bytes: used.read_bytes,
        written_bytes: used.written_bytes,
    }
}
