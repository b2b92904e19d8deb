//! Which operators took the time of the host, and which launched the work of devices.

use marey_analysis::{OperatorRow, TraceAnswers};

use super::kernels::named;
use crate::document::{Cell, Shows, Table};

/// The table by name, and by name and shapes.
pub(super) fn tables(answers: &TraceAnswers) -> [Table; 2] {
    let operators = &answers.operators;
    [
        table("operators", "Operators", &operators.rows, false),
        table("operators_by_shape", "Operators by shape", &operators.by_shape, true),
    ]
}

fn table(key: &'static str, title: &str, rows: &[OperatorRow], has_shapes: bool) -> Table {
    let second: Shows<'_, &OperatorRow> = if has_shapes {
        ("shapes", "Shapes", &|r| Cell::text_of(&r.shapes))
    } else {
        ("kind", "Kind", &|r| named(&r.kind))
    };
    Table::of_each(
        key,
        title,
        rows,
        &[
            ("name", "Name", &|r| Cell::text(&r.name)),
            second,
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("self_ns", "Self", &|r| Cell::Duration(r.self_ns)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("n_launched", "Launched", &|r| Cell::count(r.n_launched)),
            ("device_self_ns", "Device self", &|r| Cell::duration(r.device_self_ns)),
            ("device_total_ns", "Device total", &|r| Cell::duration(r.device_total_ns)),
        ],
    )
}
