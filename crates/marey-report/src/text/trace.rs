//! A trace on a terminal.

use super::block;
use super::findings;
use super::table::table_text;
use crate::escape::{cut, visible};
use crate::model::{Cell, TraceFile, TraceRanks};
use crate::quantity::counted;
use crate::trace_report::{document, rank_tables, read_tables};
use crate::width::pad_end;

const WIDTH: usize = 80;
/// Columns of what a fact is about.
const FACT_WIDTH: usize = 9;
/// Columns of a fact.
const VALUE_WIDTH: usize = 400;

/// Tables of the summary of a run, and their rows.
const SHORT: [&str; 4] = ["devices", "idle_causes", "kernel_classes", "attention"];
const SHORT_ROWS: usize = 8;

/// Everything that one file says, for people: what it is, what is the matter, then tables of at most `max_rows` rows, with `details`
/// also those that are read second. Ends with a line feed.
pub fn trace_text(file: &TraceFile, max_rows: usize, details: bool) -> String {
    let mut parts = vec![headline(file)];
    if file.answers.is_some() {
        parts.extend(findings::of_trace(&file.findings));
        let (tables, others) = read_tables(file, details);
        parts.extend(tables.iter().map(|table| table_text(table, max_rows)));
        parts.extend(more(&others));
    }
    parts.join("\n")
}

/// What the files of several ranks say together, likewise.
pub fn ranks_text(ranks: &TraceRanks, max_rows: usize) -> String {
    let n_ranks = ranks.communication.ranks.len() as u64;
    let about = format!("{} of one job", counted(n_ranks, "rank", "ranks"));
    let mut parts = vec![block::titled("ALL RANKS", &[about], WIDTH)];
    parts.extend(findings::of_trace(&ranks.findings));
    let mut tables = rank_tables(&ranks.communication);
    tables.retain(|table| !table.rows.is_empty());
    parts.extend(tables.iter().map(|table| table_text(table, max_rows)));
    parts.join("\n")
}

/// What of a trace stands in the summary of a run: what it is, what is the matter, and the tables that say where the time of the
/// devices went.
pub(super) fn short(file: &TraceFile) -> String {
    let mut parts = vec![headline(file)];
    if file.answers.is_some() {
        parts.extend(findings::of_trace(&file.findings));
        let (tables, _) = read_tables(file, true);
        let tables = tables.iter().filter(|table| SHORT.contains(&table.key));
        parts.extend(tables.map(|table| table_text(table, SHORT_ROWS)));
    }
    parts.join("\n")
}

/// Which tables there are besides; `None` when there are none.
fn more(titles: &[String]) -> Option<String> {
    let titles: Vec<String> = titles.iter().map(|title| visible(title)).collect();
    let line = format!("More with --details: {}.", titles.join(", "));
    let lines = crate::width::wrapped(&line, WIDTH + 20);
    (!titles.is_empty()).then(|| lines.join("\n") + "\n")
}

fn headline(file: &TraceFile) -> String {
    let rows = document::facts(file).rows;
    let lines = rows.iter().filter_map(|row| match row.as_slice() {
        [Cell::Text(fact), Cell::Text(value)] => Some((fact, value)),
        _ => None,
    });
    let lines = lines.flat_map(|(fact, value)| {
        let wrapped = crate::width::wrapped(&cut(value, VALUE_WIDTH), WIDTH + 20 - FACT_WIDTH);
        let wrapped = wrapped.into_iter().enumerate();
        wrapped.map(move |(at, line)| {
            let fact = if at == 0 { fact.as_str() } else { "" };
            format!("{}{line}", pad_end(fact, FACT_WIDTH))
        })
    });
    let title = format!("TRACE {}", visible(&file.file));
    block::titled(&title, &lines.collect::<Vec<_>>(), WIDTH)
}
