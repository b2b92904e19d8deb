//! What the tables of a trace are called, and their columns.

use serde::Serialize;

use crate::document::Table;

/// Of each table its key and title; then, for each column, the field of its rows that it is and its title.
const TABLES: &str = "devices: Devices
    device: Device, model: Model, n_ops: Ops, span_ns: Span, busy_ns: Busy, busy_ratio: Busy %,
    compute_ns: Compute, exposed_communication_ns: Exposed comm., exposed_memory_ns: Exposed copies,
    idle_ns: Idle, unknown_ns: Unknown;
streams: Streams
    device: Device, stream: Stream, n_ops: Ops, busy_ns: Busy, span_ns: Span,
    self_overlap_ns: Overlap with itself;
idle_gaps: Longest gaps
    start_ns: At, length_ns: Length, late_ns: Until launch, cause: Cause, reason: In detail,
    synchronising_ns: Synchronising, host_at_start: Host at its start, host_during: Host during it,
    next: Then;
idle_by_host_operation: Idle time by what the host did
    name: Host, reason: In detail, n_gaps: Gaps, total_ns: Total, ratio: Share;
launch_calls: Launch calls
    name: Call, count: Count, host_ns: Host, n_ops: Ops;
kernel_classes: Kernels by class
    class: Class, count: Count, n_by_operator: By operator, n_names: Names, total_ns: Total, ratio: Share;
kernels: Kernels by name
    name: Name, kind: Class, count: Count, total_ns: Total, ratio: Share, mean_ns: Mean, p50_ns: p50,
    p95_ns: p95, max_ns: Max;
kernels_by_operator: Kernels by operator
    owner: Launched by, outermost: Outermost operator, name: Name, count: Count, n_captured: Via recording,
    total_ns: Total, ratio: Share, mean_ns: Mean, p50_ns: p50, p95_ns: p95;
kernels_by_shape: Kernels by operator and shape
    owner: Launched by, shapes: Shapes, name: Name, count: Count, n_captured: Via recording, total_ns: Total,
    ratio: Share, mean_ns: Mean, p50_ns: p50, p95_ns: p95;
kernels_by_module: Kernels by module
    owner: Launched by, name: Name, count: Count, n_captured: Via recording, total_ns: Total, ratio: Share,
    mean_ns: Mean, p50_ns: p50, p95_ns: p95;
attention: Attention
    path: Path, count: Count, total_ns: Total, preparing_ns: Preparing, ratio: Share of kernels,
    kernels: Kernels;
attention_owners: Attention by owner
    owner: Owner, kind: Kind, role: Role, path: Path, count: Count, total_ns: Total, preparing_ns: Preparing;
tensor_cores: Tensor cores
    use: Tensor cores, count: Count, total_ns: Total, ratio: Share;
tensor_cores_unused: Largest kernels without tensor cores
    name: Name, class: Class, count: Count, total_ns: Total;
transfers: Transfers
    direction: Direction, host_memory: Host memory, count: Count, total_ns: Total, bytes: Bytes,
    mean_bytes: Mean size, bytes_per_second: Bandwidth, exposed_ns: Exposed, hidden_ns: Hidden,
    span_ratio: Of the span;
transfers_by_memory: Transfers by the host's memory
    direction: Direction, host_memory: Host memory, count: Count, total_ns: Total, bytes: Bytes,
    mean_bytes: Mean size, bytes_per_second: Bandwidth, exposed_ns: Exposed, hidden_ns: Hidden,
    span_ratio: Of the span;
largest_transfers: Largest transfers
    start_ns: At, direction: Direction, host_memory: Host memory, bytes: Bytes, duration_ns: Time,
    bytes_per_second: Bandwidth, operator: Operator, annotation: Within;
suspicious_durations: Durations that cannot be true
    start_ns: At, duration_ns: Duration, overrun_ns: Ends after the next by, stream: Stream, name: Name,
    next: Next on its stream;
