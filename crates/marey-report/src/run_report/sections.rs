//! Where the time went: sections by name, the tree of call paths, their GPU time, and loops.

use std::cmp::Reverse;

use marey_analysis::{CallStats, Kind, Percentiles, SectionGpuTime, SectionRow, UnderNoSection};

use super::path;
use crate::document::{Cell, Table};
use crate::json::reason;
use crate::model::Report;
use crate::quantity::{counted, duration_ns};

/// Call paths that people are shown.
const MAX_PATHS: usize = 200;
/// Names of which the total without calls within each other is said.
const MOST_NESTED: usize = 5;
/// An interpreter starts within that.
const NOTABLE_BEFORE_NS: u64 = 100_000_000;

/// Sections by name, wherever they were opened, longest total first.
pub(super) fn names(report: &Report) -> Table {
    let mut table = Table::of_each(
        "section_names",
        "Time by section name",
        &report.sections.by_name,
        &[
            ("section", "Section", &|s| Cell::name(&s.name)),
            ("count", "Count", &|s| Cell::Count(s.calls.count)),
            ("total_ns", "Total", &|s| Cell::Duration(s.calls.total_ns)),
            ("mean_ns", "Mean", &|s| Cell::mean(s.calls.mean_ns)),
            ("min_ns", "Min", &|s| Cell::duration(s.calls.min_ns)),
            ("max_ns", "Max", &|s| Cell::duration(s.calls.max_ns)),
            ("p50_ns", "p50", &|s| percentile(&s.calls, |p| p.p50_ns)),
            ("p95_ns", "p95", &|s| percentile(&s.calls, |p| p.p95_ns)),
            ("share_ratio", "Share", &|s| Cell::ratio(s.share_of_wall_ratio)),
        ],
    );
    let nested =
        report.sections.by_name.iter().filter_map(|row| Some((&row.name, row.outermost_ns?)));
    let nested = nested.take(MOST_NESTED).map(|(name, ns)| format!("{name} {}", duration_ns(ns)));
    let nested = nested.collect::<Vec<_>>().join(", ");
    if !nested.is_empty() {
        table.notes.push(format!(
            "Total counts calls within calls of the same name again. Without these: {nested}."
        ));
    }
    with_histograms_explained(table)
}

/// Every call path under its parent, and the time under none.
pub(super) fn tree(report: &Report) -> Table {
    let mut table = Table::of_each(
        "sections",
        "Inclusive and self time",
        &report.sections.tree,
        &[
            ("section", "Section", &|s| Cell::Nested(s.depth, marked_name(s))),
            ("inclusive_ns", "Inclusive", &|s| Cell::Duration(s.inclusive_ns)),
            ("self_ns", "Self", &|s| Cell::duration(s.self_ns)),
            ("share_ratio", "Share", &|s| Cell::ratio(s.share_of_wall_ratio)),
            ("count", "Count", &|s| Cell::Count(s.calls.count)),
            ("mean_ns", "Mean", &|s| Cell::mean(s.calls.mean_ns)),
            ("median_ns", "Median", &|s| median(&s.calls)),
            ("p95_ns", "p95", &|s| percentile(&s.calls, |p| p.p95_ns)),
            ("p99_ns", "p99", &|s| percentile(&s.calls, |p| p.p99_ns)),
            ("max_ns", "Max", &|s| Cell::duration(s.calls.max_ns)),
            ("first_ns", "First", &|s| Cell::duration(s.calls.first_ns)),
            ("rest_mean_ns", "Mean of rest", &|s| Cell::mean(s.calls.rest_mean_ns)),
        ],
    );
    let uncovered_ns = match report.sections.under_no_section {
        UnderNoSection::Known(ns) => Some(ns),
        UnderNoSection::Unknown(_) => None,
    };
    let share = report.under_no_section_ratio;
    let uncovered = Some(("(under no section)", uncovered_ns, share));
    let before = before_ns(report).map(|ns| ("(before the recording)", Some(ns), None));
    for (name, ns, share) in uncovered.into_iter().chain(before) {
        let name = Cell::Nested(0, name.into());
        let time = Cell::duration(ns);
        let mut cells = vec![name, time, Cell::Absent, Cell::ratio(share)];
        cells.resize(table.columns.len(), Cell::Absent);
        table.row(cells);
    }
    table.notes = notes(report);
    with_histograms_explained(table).limited(MAX_PATHS)
}

/// How old the process was when the recording began, where that is worth a row.
fn before_ns(report: &Report) -> Option<u64> {
    let before_ns = report.run.before_recording_ns;
    before_ns.filter(|ns| *ns >= NOTABLE_BEFORE_NS)
}

fn marked_name(row: &SectionRow) -> String {
    let beside = if row.is_detached { "~" } else { "" };
    let open = if row.open.is_some() { " *" } else { "" };
    let turns = match row.kind {
        Kind::Section => "",
        Kind::Iteration => " (iteration)",
    };
    let failed = match row.calls.errors {
        0 => String::new(),
        n => format!(" ({n} failed)"),
    };
    format!("{beside}{}{turns}{failed}{open}", row.name)
}

