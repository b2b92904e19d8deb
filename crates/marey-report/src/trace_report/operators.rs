//! Which operators took the time of the host, and which launched the work of devices.

use marey_analysis::{OperatorRow, TraceAnswers};

use super::kernels::name_of;
use crate::document::{Cell, Table};

/// The table by name, and by name and shapes.
pub(super) fn tables(answers: &TraceAnswers) -> [Table; 2] {
    let operators = &answers.operators;
    [
        table("operators", "Operators", &operators.rows, false),
        table(
            "operators_by_shape",
            "Operators by shape",
            &operators.by_shape,
            true,
        ),
    ]
}

fn table(key: &'static str, title: &str, rows: &[OperatorRow], has_shapes: bool) -> Table {
    let second = if has_shapes {
        ("shapes", "Shapes")
    } else {
        ("kind", "Kind")
    };
    let mut table = Table::new(
        key,
        title,
        &[
            ("name", "Name"),
            second,
            ("count", "Count"),
            ("self_ns", "Self"),
            ("ratio", "Share"),
            ("total_ns", "Total"),
            ("n_launched", "Launched"),
            ("device_self_ns", "Device self"),
            ("device_total_ns", "Device total"),
        ],
    );
    for row in rows {
        table.row(vec![
            Cell::text(row.name.as_str()),
            if has_shapes {
                Cell::known(row.shapes.as_deref(), Cell::text)
            } else {
                Cell::text(name_of(&row.kind))
            },
            Cell::Count(row.count),
            Cell::Duration(row.self_ns),
            Cell::ratio(row.ratio),
            Cell::Duration(row.total_ns),
            Cell::count(row.n_launched),
            Cell::duration(row.device_self_ns),
            Cell::duration(row.device_total_ns),
        ]);
    }
    table
}
