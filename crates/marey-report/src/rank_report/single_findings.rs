//! What is the matter with single ranks.

use marey_analysis::ranks::JobAnswers;

use super::places::Places;
use crate::document::{Cell, Table};

/// A row a rule.
pub(super) fn table(job: &JobAnswers, places: Places<'_>) -> Table {
    let mut table = Table::new(
        "rank_findings",
        "Findings of single ranks",
        &[
            ("rule", "Finding"),
            ("severity", "Severity"),
            ("n_ranks", "Ranks"),
            ("ranks", "Which"),
            ("issue", "For example"),
        ],
    );
    for row in &job.rank_findings {
        table.row(vec![
            Cell::Text(row.rule.clone()),
            Cell::Text(row.severity.clone()),
            Cell::Count(row.places.len() as u64),
            Cell::Text(places.list(&row.places)),
            Cell::Text(row.issue.clone()),
        ]);
    }
    table.notes.push(
        "As reports of single ranks say it; captures and traces are not asked rank by rank.".into(),
    );
    table
}
