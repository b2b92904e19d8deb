//! What one device did, as tables.

use marey_analysis::{DeviceAnswers, Transfers};

use super::columns::table;
use super::communication::communication;
use super::{gaps, launches};
use crate::document::{Cell, Table, named};
use crate::quantity::percent;

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

/// Who launched its work.
fn owned_kernels(device: &DeviceAnswers) -> [Table; 3] {
    let owned = &device.owned_kernels;
    let note = format!(
        "The trace does not have the launch of {} pieces of work: their operators are not known.",
        owned.n_without_launch
    );
    [
        table("kernels_by_operator", &owned.by_operator)
            .noted_if(owned.n_without_launch > 0, &note),
        table("kernels_by_shape", &owned.by_shape),
        table("kernels_by_module", &owned.by_module),
    ]
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
