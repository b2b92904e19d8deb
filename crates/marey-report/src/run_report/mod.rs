//! What a run, or a session of it, says: one file a part. Formats are elsewhere and know nothing of runs.

mod caches;
mod facts;
mod generation;
mod machine;
mod memory;
mod quality;
mod sections;
mod sessions;
mod system;

use crate::document::{Block, Cell, Document, ListedFindings, Table};
use crate::first_screen::{FirstScreen, Places};
use crate::model::Report;
use crate::rank_report::RankedJob;
use crate::snapshot_report::snapshot_document;
use crate::trace_report::short;

pub use caches::cache_markdown;

/// What a run was and what is the matter, where its time and its memory went, what was seen of the machine, and how far the figures can be
/// trusted; then the documents of its memory snapshots and traces. Of one of several ranks behind what all of them did. Tables without rows
/// are left out.
pub fn run_document(report: &Report, ranks: Option<&RankedJob>) -> Document {
    let mut found = ranks.map(RankedJob::document).unwrap_or_default();
    let title = format!("Marey: {}{}", run_name(report), rank(report));
    found.push(Block::Title(title));
    let parts = run_parts(report).into_iter().flat_map(|(.., blocks)| blocks);
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

/// Blocks of a run about one thing: its id, `memory`, its title, `Memory`, and what there is.
pub(crate) type RunPart = (&'static str, &'static str, Vec<Block>);

/// Everything that a run says but for its snapshots and traces, in the order in which it is read. A part may have no blocks.
pub(crate) fn run_parts(report: &Report) -> Vec<RunPart> {
    let sections = [
        sections::names(report),
        sections::tree(report),
        sections::gpu_times(report),
        sections::loops(report),
    ];
    let generated = [
        generation::times(report),
        generation::outliers(report),
        generation::layers(report),
        generation::pipelines(report),
    ];
    let memory = [
        memory::readings(report),
        memory::peaks(report),
        memory::allocations(report),
        memory::section_peaks(report),
        memory::section_resources(report),
    ];
    let mut diffusion = Document::default();
    diffusion.facts(generation::facts(report));
    diffusion.tables(generated);
    vec![
        ("overview", "Overview", overview(report)),
        ("sections", "Sections", tables(sections).blocks),
        ("diffusion", "Diffusion", diffusion.blocks),
        ("memory", "Memory", tables(memory).blocks),
        ("machine", "Machine", tables([machine::table(report)]).blocks),
        ("caches", "Caches", tables([caches::table(report), caches::events(report)]).blocks),
        ("sessions", "Sessions", tables([sessions::table(report)]).blocks),
        ("system", "System", system(report)),
    ]
}

fn tables<const N: usize>(tables: [Table; N]) -> Document {
    let mut found = Document::default();
    found.tables(tables);
    found
}

fn overview(report: &Report) -> Vec<Block> {
    let place = |node: u32| Some(joined_path(report, node)).filter(|path| !path.is_empty());
    let findings = &report.activity.findings;
    let findings = ListedFindings::new(findings, |found| place(found.node?));
    let facts = Block::Facts(facts::key_facts(report));
    [facts].into_iter().chain(findings.map(Block::Findings)).collect()
}

fn system(report: &Report) -> Vec<Block> {
    let mut found =
        tables([system::windows(report), system::counters(report), system::attributes(report)]);
    found.facts(quality::facts(report));
    found.blocks.extend(facts::environment(report));
    found.blocks
}

/// Names from the top level down to a node.
pub(crate) fn joined_path(report: &Report, node: u32) -> String {
    report.call_path(node).join(" / ")
}

fn path(report: &Report, node: u32) -> Cell {
    Cell::Name(joined_path(report, node))
}
