//! What is the matter with single ranks.

use marey_analysis::ranks::JobAnswers;

use super::places::Places;
use crate::document::{Cell, Table};

/// A row a rule.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let table = Table::of_each(
        "rank_findings",
        "Findings of single ranks",
        &job.rank_findings,
        &[
            ("rule", "Finding", &|r| Cell::Text(r.rule.clone())),
            ("severity", "Severity", &|r| Cell::Text(r.severity.clone())),
            ("n_ranks", "Ranks", &|r| Cell::Count(r.places.len() as u64)),
            ("ranks", "Which", &|r| Cell::Text(places.list(&r.places))),
            ("issue", "For example", &|r| Cell::Text(r.issue.clone())),
        ],
    );
    table
        .noted("As reports of single ranks say it; captures and traces are not asked rank by rank.")
}
