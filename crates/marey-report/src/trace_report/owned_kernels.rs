//! Who launched the work of a device.

use marey_analysis::{DeviceAnswers, OwnedKernel};

use crate::document::{Cell, Table};

/// The tables by operator, by shape and by module, with the words for their titles.
pub(super) fn tables(device: &DeviceAnswers, title: impl Fn(&str) -> String) -> [Table; 3] {
    let owned = &device.owned_kernels;
    let mut by_operator = table(
        "kernels_by_operator",
        title("Kernels by operator"),
        &owned.by_operator,
        Some(("outermost", "Outermost operator")),
        |row| row.outermost.as_deref(),
    );
    if owned.n_without_launch > 0 {
        by_operator.notes.push(format!(
            "The trace does not have the launch of {} pieces of work: their operators are not known.",
            owned.n_without_launch
        ));
    }
    let by_shape = table(
        "kernels_by_shape",
        title("Kernels by operator and shape"),
        &owned.by_shape,
        Some(("shapes", "Shapes")),
        |row| row.shapes.as_deref(),
    );
    let by_module =
        table("kernels_by_module", title("Kernels by module"), &owned.by_module, None, |_| None);
    [by_operator, by_shape, by_module]
}

fn table<'a>(
    key: &'static str,
    title: String,
    rows: &'a [OwnedKernel],
    second: Option<(&'static str, &'static str)>,
    of_row: impl Fn(&'a OwnedKernel) -> Option<&'a str>,
) -> Table {
    let mut columns = vec![("owner", "Launched by")];
    columns.extend(second);
    columns.extend([
        ("name", "Name"),
        ("count", "Count"),
        ("total_ns", "Total"),
        ("ratio", "Share"),
        ("mean_ns", "Mean"),
        ("p50_ns", "p50"),
        ("p95_ns", "p95"),
    ]);
    let mut table = Table::new(key, title, &columns);
    for row in rows {
        let mut cells = vec![Cell::known(row.owner.as_deref(), Cell::text)];
        cells.extend(second.map(|_| Cell::known(of_row(row), Cell::text)));
        cells.extend([
            Cell::text(row.name.as_str()),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::ratio(row.ratio),
            Cell::Mean(row.mean_ns),
            Cell::Duration(row.p50_ns),
            Cell::Duration(row.p95_ns),
        ]);
        table.row(cells);
    }
    table
}
