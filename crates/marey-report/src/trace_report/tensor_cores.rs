//! How much of the work with matrices used tensor cores.

use marey_analysis::DeviceAnswers;

use super::kernels::named;
use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let found = device.tensor_cores.iter();
    let parts = found.flat_map(|found| {
        [("used", found.used), ("not used", found.unused), ("not known", found.not_known)]
    });
    let parts = parts.filter(|(_, part)| part.count > 0);
    let table = Table::of_each(
        "tensor_cores",
        title,
        parts,
        &[
            ("use", "Tensor cores", &|(words, _)| Cell::text(*words)),
            ("count", "Count", &|(_, part)| Cell::Count(part.count)),
            ("total_ns", "Total", &|(_, part)| Cell::Duration(part.total_ns)),
            ("ratio", "Share", &|(_, part)| Cell::ratio(part.ratio)),
        ],
    );
    table.noted(
        "Products of matrices, convolutions and attention, as far as the names of kernels tell.",
    )
}

pub(super) fn unused(device: &DeviceAnswers, title: String) -> Table {
    let found = device.tensor_cores.iter();
    Table::of_each(
        "tensor_cores_unused",
        title,
        found.flat_map(|found| &found.largest_unused),
        &[
            ("name", "Name", &|r| Cell::text(&r.name)),
            ("class", "Class", &|r| named(&r.class)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
        ],
    )
}
