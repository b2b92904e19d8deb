//! Who is slow, and who only waits.

use marey_analysis::ranks::JobAnswers;

use super::places::Places;
use crate::document::{Cell, Table, named};

/// A row a rank, the highest score first.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut table = Table::of_each(
        "stragglers",
        "Stragglers",
        &job.stragglers.ranks,
        &[
            ("rank", "Rank", &|r| places.cell(r.place)),
            ("verdict", "Verdict", &|r| named(&r.verdict)),
            ("score", "Slower by", &|r| Cell::Ratio(r.score)),
            ("own_ns", "Own time", &|r| Cell::Duration(r.own_ns)),
            ("waiting_ns", "Waits", &|r| Cell::duration(r.waiting_ns)),
        ],
    );
    let basis = Some(&job.stragglers.basis).filter(|words| !words.is_empty());
    table.notes.extend(basis.cloned());
    let late = job.stragglers.ranks.iter().find_map(|rank| rank.since_ns);
    let of_late = late.map(|_| "Of a rank that became slow, slower by is of the time since then.");
    table.notes.extend(of_late.map(Into::into));
    table
}
