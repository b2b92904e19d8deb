//! What devices and hosts exchanged.

use marey_analysis::{Communication, RankCommunication};

use super::columns::table;
use crate::document::{Table, named};

pub(super) fn communication(rows: &[Communication], title: &str) -> Table {
    let table = Table { title: title.into(), ..table("communication", rows) };
    table.shows("told_by", rows, |row| named(&row.told_by)).noted_if(
        rows.iter().any(|row| row.algorithm_bytes_per_second.is_some()),
        "Times have waiting for other ranks in them, so that speeds are lower limits.",
    )
}

/// What ranks waited for each other: by rank, and by collective.
pub fn rank_tables(answers: &RankCommunication) -> Vec<Table> {
    let ranks = table("ranks_communication", &answers.ranks);
    let collectives = table("ranks_collectives", &answers.collectives);
    let collectives = collectives.noted_if(
        answers.collectives.iter().any(|row| row.n_calls.is_none()),
        "Where ranks have a different number of calls, the traces do not cover the same ones.",
    );
    vec![ranks.noted("The rank that waits least is the one that others wait for."), collectives]
}
