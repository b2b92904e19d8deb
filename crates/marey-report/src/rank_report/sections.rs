//! Sections over ranks.

use marey_analysis::ranks::JobAnswers;

use super::places::{Places, SPREAD};
use crate::document::{Cell, Table};

/// A row a call path, the one with the most time first: what ranks spent in it in all.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut columns =
        vec![("path", "Section"), ("n_ranks", "Ranks"), ("count", "Calls"), ("total_ns", "Total")];
    columns.extend(SPREAD);
    columns.extend([
        ("call_median_ns", "Call median"),
        ("call_p95_ns", "Call p95"),
        ("errors", "Errors"),
        ("n_open", "Open in"),
    ]);
    let mut table = Table::new("sections", "Sections, totals of ranks", &columns);
    for section in &job.sections {
        let totals = section.totals.as_ref();
        let mut row = vec![
            Cell::text(section.path.join(" › ")),
            Cell::count(totals.map(|over| over.n_ranks)),
            Cell::Count(section.count),
            Cell::Duration(section.total_ns),
        ];
        row.extend(places.spread(totals));
        row.extend([
            Cell::duration(section.median_ns),
            Cell::duration(section.p95_ns),
            Cell::Count(section.errors),
            Cell::Count(section.n_open),
        ]);
        table.row(row);
    }
    table
}
