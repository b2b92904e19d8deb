//! Which attention ran.

use marey_analysis::{AttentionFallback, AttentionOperator, DeviceAnswers};

use super::kernels::name_of;
use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "attention",
        title,
        &[
            ("path", "Path"),
            ("count", "Count"),
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
            Cell::ratio(used.ratio),
            Cell::text(used.kernels.join(", ")),
        ]);
    }
    table
}

/// Whose it was.
pub(super) fn owners(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "attention_owners",
        title,
        &[
            ("owner", "Owner"),
            ("kind", "Kind"),
            ("role", "Role"),
            ("path", "Path"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("preparing_ns", "Preparing"),
        ],
    );
    for row in &device.attention_owners {
        table.row(vec![
            Cell::known(row.owner.clone(), Cell::Text),
            Cell::known(row.kind.map(|kind| name_of(&kind)), Cell::Text),
            Cell::known(row.role.map(|role| name_of(&role)), Cell::Text),
            Cell::text(name_of(&row.path)),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::Duration(row.preparing_ns),
        ]);
    }
    table
}

/// What ran without a fused kernel, of the whole trace.
pub(super) fn fallbacks(rows: &[AttentionFallback]) -> Table {
    let mut table = Table::new(
        "attention_fallbacks",
        "Attention without a fused kernel",
        &[
            ("owner", "Owner"),
            ("role", "Role"),
            ("operator", "Operator"),
            ("path", "Path"),
            ("is_warning", "Warning"),
            ("count", "Count"),
            ("host_ns", "On the host"),
            ("n_launched", "Launched"),
            ("device_ns", "On devices"),
            ("element_type", "Type"),
            ("head_size", "Head size"),
            ("has_mask", "Mask"),
            ("reasons", "Against fused kernels"),
        ],
    );
    let yes_or_no = |is: bool| Cell::text(if is { "yes" } else { "no" });
    for row in rows {
        let is_launched = row.n_launched > 0;
        let reasons: Vec<String> = row.reasons.iter().map(name_of).collect();
        let reasons = (!reasons.is_empty()).then(|| reasons.join(", "));
        table.row(vec![
            Cell::known(row.owner.clone(), Cell::Text),
            Cell::known(row.role.map(|role| name_of(&role)), Cell::Text),
            Cell::text(row.operator.as_str()),
            Cell::text(name_of(&row.path)),
            yes_or_no(row.is_warning),
            Cell::Count(row.count),
            Cell::Duration(row.host_ns),
            Cell::Count(row.n_launched),
            Cell::duration(is_launched.then_some(row.device_ns)),
            Cell::known(row.element_type.clone(), Cell::Text),
            Cell::count(row.head_size),
            Cell::known(row.has_mask, yes_or_no),
            Cell::known(reasons, Cell::Text),
        ]);
    }
    if rows.iter().any(|row| row.is_warning) {
        let silent = "Rows with a warning fell back in silence: a fused kernel was asked for, or other attention of the denoiser has one.";
        table.notes.push(silent.into());
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
            ("count", "Count"),
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
            Cell::duration(is_launched.then_some(row.device_ns)),
            Cell::known(row.told_by.clone(), Cell::Text),
        ]);
    }
    table
}
