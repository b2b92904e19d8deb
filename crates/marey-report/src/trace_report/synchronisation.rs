//! Which calls waited for a device, and where they stand.

use marey_analysis::{SyncPlace, TraceAnswers};

use crate::document::{Cell, Table};

/// The table by call, and by place.
pub(super) fn tables(answers: &TraceAnswers) -> [Table; 2] {
    [calls(answers), places(&answers.synchronisation.places)]
}

fn calls(answers: &TraceAnswers) -> Table {
    Table::of_each(
        "synchronisation",
        "Calls that wait for a device",
        &answers.synchronisation.calls,
        &[
            ("name", "Call", &|r| Cell::text(&r.name)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("longest_ns", "Longest", &|r| Cell::Duration(r.longest_ns)),
            ("idle_ns", "Device idle meanwhile", &|r| Cell::duration(r.idle_ns)),
        ],
    )
}

fn places(rows: &[SyncPlace]) -> Table {
    Table::of_each(
        "synchronisation_places",
        "Where they wait",
        rows,
        &[
            ("name", "Call", &|r| Cell::text(&r.name)),
            ("operator", "Operator", &|r| Cell::text_of(&r.operator)),
            ("range", "Range", &|r| Cell::text_of(&r.range)),
            ("module", "Module", &|r| Cell::text_of(&r.module)),
            ("function", "Function", &|r| Cell::text_of(&r.function)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("longest_ns", "Longest", &|r| Cell::Duration(r.longest_ns)),
            ("idle_ns", "Device idle meanwhile", &|r| Cell::duration(r.idle_ns)),
        ],
    )
}
