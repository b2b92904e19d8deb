//! What one device did, as tables.

use marey_analysis::{DeviceAnswers, ModelledWork, OwnedKernels, Transfers, WorkPeaks};

use super::columns::table;
use super::communication::communication;
use super::{gaps, launches};
use crate::document::{Cell, Table, name_of, named};
use crate::quantity::{bytes_of, counted, flops, percent};

/// All tables of a device but that of durations that cannot be true, in the order in which they are worth reading.
pub(super) fn tables(device: &DeviceAnswers) -> Vec<Table> {
    let mut tables = vec![
        gaps::causes(device),
        gaps::longest(device),
        gaps::by_host_operation(device),
        launches::table(device),
        table("launch_calls", &device.launches.calls),
        table("kernel_classes", &device.kernels.classes),
        kernels(device),
    ];
    let replays = replays(&device.owned_kernels);
    tables.extend(device.work.iter().flat_map(|found| work(found, replays.as_deref())));
    tables.extend(owned_kernels(device));
    tables.push(table("attention", &device.attention));
    tables.push(table("attention_owners", &device.attention_owners));
    tables.extend(tensor_cores(device));
    tables.extend(copies(device));
    tables.push(communication(&device.communication, "Communication"));
    tables
}

fn kernels(device: &DeviceAnswers) -> Table {
    let rows = &device.kernels.rows;
    table("kernels", rows).shows("kind", rows, |row| match &row.class {
        Some(class) => named(class),
        None => named(&row.kind),
    })
}

/// What operators had to do at least, how fast they did it, and what the device could have done.
fn work(work: &ModelledWork, replays: Option<&str>) -> [Table; 3] {
    let classes = Table::of_fields(
        "work_classes",
        "Work by class of operator",
        &work.classes,
        "class: Class, count: Calls, device_ns: Device, ratio: Share, flops: FLOPs, bytes: Least bytes, \
         flops_per_second: Speed, bytes_per_second: Bandwidth, flops_per_byte: FLOPs per byte, \
         peak_ratio: Of peak, roofline_ratio: Of roofline, headroom_ns: Headroom",
    );
    let rows = Table::of_fields(
        "work",
        "Work by operator and shape",
        &work.rows,
        "operator: Operator, shapes: Shapes, types: Types, class: Class, count: Calls, n_launched: Launched, \
         device_ns: Device, ratio: Share, call_flops: FLOPs per call, call_bytes: Least bytes per call, \
         flops_per_second: Speed, bytes_per_second: Bandwidth, flops_per_byte: FLOPs per byte, \
         peak_ratio: Of peak, roofline_ratio: Of roofline, headroom_ns: Headroom, bound: Bound by",
    );
    let formats = Table::of_fields(
        "work_formats",
        "FLOPs by format of numbers",
        &work.formats,
        "format: Format, count: Calls, device_ns: Device, ratio: Share, flops: FLOPs, flops_per_second: Speed, \
         peak_ratio: Of peak",
    );
    let formats = formats
        .shows("format", &work.formats, |row| Cell::text(name_of(&row.format).to_uppercase()));
    let known = percent(work.modelled_ratio.unwrap_or_default());
    let covered = format!(
        "FLOPs or bytes are known of operators that launched {known} of the device's work by time."
    );
    let counted = "FLOPs are those of products of matrices, convolutions and attention. Least bytes are inputs and outputs, each once.";
    let mut classes = classes.noted(covered).noted(counted);
    classes.notes.extend(replays.map(str::to_owned));
    classes.notes.extend(work.peaks.as_ref().map(peaks));
    classes.notes.extend(work.utilization_ratio.map(|ratio| {
        format!(
            "The FLOPs that are known are {} of what the device could do in its span (MFU).",
            percent(ratio)
        )
    }));
    [classes, formats, rows]
}

