//! When a device had nothing to do.

use marey_analysis::{DeviceAnswers, GapCause, GapReason};

use crate::document::{Cell, Table};

/// Each cause, and below it what it is made of.
pub(super) fn causes(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "idle_causes",
        title,
        &[
            ("cause", "Cause"),
            ("reason", "In detail"),
            ("n_gaps", "Gaps"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
        ],
    );
    let gaps = &device.idle_gaps;
    for cause in &gaps.causes {
        table.row(vec![
            Cell::text(words(cause.cause)),
            Cell::text("all"),
            Cell::Count(cause.n_gaps),
            Cell::Duration(cause.total_ns),
            Cell::ratio(cause.ratio),
        ]);
        let is_finer = |reason: GapReason| reason != GapReason::NotKnown;
        let reasons = gaps.reasons.iter();
        for reason in reasons.filter(|r| r.cause == cause.cause && is_finer(r.reason)) {
            table.row(vec![
                Cell::text(words(cause.cause)),
                Cell::text(reason_words(reason.reason)),
                Cell::Count(reason.n_gaps),
                Cell::Duration(reason.total_ns),
                Cell::ratio(reason.ratio),
            ]);
        }
    }
    table
}

pub(super) fn longest(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "idle_gaps",
        title,
        &[
            ("start_ns", "At"),
            ("length_ns", "Length"),
            ("cause", "Cause"),
            ("reason", "In detail"),
            ("synchronising_ns", "Synchronising"),
            ("host_at_start", "Host at its start"),
            ("host_during", "Host during it"),
            ("next", "Then"),
        ],
    );
    for gap in &device.idle_gaps.longest {
        table.row(vec![
            Cell::Moment(gap.start_ns),
            Cell::Duration(gap.length_ns),
            Cell::text(words(gap.cause)),
            Cell::text(reason_words(gap.reason)),
            Cell::duration(gap.synchronising_ns),
            Cell::known(gap.host_at_start.clone(), Cell::Text),
            Cell::known(gap.host_during.clone(), Cell::Text),
            Cell::text(gap.next.as_str()),
        ]);
    }
    table
}

pub(super) fn by_host_operation(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "idle_by_host_operation",
        title,
        &[
            ("name", "Host"),
            ("reason", "In detail"),
            ("n_gaps", "Gaps"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
        ],
    );
    for row in &device.idle_gaps.host_operations {
        table.row(vec![
            Cell::known(row.name.clone(), Cell::Text),
            Cell::text(reason_words(row.reason)),
            Cell::Count(row.n_gaps),
            Cell::Duration(row.total_ns),
            Cell::ratio(row.ratio),
        ]);
    }
    table
}

fn words(cause: GapCause) -> &'static str {
    match cause {
        GapCause::LaunchLate => "the host was late",
        GapCause::LaunchedBefore => "launched before, waited",
        GapCause::NotKnown => "not known",
    }
}

fn reason_words(reason: GapReason) -> &'static str {
    match reason {
        GapReason::LaunchBound => "launching",
        GapReason::Synchronising => "waiting for the device",
        GapReason::Data => "data or files",
        GapReason::Python => "Python, or nothing recorded",
        GapReason::LaunchLatency => "latency of the launch",
        GapReason::OtherStream => "another stream",
        GapReason::ShortPause => "short pause",
        GapReason::Dependency => "long wait",
        GapReason::NotKnown => "not known",
    }
}
