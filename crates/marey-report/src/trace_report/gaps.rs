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

pub(super) fn longest(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "idle_gaps",
        title,
        &device.idle_gaps.longest,
        &[
            ("start_ns", "At", &|g| Cell::Moment(g.start_ns)),
            ("length_ns", "Length", &|g| Cell::Duration(g.length_ns)),
            ("late_ns", "Until launch", &|g| Cell::duration(g.late_ns)),
            ("cause", "Cause", &|g| Cell::text(words(g.cause))),
            ("reason", "In detail", &|g| Cell::text(reason_words(g.reason))),
            ("synchronising_ns", "Synchronising", &|g| Cell::duration(g.synchronising_ns)),
            ("host_at_start", "Host at its start", &|g| Cell::text_of(&g.host_at_start)),
            ("host_during", "Host during it", &|g| Cell::text_of(&g.host_during)),
            ("next", "Then", &|g| Cell::text(&g.next)),
        ],
    )
}

pub(super) fn by_host_operation(device: &DeviceAnswers, title: String) -> Table {
    Table::of_each(
        "idle_by_host_operation",
        title,
        &device.idle_gaps.host_operations,
        &[
            ("name", "Host", &|r| Cell::text_of(&r.name)),
            ("reason", "In detail", &|r| Cell::text(reason_words(r.reason))),
            ("n_gaps", "Gaps", &|r| Cell::Count(r.n_gaps)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("ratio", "Share", &|r| Cell::ratio(r.ratio)),
        ],
    )
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
