//! `memory_events`: allocations and releases that the program reported.

use marey_analysis::{Allocated, AllocationPoint, AllocationUse, Allocations};
use serde::Serialize;

use super::diffusion::timestamp;
use super::listed::listed;
use crate::model::Activity;

/// `memory_events` of the report.
#[derive(Serialize)]
pub(super) struct MemoryEvents<'a> {
    #[serde(flatten)]
    all: Allocated,
    peak_bytes: u64,
    peak_at: f64,
    uses: Vec<UseObject<'a>>,
    events: Vec<EventObject<'a>>,
    events_left_out: u64,
}

#[derive(Serialize)]
struct UseObject<'a> {
    allocator: Option<&'a str>,
    context: Option<&'a str>,
    #[serde(flatten)]
    sums: Allocated,
}

#[derive(Serialize)]
struct EventObject<'a> {
    timestamp: f64,
    event_type: &'static str,
    size_bytes: u64,
    allocator: Option<&'a str>,
    context: Option<&'a str>,
}

impl<'a> MemoryEvents<'a> {
    /// `None` when the program reported none.
    pub(super) fn new(activity: &'a Activity) -> Option<Self> {
        let found: &Allocations = activity.allocations.as_ref()?;
        let event = |point: &'a AllocationPoint| EventObject {
            timestamp: timestamp(activity, point.at_ns),
            event_type: if point.is_release { "dealloc" } else { "alloc" },
            size_bytes: point.bytes,
            allocator: point.allocator.as_deref(),
            context: point.context.as_deref(),
        };
        let (events, events_left_out) = listed(&found.each, event);
        Some(Self {
            all: found.all,
            peak_bytes: found.peak_bytes,
            peak_at: timestamp(activity, found.peak_at_ns),
            uses: found.uses.iter().map(UseObject::new).collect(),
            events,
            events_left_out,
        })
    }
}

impl<'a> UseObject<'a> {
    fn new(found: &'a AllocationUse) -> Self {
        Self {
            allocator: found.allocator.as_deref(),
            context: found.context.as_deref(),
            sums: found.sums,
        }
    }
}
