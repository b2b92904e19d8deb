//! What a device ran.

use marey_analysis::DeviceAnswers;
use serde::Serialize;

use crate::document::{Cell, Table};

pub(super) fn classes(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "kernel_classes",
        title,
        &device.kernels.classes,
        &[
            ("class", "Class", &|c| named(&c.class)),
            ("count", "Count", &|c| Cell::Count(c.count)),
            ("n_by_operator", "By operator", &|c| Cell::Count(c.n_by_operator)),
            ("n_names", "Names", &|c| Cell::Count(c.n_names)),
            ("total_ns", "Total", &|c| Cell::Duration(c.total_ns)),
            ("ratio", "Share", &|c| Cell::ratio(c.ratio)),
        ],
    )
}

pub(super) fn by_name(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "kernels",
        title,
        &device.kernels.rows,
        &[
            ("name", "Name", &|r| Cell::text(&r.name)),
            ("kind", "Class", &|r| match &r.class {
                Some(class) => named(class),
                None => named(&r.kind),
            }),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
            ("mean_ns", "Mean", &|r| Cell::Mean(r.mean_ns)),
            ("p50_ns", "p50", &|r| Cell::Duration(r.p50_ns)),
            ("p95_ns", "p95", &|r| Cell::Duration(r.p95_ns)),
            ("max_ns", "Max", &|r| Cell::Duration(r.max_ns)),
        ],
    )
}

/// The name that a value has in JSON.
pub(crate) fn name_of(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    let written = written.as_ref().and_then(|value| value.as_str());
    written.unwrap_or_default().replace('_', " ")
}

/// Likewise, as a cell; absent where it is `None`.
pub(crate) fn named(value: &impl Serialize) -> Cell {
    let name = Some(name_of(value)).filter(|name| !name.is_empty());
    Cell::known(name, Cell::Text)
}
