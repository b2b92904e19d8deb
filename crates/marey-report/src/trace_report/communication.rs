//! What devices and hosts exchanged.

use marey_analysis::{Communication, RankCommunication};

use crate::document::{Table, named};

pub(super) fn table(rows: &[Communication], title: &str) -> Table {
    let table = Table::of_fields(
        "communication",
        title,
        rows,
        "name: Collective, group: Group, group_size: Ranks, element_type: Type, count: Count, \
         total_ns: Total, mean_ns: Mean, p95_ns: p95, bytes_in: Bytes in, bytes_out: Bytes out, \
         algorithm_bytes_per_second: Speed, bus_bytes_per_second: Bus speed, overlapped_ns: Overlapped, \
         exposed_ns: Exposed, launched_in: Launched in, told_by: Known from",
    );
    table.shows("told_by", rows, |row| named(&row.told_by)).noted_if(
        rows.iter().any(|row| row.algorithm_bytes_per_second.is_some()),
        "Times have waiting for other ranks in them, so that speeds are lower limits.",
    )
}

/// What ranks waited for each other: by rank, and by collective.
pub fn rank_tables(answers: &RankCommunication) -> Vec<Table> {
    let ranks = Table::of_fields(
        "ranks_communication",
        "Communication by rank",
        &answers.ranks,
        "rank: Rank, n_calls: Calls, n_matched: Matched, total_ns: Total, transfer_ns: Transfer, \
         waiting_ns: Waiting, waiting_ratio: Waiting %, n_last: Last to come",
    );
    let collectives = Table::of_fields(
        "ranks_collectives",
        "Communication over all ranks",
        &answers.collectives,
        "name: Collective, group: Group, n_ranks: Ranks, n_calls: Calls on each, transfer_ns: Transfer, \
         waiting_ns: Waiting of all",
    );
    let collectives = collectives.noted_if(
        answers.collectives.iter().any(|row| row.n_calls.is_none()),
        "Where ranks have a different number of calls, the traces do not cover the same ones.",
    );
    vec![ranks.noted("The rank that waits least is the one that others wait for."), collectives]
}
