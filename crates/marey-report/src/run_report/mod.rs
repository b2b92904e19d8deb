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
use crate::first_screen::{FirstScreen, Places};
use crate::model::Report;
use crate::rank_report::RankedJob;
use crate::snapshot_report::snapshot_document;
use crate::trace_report::short;

/// What a run was and what is the matter, where its time and its memory went, what was seen of the machine, and how far the figures can be
/// trusted; then the documents of its memory snapshots and traces. Of one of several ranks behind what all of them did. Tables without rows
/// are left out.
pub fn run_document(report: &Report, ranks: Option<&RankedJob>) -> Document {
    let mut found = ranks.map(RankedJob::document).unwrap_or_default();
    let title = format!("Marey: {}{}", run_name(report), rank(report));
    found.push(Block::Title(title));
    let parts = run_parts(report).into_iter().flat_map(|part| part.blocks);
    found.blocks.extend(parts);
    let snapshots = report.snapshot_files.iter().map(snapshot_document);
    let others = snapshots.chain(report.trace_files.iter().map(short));
    found.blocks.extend(others.flat_map(|other| other.blocks));
    found
}

/// Every table, for programs: those that say what its first screen does, then those of its document. Of several ranks those of all, then of
/// the one those that all have not. No two have the same key but of several files or devices.
pub fn run_tables(report: &Report, ranks: Option<&RankedJob>) -> Vec<Table> {
    let screen = FirstScreen::of_run(report, &Places::default());
    let mut own = screen.tables(&report.activity.findings);
    for table in own.iter_mut().filter(|table| table.key == "account") {
        table.title += &rank(report);
    }
    own.extend(run_document(report, None).into_tables());
    let mut tables = ranks.map(RankedJob::tables).unwrap_or_default();
    own.retain(|table| tables.iter().all(|other| other.key != table.key));
    tables.extend(own);
    tables
}

/// `, rank 0` of one of several.
fn rank(report: &Report) -> String {
    let rank = report.run.rank.filter(|_| report.run.world_size > Some(1));
    rank.map(|rank| format!(", rank {rank}")).unwrap_or_default()
}

/// The session, the job or else the run.
pub(crate) fn run_name(report: &Report) -> &str {
    let session = report.session.as_ref().map(|session| &session.name);
    let known = session.or(report.run.job_id.as_ref());
    known.unwrap_or(&report.run.id)
}

/// Blocks of a run about one thing.
pub(crate) struct RunPart {
    /// `memory`.
    pub(crate) id: &'static str,
    /// `Memory`.
    pub(crate) title: &'static str,
    pub(crate) blocks: Vec<Block>,
}

/// Everything that a run says but for its snapshots and traces, in the order in which it is read. A part may have no blocks.
pub(crate) fn run_parts(report: &Report) -> Vec<RunPart> {
    vec![
        part("overview", "Overview", overview(report)),
        part(
            "sections",
            "Sections",
            tables([
                sections::names(report),
                sections::tree(report),
                gpu_times::table(report),
                loops::table(report),
            ]),
        ),
        part("diffusion", "Diffusion", generation(report)),
        part(
            "memory",
            "Memory",
            tables([
                memory::readings(report),
                memory::peaks(report),
                allocations::table(report),
                section_peaks::table(report),
                section_resources::table(report),
            ]),
        ),
        part("machine", "Machine", tables([machine::table(report)])),
        part("caches", "Caches", tables([caches::table(report), caches::events(report)])),
        part("sessions", "Sessions", tables([sessions::table(report)])),
        part("system", "System", system(report)),
    ]
}

fn part(id: &'static str, title: &'static str, found: Document) -> RunPart {
    let blocks = found.blocks;
    RunPart { id, title, blocks }
}

fn tables<const N: usize>(tables: [Table; N]) -> Document {
    let mut found = Document::default();
    found.tables(tables);
    found
}

fn overview(report: &Report) -> Document {
    let mut found = Document::from(vec![Block::Facts(facts::key_facts(report))]);
    let place = |node: u32| Some(joined_path(report, node)).filter(|path| !path.is_empty());
    let findings = &report.activity.findings;
    let findings = ListedFindings::new(findings, |found| place(found.node?));
    found.blocks.extend(findings.map(Block::Findings));
    found
}

fn generation(report: &Report) -> Document {
    let mut found = Document::default();
    found.facts(generation::facts(report));
    found.tables([
        generation::times(report),
        generation::outliers(report),
        layers::table(report),
        pipelines::table(report),
    ]);
    found
}

fn system(report: &Report) -> Document {
    let mut found =
        tables([windows::table(report), counters::table(report), attributes::table(report)]);
    found.facts(quality::facts(report));
    found.blocks.extend(facts::environment(report));
    found
}

/// Names from the top level down to a node.
pub(crate) fn joined_path(report: &Report, node: u32) -> String {
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
