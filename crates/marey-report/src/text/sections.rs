//! The section tree with inclusive and self time.

use marey_analysis::{GpuTimes, Kind, Percentiles, SectionGpuTime, SectionRow, UnderNoSection};

use super::columns::{Columns, Last};
use crate::escape::{cut, visible};
use crate::json::reason;
use crate::model::Report;
use crate::quantity::{UNKNOWN, counted, duration, duration_ns, known, percent};
use crate::width;

const NAME_WIDTH: usize = 48;
const REASONS_WIDTH: usize = 480;
/// Deeper levels are not indented further.
const MAX_INDENT: usize = 12;
/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 200;
/// An interpreter starts within that.
const NOTABLE_BEFORE_NS: u64 = 100_000_000;
/// Shown where GPU time was measured.
const GPU_HEADERS: [&str; 3] = ["GPU", "GPU mean", "Queue delay"];
const HEADERS: [&str; 12] = [
    "Section",
    "Count",
    "Inclusive",
    "Self",
    "Share",
    "Mean",
    "Median",
    "p95",
    "p99",
    "Max",
    "First",
    "Mean of rest",
];

/// Every call path under its parent, and the time under none.
pub(super) fn tree(report: &Report) -> String {
    let rows = &report.sections.tree;
    let gpu = report.gpu_times.as_ref();
    let mut headers = HEADERS.to_vec();
    headers.extend(gpu.iter().flat_map(|_| GPU_HEADERS));
    let mut table = Columns::new(&headers, Last::Figure);
    let mut precision = Precision::default();
    for row in rows.iter().take(MAX_ROWS) {
        precision.note(row.calls.percentiles);
        let mut cells = cells(row);
        cells.extend(gpu.into_iter().flat_map(|gpu| gpu_cells(gpu.of(row.node))));
        table.row(cells);
    }
    let mut last = under_no_section(report);
    last.resize(headers.len(), String::new());
    table.row(last);
    let before_ns = report.run.before_recording_ns;
    let before_ns = before_ns.filter(|ns| *ns >= NOTABLE_BEFORE_NS);
    if let Some(before_ns) = before_ns {
        let mut before = vec![String::new(); headers.len()];
        before[0] = "(before the recording)".into();
        before[2] = duration_ns(before_ns);
        table.row(before);
    }
    let mut notes = Vec::new();
    if rows.len() > MAX_ROWS {
        let more = (rows.len() - MAX_ROWS) as u64;
        notes.push(format!(
            "… and {}",
            counted(more, "more call path", "more call paths")
        ));
    }
    if let UnderNoSection::Unknown(why) = report.sections.under_no_section {
        notes.push(format!("Under no section: not available: {}.", reason(why)));
    }
    notes.push(format!(
        "Wall time {}. Share: wall time during which the section was open.",
        duration_ns(report.sections.wall_ns)
    ));
    if before_ns.is_some() {
        notes.push(
            "Before the recording: the process's own start and imports, not in the wall time."
                .into(),
        );
    }
    if rows.iter().any(|row| row.is_detached) {
        notes.push("~ ran beside its parent: not part of the parent's time.".into());
    }
    if rows.iter().any(|row| row.open.is_some()) {
        notes.push("* had not ended: inclusive and self time reach to the end of the run.".into());
    }
    if rows.iter().any(|row| row.self_ns.is_none()) {
        notes.push(
            "Self is not known (-) where what is under a section took longer than it: it outlived the section, or ran in \
             several threads at once."
                .into(),
        );
    }
    notes.extend(gpu.map(gpu_note));
    let why_not = report.quality.why_no_gpu_times();
    notes.extend(why_not.map(|why| format!("GPU time: {}.", cut(why, REASONS_WIDTH))));
    notes.extend(precision.notes());
    table.block("SECTIONS - Inclusive and Self Time", &notes)
}

fn cells(row: &SectionRow) -> Vec<String> {
    let calls = &row.calls;
    let percentile = |of: fn(Percentiles) -> u64| {
        known(calls.percentiles, |p| {
            approximate(p.is_exact, &duration_ns(of(p)))
        })
    };
    vec![
        shown_name(row),
        calls.count.to_string(),
        duration_ns(row.inclusive_ns),
        known(row.self_ns, duration_ns),
        known(row.share_of_wall_ratio, percent),
        known(calls.mean_ns, duration),
        known(calls.median_ns, |ns| {
            let is_exact = calls.percentiles.is_none_or(|p| p.is_exact);
            approximate(is_exact, &duration(ns))
        }),
        percentile(|p| p.p95_ns),
        percentile(|p| p.p99_ns),
        known(calls.max_ns, duration_ns),
        known(calls.first_ns, duration_ns),
        known(calls.rest_mean_ns, duration),
    ]
}

fn gpu_cells(found: Option<&SectionGpuTime>) -> [String; 3] {
    let delay = found.and_then(|found| found.delay.as_ref());
    [
        known(found, |found| duration_ns(found.gpu.total_ns)),
        known(found, |found| duration(found.gpu.mean_ns)),
        known(delay, |delay| duration(delay.mean_ns)),
    ]
}

/// How GPU time was measured, and of how many calls.
fn gpu_note(gpu: &GpuTimes) -> String {
    let measured = gpu.n_calls.saturating_sub(gpu.n_not_measured);
    let how = gpu.measured_by.as_deref().unwrap_or("events on the stream");
    format!(
        "GPU time: {}, {measured} of {} measured; all other times are the host's. Queue delay: mean, from the beginning of a \
         section to that of its work on the GPU.",
        cut(how, NAME_WIDTH),
        counted(gpu.n_calls, "call", "calls")
    )
}

fn shown_name(row: &SectionRow) -> String {
    let indent = "  ".repeat((row.depth as usize).min(MAX_INDENT));
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
    let name = cut(&row.name, NAME_WIDTH);
    format!("{indent}{beside}{name}{turns}{failed}{open}")
}

fn under_no_section(report: &Report) -> Vec<String> {
    let mut cells = vec![String::new(); HEADERS.len()];
    cells[0] = "(under no section)".into();
    cells[2] = UNKNOWN.into();
    if let UnderNoSection::Known(ns) = report.sections.under_no_section {
        cells[2] = duration_ns(ns);
        cells[4] = known(report.under_no_section_ratio, percent);
    }
    cells
}

/// Names joined by ` / `, the end kept when it is too long.
pub(super) fn shown_path(path: &[&str], width: usize) -> String {
    let shown: Vec<String> = path.iter().map(|name| visible(name)).collect();
    let joined = shown.join(" / ");
    if width::fits(&joined, width) {
        return joined;
    }
    width::back(&joined, width)
}

/// Marks a figure that comes from a histogram.
pub(super) fn approximate(is_exact: bool, shown: &str) -> String {
    if is_exact {
        return shown.into();
    }
    format!("≈{shown}")
}

/// Whether a table shows figures from histograms, which a note then explains.
#[derive(Default)]
pub(super) struct Precision {
    has_approximate: bool,
}

impl Precision {
    pub(super) fn note(&mut self, percentiles: Option<Percentiles>) {
        self.has_approximate |= percentiles.is_some_and(|p| !p.is_exact);
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let note = "≈ from a histogram, within ±3.1 %: not every call was recorded one by one.";
        self.has_approximate
            .then(|| note.to_owned())
            .into_iter()
            .collect()
    }
}
