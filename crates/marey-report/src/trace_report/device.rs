//! What one device did, as tables.

use marey_analysis::{DeviceAnswers, ModelledWork, Transfers, WorkPeaks};

use super::{communication, gaps, launches};
use crate::document::{Cell, Table, name_of, named};
use crate::quantity::{flops, number, percent};

/// All tables of a device but that of durations that cannot be true, in the order in which they are worth reading.
pub(super) fn tables(device: &DeviceAnswers) -> Vec<Table> {
    let mut tables = vec![
        gaps::causes(device),
        gaps::longest(device),
        gaps::by_host_operation(device),
        launches::table(device),
        Table::of_fields(
            "launch_calls",
            "Launch calls",
            &device.launches.calls,
            "name: Call, count: Count, host_ns: Host, n_ops: Ops",
        ),
        Table::of_fields(
            "kernel_classes",
            "Kernels by class",
            &device.kernels.classes,
            "class: Class, count: Count, n_by_operator: By operator, n_names: Names, total_ns: Total, \
             ratio: Share",
        ),
        kernels(device),
    ];
    tables.extend(device.work.iter().flat_map(work));
    tables.extend(owned_kernels(device));
    tables.extend(attention(device));
    tables.extend(tensor_cores(device));
    tables.extend(copies(device));
    tables.push(communication::table(&device.communication, "Communication"));
    tables
}

fn kernels(device: &DeviceAnswers) -> Table {
    let rows = &device.kernels.rows;
    Table::of_fields(
        "kernels",
        "Kernels by name",
        rows,
        "name: Name, kind: Class, count: Count, total_ns: Total, ratio: Share, mean_ns: Mean, p50_ns: p50, \
         p95_ns: p95, max_ns: Max",
    )
    .shows("kind", rows, |row| match &row.class {
        Some(class) => named(class),
        None => named(&row.kind),
    })
}

/// What operators had to do at least, how fast they did it, and what the device could have done.
fn work(work: &ModelledWork) -> [Table; 2] {
    let classes = Table::of_fields(
        "work_classes",
        "Work by class of operator",
        &work.classes,
        "class: Class, count: Calls, device_ns: Device, ratio: Share, flops: FLOPs, bytes: Least bytes, \
         flops_per_second: Speed, bytes_per_second: Bandwidth, flops_per_byte: FLOPs per byte, \
         peak_ratio: Of peak, roofline_ratio: Of roofline",
    );
    let rows = Table::of_fields(
        "work",
        "Work by operator and shape",
        &work.rows,
        "operator: Operator, shapes: Shapes, types: Types, class: Class, count: Calls, n_launched: Launched, \
         device_ns: Device, ratio: Share, call_flops: FLOPs per call, call_bytes: Least bytes per call, \
         flops_per_second: Speed, bytes_per_second: Bandwidth, flops_per_byte: FLOPs per byte, \
         peak_ratio: Of peak, roofline_ratio: Of roofline, bound: Bound by",
    );
    let known = percent(work.modelled_ratio.unwrap_or_default());
    let covered = format!(
        "FLOPs or bytes are known of operators that launched {known} of the device's work by time."
    );
    let counted = "FLOPs are those of products of matrices, convolutions and attention. Least bytes are inputs and outputs, each once.";
    let mut classes = classes.noted(covered).noted(counted);
    classes.notes.extend(work.peaks.as_ref().map(peaks));
    classes.notes.extend(work.utilization_ratio.map(|ratio| {
        format!(
            "The FLOPs that are known are {} of what the device could do in its span (MFU).",
            percent(ratio)
        )
    }));
    [classes, rows]
}

/// `Peak of NVIDIA L4: memory 300 GB/s, BF16 121 TFLOP/s, …`
fn peaks(peaks: &WorkPeaks) -> String {
    let formats = peaks.formats.iter().map(|peak| {
        let format = name_of(&peak.format).to_uppercase();
        format!("{format} {}", flops(peak.flops_per_second))
    });
    let speeds: Vec<String> = formats.collect();
    format!(
        "Peak of {}: memory {} GB/s, {}. The roofline is the longer of FLOPs and bytes at the peak; above 100 % data was still in a cache.",
        peaks.device,
        number(peaks.bytes_per_second / 1e9),
        speeds.join(", ")
    )
}

