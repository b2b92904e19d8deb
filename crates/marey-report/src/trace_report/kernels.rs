//! What a device ran.

use marey_analysis::{DeviceAnswers, KernelClass, WorkKind};
use serde::Serialize;

use crate::document::{Cell, Table};

pub(super) fn classes(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "kernel_classes",
        title,
        &[
            ("class", "Class"),
            ("count", "Count"),
            ("n_by_operator", "By operator"),
            ("n_names", "Names"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
        ],
    );
    for class in &device.kernels.classes {
        table.row(vec![
            Cell::text(class_words(class.class)),
            Cell::Count(class.count),
            Cell::Count(class.n_by_operator),
            Cell::Count(class.n_names),
            Cell::Duration(class.total_ns),
            Cell::ratio(class.ratio),
        ]);
    }
    table
}

pub(super) fn by_name(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "kernels",
        title,
        &[
            ("name", "Name"),
            ("kind", "Class"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
            ("mean_ns", "Mean"),
            ("p50_ns", "p50"),
            ("p95_ns", "p95"),
            ("max_ns", "Max"),
        ],
    );
    for row in &device.kernels.rows {
        let kind = match row.class {
            Some(class) => class_words(class),
            None => kind_words(row.kind),
        };
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::text(kind),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::ratio(row.ratio),
            Cell::Mean(row.mean_ns),
            Cell::Duration(row.p50_ns),
            Cell::Duration(row.p95_ns),
            Cell::Duration(row.max_ns),
        ]);
    }
    table
}

/// The name that a value has in JSON.
pub(crate) fn name_of(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    let written = written.as_ref().and_then(|value| value.as_str());
    written.unwrap_or_default().replace('_', " ")
}

fn class_words(class: KernelClass) -> String {
    name_of(&class)
}

fn kind_words(kind: WorkKind) -> String {
    name_of(&kind)
}
