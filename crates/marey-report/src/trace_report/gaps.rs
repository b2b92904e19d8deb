//! When a device had nothing to do.

use marey_analysis::{DeviceAnswers, GapCause, GapReason};

use super::columns::table;
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
        let finer = gaps.reasons.iter().filter(|reason| reason.cause == cause.cause);
        let finer = finer.filter(|reason| reason.reason != GapReason::NotKnown);
        let finer = finer.map(|r| (reason_words(r.reason), r.n_gaps, r.total_ns, r.ratio));
        let all = ("all", cause.n_gaps, cause.total_ns, cause.ratio);
        for (reason, n_gaps, total_ns, ratio) in std::iter::once(all).chain(finer) {
            table.row(vec![
                Cell::text(words(cause.cause)),
                Cell::text(reason),
                Cell::Count(n_gaps),
                Cell::Duration(total_ns),
                Cell::ratio(ratio),
            ]);
        }
    }
    table
}

pub(super) fn longest(device: &DeviceAnswers) -> Table {
    let gaps = &device.idle_gaps.longest;
    table("idle_gaps", gaps).shows("cause", gaps, |gap| Cell::text(words(gap.cause))).shows(
        "reason",
        gaps,
        |gap| Cell::text(reason_words(gap.reason)),
    )
}

pub(super) fn by_host_operation(device: &DeviceAnswers) -> Table {
    let rows = &device.idle_gaps.host_operations;
    table("idle_by_host_operation", rows)
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