/// Who launched its work.
fn owned_kernels(device: &DeviceAnswers) -> [Table; 3] {
    let owned = &device.owned_kernels;
    let mut by_operator = Table::of_fields(
        "kernels_by_operator",
        "Kernels by operator",
        &owned.by_operator,
        "owner: Launched by, outermost: Outermost operator, name: Name, count: Count, total_ns: Total, \
         ratio: Share, mean_ns: Mean, p50_ns: p50, p95_ns: p95",
    );
    if owned.n_without_launch > 0 {
        by_operator.notes.push(format!(
            "The trace does not have the launch of {} pieces of work: their operators are not known.",
            owned.n_without_launch
        ));
    }
    let by_shape = Table::of_fields(
        "kernels_by_shape",
        "Kernels by operator and shape",
        &owned.by_shape,
        "owner: Launched by, shapes: Shapes, name: Name, count: Count, total_ns: Total, ratio: Share, \
         mean_ns: Mean, p50_ns: p50, p95_ns: p95",
    );
    let by_module = Table::of_fields(
        "kernels_by_module",
        "Kernels by module",
        &owned.by_module,
        "owner: Launched by, name: Name, count: Count, total_ns: Total, ratio: Share, mean_ns: Mean, \
         p50_ns: p50, p95_ns: p95",
    );
    [by_operator, by_shape, by_module]
}

/// Which attention ran, and whose it was.
fn attention(device: &DeviceAnswers) -> [Table; 2] {
    [
        Table::of_fields(
            "attention",
            "Attention",
            &device.attention,
            "path: Path, count: Count, total_ns: Total, preparing_ns: Preparing, ratio: Share of kernels, \
             kernels: Kernels",
        ),
        Table::of_fields(
            "attention_owners",
            "Attention by owner",
            &device.attention_owners,
            "owner: Owner, kind: Kind, role: Role, path: Path, count: Count, total_ns: Total, \
             preparing_ns: Preparing",
        ),
    ]
}

/// How much of the work with matrices used tensor cores.
fn tensor_cores(device: &DeviceAnswers) -> [Table; 2] {
    let found = device.tensor_cores.iter();
    let parts = found.flat_map(|found| {
        [("used", found.used), ("not used", found.unused), ("not known", found.not_known)]
    });
    let parts: Vec<_> = parts.filter(|(_, part)| part.count > 0).collect();
    let times = Table::of_fields(
        "tensor_cores",
        "Tensor cores",
        parts.iter().map(|(_, part)| part),
        "use: Tensor cores, count: Count, total_ns: Total, ratio: Share",
    );
    let unused = Table::of_fields(
        "tensor_cores_unused",
        "Largest kernels without tensor cores",
        device.tensor_cores.iter().flat_map(|found| &found.largest_unused),
        "name: Name, class: Class, count: Count, total_ns: Total",
    );
    let note =
        "Products of matrices, convolutions and attention, as far as the names of kernels tell.";
    [times.shows("use", &parts, |(words, _)| Cell::text(*words)).noted(note), unused]
}

/// What it copied. By the host's memory only where something is known of that.
fn copies(device: &DeviceAnswers) -> [Table; 3] {
    let transfers = transfers("transfers", "Transfers", &device.transfers).noted_if(
        device.transfers.len() > 1,
        "Copies of two directions at the same time are exposed in both, so that the sums may pass the exposed copies of the device.",
    );
    let by_memory = &device.transfers_by_memory;
    let is_known = by_memory.iter().any(|row| row.host_memory.is_some());
    let by_memory = if is_known { &by_memory[..] } else { &[] };
    let largest = Table::of_fields(
        "largest_transfers",
        "Largest transfers",
        &device.largest_transfers,
        "start_ns: At, direction: Direction, host_memory: Host memory, bytes: Bytes, duration_ns: Time, \
         bytes_per_second: Bandwidth, operator: Operator, annotation: Within",
    );
    let by_memory =
        self::transfers("transfers_by_memory", "Transfers by the host's memory", by_memory);
    [transfers, by_memory, largest]
}

fn transfers(key: &'static str, title: &str, rows: &[Transfers]) -> Table {
    Table::of_fields(
        key,
        title,
        rows,
        "direction: Direction, host_memory: Host memory, count: Count, total_ns: Total, bytes: Bytes, \
         mean_bytes: Mean size, bytes_per_second: Bandwidth, exposed_ns: Exposed, hidden_ns: Hidden, \
         span_ratio: Of the span",
    )
    .shows("bytes", rows, |row| Cell::bytes((row.n_without_bytes < row.count).then_some(row.bytes)))
}

/// Which of its durations cannot be true.
pub(super) fn suspicious_durations(device: &DeviceAnswers) -> Table {
    let found = &device.suspicious_durations;
    let share = percent(found.ratio.unwrap_or_default());
    let note = format!(
        "{} in all. Their durations are {share} of the sums of durations above: nothing was taken out.",
        found.n_suspicious
    );
    Table::of_fields(
        "suspicious_durations",
        "Durations that cannot be true",
        &found.first,
        "start_ns: At, duration_ns: Duration, overrun_ns: Ends after the next by, stream: Stream, \
         name: Name, next: Next on its stream",
    )
    .noted_if(found.n_suspicious > 0, &note)
}
