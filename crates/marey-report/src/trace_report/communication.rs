//! What devices and hosts told each other.

use marey_analysis::{Communication, RankCommunication};

use super::kernels::name_of;
use crate::document::{Cell, Table};

pub(super) fn table(rows: &[Communication], title: String) -> Table {
    let mut table = Table::new(
        "communication",
        title,
        &[
            ("name", "Collective"),
            ("group", "Group"),
            ("group_size", "Ranks"),
            ("element_type", "Type"),
            ("count", "Count"),
            ("total_ns", "Total"),
            ("mean_ns", "Mean"),
            ("p95_ns", "p95"),
            ("bytes_in", "Bytes in"),
            ("bytes_out", "Bytes out"),
            ("algorithm_bytes_per_second", "Speed"),
            ("bus_bytes_per_second", "Bus speed"),
            ("overlapped_ns", "Overlapped"),
            ("exposed_ns", "Exposed"),
            ("launched_in", "Launched in"),
            ("told_by", "Told by"),
        ],
    );
    for row in rows {
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::known(row.group.clone(), Cell::Text),
            Cell::count(row.group_size),
            Cell::known(row.element_type.clone(), Cell::Text),
            Cell::Count(row.count),
            Cell::Duration(row.total_ns),
            Cell::Mean(row.mean_ns),
            Cell::Duration(row.p95_ns),
            Cell::bytes(row.bytes_in),
            Cell::bytes(row.bytes_out),
            Cell::known(row.algorithm_bytes_per_second, Cell::BytesPerSecond),
            Cell::known(row.bus_bytes_per_second, Cell::BytesPerSecond),
            Cell::duration(row.overlapped_ns),
            Cell::duration(row.exposed_ns),
            Cell::known(row.launched_in.clone(), Cell::Text),
            Cell::text(name_of(&row.told_by)),
        ]);
    }
    if rows.iter().any(|r| r.algorithm_bytes_per_second.is_some()) {
        let waiting =
            "Times have waiting for other ranks in them, so that speeds are lower limits.";
        table.notes.push(waiting.into());
    }
    table
}

/// What ranks waited for each other: by rank.
pub fn rank_tables(answers: &RankCommunication) -> Vec<Table> {
    vec![ranks(answers), collectives(answers)]
}

fn ranks(answers: &RankCommunication) -> Table {
    let mut table = Table::new(
        "ranks_communication",
        "Communication by rank",
        &[
            ("rank", "Rank"),
            ("n_calls", "Calls"),
            ("n_matched", "Matched"),
            ("total_ns", "Total"),
            ("transfer_ns", "Transfer"),
            ("waiting_ns", "Waiting"),
            ("waiting_ratio", "Waiting %"),
            ("n_last", "Last to come"),
        ],
    );
    for rank in &answers.ranks {
        table.row(vec![
            Cell::known(rank.rank.map(|rank| rank.to_string()), Cell::Text),
            Cell::Count(rank.n_calls),
            Cell::Count(rank.n_matched),
            Cell::duration(rank.total_ns),
            Cell::duration(rank.transfer_ns),
            Cell::duration(rank.waiting_ns),
            Cell::ratio(rank.waiting_ratio),
            Cell::count(rank.n_last),
        ]);
    }
    let slow = "The rank that waits least is the one that others wait for.";
    table.notes.push(slow.into());
    table
}

fn collectives(answers: &RankCommunication) -> Table {
    let mut table = Table::new(
        "ranks_collectives",
        "Communication over all ranks",
        &[
            ("name", "Collective"),
            ("group", "Group"),
            ("n_ranks", "Ranks"),
            ("n_calls", "Calls on each"),
            ("transfer_ns", "Transfer"),
            ("waiting_ns", "Waiting of all"),
        ],
    );
    for row in &answers.collectives {
        table.row(vec![
            Cell::text(row.name.as_str()),
            Cell::known(row.group.clone(), Cell::Text),
            Cell::Count(row.n_ranks),
            Cell::count(row.n_calls),
            Cell::duration(row.transfer_ns),
            Cell::duration(row.waiting_ns),
        ]);
    }
    if answers.collectives.iter().any(|row| row.n_calls.is_none()) {
        let unmatched =
            "Where ranks have a different number of calls, the traces do not cover the same ones.";
        table.notes.push(unmatched.into());
    }
    table
}
