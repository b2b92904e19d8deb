//! `memory_events`: allocations and releases that the program reported.

use marey_analysis::Allocated;
use serde::Serialize;

use super::figures::{listed, timestamp};
use super::object::{Fields, object};
use crate::model::Activity;

/// `None` when the program reported none.
pub(super) fn of(activity: &Activity) -> Option<impl Serialize> {
    let found = activity.allocations.as_ref()?;
    let uses = found.uses.iter().map(|one| {
        object! {
            allocator: &one.allocator,
            context: &one.context,
            ..sums(one.sums),
        }
    });
    let (events, events_left_out) = listed(&found.each, |point| {
        object! {
            timestamp: timestamp(activity, point.at_ns),
            event_type: if point.is_release { "dealloc" } else { "alloc" },
            size_bytes: point.bytes,
            allocator: &point.allocator,
            context: &point.context,
        }
    });
    Some(object! {
        ..sums(found.all),
        peak_bytes: found.peak_bytes,
        peak_at: timestamp(activity, found.peak_at_ns),
        uses: uses.collect::<Vec<_>>(),
        events: events,
        events_left_out: events_left_out,
    })
}

fn sums(found: Allocated) -> impl Fields {
    object! {
        n_allocations: found.n_allocations,
        allocated_bytes: found.allocated_bytes,
        n_releases: found.n_releases,
        released_bytes: found.released_bytes,
        held_bytes: found.held_bytes,
    }
}
