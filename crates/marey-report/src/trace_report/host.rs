//! What the host did, as tables.

use marey_analysis::{AttentionFallback, AttentionOperator, TraceAnswers, TraceMemory};

use crate::document::{Cell, Table};

/// Operators, modules, calls that wait and memory, in the order in which they are worth reading.
pub(super) fn tables(answers: &TraceAnswers) -> Vec<Table> {
    let mut tables = vec![
        Table::of_fields(
            "operators",
            "Operators",
            &answers.operators.rows,
            "name: Name, kind: Kind, count: Count, self_ns: Self, ratio: Share, total_ns: Total, \
             n_launched: Launched, device_self_ns: Device self, device_total_ns: Device total",
        ),
        Table::of_fields(
            "operators_by_shape",
            "Operators by shape",
            &answers.operators.by_shape,
            "name: Name, shapes: Shapes, count: Count, self_ns: Self, ratio: Share, total_ns: Total, \
             n_launched: Launched, device_self_ns: Device self, device_total_ns: Device total",
        ),
        Table::of_fields(
            "modules",
            "Modules",
            &answers.modules.rows,
            "name: Module, n_modules: Modules, count: Count, self_ns: Self, total_ns: Total, \
             n_launched: Launched, device_self_ns: Device self, device_total_ns: Device total",
        ),
        Table::of_fields(
            "module_types",
            "Modules by type",
            &answers.modules.types,
            "name: Type of module, n_modules: Modules, count: Count, self_ns: Self, total_ns: Total, \
             n_launched: Launched, device_self_ns: Device self, device_total_ns: Device total",
        ),
        Table::of_fields(
            "synchronisation",
            "Calls that wait for a device",
            &answers.synchronisation.calls,
            "name: Call, count: Count, total_ns: Total, longest_ns: Longest, \
             idle_ns: Device idle meanwhile",
        ),
        Table::of_fields(
            "synchronisation_places",
            "Where they wait",
            &answers.synchronisation.places,
            "name: Call, operator: Operator, range: Range, module: Module, function: Function, \
             count: Count, total_ns: Total, longest_ns: Longest, idle_ns: Device idle meanwhile",
        ),
        Table::of_fields(
            "memory",
            "Memory of torch's allocators",
            &answers.memory,
            "device: Device, document: Document, n_allocations: Allocations, n_releases: Releases, \
             allocated_bytes: Allocated, released_bytes: Released, peak_bytes: Peak, \
             peak_at_ns: Peak at, peak_in: Peak in, peak_reserved_bytes: Peak reserved",
        )
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
    Table::of_fields(
        "memory_by_operator",
        format!("Memory by operator · {}", allocator(memory)),
        rows,
        "name: Operator, n_allocations: Allocations, allocated_bytes: Allocated, ratio: Share, \
         kept_bytes: Kept, released_bytes: Released net",
    )
    .shows("kept_bytes", rows, |row| net(row.net_bytes >= 0, row.net_bytes))
    .shows("released_bytes", rows, |row| net(row.net_bytes < 0, row.net_bytes))
}

/// Which attention operators called.
pub(super) fn attention(rows: &[AttentionOperator]) -> Table {
    Table::of_fields(
        "attention_operators",
        "Attention by operator",
        rows,
        "owner: Module, operator: Operator, path: Path, count: Count, host_ns: On the host, \
         n_launched: Launched, device_ns: On devices, told_by: Known from",
    )
    .shows("device_ns", rows, |row| on_devices(row.n_launched, row.device_ns))
}

/// What of it ran without a fused kernel.
pub(super) fn attention_fallbacks(rows: &[AttentionFallback]) -> Table {
    let table = Table::of_fields(
        "attention_fallbacks",
        "Attention without a fused kernel",
        rows,
        "owner: Owner, role: Role, operator: Operator, path: Path, is_warning: Warning, count: Count, \
         host_ns: On the host, n_launched: Launched, device_ns: On devices, element_type: Type, \
         head_size: Head size, has_mask: Mask, reasons: Against fused kernels",
    );
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
