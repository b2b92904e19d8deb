//! World sizes against each other.

use marey_analysis::ranks::RanksAnswers;

use super::{figure, mean};
use crate::document::{Cell, Table};

/// A row a world size.
pub(super) fn table(answers: &RanksAnswers) -> Table {
    let mut table = Table::new(
        "scaling",
        "Scaling",
        &[
            ("world_size", "Ranks"),
            ("n_jobs", "Jobs"),
            ("duration_ns", "Duration"),
            ("speedup", "Speed-up"),
            ("shared_efficiency", "Efficiency, shared"),
            ("own_efficiency", "Efficiency, own"),
            ("waiting_ratio", "Waiting"),
            ("communication_ratio", "Communication"),
        ],
    );
    let Some(scaling) = &answers.scaling else {
        return table;
    };
    for row in &scaling.rows {
        table.row(vec![
            Cell::Count(row.world_size.into()),
            Cell::Count(row.n_jobs),
            mean(Some(row.duration_ns)),
            figure(Some(row.speedup)),
            Cell::Ratio(row.shared_efficiency),
            Cell::Ratio(row.own_efficiency),
            Cell::ratio(row.waiting_ratio),
            Cell::ratio(row.communication_ratio),
        ]);
    }
    table
        .notes
        .push(format!("Compared by: {}.", scaling.measure));
    table.notes.push(
        "Shared: all ranks make one generation together. Own: each makes its own. Only one of the two is right for a job.".into(),
    );
    table
}
