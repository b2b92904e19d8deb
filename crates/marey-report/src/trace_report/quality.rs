//! What was not read as it stands in the file, so that nobody takes a part for the whole.

use marey_analysis::TraceAnswers;

use crate::document::{Cell, Table};

/// What was dropped, clipped or mended, each with how often and its first example. No rows for a file without fault.
pub(super) fn table(answers: &TraceAnswers) -> Table {
    let columns = [("what", "What"), ("count", "Count"), ("example", "First example")];
    let mut table = Table::new("quality", "Read with reservations", &columns);
    let quality = &answers.quality;
    let example = quality.broken.first().map(|broken| {
        let (reason, at) = (&broken.reason, broken.at_byte);
        format!("{reason} at byte {at}: {}", broken.text)
    });
    let mut row = |what: &str, count: u64, example: Option<String>| {
        if count > 0 {
            let example = Cell::known(example, Cell::Text);
            table.row(vec![Cell::text(what), Cell::Count(count), example]);
        }
    };
    row("the file ends within the list of events", quality.is_truncated.into(), None);
    row(
        "the compressed data is damaged; what came before was read",
        quality.damage.is_some().into(),
        quality.damage.clone(),
    );
    row("stretches that are no events, passed over", quality.n_broken, example);
    row("bytes in them", quality.n_bytes_broken, None);
    row("events without a time or a duration, left out", quality.n_without_time, None);
    row("durations below zero, taken for zero", quality.n_negative_durations, None);
    row(
        "events longer than a year, or so far from the others, left out",
        quality.n_out_of_range,
        None,
    );
    row(
        "events with times in whole nanoseconds, not in microseconds",
        quality.n_in_nanoseconds,
        None,
    );
    row("beginnings without an end, left out", quality.n_open, None);
    row("ends without a beginning, left out", quality.n_without_begin, None);
    for (category, count) in &quality.n_not_analysed {
        let what = format!("rows of a device that are not analysed: {category}");
        row(&what, *count, None);
    }
    row("names with bytes that are no text", quality.n_damaged_names, None);
    row("rows in more than 4,096 others, of which the nearest are known", quality.n_too_deep, None);
    for left_out in &answers.left_out {
        let list = left_out.list.as_str();
        let of = left_out.device.as_deref().map(|device| format!(" of {device}"));
        let what = format!("rows of {list}{} past the first, left out", of.unwrap_or_default());
        row(&what, left_out.n_rows, None);
    }
    table
}
