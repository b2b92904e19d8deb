//! Which attention ran.

use marey_analysis::{AttentionOperator, DeviceAnswers};

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

/// What operators called, of the whole trace.
pub(super) fn operators(rows: &[AttentionOperator]) -> Table {
    let mut table = Table::new(
        "attention_operators",
        "Attention by operator",
        &[
            ("owner", "Module"),
            ("operator", "Operator"),
            ("path", "Path"),
            ("count", "Calls"),
            ("host_ns", "On the host"),
            ("n_launched", "Launched"),
            ("device_ns", "On devices"),
            ("told_by", "Told by"),
        ],
    );
    for row in rows {
        let is_launched = row.n_launched > 0;
        table.row(vec![
            Cell::known(row.owner.clone(), Cell::Text),
            Cell::text(row.operator.as_str()),
            Cell::known(row.path.map(|path| name_of(&path)), Cell::Text),
            Cell::Count(row.count),
            Cell::Duration(row.host_ns),
            Cell::Count(row.n_launched),
            Cell::known(is_launched.then_some(row.device_ns), Cell::Duration),
            Cell::known(row.told_by.clone(), Cell::Text),
        ]);
    }
    table
}
