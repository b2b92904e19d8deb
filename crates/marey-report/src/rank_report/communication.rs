//! Communication: transfer, and waiting for others.

use marey_analysis::ranks::{CollectiveWaiting, JobAnswers, Waiting};

use super::places::Places;
use crate::document::{Cell, Table};

/// By rank, and by collective.
pub(super) fn tables(job: &JobAnswers, places: Places<'_>) -> Vec<Table> {
    let waiting = job.waiting.iter();
    waiting.flat_map(|waiting| [by_rank(waiting, places), by_collective(waiting, places)]).collect()
}

fn by_rank(waiting: &Waiting, places: Places<'_>) -> Table {
    let mut rows: Vec<_> = waiting.ranks.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.caused_ns), row.place));
    let columns = "rank: Rank, n_calls: Calls, n_matched: Matched, total_ns: Total, transfer_ns: Transfer,
        waiting_ns: Waiting, waiting_ratio: Waiting %, n_last: Last to come, caused_ns: Others waited";
    let table = Table::of_fields("ranks_communication", "Communication by rank", &rows, columns);
    let table = table.shows("rank", rows, |row| places.cell(row.place));
    table.noted(
        "Transfer is what the fastest rank of each call took; the rest is waiting for the last to come.",
    )
}

fn by_collective(waiting: &Waiting, places: Places<'_>) -> Table {
    let rows = || waiting.collectives.iter();
    let columns = "name: Collective, group: Group, measured_on: Measured on, n_ranks: Ranks,
        n_calls: Calls on each, transfer_ns: Transfer, waiting_ns: Waiting of all, bytes: Bytes of all,
        n_failed: Failed, failed_ns: Failed after";
    let table =
        Table::of_fields("ranks_collectives", "Communication by collective", rows(), columns)
            .shows("name", rows(), |row| {
                let start_up = if row.is_start_up { " (start-up)" } else { "" };
                Cell::Text(format!("{}{start_up}", row.name))
            })
            .shows("group", rows(), |row| Cell::known(group_of(row, places), Cell::Text))
            .shows("measured_on", rows(), |row| {
                Cell::text(if row.is_device { "device" } else { "host" })
            })
            .shows("failed_ns", rows(), |row| {
                Cell::duration((row.n_failed > 0).then_some(row.failed_ns))
            });
    let is_alone = |row: &CollectiveWaiting| row.n_calls.is_some() && row.transfer_ns.is_none();
    let is_unmatched = |is_ambiguous: bool| {
        rows().any(|row| row.n_calls.is_none() && row.is_ambiguous == is_ambiguous)
    };
    table
        .noted_if(
            rows().any(|row| row.name.ends_with(" wait")),
            "Times of `… wait` are those of waiting for the end of asynchronous calls.",
        )
        .noted_if(
            rows().any(|row| row.n_ranks > 1 && is_alone(row)),
            "Messages between two ranks, and calls that nobody waited for, are not matched.",
        )
        .noted_if(
            rows().any(|row| row.n_missing > 0 && row.transfer_ns.is_some()),
            "Members of groups have no file here: transfer is at most what is said, waiting at least.",
        )
        .noted_if(
            is_unmatched(true),
            "Where several groups have one name, nothing is matched: give each a name of its own.",
        )
        .noted_if(
            is_unmatched(false),
            "Where ranks have a different number of calls, nothing is matched: they did not do the same.",
        )
}

/// Its name, with its ranks where several groups have that.
fn group_of(row: &CollectiveWaiting, places: Places<'_>) -> Option<String> {
    if row.places.is_empty() {
        return row.group.clone();
    }
    let group = row.group.as_deref().unwrap_or("?");
    Some(format!("{group} (ranks {})", places.list(&row.places)))
}
