//! What traces say, as documents.

use marey_analysis::findings::Findings;

use super::{document, rank_tables, read_tables};
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
