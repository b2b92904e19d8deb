//! Windows of torch's profiler and the like: what they recorded, where it is, what went wrong.

use marey_analysis::WindowUse;

use super::columns::{Columns, Last};
use crate::escape::{cut, visible};
use crate::model::Report;
use crate::quantity::{bytes, duration, duration_ns, known, time_s};

/// More windows than this do not help anybody on a terminal.
const MAX_WINDOWS: usize = 20;
/// Lines below the table.
const MAX_NOTES: usize = 30;
const NAME_WIDTH: usize = 40;
const TEXT_WIDTH: usize = 200;

/// Each window, then files, failures and remarks; `None` when none was opened.
pub(super) fn table(report: &Report) -> Option<String> {
    let windows = report.activity.windows.as_ref()?;
    let headers = [
        "Window",
        "Opened",
        "Lasted",
        "Steps",
        "Mean step",
        "Outside",
        "Ended by",
    ];
    let mut table = Columns::new(&headers, Last::Text);
    let mut notes = Vec::new();
    for window in windows.each.iter().take(MAX_WINDOWS) {
        let lasted = window
            .stopped_ns
            .map(|stopped_ns| stopped_ns.saturating_sub(window.opened_ns));
        table.row(vec![
            cut(&window.name, NAME_WIDTH),
            format!("{} s", time_s(window.opened_ns)),
            known(lasted, duration_ns),
            window.recorded_steps.to_string(),
            known(window.recorded_mean_ns, duration),
            known(window.outside_mean_ns, duration),
            ended_by(window),
        ]);
        notes.extend(notes_of(window));
    }
    let more = windows.each.len().saturating_sub(MAX_WINDOWS);
    if more > 0 {
        notes.push(format!("… and {more} more windows"));
    }
    notes.truncate(MAX_NOTES);
    if let Some(own_ns) = windows.own_ns {
        notes.push(format!(
            "Starting and stopping windows held up the program for {} (sections \"marey window …\").",
            duration_ns(own_ns)
        ));
    }
    Some(table.block("PROFILER WINDOWS", &notes))
}

/// Why it stopped, in words.
pub(crate) fn ended_by(window: &WindowUse) -> String {
    match &window.stop_reason {
        Some(reason) => visible(reason),
        None if window.is_cut_off => "the process's end".into(),
        None => "-".into(),
    }
}

fn notes_of(window: &WindowUse) -> Vec<String> {
    let name = cut(&window.name, NAME_WIDTH);
    let warm_up = (window.warm_up_steps > 0).then(|| {
        let steps = window.warm_up_steps;
        format!("{name}: warm-up of {steps} steps, recorded for nobody; their times are kept")
    });
    let files = window.files.iter().map(|file| {
        let (path, size) = (visible(&file.path), bytes(file.bytes));
        let took = duration_ns(file.export_ns);
        format!("{name}: {path} ({size}, written beside the program in {took})")
    });
    let failures = window.failures.iter().map(|failure| {
        let error = cut(&failure.error, TEXT_WIDTH);
        format!(
            "{name}: failed during {}: {error}",
            visible(&failure.during)
        )
    });
    let remarks = window
        .remarks
        .iter()
        .map(|remark| format!("{name}: {}", cut(remark, TEXT_WIDTH)));
    warm_up
        .into_iter()
        .chain(files)
        .chain(failures)
        .chain(remarks)
        .collect()
}
