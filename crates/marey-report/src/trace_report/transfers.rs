//! What a device copied.

use marey_analysis::DeviceAnswers;

use crate::model::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "transfers",
        title,
        &[
            ("direction", "Direction"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("bytes", "Bytes"),
            ("bytes_per_second", "Bandwidth"),
        ],
    );
    for row in &device.transfers {
        let is_known = row.n_without_bytes < row.count;
        table.row(vec![
            Cell::text(row.direction.as_str()),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::known(is_known.then_some(row.bytes), Cell::Bytes),
            Cell::known(row.bytes_per_second, Cell::BytesPerSecond),
        ]);
    }
    table
}
