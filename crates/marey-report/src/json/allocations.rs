//! `memory_events`: allocations and releases that the program reported.

use marey_analysis::Allocated;

use super::figures::{listed, timestamp};
use super::object::{Fields, Json, object};
use crate::model::Activity;

/// `None` when the program reported none.
pub(super) fn of(activity: &Activity) -> Option<impl Json> {
    let found = activity.allocations.as_ref()?;
    let uses = found.uses.iter().map(|one| {
        object! {
            /// Who made them; null when not said.
            allocator: &one.allocator,
            /// What for; null when not said.
            context: &one.context,
            ..sums(one.sums),
        }
    });
    let (events, events_left_out) = listed(&found.each, |point| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, point.at_ns),
            /// `alloc` or `dealloc`.
            event_type: if point.is_release { "dealloc" } else { "alloc" },
            /// Its size.
            size_bytes: point.bytes,
            /// Who made it; null when not said.
            allocator: &point.allocator,
            /// What for; null when not said.
            context: &point.context,
        }
    });
    Some(object! {
        /// Allocations and releases that the program reported.
        struct MemoryEvents;
        ..sums(found.all),
        /// Most that was allocated and not yet released, of what was reported.
        peak_bytes: found.peak_bytes,
        /// When that was, seconds since 1970.
        peak_at: timestamp(activity, found.peak_at_ns),
        /// By allocator and context, those with most bytes allocated first.
        uses: uses.collect::<Vec<_>>(),
        /// Each report, in order of time, at most 10000.
        events: events,
        /// Reports beyond those.
        events_left_out: events_left_out,
    })
}

fn sums(found: Allocated) -> impl Fields {
    object! {
        /// Allocations.
        n_allocations: found.n_allocations,
        /// Bytes of them.
        allocated_bytes: found.allocated_bytes,
        /// Releases.
        n_releases: found.n_releases,
        /// Bytes of them.
        released_bytes: found.released_bytes,
        /// Allocated less released; below zero when more was released than reported as allocated.
        held_bytes: found.held_bytes,
    }
}