fn notes(report: &Report) -> Vec<String> {
    let rows = &report.sections.tree;
    let wall = duration_ns(report.sections.wall_ns);
    let mut notes = Vec::new();
    if let UnderNoSection::Unknown(why) = report.sections.under_no_section {
        notes.push(format!("Under no section: not available: {}.", reason(why)));
    }
    notes.push(format!("Wall time {wall}. Share: wall time during which the section was open."));
    let explained = [
        (
            before_ns(report).is_some(),
            "Before the recording: the process's own start and imports, not in the wall time.",
        ),
        (
            rows.iter().any(|row| row.is_detached),
            "~ ran beside its parent: not part of the parent's time.",
        ),
        (
            rows.iter().any(|row| row.open.is_some()),
            "* had not ended: inclusive and self time reach to the end of the run.",
        ),
        (
            rows.iter().any(|row| row.self_ns.is_none()),
            "Self is not known (-) where what is under a section took longer than it: it outlived the section, or ran in several threads at once.",
        ),
    ];
    let said = explained.into_iter().filter(|(is_there, _)| *is_there);
    notes.extend(said.map(|(_, note)| note.to_owned()));
    notes
}

/// GPU time of sections: longest first, nested ones among them.
pub(super) fn gpu_times(report: &Report) -> Table {
    let found = report.gpu_times.as_ref();
    let mut rows: Vec<&SectionGpuTime> = found.iter().flat_map(|gpu| &gpu.sections).collect();
    rows.sort_by_key(|row| (Reverse(row.gpu.total_ns), row.node));
    let mut table = Table::of_each(
        "section_gpu_times",
        "GPU time of sections",
        rows,
        &[
            ("section", "Section", &|s| path(report, s.node)),
            ("count", "Count", &|s| Cell::Count(s.gpu.count)),
            ("total_ns", "GPU", &|s| Cell::Duration(s.gpu.total_ns)),
            ("mean_ns", "Mean", &|s| Cell::Mean(s.gpu.mean_ns)),
            ("p50_ns", "p50", &|s| Cell::Duration(s.gpu.p50_ns)),
            ("p95_ns", "p95", &|s| Cell::Duration(s.gpu.p95_ns)),
            ("max_ns", "Max", &|s| Cell::Duration(s.gpu.max_ns)),
            ("queue_delay_mean_ns", "Queue delay", &|s| {
                Cell::known(s.delay.as_ref(), |delay| Cell::Mean(delay.mean_ns))
            }),
        ],
    );
    table.notes.extend(found.map(|gpu| {
        let measured = gpu.n_calls.saturating_sub(gpu.n_not_measured);
        let how = gpu.measured_by.as_deref().unwrap_or("events on the stream");
        let calls = counted(gpu.n_calls, "call", "calls");
        format!("Measured by {how}, {measured} of {calls}; all other times are the host's.")
    }));
    table
        .noted("Queue delay: mean, from the beginning of a section to that of its work on the GPU.")
}

/// Percentiles, deviation and warm-up of every loop.
pub(super) fn loops(report: &Report) -> Table {
    let table = Table::of_each(
        "loops",
        "Loops, warm-up and steady state",
        &report.iterations,
        &[
            ("name", "Loop", &|l| Cell::name(&l.name)),
            ("count", "Count", &|l| Cell::Count(l.calls.count)),
            ("n_failed", "Failed", &|l| Cell::Count(l.calls.errors)),
            ("first_ns", "First", &|l| Cell::duration(l.calls.first_ns)),
            ("rest_mean_ns", "Mean of rest", &|l| Cell::mean(l.calls.rest_mean_ns)),
            ("mean_ns", "Mean", &|l| Cell::mean(l.calls.mean_ns)),
            ("median_ns", "Median", &|l| median(&l.calls)),
            ("p95_ns", "p95", &|l| percentile(&l.calls, |p| p.p95_ns)),
            ("p99_ns", "p99", &|l| percentile(&l.calls, |p| p.p99_ns)),
            ("max_ns", "Max", &|l| Cell::duration(l.calls.max_ns)),
            ("std_dev_ns", "Std dev", &|l| Cell::mean(l.calls.std_dev_ns)),
            ("per_second", "it/s", &|l| Cell::known(l.per_second, Cell::PerSecond)),
        ],
    );
    with_histograms_explained(table)
}

/// A percentile, or about that.
fn percentile(calls: &CallStats, of: fn(Percentiles) -> u64) -> Cell {
    Cell::known(calls.percentiles, |p| Cell::Duration(of(p)).exactly(p.is_exact))
}

/// The middle call, or about that.
fn median(calls: &CallStats) -> Cell {
    let is_exact = calls.percentiles.is_none_or(|p| p.is_exact);
    Cell::known(calls.median_ns, |ns| Cell::Mean(ns).exactly(is_exact))
}

/// The table, which says what `≈` is where it stands in it.
fn with_histograms_explained(table: Table) -> Table {
    let mut cells = table.rows.iter().flatten();
    if cells.any(|cell| matches!(cell, Cell::About(_))) {
        let note = "≈ from a histogram, within ±3.1 %: not every call was recorded one by one.";
        return table.noted(note);
    }
    table
}
