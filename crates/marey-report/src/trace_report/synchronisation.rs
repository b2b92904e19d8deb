//! Which calls waited for a device, and where they stand.

use marey_analysis::{SyncPlace, TraceAnswers};

use crate::document::{Cell, Table};

/// The table by call, and by place.
pub(super) fn tables(answers: &TraceAnswers) -> [Table; 2] {
    [calls(answers), places(&answers.synchronisation.places)]
}

fn calls(answers: &TraceAnswers) -> Table {
    let mut table = Table::new(
        "synchronisation",
        "Calls that wait for a device",
        &[
            ("name", "Call"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("longest_ns", "Longest"),
            ("idle_ns", "Device idle meanwhile"),
        ],
    );
    for row in &answers.synchronisation.calls {
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::Duration(row.longest_ns),
            Cell::duration(row.idle_ns),
        ]);
    }
    table
}

fn places(rows: &[SyncPlace]) -> Table {
    let mut table = Table::new(
        "synchronisation_places",
        "Where they wait",
        &[
            ("name", "Call"),
            ("operator", "Operator"),
            ("range", "Range"),
            ("module", "Module"),
            ("function", "Function"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("longest_ns", "Longest"),
            ("idle_ns", "Device idle meanwhile"),
        ],
    );
    for row in rows {
        let text = |text: &Option<String>| Cell::known(text.as_deref(), Cell::text);
        table.row(vec![
            Cell::text(row.name.as_str()),
            text(&row.operator),
            text(&row.range),
            text(&row.module),
            text(&row.function),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::Duration(row.longest_ns),
            Cell::duration(row.idle_ns),
        ]);
    }
    table
}
