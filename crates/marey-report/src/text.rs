//! The documents' own tables, and `timing_summary.txt`.

use marey_analysis::job::Range;
use marey_analysis::ranks::RanksAnswers;
use marey_analysis::{Iterations, LabelledReading, NameRow};

use crate::document::Block;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{float, known, mebibytes, rate, seconds};
use crate::rank_report::documented;
use crate::render::text::text;
use crate::run_report::run_document;
use crate::width::{columns, pad_end};

/// Names in the timing table of the summary.
const TOP_NAMES: usize = 30;
/// Tables of the document of a run that say what the documents' own tables say.
const SAID_BEFORE: [&str; 2] = ["section_names", "memory_readings"];

/// `timing_summary.txt`: the documents' own tables, then all else of the document of the run. Ends with a line feed.
pub fn summary(report: &Report) -> String {
    let mut parts = vec![timing_summary(report, TOP_NAMES)];
    let memory = report.memory.as_ref();
    if memory.is_some_and(|memory| !memory.labelled.is_empty()) {
        parts.push(memory_summary(report));
    }
    parts.extend(report.iterations.iter().map(block_of));
    let mut rest = run_document(report, None);
    let is_new = |block: &Block| match block {
        Block::Table(table) => !SAID_BEFORE.contains(&table.key),
        _ => true,
    };
    rest.blocks.retain(is_new);
    parts.push(text(&rest, None));
    parts.join("\n")
}

const TIMING_TITLE: &str = "PROFILING SUMMARY - Top Operations by Total Time";
/// The header's columns end here, and so do those of the rows.
const WIDTH: usize = 100;
const NAME_WIDTH: usize = 48;

/// The names with the longest totals, at most `top_n`, with count, total, mean, shortest and longest call.
pub fn timing_summary(report: &Report, top_n: usize) -> String {
    let names = &report.sections.by_name;
    let titles = ["Total", "Mean", "Min", "Max"].map(str::to_owned);
    let header = name_line("Operation", "Count", &titles);
    let mut lines: Vec<String> = names.iter().take(top_n).map(name_row).collect();
    if names.is_empty() {
        lines.push("(no section was completed)".into());
    } else if names.len() > top_n {
        lines.push(format!("… and {} more", names.len() - top_n));
    }
    framed(TIMING_TITLE, Some(&header), &lines, WIDTH)
}

fn name_row(found: &NameRow) -> String {
    let calls = &found.calls;
    let exact = |ns: Option<u64>| known(ns, |ns| seconds(float(ns)));
    let figures = [
        seconds(float(calls.total_ns)),
        known(calls.mean_ns, seconds),
        exact(calls.min_ns),
        exact(calls.max_ns),
    ];
    name_line(&cut(&found.name, NAME_WIDTH), &calls.count.to_string(), &figures)
}

fn name_line(name: &str, count: &str, figures: &[String; 4]) -> String {
    let [total, mean, min, max] = figures;
    let name = pad_end(name, NAME_WIDTH);
    format!("{name} {count:>7} {total:>10} {mean:>10} {min:>10} {max:>10}")
}

const LOOP_WIDTH: usize = 80;

/// The short block of the loop with this name; `None` when it completed no iteration.
pub fn iteration_summary(report: &Report, name: &str) -> Option<String> {
    let mut loops = report.iterations.iter();
    loops.find(|found| found.name == name).map(block_of)
}

fn block_of(found: &Iterations) -> String {
    let calls = &found.calls;
    let rate = found.per_second.map(|n| format!(" ({})", rate(n)));
    let mean = known(calls.mean_ns, seconds) + &rate.unwrap_or_default();
    let exact = |ns: Option<u64>| known(ns, |ns| seconds(float(ns)));
    let lines = [
        format!("Total iterations: {}", calls.count),
        format!("Total time:       {}", seconds(float(calls.total_ns))),
        format!("Mean time/iter:   {mean}"),
        format!("Min time:         {}", exact(calls.min_ns)),
        format!("Max time:         {}", exact(calls.max_ns)),
        format!("Median time:      {}", known(calls.median_ns, seconds)),
    ];
    let title = format!("ITERATION PROFILING: {}", cut(&found.name, NAME_WIDTH));
    framed(&title, None, &lines, LOOP_WIDTH)
}

const MEMORY_TITLE: &str = "MEMORY USAGE SUMMARY";
const MEMORY_WIDTH: usize = 82;
const LABEL_WIDTH: usize = 43;

/// The labelled readings in order of time, in MiB.
pub fn memory_summary(report: &Report) -> String {
    let titles = ["Allocated", "Reserved", "Max Alloc"].map(str::to_owned);
    let header = reading_line("Label", &titles);
    let labelled = report.memory.iter().flat_map(|memory| &memory.labelled);
    let mut lines: Vec<String> = labelled.map(reading_row).collect();
    if lines.is_empty() {
        lines.push("(no labelled reading was taken)".into());
    }
    framed(MEMORY_TITLE, Some(&header), &lines, MEMORY_WIDTH)
}

fn reading_row(reading: &LabelledReading) -> String {
    let figures = [
        mebibytes(reading.allocated_bytes),
        known(reading.reserved_bytes, mebibytes),
        known(reading.peak_bytes, mebibytes),
    ];
    reading_line(&cut(&reading.label, LABEL_WIDTH), &figures)
}

fn reading_line(label: &str, figures: &[String; 3]) -> String {
    let [allocated, reserved, peak] = figures;
    let label = pad_end(label, LABEL_WIDTH);
    format!("{label} {allocated:>12} {reserved:>12} {peak:>12}")
}

/// What was put together, in the shape of the documents: how many reports and ranks, and what GPUs did. Ends with a line feed.
pub fn aggregation_summary(answers: &RanksAnswers) -> String {
    let n_reports: u64 = answers.jobs.iter().map(|job| job.n_processes).sum();
    let n_ranks: usize = answers.jobs.iter().map(|job| job.members.len()).sum();
    let mut text = format!(
        "=== Aggregation Summary ===\nTotal reports processed: {n_reports}\nRanks: {n_ranks}\n"
    );
    let (memory, utilization) = documented::gpus(answers);
    let mut lines = Vec::new();
    lines.extend(memory.map(|range| line("GPU Memory", range, "MB")));
    lines.extend(utilization.map(|range| line("GPU Utilization", range, "%")));
    if !lines.is_empty() {
        text += "\n=== GPU Metrics (Aggregated) ===\n";
        text += &lines.join("");
    }
    text
}

fn line(name: &str, Range { min, mean, max }: Range, unit: &str) -> String {
    format!("{name} - Min: {min:.1}{unit}, Max: {max:.1}{unit}, Avg: {mean:.1}{unit}\n")
}

/// Title and lines between rules of this width: columns of the widest line, at least `min_width`; a header is ruled off from the others. Ends
/// with a line feed.
fn framed(title: &str, header: Option<&str>, lines: &[String], min_width: usize) -> String {
    let all = lines.iter().map(String::as_str).chain(header).chain([title]);
    let longest = all.map(columns).max().unwrap_or(0);
    let width = longest.max(min_width);
    let rule = "=".repeat(width);
    let mut text = format!("{rule}\n{title}\n{rule}\n");
    if let Some(header) = header {
        text.push_str(header.trim_end());
        text.push('\n');
        text.push_str(&"-".repeat(width));
        text.push('\n');
    }
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(&rule);
    text.push('\n');
    text
}
