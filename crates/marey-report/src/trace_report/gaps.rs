//! When a device had nothing to do.

use marey_analysis::{DeviceAnswers, GapCause};

use crate::model::{Cell, Table};

pub(super) fn causes(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "idle_causes",
        title,
        &[
            ("cause", "Cause"),
            ("n_gaps", "Gaps"),
            ("total_ns", "Total"),
            ("ratio", "Share"),
        ],
    );
    for cause in &device.idle_gaps.causes {
        table.row(vec![
            Cell::text(words(cause.cause)),
            Cell::Count(cause.n_gaps),
            Cell::Duration(cause.total_ns),
            Cell::known(cause.ratio, Cell::Ratio),
        ]);
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
            ("synchronising_ns", "Synchronising"),
            ("next", "Then"),
        ],
    );
    for gap in &device.idle_gaps.longest {
        table.row(vec![
            Cell::Moment(gap.start_ns),
            Cell::Duration(gap.length_ns),
            Cell::text(words(gap.cause)),
            Cell::known(gap.synchronising_ns, Cell::Duration),
            Cell::text(gap.next.as_str()),
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
