//! Sections by name, longest total first.

use marey_analysis::NameRow;

use super::block;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{float, known, seconds};
use crate::width::pad_end;

const TITLE: &str = "PROFILING SUMMARY - Top Operations by Total Time";
/// The header's columns end here, and so do those of the rows.
const WIDTH: usize = 100;
const NAME_WIDTH: usize = 48;

/// The names with the longest totals, at most `top_n`, with count, total, mean, shortest and longest call.
pub fn timing_summary(report: &Report, top_n: usize) -> String {
    let names = &report.sections.by_name;
    let header = row("Operation", "Count", ["Total", "Mean", "Min", "Max"]);
    let mut lines: Vec<String> = names.iter().take(top_n).map(name_row).collect();
    if names.is_empty() {
        lines.push("(no section was completed)".into());
    } else if names.len() > top_n {
        lines.push(format!("… and {} more", names.len() - top_n));
    }
    block::table(TITLE, &header, &lines, WIDTH)
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
    row(
        &cut(&found.name, NAME_WIDTH),
        &calls.count.to_string(),
        figures.each_ref().map(String::as_str),
    )
}

fn row(name: &str, count: &str, figures: [&str; 4]) -> String {
    let [total, mean, min, max] = figures;
    let name = pad_end(name, NAME_WIDTH);
    format!("{name} {count:>7} {total:>10} {mean:>10} {min:>10} {max:>10}")
}
