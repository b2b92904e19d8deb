//! What the host did, as tables.

use marey_analysis::{AttentionFallback, AttentionOperator, TraceAnswers, TraceMemory};

use super::columns::table;
use crate::document::{Cell, Table};

/// Operators, modules, calls that wait and memory, in the order in which they are worth reading.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let mut tables = vec![
        table("operators", &answers.operators.rows),
        table("operators_by_shape", &answers.operators.by_shape),
        table("modules", &answers.modules.rows),
        table("module_types", &answers.modules.types),
        table("synchronisation", &answers.synchronisation.calls),
        table("synchronisation_places", &answers.synchronisation.places),
        table("memory", &answers.memory)
            .shows("device", &answers.memory, |row| Cell::text(allocator(row))),
    ];
    tables.extend(answers.memory.iter().map(memory_by_operator));
    tables
}

/// What people call the device of an allocator.
fn allocator(memory: &TraceMemory) -> String {
    match (memory.device_type, memory.device) {
        (Some(0), _) => "Host".to_owned(),
        (Some(1), Some(device)) => format!("GPU {device}"),
        (Some(kind), Some(device)) => format!("Device {device} of type {kind}"),
        _ => "Unknown device".to_owned(),
    }
}

fn memory_by_operator(memory: &TraceMemory) -> Table {
    let rows = &memory.operators;
    let net = |is_shown: bool, bytes: i64| Cell::bytes(is_shown.then_some(bytes.unsigned_abs()));
    let table = table("memory_by_operator", rows);
    let title = format!("{} · {}", table.title, allocator(memory));
    Table { title, ..table }
        .shows("kept_bytes", rows, |row| net(row.net_bytes >= 0, row.net_bytes))
        .shows("released_bytes", rows, |row| net(row.net_bytes < 0, row.net_bytes))
}

/// Which attention operators called.
pub(super) fn attention(rows: &[AttentionOperator]) -> Table {
    table("attention_operators", rows)
        .shows("device_ns", rows, |row| on_devices(row.n_launched, row.device_ns))
}

/// What of it ran without a fused kernel.
pub(super) fn attention_fallbacks(rows: &[AttentionFallback]) -> Table {
    let table = table("attention_fallbacks", rows);
    let table = table.shows("device_ns", rows, |row| on_devices(row.n_launched, row.device_ns));
    table.noted_if(
        rows.iter().any(|row| row.is_warning),
        "Rows with a warning fell back in silence: a fused kernel was asked for, or other attention of the denoiser has one.",
    )
}

/// Absent where nothing was launched.
fn on_devices(n_launched: u64, device_ns: u64) -> Cell {
    Cell::duration((n_launched > 0).then_some(device_ns))
}
