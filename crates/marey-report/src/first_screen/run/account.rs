//! Where the time of a run went, in few rows that add up.

use marey_analysis::{Account, AccountRow};

use super::note::Note;
use crate::first_screen::parts::{TimeNode, TimePart, is_waiting, time_parts};
use crate::first_screen::{AccountRows, Part, Row, RowFacts};
use crate::model::Report;
use crate::quantity::{Column, Unit, float, given_out, like};

/// Of a run's report, with how often a request is counted in it. `None` where nothing was recorded that could be a row, or where it is
/// not known what held the run up.
pub(super) fn account(report: &Report) -> Option<AccountRows> {
    let Some(requests) = &report.requests else {
        let total_ns = total_ns(report);
        let rows = rows(report, report.account.as_ref()?, total_ns, 1);
        return AccountRows::new("wall", Unit::Time, total_ns, rows);
    };
    let n = requests.durations_ns.len() as u64;
    let sum_ns = requests.account.wall_ns;
    let rows = rows(report, &requests.account, sum_ns, n);
    let mut mean = AccountRows::new("mean_request", Unit::Time, sum_ns, rows)?;
    mean.total = sum_ns / n.max(1);
    let held: Vec<u64> = mean.rows.iter().map(|row| row.held).collect();
    for (row, held) in mean.rows.iter_mut().zip(given_out(mean.total, &held)) {
        row.held = held;
    }
    let durations = &requests.durations_ns;
    let beside = |ns: u64| like(float(ns), float(mean.total));
    let total = Column::of(Unit::Time, mean.total).text(mean.total);
    mean.head = Some(format!(
        "Time of a request, mean of {n}: {total} (p50 {}, max {})",
        beside(durations[durations.len().div_ceil(2) - 1]),
        beside(durations.last().copied().unwrap_or(0))
    ));
    mean.n_requests = Some(n);
    Some(mean)
}

/// Wall time of the command where its launcher saw it, else of the run.
pub(super) fn total_ns(report: &Report) -> u64 {
    let launch = report.run.launch.as_ref();
    let own = launch.filter(|launch| launch.pid == report.run.pid && report.session.is_none());
    let seen = own.and_then(|launch| launch.wall_ns).unwrap_or(0);
    seen.max(report.run.wall_ns)
}

/// The largest parts, of as many requests.
fn rows(report: &Report, account: &Account, total_ns: u64, n_requests: u64) -> Vec<Row> {
    let described = |row: &AccountRow| report.section_row(row.node);
    let nodes: Vec<TimeNode<'_>> = account
        .rows
        .iter()
        .map(|row| TimeNode {
            name: described(row).map_or("", |found| found.name.as_str()),
            parent: row.parent,
            is_iteration: report.is_iteration(row.node),
            held_ns: row.held_ns,
            self_ns: row.self_ns,
        })
        .collect();
    let row = |part: TimePart| {
        let nodes = part.nodes.iter().map(|index| account.rows[*index].node);
        let nodes: Vec<u32> = nodes.collect();
        let note = Note::new(report, &nodes, part.held_ns, part.is_rest, n_requests);
        let is_open = !part.is_rest && nodes.iter().any(|node| is_open(report, *node));
        Row {
            part: if is_waiting(&part.name) { Part::Waiting } else { Part::Work },
            facts: RowFacts { is_open, ..note.as_ref().map(|note| note.facts).unwrap_or_default() },
            note: note.map(|note| note.text),
            ..Row::new(part.name, part.held_ns)
        }
    };
    time_parts(&nodes, total_ns).into_iter().map(row).collect()
}

fn is_open(report: &Report, node: u32) -> bool {
    let row = report.section_row(node);
    row.is_some_and(|row| row.open.is_some())
}
