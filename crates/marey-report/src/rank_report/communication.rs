//! Communication: transfer, and waiting for others.

use marey_analysis::ranks::{CollectiveWaiting, JobAnswers, Waiting};

use super::places::Places;
use crate::document::{Cell, Table};

/// By rank, and by collective.
pub(super) fn tables(job: &JobAnswers, places: Places<'_>) -> Vec<Table> {
    let waiting = job.waiting.iter();
    waiting
        .flat_map(|waiting| [by_rank(waiting, places), by_collective(waiting, places)])
        .collect()
}

fn by_rank(waiting: &Waiting, places: Places<'_>) -> Table {
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
            ("error_ns", "±"),
            ("waiting_ratio", "Waiting %"),
            ("n_last", "Last to come"),
            ("caused_ns", "Others waited"),
        ],
    );
    let mut rows: Vec<_> = waiting.ranks.iter().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.caused_ns), row.place));
    for row in rows {
        table.row(vec![
            places.cell(row.place),
            Cell::Count(row.n_calls),
            Cell::Count(row.n_matched),
            Cell::Duration(row.total_ns),
            Cell::Duration(row.transfer_ns),
            Cell::Duration(row.waiting_ns),
            Cell::duration(row.error_ns),
            Cell::ratio(row.waiting_ratio),
            Cell::Count(row.n_last),
            Cell::Duration(row.caused_ns),
        ]);
    }
    table.notes.push(
        "Transfer is what the fastest rank of each call took; the rest is waiting for the last to come.".into(),
    );
    let estimated = waiting.ranks.iter().filter(|row| row.error_ns.is_some());
    if let Some(row) = estimated.max_by_key(|row| row.error_ns) {
        table.notes.push(format!(
            "± is a standard error: of {} calls of a rank {} are looked at, and the others estimated. So are the calls to which it was the \
             last to come, and what others waited.",
            row.n_matched, row.n_looked_at
        ));
    }
    table
}

fn by_collective(waiting: &Waiting, places: Places<'_>) -> Table {
    let mut table = Table::new(
        "ranks_collectives",
        "Communication by collective",
        &[
            ("name", "Collective"),
            ("group", "Group"),
            ("measured_on", "Measured on"),
            ("n_ranks", "Ranks"),
            ("n_calls", "Calls on each"),
            ("transfer_ns", "Transfer"),
            ("error_ns", "±"),
            ("waiting_ns", "Waiting of all"),
            ("bytes", "Bytes of all"),
            ("n_failed", "Failed"),
            ("failed_ns", "Failed after"),
        ],
    );
    for row in &waiting.collectives {
        table.row(vec![
            Cell::text(if row.is_start_up {
                format!("{} (start-up)", row.name)
            } else {
                row.name.clone()
            }),
            Cell::known(group_of(row, places), Cell::Text),
            Cell::text(if row.is_device { "device" } else { "host" }),
            Cell::Count(row.n_ranks),
            Cell::count(row.n_calls),
            Cell::duration(row.transfer_ns),
            Cell::duration(row.error_ns),
            Cell::duration(row.waiting_ns),
            Cell::bytes(row.bytes),
            Cell::Count(row.n_failed),
            Cell::duration((row.n_failed > 0).then_some(row.failed_ns)),
        ]);
    }
    let rows = || waiting.collectives.iter();
    if rows().any(|row| row.name.ends_with(" wait")) {
        table.notes.push(
            "Times of `… wait` are those of waiting for the end of asynchronous calls.".into(),
        );
    }
    let is_alone = |row: &CollectiveWaiting| row.n_calls.is_some() && row.transfer_ns.is_none();
    if rows().any(|row| row.n_ranks > 1 && is_alone(row)) {
        table.notes.push(
            "Messages between two ranks, and calls that nobody waited for, are not matched.".into(),
        );
    }
    let unmatched = rows().filter(|row| row.n_calls.is_none());
    let (ambiguous, others): (Vec<_>, Vec<_>) = unmatched.partition(|row| row.is_ambiguous);
    if !ambiguous.is_empty() {
        table.notes.push(
            "Where several groups have one name, and neither their calls nor clocks tell which ranks are one, nothing is matched.".into(),
        );
    }
    if !others.is_empty() {
        table.notes.push(
            "Where ranks have a different number of calls, nothing is matched: they did not do the same.".into(),
        );
    }
    table
}

/// Its name, with its ranks where several groups have that.
fn group_of(row: &CollectiveWaiting, places: Places<'_>) -> Option<String> {
    if row.places.is_empty() {
        return row.group.clone();
    }
    let group = row.group.as_deref().unwrap_or("?");
    Some(format!("{group} (ranks {})", places.list(&row.places)))
}

#[cfg(test)]
mod tests {
    use marey_analysis::ranks::{Member, RankWaitingRow};

    use super::*;

    #[test]
    fn errors_are_shown_where_calls_were_not_looked_at() {
        let members = [Member::default(), Member::default()];
        let row = |place: u32, error_ns: Option<u64>| RankWaitingRow {
            place,
            n_matched: 4000,
            n_looked_at: 958,
            error_ns,
            ..RankWaitingRow::default()
        };
        let table = |error_ns| {
            let waiting = Waiting {
                ranks: vec![row(0, None), row(1, error_ns)],
                collectives: vec![CollectiveWaiting {
                    error_ns,
                    ..CollectiveWaiting::default()
                }],
            };
            let places = Places(&members);
            [by_rank(&waiting, places), by_collective(&waiting, places)]
        };
        let errors = |table: &Table| -> Vec<Cell> {
            let at = table.columns.iter().position(|one| one.title == "±");
            let rows = table.rows.iter();
            rows.filter_map(|row| row.get(at?).cloned()).collect()
        };
        let [ranks, collectives] = table(Some(7));
        assert_eq!(errors(&ranks), [Cell::Absent, Cell::Duration(7)]);
        assert_eq!(errors(&collectives), [Cell::Duration(7)]);
        assert!(ranks.notes[1].contains("of 4000 calls of a rank 958 are looked at"));
        let [ranks, collectives] = table(None);
        assert_eq!(errors(&ranks), [Cell::Absent, Cell::Absent]);
        assert_eq!(errors(&collectives), [Cell::Absent]);
        assert_eq!(ranks.notes.len(), 1);
    }
}
