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
    let table = Table::of_each(
        "ranks_communication",
        "Communication by rank",
        rows,
        &[
            ("rank", "Rank", &|r| places.cell(r.place)),
            ("n_calls", "Calls", &|r| Cell::Count(r.n_calls)),
            ("n_matched", "Matched", &|r| Cell::Count(r.n_matched)),
            ("total_ns", "Total", &|r| Cell::Duration(r.total_ns)),
            ("transfer_ns", "Transfer", &|r| Cell::Duration(r.transfer_ns)),
            ("waiting_ns", "Waiting", &|r| Cell::Duration(r.waiting_ns)),
            ("waiting_ratio", "Waiting %", &|r| Cell::ratio(r.waiting_ratio)),
            ("n_last", "Last to come", &|r| Cell::Count(r.n_last)),
            ("caused_ns", "Others waited", &|r| Cell::Duration(r.caused_ns)),
        ],
    );
    table.noted(
        "Transfer is what the fastest rank of each call took; the rest is waiting for the last to come.",
    )
}

fn by_collective(waiting: &Waiting, places: Places<'_>) -> Table {
    let table = Table::of_each(
        "ranks_collectives",
        "Communication by collective",
        &waiting.collectives,
        &[
            ("name", "Collective", &|r| {
                Cell::text(if r.is_start_up {
                    format!("{} (start-up)", r.name)
                } else {
                    r.name.clone()
                })
            }),
            ("group", "Group", &|r| Cell::known(group_of(r, places), Cell::Text)),
            ("measured_on", "Measured on", &|r| {
                Cell::text(if r.is_device { "device" } else { "host" })
            }),
            ("n_ranks", "Ranks", &|r| Cell::Count(r.n_ranks)),
            ("n_calls", "Calls on each", &|r| Cell::count(r.n_calls)),
            ("transfer_ns", "Transfer", &|r| Cell::duration(r.transfer_ns)),
            ("waiting_ns", "Waiting of all", &|r| Cell::duration(r.waiting_ns)),
            ("bytes", "Bytes of all", &|r| Cell::bytes(r.bytes)),
            ("n_failed", "Failed", &|r| Cell::Count(r.n_failed)),
            ("failed_ns", "Failed after", &|r| {
                Cell::duration((r.n_failed > 0).then_some(r.failed_ns))
            }),
        ],
    );
    let rows = || waiting.collectives.iter();
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
