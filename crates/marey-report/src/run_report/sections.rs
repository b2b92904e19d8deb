//! Where the time went: sections by name, and the tree of call paths.

use marey_analysis::{Kind, SectionRow, UnderNoSection};

use super::calls::{median, percentile};
use super::explain_histograms;
use crate::document::{Cell, Table};
use crate::json::reason;
use crate::model::Report;
use crate::quantity::duration_ns;

/// Call paths that people are shown.
const MAX_PATHS: usize = 200;
/// An interpreter starts within that.
const NOTABLE_BEFORE_NS: u64 = 100_000_000;

/// Sections by name, wherever they were opened, longest total first.
pub(super) fn names(report: &Report) -> Table {
    let columns = [
        ("section", "Section"),
        ("count", "Count"),
        ("total_ns", "Total"),
        ("mean_ns", "Mean"),
        ("min_ns", "Min"),
        ("max_ns", "Max"),
        ("p50_ns", "p50"),
        ("p95_ns", "p95"),
        ("share_ratio", "Share"),
    ];
    let mut table = Table::new("section_names", "Time by section name", &columns);
    for found in &report.sections.by_name {
        let calls = &found.calls;
        table.row(vec![
            Cell::name(&found.name),
            Cell::Count(calls.count),
            Cell::Duration(calls.total_ns),
            Cell::known(calls.mean_ns, Cell::Mean),
            Cell::known(calls.min_ns, Cell::Duration),
            Cell::known(calls.max_ns, Cell::Duration),
            percentile(calls, |p| p.p50_ns),
            percentile(calls, |p| p.p95_ns),
            Cell::known(found.share_of_wall_ratio, Cell::Ratio),
        ]);
    }
    explain_histograms(&mut table);
    table
}

const PATH_COLUMNS: [(&str, &str); 12] = [
    ("section", "Section"),
    ("inclusive_ns", "Inclusive"),
    ("self_ns", "Self"),
    ("share_ratio", "Share"),
    ("count", "Count"),
    ("mean_ns", "Mean"),
    ("median_ns", "Median"),
    ("p95_ns", "p95"),
    ("p99_ns", "p99"),
    ("max_ns", "Max"),
    ("first_ns", "First"),
    ("rest_mean_ns", "Mean of rest"),
];

/// Every call path under its parent, and the time under none.
pub(super) fn tree(report: &Report) -> Table {
    let mut table =
        Table::new("sections", "Inclusive and self time", &PATH_COLUMNS).limited(MAX_PATHS);
    for row in &report.sections.tree {
        table.row(cells(row));
    }
    let outside = |name: &str, ns: Option<u64>, share: Option<f64>| {
        let mut cells = vec![Cell::Nested(0, name.into())];
        cells.push(Cell::known(ns, Cell::Duration));
        cells.push(Cell::Absent);
        cells.push(Cell::known(share, Cell::Ratio));
        cells.resize(PATH_COLUMNS.len(), Cell::Absent);
        cells
    };
    let uncovered_ns = match report.sections.under_no_section {
        UnderNoSection::Known(ns) => Some(ns),
        UnderNoSection::Unknown(_) => None,
    };
    let share = report.under_no_section_ratio;
    table.row(outside("(under no section)", uncovered_ns, share));
    let before_ns = before_ns(report);
    if before_ns.is_some() {
        table.row(outside("(before the recording)", before_ns, None));
    }
    table.notes = notes(report);
    explain_histograms(&mut table);
    table
}

/// How old the process was when the recording began, where that is worth a row.
fn before_ns(report: &Report) -> Option<u64> {
    let before_ns = report.run.before_recording_ns;
    before_ns.filter(|ns| *ns >= NOTABLE_BEFORE_NS)
}

fn cells(row: &SectionRow) -> Vec<Cell> {
    let calls = &row.calls;
    vec![
        Cell::Nested(row.depth, marked_name(row)),
        Cell::Duration(row.inclusive_ns),
        Cell::known(row.self_ns, Cell::Duration),
        Cell::known(row.share_of_wall_ratio, Cell::Ratio),
        Cell::Count(calls.count),
        Cell::known(calls.mean_ns, Cell::Mean),
        median(calls),
        percentile(calls, |p| p.p95_ns),
        percentile(calls, |p| p.p99_ns),
        Cell::known(calls.max_ns, Cell::Duration),
        Cell::known(calls.first_ns, Cell::Duration),
        Cell::known(calls.rest_mean_ns, Cell::Mean),
    ]
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
    notes.push(format!(
        "Wall time {wall}. Share: wall time during which the section was open."
    ));
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
