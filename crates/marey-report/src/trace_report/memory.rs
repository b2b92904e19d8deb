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
    Table::of_each(
        "memory",
        "Memory of torch's allocators",
        &answers.memory,
        &[
            ("device", "Device", &|r| Cell::text(device(r))),
            ("document", "Document", &|r| Cell::Count(r.document.into())),
            ("n_allocations", "Allocations", &|r| Cell::Count(r.n_allocations)),
            ("n_releases", "Releases", &|r| Cell::Count(r.n_releases)),
            ("allocated_bytes", "Allocated", &|r| Cell::Bytes(r.allocated_bytes)),
            ("released_bytes", "Released", &|r| Cell::Bytes(r.released_bytes)),
            ("peak_bytes", "Peak", &|r| Cell::bytes(r.peak_bytes)),
            ("peak_at_ns", "Peak at", &|r| Cell::moment(r.peak_at_ns)),
            ("peak_in", "Peak in", &|r| Cell::text_of(&r.peak_in)),
            ("peak_reserved_bytes", "Peak reserved", &|r| Cell::bytes(r.peak_reserved_bytes)),
        ],
    )
}

fn operators(memory: &TraceMemory) -> Table {
    let title = format!("Memory by operator · {}", device(memory));
    let net = |is_shown: bool, bytes: i64| Cell::bytes(is_shown.then_some(bytes.unsigned_abs()));
    Table::of_each(
        "memory_by_operator",
        title,
        &memory.operators,
        &[
            ("name", "Operator", &|r| Cell::text_of(&r.name)),
            ("n_allocations", "Allocations", &|r| Cell::Count(r.n_allocations)),
            ("allocated_bytes", "Allocated", &|r| Cell::Bytes(r.allocated_bytes)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
            ("kept_bytes", "Kept", &|r| net(r.net_bytes >= 0, r.net_bytes)),
            ("released_bytes", "Released net", &|r| net(r.net_bytes < 0, r.net_bytes)),
        ],
    )
}
