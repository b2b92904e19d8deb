//! What allocators gave out.

use marey_analysis::{TraceAnswers, TraceMemory};

use crate::document::{Cell, Table};

/// A table of all devices, and one of operators for each.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let mut tables = vec![devices(answers)];
    tables.extend(answers.memory.iter().map(operators));
    tables
}

/// What people call the device of an allocator.
fn device(memory: &TraceMemory) -> String {
    match (memory.device_type, memory.device) {
        (Some(0), _) => "Host".to_owned(),
        (Some(1), Some(device)) => format!("GPU {device}"),
        (Some(kind), Some(device)) => format!("Device {device} of type {kind}"),
        _ => "Unknown device".to_owned(),
    }
}

fn devices(answers: &TraceAnswers) -> Table {
    let mut table = Table::new(
        "memory",
        "Memory of torch's allocators",
        &[
            ("device", "Device"),
            ("document", "Document"),
            ("n_allocations", "Allocations"),
            ("n_releases", "Releases"),
            ("allocated_bytes", "Allocated"),
            ("released_bytes", "Released"),
            ("peak_bytes", "Peak"),
            ("peak_at_ns", "Peak at"),
            ("peak_in", "Peak in"),
            ("peak_reserved_bytes", "Peak reserved"),
        ],
    );
    for row in &answers.memory {
        table.row(vec![
            Cell::text(device(row)),
            Cell::Count(row.document.into()),
            Cell::Count(row.n_allocations),
            Cell::Count(row.n_releases),
            Cell::Bytes(row.allocated_bytes),
            Cell::Bytes(row.released_bytes),
            Cell::bytes(row.peak_bytes),
            Cell::known(row.peak_at_ns, Cell::Moment),
            Cell::known(row.peak_in.as_deref(), Cell::text),
            Cell::bytes(row.peak_reserved_bytes),
        ]);
    }
    table
}

fn operators(memory: &TraceMemory) -> Table {
    let mut table = Table::new(
        "memory_by_operator",
        format!("Memory by operator · {}", device(memory)),
        &[
            ("name", "Operator"),
            ("n_allocations", "Allocations"),
            ("allocated_bytes", "Allocated"),
            ("ratio", "Share"),
            ("kept_bytes", "Kept"),
            ("released_bytes", "Released net"),
        ],
    );
    for row in &memory.operators {
        let bytes = Cell::Bytes(row.net_bytes.unsigned_abs());
        let (kept, released) = if row.net_bytes < 0 {
            (Cell::Absent, bytes)
        } else {
            (bytes, Cell::Absent)
        };
        table.row(vec![
            Cell::known(row.name.as_deref(), Cell::text),
            Cell::Count(row.n_allocations),
            Cell::Bytes(row.allocated_bytes),
            Cell::ratio(row.ratio),
            kept,
            released,
        ]);
    }
    table
}
