//! What devices and hosts told each other.

use marey_analysis::{Communication, RankCommunication};

use super::kernels::named;
use crate::document::{Cell, Table};

pub(super) fn table(rows: &[Communication], title: String) -> Table {
    let table = Table::of_each(
        "communication",
        title,
        rows,
        &[
            ("name", "Collective", &|r| Cell::text(&r.name)),
            ("group", "Group", &|r| Cell::text_of(&r.group)),
            ("group_size", "Ranks", &|r| Cell::count(r.group_size)),
            ("element_type", "Type", &|r| Cell::text_of(&r.element_type)),
            ("count", "Count", &|r| Cell::Count(r.count)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("mean_ns", "Mean", &|r| Cell::Mean(r.mean_ns)),
            ("p95_ns", "p95", &|r| Cell::Duration(r.p95_ns)),
            ("bytes_in", "Bytes in", &|r| Cell::bytes(r.bytes_in)),
            ("bytes_out", "Bytes out", &|r| Cell::bytes(r.bytes_out)),
            ("algorithm_bytes_per_second", "Speed", &|r| {
                Cell::known(r.algorithm_bytes_per_second, Cell::BytesPerSecond)
            }),
            ("bus_bytes_per_second", "Bus speed", &|r| {
                Cell::known(r.bus_bytes_per_second, Cell::BytesPerSecond)
            }),
            ("overlapped_ns", "Overlapped", &|r| Cell::duration(r.overlapped_ns)),
            ("exposed_ns", "Exposed", &|r| Cell::duration(r.exposed_ns)),
            ("launched_in", "Launched in", &|r| Cell::text_of(&r.launched_in)),
            ("told_by", "Told by", &|r| named(&r.told_by)),
        ],
    );
    table.noted_if(
        rows.iter().any(|r| r.algorithm_bytes_per_second.is_some()),
        "Times have waiting for other ranks in them, so that speeds are lower limits.",
    )
}

/// What ranks waited for each other: by rank.
pub fn rank_tables(answers: &RankCommunication) -> Vec<Table> {
    vec![ranks(answers), collectives(answers)]
}

fn ranks(answers: &RankCommunication) -> Table {
    let table = Table::of_each(
        "ranks_communication",
        "Communication by rank",
        &answers.ranks,
        &[
            ("rank", "Rank", &|r| Cell::known(r.rank.map(|rank| rank.to_string()), Cell::Text)),
            ("n_calls", "Calls", &|r| Cell::Count(r.n_calls)),
            ("n_matched", "Matched", &|r| Cell::Count(r.n_matched)),
            ("total_ns", "Total", &|r| Cell::duration(r.total_ns)),
            ("transfer_ns", "Transfer", &|r| Cell::duration(r.transfer_ns)),
            ("waiting_ns", "Waiting", &|r| Cell::duration(r.waiting_ns)),
            ("waiting_ratio", "Waiting %", &|r| Cell::ratio(r.waiting_ratio)),
            ("n_last", "Last to come", &|r| Cell::count(r.n_last)),
        ],
    );
    table.noted("The rank that waits least is the one that others wait for.")
}

fn collectives(answers: &RankCommunication) -> Table {
    let table = Table::of_each(
        "ranks_collectives",
        "Communication over all ranks",
        &answers.collectives,
        &[
            ("name", "Collective", &|r| Cell::text(&r.name)),
            ("group", "Group", &|r| Cell::text_of(&r.group)),
            ("n_ranks", "Ranks", &|r| Cell::Count(r.n_ranks)),
            ("n_calls", "Calls on each", &|r| Cell::count(r.n_calls)),
            ("transfer_ns", "Transfer", &|r| Cell::duration(r.transfer_ns)),
            ("waiting_ns", "Waiting of all", &|r| Cell::duration(r.waiting_ns)),
        ],
    );
    table.noted_if(
        answers.collectives.iter().any(|row| row.n_calls.is_none()),
        "Where ranks have a different number of calls, the traces do not cover the same ones.",
    )
}
