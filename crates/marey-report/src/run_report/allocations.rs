//! Allocations and releases that the program reported.

use crate::document::{Cell, Table};
use crate::model::Report;
use crate::quantity::{bytes, time_s};

/// Sums by allocator and context, those of all first.
pub(super) fn table(report: &Report) -> Table {
    let found = report.activity.allocations.as_ref();
    let all = found.filter(|found| found.uses.len() > 1);
    let all = all.map(|found| (Cell::text("(all)"), Cell::Absent, &found.all));
    let name = |name: &Option<String>| Cell::known(name.as_deref(), Cell::name);
    let uses = found.into_iter().flat_map(|found| &found.uses);
    let uses = uses.map(|one| (name(&one.allocator), name(&one.context), &one.sums));
    let mut table = Table::of_each(
        "memory_events",
        "Memory events",
        all.into_iter().chain(uses),
        &[
            ("allocator", "Allocator", &|(allocator, ..)| allocator.clone()),
            ("context", "Context", &|(_, context, _)| context.clone()),
            ("n_allocations", "Allocations", &|(.., a)| Cell::Count(a.n_allocations)),
            ("allocated_bytes", "Allocated", &|(.., a)| Cell::Bytes(a.allocated_bytes)),
            ("n_releases", "Releases", &|(.., a)| Cell::Count(a.n_releases)),
            ("released_bytes", "Released", &|(.., a)| Cell::Bytes(a.released_bytes)),
            ("held_bytes", "Held", &|(.., a)| Cell::Growth(a.held_bytes)),
        ],
    );
    table.notes.extend(found.map(|found| {
        let (peak, at) = (bytes(found.peak_bytes), time_s(found.peak_at_ns));
        format!("As the program reported them. Peak held: {peak} at {at} s.")
    }));
    table
}
