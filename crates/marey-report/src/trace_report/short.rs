//! Which of the tables of a trace people read first, and which columns of steps and phases.

use super::shown_tables;
use crate::document::Table;
use crate::model::TraceFile;

/// Tables that are read when another one has raised a question.
const DETAILS: [&str; 12] = [
    "attention_operators",
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
const DETAILS_OF_PARTS: [&str; 6] =
    ["communication_ns", "compute_ns", "count", "device_start_ns", "memory_ns", "own_work_ns"];

/// The tables that people read; `details` adds what is read second. With them the titles of those that are not there.
pub(crate) fn read_tables(file: &TraceFile, details: bool) -> (Vec<Table>, Vec<String>) {
    let (mut tables, others) = shown_tables(file)
        .into_iter()
        .partition::<Vec<_>, _>(|table| details || !is_detail(file, table));
    let is_part = |table: &&mut Table| matches!(table.key, "steps" | "profiler_steps" | "phases");
    for table in tables.iter_mut().filter(is_part).filter(|_| !details) {
        let keys = table.columns.iter().map(|column| column.key);
        let kept: Vec<bool> = keys.map(|key| !DETAILS_OF_PARTS.contains(&key)).collect();
        table.keep_columns(&kept);
    }
    (tables, others.into_iter().map(|table| table.title).collect())
}

fn is_detail(file: &TraceFile, table: &Table) -> bool {
    // Without a device nothing else says which attention it was.
    let is_of_host = file.answers.as_ref().is_some_and(|a| a.devices.is_empty());
    let is_answer = table.key == "attention_operators" && is_of_host;
    DETAILS.contains(&table.key) && !is_answer
}
