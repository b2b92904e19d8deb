//! What is read of a run, and of traces.

use super::contents::{Contents, MAX_BYTES, Tab};
use super::ranks::title;
use super::snapshots;
use crate::document::{Block, Cell, Table};
use crate::first_screen::FirstScreen;
use crate::model::{Report, SnapshotFile, TraceFile, TraceRanks};
use crate::rank_report::RankedJob;
use crate::run_report::{joined_path, run_name, run_parts};
use crate::trace_report::{ranks_document, trace_document};

/// A page shows the rest where it is asked for.
const ALL: usize = usize::MAX;

/// Of a run: its own parts, with snapshots beside its memory, and traces that its windows wrote. Beside those of all ranks they say whose they are.
pub(super) fn of_run<'a>(
    report: &Report,
    screen: &'a FirstScreen,
    ranks: Option<&RankedJob>,
) -> Contents<'a> {
    let rank = report.run.rank.filter(|_| ranks.is_some());
    let mut tabs: Vec<Tab> = run_parts(report)
        .into_iter()
        .map(|(id, title, blocks)| Tab {
            id,
            title: match (id, rank) {
                ("overview", Some(rank)) => format!("Rank {rank}").into(),
                _ => title.into(),
            },
            blocks,
        })
        .collect();
    let mut snapshots = snapshots::tab(&report.snapshot_files, true);
    for tab in &mut tabs {
        match tab.id {
            "memory" => tab.blocks.append(&mut snapshots.blocks),
            "overview" => tab.blocks.extend(checks(report)),
            "system" => tab.blocks.extend(details(report)),
            _ => {}
        }
    }
    tabs.push(traces(&report.trace_files, None));
    let title = match ranks {
        Some(ranks) => title(&ranks.job),
        None => run_name(report).into(),
    };
    Contents::new(title, Some(screen.drawn()), tabs, MAX_BYTES)
}

/// Of traces alone, and as ranks of one job, and of memory snapshots beside them.
pub(super) fn of_traces<'a>(
    title: String,
    (files, ranks): (&[TraceFile], Option<&TraceRanks>),
    memory: &[SnapshotFile],
    screen: Option<&'a FirstScreen>,
) -> Contents<'a> {
    let mut all = traces(files, ranks);
    all.id = "overview";
    all.title = "Overview".into();
    let drawn = screen.map(FirstScreen::drawn);
    let tabs = vec![all, snapshots::tab(memory, false)];
    Contents::new(title, drawn, tabs, MAX_BYTES)
}

fn traces(files: &[TraceFile], ranks: Option<&TraceRanks>) -> Tab {
    let each = files.iter().map(|file| trace_document(file, ALL, true));
    let together = ranks.map(|ranks| ranks_document(ranks, ALL));
    let blocks = each.chain(together).flat_map(|file| file.blocks);
    Tab { id: "trace", title: "Trace".into(), blocks: blocks.collect() }
}

/// Each check that passed or could not be made: a page has room for them.
fn checks(report: &Report) -> Option<Block> {
    let found = &report.activity.findings;
    let passed = found.passed.iter();
    let passed = passed.map(|one| (one.rule, one.checks, "nothing is the matter", &one.what));
    let unchecked = found.unchecked.iter();
    let unchecked = unchecked.map(|one| (one.rule, one.checks, "could not be made", &one.why));
    let table = Table::of_each(
        "checks",
        "",
        passed.chain(unchecked),
        &[
            ("rule", "Rule", &|(rule, ..)| Cell::text(*rule)),
            ("checks", "Whether", &|(_, checks, ..)| Cell::text(*checks)),
            ("came_to", "Came to", &|(.., came_to, _)| Cell::text(*came_to)),
            ("why", "What was seen, or is not known", &|(.., why)| Cell::text(*why)),
        ],
    );
    (!table.rows.is_empty()).then(|| Block::Aside("All checks".into(), vec![Block::Table(table)]))
}

/// What only who looks for it wants to know.
fn details(report: &Report) -> Vec<Block> {
    let unavailable = Table::of_each(
        "unavailable",
        "What could not be read, and why",
        &report.quality.unavailable,
        &[
            ("what", "What", &|one| Cell::text(&one.what)),
            ("why", "Why", &|one| Cell::text(&one.why)),
        ],
    );
    let events = Table::of_each(
        "events",
        "Events",
        &report.activity.events,
        &[
            ("name", "Event", &|one| Cell::name(&one.name)),
            ("at_ns", "At", &|one| Cell::Moment(one.at_ns)),
            ("data", "Data", &|one| Cell::known(one.data.text(), Cell::Name)),
        ],
    );
    let open = Table::of_each(
        "open",
        "Had not ended",
        &report.quality.open,
        &[
            ("path", "Section", &|one| Cell::name(joined_path(report, one.node))),
            ("start_ns", "Entered at", &|one| Cell::Moment(one.start_ns)),
            ("so_far_ns", "So far", &|one| Cell::Duration(one.so_far_ns)),
            ("thread", "Thread", &|one| Cell::known(one.thread.clone(), Cell::Name)),
        ],
    );
    let tables = [open, events, unavailable].into_iter();
    let tables = tables.filter(|table| !table.rows.is_empty());
    tables.map(Block::Table).collect()
}
