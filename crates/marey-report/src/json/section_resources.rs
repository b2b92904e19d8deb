//! `section_resources`, and `resources` of a session: what was used between two readings.

use marey_analysis::{Used, UsedInSession, UsedResources};
use serde::Serialize;

use super::seconds;

#[derive(Serialize)]
pub(super) struct SectionResourcesObject {
    section: u32,
    calls: u64,
    calls_measured: u64,
    process: Option<UsedObject>,
    thread: Option<UsedObject>,
    growth_bytes: Option<i64>,
    largest_growth_bytes: Option<i64>,
}

#[derive(Serialize)]
pub(super) struct SessionResourcesObject {
    process: UsedObject,
    growth_bytes: Option<i64>,
}

impl SessionResourcesObject {
    pub(super) fn new(used: &UsedInSession) -> Self {
        Self {
            process: UsedObject::new(used.process),
            growth_bytes: used.growth_bytes,
        }
    }
}

#[derive(Serialize)]
struct UsedObject {
    cpu_s: f64,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
}

impl SectionResourcesObject {
    pub(super) fn new(row: &UsedResources) -> Self {
        Self {
            section: row.node,
            calls: row.n_calls,
            calls_measured: row.n_measured,
            process: row.process.map(UsedObject::new),
            thread: row.thread.map(UsedObject::new),
            growth_bytes: row.growth_bytes,
            largest_growth_bytes: row.largest_growth_bytes,
        }
    }
}

impl UsedObject {
    fn new(used: Used) -> Self {
        Self {
            cpu_s: seconds(used.cpu_ns),
            read_bytes: used.read_bytes,
            written_bytes: used.written_bytes,
        }
    }
}
