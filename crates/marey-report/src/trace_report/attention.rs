//! Which attention ran.

use marey_analysis::DeviceAnswers;

use super::kernels::name_of;
use crate::model::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "attention",
        title,
        &[
            ("path", "Path"),
            ("count", "Calls"),
            ("total_ns", "Total"),
            ("preparing_ns", "Preparing"),
            ("ratio", "Share of kernels"),
            ("kernels", "Kernels"),
        ],
    );
    for used in &device.attention {
        table.row(vec![
            Cell::text(name_of(&used.path)),
            Cell::Count(used.count),
            Cell::Duration(used.total_ns),
            Cell::Duration(used.preparing_ns),
            Cell::known(used.ratio, Cell::Ratio),
            Cell::text(used.kernels.join(", ")),
        ]);
    }
    table
}
