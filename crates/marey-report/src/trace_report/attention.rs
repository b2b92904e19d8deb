//! Which attention ran.

use marey_analysis::{AttentionFallback, AttentionOperator, DeviceAnswers};

use super::kernels::{name_of, named};
use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "attention",
        title,
        &device.attention,
        &[
            ("path", "Path", &|u| named(&u.path)),
            ("count", "Count", &|u| Cell::Count(u.count)),
            ("total_ns", "Total", &|u| Cell::Duration(u.total_ns)),
            ("preparing_ns", "Preparing", &|u| Cell::Duration(u.preparing_ns)),
            ("ratio", "Share of kernels", &|u| Cell::ratio(u.ratio)),
            ("kernels", "Kernels", &|u| Cell::text(u.kernels.join(", "))),
        ],
    )
}

/// Whose it was.
pub(super) fn owners(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "attention_owners",
        title,
        &device.attention_owners,
        &[
            ("owner", "Owner", &|r| Cell::text_of(&r.owner)),
            ("kind", "Kind", &|r| named(&r.kind)),
            ("role", "Role", &|r| named(&r.role)),
            ("path", "Path", &|r| named(&r.path)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("preparing_ns", "Preparing", &|r| Cell::Duration(r.preparing_ns)),
        ],
    )
}

/// What ran without a fused kernel, of the whole trace.
pub(super) fn fallbacks(rows: &[AttentionFallback]) -> Table {
    let yes_or_no = |is: bool| Cell::text(if is { "yes" } else { "no" });
    let reasons = |row: &AttentionFallback| {
        let reasons: Vec<String> = row.reasons.iter().map(name_of).collect();
        Cell::known((!reasons.is_empty()).then(|| reasons.join(", ")), Cell::Text)
    };
    let table = Table::of_each(
        "attention_fallbacks",
        "Attention without a fused kernel",
        rows,
        &[
            ("owner", "Owner", &|r| Cell::text_of(&r.owner)),
            ("role", "Role", &|r| named(&r.role)),
            ("operator", "Operator", &|r| Cell::text(&r.operator)),
            ("path", "Path", &|r| named(&r.path)),
            ("is_warning", "Warning", &|r| yes_or_no(r.is_warning)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("host_ns", "On the host", &|r| Cell::Duration(r.host_ns)),
            ("n_launched", "Launched", &|r| Cell::Count(r.n_launched)),
            ("device_ns", "On devices", &|r| {
                Cell::duration((r.n_launched > 0).then_some(r.device_ns))
            }),
            ("element_type", "Type", &|r| Cell::text_of(&r.element_type)),
            ("head_size", "Head size", &|r| Cell::count(r.head_size)),
            ("has_mask", "Mask", &|r| Cell::known(r.has_mask, yes_or_no)),
            ("reasons", "Against fused kernels", &|r| reasons(r)),
        ],
    );
    table.noted_if(
        rows.iter().any(|row| row.is_warning),
        "Rows with a warning fell back in silence: a fused kernel was asked for, or other attention of the denoiser has one.",
    )
}

/// What operators called, of the whole trace.
pub(super) fn operators(rows: &[AttentionOperator]) -> Table {
    Table::of_each(
        "attention_operators",
        "Attention by operator",
        rows,
        &[
            ("owner", "Module", &|r| Cell::text_of(&r.owner)),
            ("operator", "Operator", &|r| Cell::text(&r.operator)),
            ("path", "Path", &|r| named(&r.path)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("host_ns", "On the host", &|r| Cell::Duration(r.host_ns)),
            ("n_launched", "Launched", &|r| Cell::Count(r.n_launched)),
            ("device_ns", "On devices", &|r| {
                Cell::duration((r.n_launched > 0).then_some(r.device_ns))
            }),
            ("told_by", "Told by", &|r| Cell::text_of(&r.told_by)),
        ],
    )
}