communication: Communication
    name: Collective, group: Group, group_size: Ranks, element_type: Type, count: Count, total_ns: Total,
    mean_ns: Mean, p95_ns: p95, bytes_in: Bytes in, bytes_out: Bytes out, algorithm_bytes_per_second: Speed,
    bus_bytes_per_second: Bus speed, overlapped_ns: Overlapped, exposed_ns: Exposed,
    launched_in: Launched in, told_by: Known from;
ranks_communication: Communication by rank
    rank: Rank, n_calls: Calls, n_matched: Matched, total_ns: Total, transfer_ns: Transfer,
    waiting_ns: Waiting, waiting_ratio: Waiting %, n_last: Last to come;
ranks_collectives: Communication over all ranks
    name: Collective, group: Group, n_ranks: Ranks, n_calls: Calls on each, transfer_ns: Transfer,
    waiting_ns: Waiting of all;
operators: Operators
    name: Name, kind: Kind, count: Count, self_ns: Self, ratio: Share, total_ns: Total, n_launched: Launched,
    device_self_ns: Device self, device_total_ns: Device total;
operators_by_shape: Operators by shape
    name: Name, shapes: Shapes, count: Count, self_ns: Self, ratio: Share, total_ns: Total,
    n_launched: Launched, device_self_ns: Device self, device_total_ns: Device total;
modules: Modules
    name: Module, n_modules: Modules, count: Count, self_ns: Self, total_ns: Total, n_launched: Launched,
    device_self_ns: Device self, device_total_ns: Device total, flops: FLOPs, flops_per_second: Speed,
    peak_ratio: Of peak, roofline_ratio: Of roofline, headroom_ns: Headroom, modelled_ratio: Work known;
module_types: Modules by type
    name: Type of module, n_modules: Modules, count: Count, self_ns: Self, total_ns: Total,
    n_launched: Launched, device_self_ns: Device self, device_total_ns: Device total, flops: FLOPs,
    flops_per_second: Speed, peak_ratio: Of peak, roofline_ratio: Of roofline, headroom_ns: Headroom,
    modelled_ratio: Work known;
synchronisation: Calls that wait for a device
    name: Call, count: Count, total_ns: Total, longest_ns: Longest, idle_ns: Device idle meanwhile;
synchronisation_places: Where they wait
    name: Call, operator: Operator, range: Range, module: Module, function: Function, count: Count,
    total_ns: Total, longest_ns: Longest, idle_ns: Device idle meanwhile;
memory: Memory of torch's allocators
    device: Device, document: Document, n_allocations: Allocations, n_releases: Releases,
    allocated_bytes: Allocated, released_bytes: Released, peak_bytes: Peak, peak_at_ns: Peak at,
    peak_in: Peak in, peak_reserved_bytes: Peak reserved;
memory_by_operator: Memory by operator
    name: Operator, n_allocations: Allocations, allocated_bytes: Allocated, ratio: Share, kept_bytes: Kept,
    released_bytes: Released net;
attention_operators: Attention by operator
    owner: Module, operator: Operator, path: Path, count: Count, host_ns: On the host, n_launched: Launched,
    device_ns: On devices, told_by: Known from;
attention_fallbacks: Attention without a fused kernel
    owner: Owner, role: Role, operator: Operator, path: Path, is_warning: Warning, count: Count,
    host_ns: On the host, n_launched: Launched, device_ns: On devices, element_type: Type,
    head_size: Head size, has_mask: Mask, reasons: Against fused kernels";

/// The table of this key, with a row for each of these things.
pub(super) fn table(key: &str, rows: impl IntoIterator<Item = impl Serialize>) -> Table {
    let mut listed = TABLES.split(';').filter_map(|one| {
        let (head, columns) = one.trim_start().split_once('\n')?;
        let (key, title) = head.split_once(": ")?;
        Some((key, title, columns))
    });
    let found = listed.find(|one| one.0 == key);
    debug_assert!(found.is_some(), "{key} is no table of a trace");
    let (key, title, columns) = found.unwrap_or_default();
    Table::of_fields(key, title, rows, columns)
}
