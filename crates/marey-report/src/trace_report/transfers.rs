//! What a device copied.

use marey_analysis::quantity::whole;
use marey_analysis::{DeviceAnswers, Transfers};

use super::kernels::named;
use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let table = of_rows("transfers", title, &device.transfers);
    table.noted_if(
        device.transfers.len() > 1,
        "Copies of two directions at the same time are exposed in both, so that the sums may pass the exposed copies of the device.",
    )
}

/// Only where something is known of the host's memory.
pub(super) fn by_memory(device: &DeviceAnswers, title: String) -> Table {
    let rows = &device.transfers_by_memory;
    let is_known = rows.iter().any(|row| row.host_memory.is_some());
    let shown = if is_known { &rows[..] } else { &[] };
    of_rows("transfers_by_memory", title, shown)
}

fn of_rows(key: &'static str, title: String, rows: &[Transfers]) -> Table {
    Table::of_each(
        key,
        title,
        rows,
        &[
            ("direction", "Direction", &|r| Cell::text(&r.direction)),
            ("host_memory", "Host memory", &|r| named(&r.host_memory)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("bytes", "Bytes", &|r| Cell::bytes((r.n_without_bytes < r.count).then_some(r.bytes))),
            ("mean_bytes", "Mean size", &|r| {
                Cell::bytes(r.mean_bytes.map(|mean| whole(mean.round())))
            }),
            ("bytes_per_second", "Bandwidth", &|r| {
                Cell::known(r.bytes_per_second, Cell::BytesPerSecond)
            }),
            ("exposed_ns", "Exposed", &|r| Cell::Duration(r.exposed_ns)),
            ("hidden_ns", "Hidden", &|r| Cell::Duration(r.hidden_ns)),
            ("span_ratio", "Of the span", &|r| Cell::ratio(r.span_ratio)),
        ],
    )
}

pub(super) fn largest(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "largest_transfers",
        title,
        &device.largest_transfers,
        &[
            ("start_ns", "At", &|r| Cell::Moment(r.start_ns)),
            ("direction", "Direction", &|r| Cell::text(&r.direction)),
            ("host_memory", "Host memory", &|r| named(&r.host_memory)),
            ("bytes", "Bytes", &|r| Cell::bytes(r.bytes)),
            ("duration_ns", "Time", &|r| Cell::Duration(r.duration_ns)),
            ("bytes_per_second", "Bandwidth", &|r| {
                Cell::known(r.bytes_per_second, Cell::BytesPerSecond)
            }),
            ("operator", "Operator", &|r| Cell::text_of(&r.operator)),
            ("annotation", "Within", &|r| Cell::text_of(&r.annotation)),
        ],
    )
}