/// `Peak of NVIDIA L4: memory 279.4 GiB/s, BF16 121 TFLOP/s, …`
fn peaks(peaks: &WorkPeaks) -> String {
    let formats = peaks.formats.iter().map(|peak| {
        let format = name_of(&peak.format).to_uppercase();
        format!("{format} {}", flops(peak.flops_per_second))
    });
    let speeds: Vec<String> = formats.collect();
    format!(
        "Peak of {}: memory {}/s, {}. The roofline is the longer of FLOPs and bytes at the peak; above 100 % data was still in a cache. \
         Headroom is device time less if each call reached 70 % of that, kernels below 5 µs as they are and all else unchanged.",
        peaks.device,
        bytes_of(peaks.bytes_per_second),
        speeds.join(", ")
    )
}

/// Who launched its work.
fn owned_kernels(device: &DeviceAnswers) -> [Table; 3] {
    let owned = &device.owned_kernels;
    let note = format!(
        "The trace does not have the launch of {} pieces of work: their operators are not known.",
        owned.n_without_launch
    );
    let mut tables = [
        table("kernels_by_operator", &owned.by_operator)
            .noted_if(owned.n_without_launch > 0, &note),
        table("kernels_by_shape", &owned.by_shape),
        table("kernels_by_module", &owned.by_module),
    ];
    if owned.n_captured == 0 {
        for table in &mut tables {
            let keys = table.columns.iter().map(|column| column.key);
            let kept: Vec<bool> = keys.map(|key| key != "n_captured").collect();
            table.keep_columns(&kept);
        }
    }
    tables[0].notes.extend(replays(owned));
    tables
}

/// How many kernels of graphs have an owner; `None` without graphs.
fn replays(owned: &OwnedKernels) -> Option<String> {
    let OwnedKernels { n_replayed, n_captured, .. } = owned;
    let missing = if n_captured < n_replayed {
        "; --graph-capture names a trace in which the others were recorded"
    } else {
        ""
    };
    let said = format!(
        "Of {} of replayed graphs {n_captured} are matched to their recording{missing}.",
        counted(*n_replayed, "kernel", "kernels")
    );
    (*n_replayed > 0).then_some(said)
}

/// How much of the work with matrices used tensor cores.
fn tensor_cores(device: &DeviceAnswers) -> [Table; 2] {
    let found = || device.tensor_cores.iter();
    let parts = found().flat_map(|found| {
        [("used", found.used), ("not used", found.unused), ("not known", found.not_known)]
    });
    let parts: Vec<_> = parts.filter(|(_, part)| part.count > 0).collect();
    let times = table("tensor_cores", parts.iter().map(|(_, part)| part));
    let note =
        "Products of matrices, convolutions and attention, as far as the names of kernels tell.";
    [
        times.shows("use", &parts, |(words, _)| Cell::text(*words)).noted(note),
        table("tensor_cores_unused", found().flat_map(|found| &found.largest_unused)),
    ]
}

/// What it copied. By the host's memory only where something is known of that.
fn copies(device: &DeviceAnswers) -> [Table; 3] {
    let transfers = transfers("transfers", &device.transfers).noted_if(
        device.transfers.len() > 1,
        "Copies of two directions at the same time are exposed in both, so that the sums may pass the exposed copies of the device.",
    );
    let by_memory = &device.transfers_by_memory;
    let is_known = by_memory.iter().any(|row| row.host_memory.is_some());
    let by_memory = if is_known { &by_memory[..] } else { &[] };
    let by_memory = self::transfers("transfers_by_memory", by_memory);
    [transfers, by_memory, table("largest_transfers", &device.largest_transfers)]
}

fn transfers(key: &str, rows: &[Transfers]) -> Table {
    table(key, rows).shows("bytes", rows, |row| {
        Cell::bytes((row.n_without_bytes < row.count).then_some(row.bytes))
    })
}

/// Which of its durations cannot be true.
pub(super) fn suspicious_durations(device: &DeviceAnswers) -> Table {
    let found = &device.suspicious_durations;
    let share = percent(found.ratio.unwrap_or_default());
    let note = format!(
        "{} in all. Their durations are {share} of the sums of durations above: nothing was taken out.",
        found.n_suspicious
    );
    table("suspicious_durations", &found.first).noted_if(found.n_suspicious > 0, &note)
}
