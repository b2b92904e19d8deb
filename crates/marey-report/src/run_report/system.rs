//! What was recorded beside sections: windows of torch's profiler and the like, counters, attributes of calls.

use marey_analysis::{AttributeRow, WindowUse};

use super::path;
use crate::document::{Cell, Table};
use crate::escape::cut;
use crate::model::{AttributeValue, Report};
use crate::quantity::{bytes, counted, duration_ns};

/// Lines below the table.
const MAX_NOTES: usize = 30;
const NAME_WIDTH: usize = 40;
const TEXT_WIDTH: usize = 200;

/// Each window with what it recorded; below them files, failures and remarks.
pub(super) fn windows(report: &Report) -> Table {
    let windows = report.activity.windows.as_ref();
    let each = || windows.into_iter().flat_map(|windows| &windows.each);
    let lasted = |w: &marey::Window| w.stopped_ns.map(|end_ns| end_ns.saturating_sub(w.opened_ns));
    let mut table = Table::of_each(
        "windows",
        "Profiler windows",
        each(),
        &[
            ("name", "Window", &|w| Cell::name(&w.window.name)),
            ("opened_ns", "Opened", &|w| Cell::Moment(w.window.opened_ns)),
            ("duration_ns", "Lasted", &|w| Cell::duration(lasted(&w.window))),
            ("n_steps", "Steps", &|w| Cell::count(w.recorded_steps)),
            ("step_mean_ns", "Mean step", &|w| Cell::mean(w.recorded_mean_ns)),
            ("outside_mean_ns", "Outside", &|w| Cell::mean(w.outside_mean_ns)),
            ("ended_by", "Ended by", &|w| Cell::known(ended_by(w), Cell::Name)),
        ],
    );
    table.notes.extend(each().flat_map(notes_of).take(MAX_NOTES));
    let own = windows.and_then(|windows| windows.own_ns).map(duration_ns);
    table.notes.extend(own.map(|own| {
        format!("Starting and stopping windows held up the program for {own} (sections \"marey window …\").")
    }));
    table
}

/// Why it stopped, in words; `None` when it has not, or nobody knows.
fn ended_by(used: &WindowUse) -> Option<String> {
    let cut_off = used.is_cut_off.then(|| "the process's end".to_owned());
    used.window.stop_reason.clone().or(cut_off)
}

fn notes_of(WindowUse { window, warm_up_steps, .. }: &WindowUse) -> Vec<String> {
    let name = cut(&window.name, NAME_WIDTH);
    let warm_up = warm_up_steps.filter(|steps| *steps > 0);
    let warm_up = warm_up.map(|steps| {
        let steps = counted(steps, "step", "steps");
        format!("warm-up of {steps}, recorded for nobody; their times are kept")
    });
    let files = window.files.iter().map(|file| {
        let (path, size) = (&file.path, bytes(file.bytes));
        let took = duration_ns(file.export_ns);
        format!("{path} ({size}, written beside the program in {took})")
    });
    let failures = window.failures.iter().map(|failure| {
        let error = cut(&failure.error, TEXT_WIDTH);
        format!("failed during {}: {error}", failure.during)
    });
    let remarks = window.remarks.iter().map(|remark| cut(remark, TEXT_WIDTH));
    let notes = warm_up.into_iter().chain(files).chain(failures);
    let notes = notes.chain(remarks).map(|note| format!("{name}: {note}"));
    notes.collect()
}

/// Counters that people are shown.
const MAX_COUNTERS: usize = 40;

/// Each counter.
pub(super) fn counters(report: &Report) -> Table {
    Table::of_each(
        "counters",
        "Counters",
        &report.counters,
        &[
            ("name", "Counter", &|c| Cell::name(&c.name)),
            ("count", "Count", &|c| Cell::Count(c.count)),
            ("min", "Min", &|c| Cell::Number(c.min)),
            ("mean", "Mean", &|c| Cell::Number(c.mean)),
            ("max", "Max", &|c| Cell::Number(c.max)),
            ("last", "Last", &|c| Cell::Number(c.last)),
        ],
    )
    .limited(MAX_COUNTERS)
}

/// Attributes that people are shown.
const MAX_ATTRIBUTES: usize = 40;
/// Columns of one of several values.
const VALUE_WIDTH: usize = 24;

/// Each attribute of each section with its first values.
pub(super) fn attributes(report: &Report) -> Table {
    Table::of_each(
        "attributes",
        "Attributes",
        &report.attributes.by_section,
        &[
            ("section", "Section", &|a| path(report, a.node)),
            ("attribute", "Attribute", &|a| Cell::name(&a.name)),
            ("n_calls", "Calls", &|a| Cell::Count(a.n_calls)),
            ("values", "Values", &|a| Cell::Name(shown_values(a))),
        ],
    )
    .limited(MAX_ATTRIBUTES)
}

fn shown_values(row: &AttributeRow) -> String {
    let shown = row.values.iter().map(|v| cut(&AttributeValue::new(v).text(), VALUE_WIDTH));
    let more = row.has_more_values.then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}
