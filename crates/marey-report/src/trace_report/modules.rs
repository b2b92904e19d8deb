//! Which modules took the time of host and devices.

use marey_analysis::{ModuleRow, TraceAnswers};

use crate::document::{Cell, Table};

/// The table by path, and by type.
pub(super) fn tables(answers: &TraceAnswers) -> [Table; 2] {
    let modules = &answers.modules;
    [
        table("modules", "Modules", &modules.rows, "Module"),
        table(
            "module_types",
            "Modules by type",
            &modules.types,
            "Type of module",
        ),
    ]
}

fn table(key: &'static str, title: &str, rows: &[ModuleRow], name: &'static str) -> Table {
    let mut table = Table::new(
        key,
        title,
        &[
            ("name", name),
            ("n_modules", "Modules"),
            ("count", "Count"),
            ("self_ns", "Self"),
            ("total_ns", "Total"),
            ("n_launched", "Launched"),
            ("device_self_ns", "Device self"),
            ("device_total_ns", "Device total"),
        ],
    );
    for row in rows {
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::Count(row.n_modules),
            Cell::Count(row.count),
            Cell::Duration(row.self_ns),
            Cell::Duration(row.total_ns),
            Cell::count(row.n_launched),
            Cell::duration(row.device_self_ns),
            Cell::duration(row.device_total_ns),
        ]);
    }
    table
}
