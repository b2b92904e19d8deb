//! Which of the tables of a trace people read first, and which of their columns.

use super::shown_tables;
use crate::document::{Cell, Table};
use crate::model::TraceFile;

/// Tables that are read when another one has raised a question.
const DETAILS: [&str; 14] = [
    "attention_operators",
    "critical_path_by_place",
    "critical_path_segments",
    "kernels_by_module",
    "kernels_by_shape",
    "largest_transfers",
    "launch_calls",
    "memory_by_operator",
    "module_types",
    "operators_by_shape",
    "ranks_collectives",
    "streams",
    "synchronisation_places",
    "tensor_cores_unused",
];

/// Likewise columns of steps and phases.
const DETAILS_OF_PARTS: [&str; 6] = [
    "communication_ns",
    "compute_ns",
    "count",
    "device_start_ns",
    "memory_ns",
    "own_work_ns",
];

/// The tables that people read, without columns in which nothing is known; `details` adds what is read second. With them the
/// titles of those that are not there.
pub(crate) fn read_tables(file: &TraceFile, details: bool) -> (Vec<Table>, Vec<String>) {
    let (mut tables, others) = shown_tables(file)
        .into_iter()
        .partition::<Vec<_>, _>(|table| details || !is_detail(file, table));
    for table in &mut tables {
        let is_part = matches!(table.key, "steps" | "profiler_steps" | "phases");
        let kept: Vec<bool> = (0..table.columns.len())
            .map(|at| {
                let key = table.columns.get(at).map_or("", |column| column.key);
                let is_detail = is_part && !details && DETAILS_OF_PARTS.contains(&key);
                !is_detail && is_known(table, at)
            })
            .collect();
        table.keep_columns(&kept);
    }
    (
        tables,
        others.into_iter().map(|table| table.title).collect(),
    )
}

fn is_detail(file: &TraceFile, table: &Table) -> bool {
    // Without a device nothing else says which attention it was.
    let is_of_host = file.answers.as_ref().is_some_and(|a| a.devices.is_empty());
    let is_answer = table.key == "attention_operators" && is_of_host;
    DETAILS.contains(&table.key) && !is_answer
}

fn is_known(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.get(column));
    cells.any(|cell| *cell != Cell::Absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_which_nothing_is_known_are_not_shown() {
        let mut table = Table::new("devices", "Devices", &[("a", "A"), ("b", "B"), ("c", "C")]);
        table.row(vec![Cell::Count(1), Cell::Absent, Cell::Absent]);
        table.row(vec![Cell::Absent, Cell::Absent, Cell::Count(0)]);
        let known: Vec<bool> = (0..3).map(|at| is_known(&table, at)).collect();
        assert_eq!(known, [true, false, true]);
        table.keep_columns(&known);
        assert_eq!(table.columns.len(), 2);
        assert_eq!(table.rows[1], [Cell::Absent, Cell::Count(0)]);
    }
}
