//! What traces say, as documents.

use marey_analysis::findings::Findings;

use super::{document, rank_tables, shown_tables};
use crate::document::{Block, Cell, Document, Facts, ListedFindings, Table};
use crate::model::{TraceFile, TraceRanks};
use crate::quantity::counted;

/// Tables of a trace in the document of a run, and their rows.
const SHORT: [&str; 4] = ["devices", "idle_causes", "kernel_classes", "attention"];
const SHORT_ROWS: usize = 8;

/// Everything that one file says: what it is, what is the matter, then tables of at most `max_rows` rows, with `details` also those that
/// are read second.
pub fn trace_document(file: &TraceFile, max_rows: usize, details: bool) -> Document {
    let mut found = about(file);
    if file.answers.is_some() {
        let (tables, others) = read_tables(file, details);
        found.tables(tables.into_iter().map(|table| table.limited(max_rows)));
        if !others.is_empty() {
            let others = others.join(", ");
            found.push(Block::Text(format!("More with --full: {others}.")));
        }
    }
    found
}

/// What the files of several ranks say together, likewise.
pub fn ranks_document(ranks: &TraceRanks, max_rows: usize) -> Document {
    let n_ranks = ranks.communication.ranks.len() as u64;
    let title = format!("All {} of one job", counted(n_ranks, "rank", "ranks"));
    let mut found = Document::from(vec![Block::Title(title)]);
    found.blocks.extend(findings(&ranks.findings));
    let tables = rank_tables(&ranks.communication);
    found.tables(tables.into_iter().map(|table| table.limited(max_rows)));
    found
}

/// What of a trace stands in the document of a run: what it is, what is the matter, and the tables that say where the time of the
/// devices went.
pub(crate) fn short(file: &TraceFile) -> Document {
    let mut found = about(file);
    if file.answers.is_some() {
        let (tables, _) = read_tables(file, true);
        let is_short = |table: &Table| SHORT.contains(&table.key);
        let tables = tables.into_iter().filter(is_short);
        found.tables(tables.map(|table| table.limited(SHORT_ROWS).of("file", &file.file)));
    }
    found
}

/// The file, and what is the matter.
fn about(file: &TraceFile) -> Document {
    let mut facts = Facts::default();
    for row in document::facts(file).rows {
        if let [Cell::Text(fact), Cell::Text(value)] = row.as_slice() {
            facts.row(fact, value);
        }
    }
    let title = format!("Trace {}", file.file);
    let mut found = Document::from(vec![Block::Title(title), Block::Facts(facts)]);
    if file.answers.is_some() {
        found.blocks.extend(findings(&file.findings));
    }
    found
}

fn findings(all: &Findings) -> Option<Block> {
    ListedFindings::new(all, |_| None).map(Block::Findings)
}

/// Tables that are read when another one has raised a question.
const DETAILS: [&str; 12] = [
    "attention_operators",
    "kernels_by_module",
    "kernels_by_shape",
    "largest_transfers",
    "launch_calls",
    "memory_by_operator",
    "module_types",
    "operators_by_shape",
    "ranks_collectives",
    "streams",
    "synchronisation_places",
    "tensor_cores_unused",
];

/// Likewise columns of steps and phases.
const DETAILS_OF_PARTS: [&str; 6] =
    ["communication_ns", "compute_ns", "count", "device_start_ns", "memory_ns", "own_work_ns"];

/// The tables that people read; `details` adds what is read second. With them the titles of those that are not there.
fn read_tables(file: &TraceFile, details: bool) -> (Vec<Table>, Vec<String>) {
    let (mut tables, others) = shown_tables(file)
        .into_iter()
        .partition::<Vec<_>, _>(|table| details || !is_detail(file, table));
    let is_part = |table: &&mut Table| matches!(table.key, "steps" | "profiler_steps" | "phases");
    for table in tables.iter_mut().filter(is_part).filter(|_| !details) {
        let keys = table.columns.iter().map(|column| column.key);
        let kept: Vec<bool> = keys.map(|key| !DETAILS_OF_PARTS.contains(&key)).collect();
        table.keep_columns(&kept);
    }
    (tables, others.into_iter().map(|table| table.title).collect())
}

fn is_detail(file: &TraceFile, table: &Table) -> bool {
    // Without a device nothing else says which attention it was.
    let is_of_host = file.answers.as_ref().is_some_and(|a| a.devices.is_empty());
    let is_answer = table.key == "attention_operators" && is_of_host;
    DETAILS.contains(&table.key) && !is_answer
}
