//! When a device had nothing to do.

use marey_analysis::{DeviceAnswers, GapCause, GapReason};

use crate::document::{Cell, Table};

/// Each cause, and below it what it is made of.
pub(super) fn causes(device: &DeviceAnswers) -> Table {
    let mut table = Table::new(
        "idle_causes",
        "Idle time by cause",
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
        let finer = gaps.reasons.iter().filter(|r| r.cause == cause.cause);
        for reason in finer.filter(|r| r.reason != GapReason::NotKnown) {
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

pub(super) fn longest(device: &DeviceAnswers) -> Table {
    let gaps = &device.idle_gaps.longest;
    Table::of_fields(
        "idle_gaps",
        "Longest gaps",
        gaps,
        "start_ns: At, length_ns: Length, late_ns: Until launch, cause: Cause, reason: In detail, \
         synchronising_ns: Synchronising, host_at_start: Host at its start, \
         host_during: Host during it, next: Then",
    )
    .shows("cause", gaps, |gap| Cell::text(words(gap.cause)))
    .shows("reason", gaps, |gap| Cell::text(reason_words(gap.reason)))
}

pub(super) fn by_host_operation(device: &DeviceAnswers) -> Table {
    let rows = &device.idle_gaps.host_operations;
    Table::of_fields(
        "idle_by_host_operation",
        "Idle time by what the host did",
        rows,
        "name: Host, reason: In detail, n_gaps: Gaps, total_ns: Total, ratio: Share",
    )
    .shows("reason", rows, |row| Cell::text(reason_words(row.reason)))
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
        GapReason::WorkMissing => "launched work is missing",
    }
}
