//! World sizes against each other.

use marey_analysis::ranks::RanksAnswers;

use super::figure;
use crate::document::{Cell, Table};

/// A row a world size.
pub(super) fn table(answers: &RanksAnswers) -> Table {
    let scaling = answers.scaling.as_ref();
    let rows = scaling.into_iter().flat_map(|scaling| &scaling.rows);
    let mut table = Table::of_each(
        "scaling",
        "Scaling",
        rows,
        &[
            ("world_size", "Ranks", &|r| Cell::Count(r.world_size.into())),
            ("n_jobs", "Jobs", &|r| Cell::Count(r.n_jobs)),
            ("duration_ns", "Duration", &|r| Cell::Mean(r.duration_ns)),
            ("speedup", "Speed-up", &|r| figure(Some(r.speedup))),
            ("shared_efficiency", "Efficiency, shared", &|r| Cell::Ratio(r.shared_efficiency)),
            ("own_efficiency", "Efficiency, own", &|r| Cell::Ratio(r.own_efficiency)),
            ("waiting_ratio", "Waiting", &|r| Cell::ratio(r.waiting_ratio)),
            ("communication_ratio", "Communication", &|r| Cell::ratio(r.communication_ratio)),
        ],
    );
    table.notes.extend(scaling.map(|scaling| format!("Compared by: {}.", scaling.measure)));
    table.noted("Shared: all ranks make one generation together. Own: each makes its own. Only one of the two is right for a job.")
}
