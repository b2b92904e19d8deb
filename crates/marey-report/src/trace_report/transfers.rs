//! What a device copied.

use marey_analysis::{DeviceAnswers, TransferMemory, Transfers};

use super::kernels::name_of;
use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let mut table = of_rows("transfers", title, &device.transfers);
    if device.transfers.len() > 1 {
        let both = "Copies of two directions at the same time are exposed in both, so that the sums may pass the exposed copies of the device.";
        table.notes.push(both.into());
    }
    table
}

/// Only where something is known of the host's memory.
pub(super) fn by_memory(device: &DeviceAnswers, title: String) -> Table {
    let rows = &device.transfers_by_memory;
    let is_known = rows.iter().any(|row| row.host_memory.is_some());
    let shown = if is_known { &rows[..] } else { &[] };
    of_rows("transfers_by_memory", title, shown)
}

fn of_rows(key: &'static str, title: String, rows: &[Transfers]) -> Table {
    let mut table = Table::new(
        key,
        title,
        &[
            ("direction", "Direction"),
            ("host_memory", "Host memory"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("bytes", "Bytes"),
            ("mean_bytes", "Mean size"),
            ("bytes_per_second", "Bandwidth"),
            ("exposed_ns", "Exposed"),
            ("hidden_ns", "Hidden"),
            ("span_ratio", "Of the span"),
        ],
    );
    for row in rows {
        let is_known = row.n_without_bytes < row.count;
        table.row(vec![
            Cell::text(row.direction.as_str()),
            memory(row.host_memory),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::bytes(is_known.then_some(row.bytes)),
            Cell::bytes(row.mean_bytes.map(whole_bytes)),
            Cell::known(row.bytes_per_second, Cell::BytesPerSecond),
            Cell::Duration(row.exposed_ns),
            Cell::Duration(row.hidden_ns),
            Cell::ratio(row.span_ratio),
        ]);
    }
    table
}

pub(super) fn largest(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "largest_transfers",
        title,
        &[
            ("start_ns", "At"),
            ("direction", "Direction"),
            ("host_memory", "Host memory"),
            ("bytes", "Bytes"),
            ("duration_ns", "Time"),
            ("bytes_per_second", "Bandwidth"),
            ("operator", "Operator"),
            ("annotation", "Within"),
        ],
    );
    for row in &device.largest_transfers {
        table.row(vec![
            Cell::Moment(row.start_ns),
            Cell::text(row.direction.as_str()),
            memory(row.host_memory),
            Cell::bytes(row.bytes),
            Cell::Duration(row.duration_ns),
            Cell::known(row.bytes_per_second, Cell::BytesPerSecond),
            Cell::known(row.operator.clone(), Cell::Text),
            Cell::known(row.annotation.clone(), Cell::Text),
        ]);
    }
    table
}

fn memory(memory: Option<TransferMemory>) -> Cell {
    Cell::known(memory.map(|memory| name_of(&memory)), Cell::Text)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of sizes is a size; too large ones become the largest"
)]
fn whole_bytes(mean: f64) -> u64 {
    mean.round() as u64
}
