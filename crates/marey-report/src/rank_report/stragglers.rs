//! Who is slow, and who only waits.

use marey_analysis::ranks::JobAnswers;

use super::places::Places;
use crate::document::{Cell, Table};
use crate::trace_report::kernels::named;

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
    table
}
