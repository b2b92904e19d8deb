//! Which modules took the time of host and devices.

use marey_analysis::{ModuleRow, TraceAnswers};

use crate::document::{Cell, Table};

/// The table by path, and by type.
pub(super) fn tables(answers: &TraceAnswers) -> [Table; 2] {
    let modules = &answers.modules;
    [
        table("modules", "Modules", &modules.rows, "Module"),
        table("module_types", "Modules by type", &modules.types, "Type of module"),
    ]
}

fn table(key: &'static str, title: &str, rows: &[ModuleRow], name: &'static str) -> Table {
    Table::of_each(
        key,
        title,
        rows,
        &[
            ("name", name, &|r| Cell::text(&r.name)),
            ("n_modules", "Modules", &|r| Cell::Count(r.n_modules)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("self_ns", "Self", &|r| Cell::Duration(r.self_ns)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("n_launched", "Launched", &|r| Cell::count(r.n_launched)),
            ("device_self_ns", "Device self", &|r| Cell::duration(r.device_self_ns)),
            ("device_total_ns", "Device total", &|r| Cell::duration(r.device_total_ns)),
        ],
    )
}
