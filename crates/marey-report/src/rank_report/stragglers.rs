//! Who is slow, and who only waits.

use marey_analysis::ranks::JobAnswers;

use super::places::Places;
use crate::document::{Cell, Table};
use crate::trace_report::kernels::name_of;

/// A row a rank, the highest score first.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut table = Table::new(
        "stragglers",
        "Stragglers",
        &[
            ("rank", "Rank"),
            ("verdict", "Verdict"),
            ("score", "Slower by"),
            ("own_ns", "Own time"),
            ("waiting_ns", "Waits"),
        ],
    );
    for rank in &job.stragglers.ranks {
        table.row(vec![
            places.cell(rank.place),
            Cell::text(name_of(&rank.verdict)),
            Cell::Ratio(rank.score),
            Cell::Duration(rank.own_ns),
            Cell::duration(rank.waiting_ns),
        ]);
    }
    table.notes.extend(said(&job.stragglers.basis));
    table
}

fn said(words: &str) -> Option<String> {
    (!words.is_empty()).then(|| words.to_owned())
}
