//! Which durations cannot be true.

use marey_analysis::DeviceAnswers;

use crate::document::{Cell, Table};

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let mut table = Table::new(
        "suspicious_durations",
        title,
        &[
            ("start_ns", "At"),
            ("duration_ns", "Duration"),
            ("overrun_ns", "Ends after the next by"),
            ("stream", "Stream"),
            ("name", "Name"),
            ("next", "Next on its stream"),
        ],
    );
    let found = &device.suspicious_durations;
    for row in &found.first {
        table.row(vec![
            Cell::Moment(row.start_ns),
            Cell::Duration(row.duration_ns),
            Cell::Duration(row.overrun_ns),
            Cell::text(row.stream.as_str()),
            Cell::text(row.name.as_str()),
            Cell::text(row.next.as_str()),
        ]);
    }
    if found.n_suspicious > 0 {
        table.notes.push(note(found.n_suspicious, found.ratio));
    }
    table
}

fn note(n_suspicious: u64, ratio: Option<f64>) -> String {
    let percent = ratio.unwrap_or_default() * 100.0;
    format!(
        "{n_suspicious} in all. Their durations are {percent:.1} % of the sums of durations above: nothing was taken out."
    )
}
