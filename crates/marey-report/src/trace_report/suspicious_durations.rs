//! Which durations cannot be true.

use marey_analysis::DeviceAnswers;

use crate::document::{Cell, Table};
use crate::quantity::percent;

pub(super) fn table(device: &DeviceAnswers, title: String) -> Table {
    let found = &device.suspicious_durations;
    let mut table = Table::of_each(
        "suspicious_durations",
        title,
        &found.first,
        &[
            ("start_ns", "At", &|r| Cell::Moment(r.start_ns)),
            ("duration_ns", "Duration", &|r| Cell::Duration(r.duration_ns)),
            ("overrun_ns", "Ends after the next by", &|r| Cell::Duration(r.overrun_ns)),
            ("stream", "Stream", &|r| Cell::text(&r.stream)),
            ("name", "Name", &|r| Cell::text(&r.name)),
            ("next", "Next on its stream", &|r| Cell::text(&r.next)),
        ],
    );
    if found.n_suspicious > 0 {
        table.notes.push(note(found.n_suspicious, found.ratio));
    }
    table
}

fn note(n_suspicious: u64, ratio: Option<f64>) -> String {
    let share = percent(ratio.unwrap_or_default());
    format!(
        "{n_suspicious} in all. Their durations are {share} of the sums of durations above: nothing was taken out."
    )
}
