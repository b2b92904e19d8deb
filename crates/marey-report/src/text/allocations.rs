//! Allocations and releases that the program reported.

use marey_analysis::{Allocated, Allocations};

use super::columns::{Columns, Last};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{bytes, counted, growth, known, time_s};

/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 20;
const NAME_WIDTH: usize = 32;

/// Sums by allocator and context; `None` when the program reported none.
pub(super) fn table(report: &Report) -> Option<String> {
    let found = report.activity.allocations.as_ref()?;
    let headers = [
        "Allocator",
        "Context",
        "Allocations",
        "Allocated",
        "Releases",
        "Released",
        "Held",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    let name = |name: &Option<String>| known(name.as_deref(), |name| cut(name, NAME_WIDTH));
    for one in found.uses.iter().take(MAX_ROWS) {
        table.row(row(name(&one.allocator), name(&one.context), &one.sums));
    }
    if found.uses.len() > 1 {
        table.row(row("(all)".to_owned(), String::new(), &found.all));
    }
    Some(table.block("MEMORY EVENTS", &notes(found)))
}

fn row(allocator: String, context: String, sums: &Allocated) -> Vec<String> {
    vec![
        allocator,
        context,
        sums.n_allocations.to_string(),
        bytes(sums.allocated_bytes),
        sums.n_releases.to_string(),
        bytes(sums.released_bytes),
        growth(sums.held_bytes),
    ]
}

fn notes(found: &Allocations) -> Vec<String> {
    let more = found.uses.len().saturating_sub(MAX_ROWS) as u64;
    let more = (more > 0).then(|| format!("… and {}", counted(more, "more row", "more rows")));
    let most = format!(
        "As the program reported them. Peak held: {} at {} s.",
        bytes(found.peak_bytes),
        time_s(found.peak_at_ns)
    );
    more.into_iter().chain([most]).collect()
}
