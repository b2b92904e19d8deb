//! How much of the work with matrices used tensor cores.

use marey_analysis::DeviceAnswers;

use super::kernels::name_of;
use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "tensor_cores",
        title,
        &[
            ("use", "Tensor cores"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
        ],
    );
    let Some(found) = &device.tensor_cores else {
        return table;
    };
    let parts = [
        ("used", found.used),
        ("not used", found.unused),
        ("not known", found.not_known),
    ];
    for (words, part) in parts.into_iter().filter(|(_, part)| part.count > 0) {
        table.row(vec![
            Cell::text(words),
            Cell::Count(part.count),
            Cell::Duration(part.total_ns),
            Cell::ratio(part.ratio),
        ]);
    }
    let names =
        "Products of matrices, convolutions and attention, as far as the names of kernels tell.";
    table.notes.push(names.into());
    table
}

pub(super) fn unused(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "tensor_cores_unused",
        title,
        &[
            ("name", "Name"),
            ("class", "Class"),
            ("count", "Count"),
            ("total_ns", "Total"),
        ],
    );
    let found = device.tensor_cores.iter();
    for row in found.flat_map(|found| &found.largest_unused) {
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::text(name_of(&row.class)),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
        ]);
    }
    table
}
