//! What a run, or a session of it, says: one file a question. Formats are elsewhere and know nothing of runs.

mod allocations;
mod attributes;
mod caches;
mod calls;
mod counters;
mod facts;
mod generation;
mod gpu_times;
mod layers;
mod loops;
mod machine;
mod memory;
mod pipelines;
mod quality;
mod section_peaks;
mod section_resources;
mod sections;
mod sessions;
mod windows;

use crate::document::{Block, Cell, Document, ListedFindings, Table};
use crate::model::Report;
use crate::snapshot_report::snapshot_document;
use crate::trace_report::short;

/// What a run was and what is the matter, where its time and its memory went, what was seen of the machine, and how far the figures can be
/// trusted; then the documents of its memory snapshots and traces. Tables without rows are left out, and no two have the same key but of
/// several files or devices.
pub fn run_document(report: &Report) -> Document {
    let title = Block::Title(format!("Marey: {}", facts::name(report)));
    let mut found = Document::from(vec![title, Block::Facts(facts::key_facts(report))]);
    let place = |node: u32| Some(joined_path(report, node)).filter(|path| !path.is_empty());
    let findings = &report.activity.findings;
    let findings = ListedFindings::new(findings, |found| place(found.node?));
    found.blocks.extend(findings.map(Block::Findings));
    found.tables([
        sections::names(report),
        sections::tree(report),
        gpu_times::table(report),
        loops::table(report),
    ]);
    found.facts(generation::facts(report));
    found.tables([
        generation::times(report),
        layers::table(report),
        pipelines::table(report),
        memory::readings(report),
        memory::peaks(report),
        allocations::table(report),
        section_peaks::table(report),
        section_resources::table(report),
        machine::table(report),
        caches::table(report),
        caches::events(report),
        windows::table(report),
        counters::table(report),
        attributes::table(report),
        sessions::table(report),
    ]);
    found.facts(quality::facts(report));
    found.blocks.extend(facts::environment(report));
    let snapshots = report.snapshot_files.iter().map(snapshot_document);
    let others = snapshots.chain(report.trace_files.iter().map(short));
    found.blocks.extend(others.flat_map(|other| other.blocks));
    found
}

/// Names from the top level down to a node.
fn joined_path(report: &Report, node: u32) -> String {
    report.call_path(node).join(" / ")
}

fn path(report: &Report, node: u32) -> Cell {
    Cell::Name(joined_path(report, node))
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
