//! Windows of torch's profiler and the like: what they recorded, where it is, what went wrong.

use marey_analysis::WindowUse;

use crate::document::{Cell, Table};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{bytes, duration_ns};

/// Lines below the table.
const MAX_NOTES: usize = 30;
const NAME_WIDTH: usize = 40;
const TEXT_WIDTH: usize = 200;

/// Each window; below them files, failures and remarks.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Window"),
        ("opened_ns", "Opened"),
        ("duration_ns", "Lasted"),
        ("n_steps", "Steps"),
        ("step_mean_ns", "Mean step"),
        ("outside_mean_ns", "Outside"),
        ("ended_by", "Ended by"),
    ];
    let mut table = Table::new("windows", "Profiler windows", &columns);
    let Some(windows) = &report.activity.windows else {
        return table;
    };
    for window in &windows.each {
        let lasted = window
            .stopped_ns
            .map(|stopped_ns| stopped_ns.saturating_sub(window.opened_ns));
        table.row(vec![
            Cell::name(&window.name),
            Cell::Moment(window.opened_ns),
            Cell::known(lasted, Cell::Duration),
            Cell::known(window.recorded_steps, Cell::Count),
            Cell::known(window.recorded_mean_ns, Cell::Mean),
            Cell::known(window.outside_mean_ns, Cell::Mean),
            Cell::known(ended_by(window), Cell::Name),
        ]);
    }
    let notes = windows.each.iter().flat_map(notes_of);
    table.notes.extend(notes.take(MAX_NOTES));
    if let Some(own_ns) = windows.own_ns {
        let own = duration_ns(own_ns);
        table.notes.push(format!(
            "Starting and stopping windows held up the program for {own} (sections \"marey window …\")."
        ));
    }
    table
}

/// Why it stopped, in words; `None` when it has not, or nobody knows.
fn ended_by(window: &WindowUse) -> Option<String> {
    let cut_off = window.is_cut_off.then(|| "the process's end".to_owned());
    window.stop_reason.clone().or(cut_off)
}

fn notes_of(window: &WindowUse) -> Vec<String> {
    let name = cut(&window.name, NAME_WIDTH);
    let warm_up = window.warm_up_steps.filter(|steps| *steps > 0);
    let warm_up = warm_up.map(|steps| {
        format!("warm-up of {steps} steps, recorded for nobody; their times are kept")
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
