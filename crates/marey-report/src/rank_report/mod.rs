//! What the ranks of jobs did together, as tables: one file a question. Formats are elsewhere and know nothing of ranks.

mod communication;
mod completeness;
pub(crate) mod documented;
mod members;
mod places;
mod resources;
mod shown;
mod side_by_side;

use marey_analysis::ranks::{JobAnswers, RanksAnswers};

use crate::document::{Cell, Table};
use places::Places;
use side_by_side::{each_iteration, iterations, scaling, sections, single_findings, stragglers};

pub use places::listed_ranks;
pub(crate) use places::ranges;
pub use shown::{RankedJob, aggregation_document, ranks_tables};

/// The answers about a job, in the order in which they are worth reading. Tables without rows are left out.
pub(crate) fn job_tables(job: &JobAnswers) -> Vec<Table> {
    let places = Places(&job.members);
    let mut tables = vec![
        completeness::table(job),
        members::table(job, places),
        stragglers(job, places),
        iterations(job, places),
        each_iteration("steps", "Steps, the most uneven first", job.steps.as_ref(), places),
        each_iteration("blocks", "Blocks, the most uneven first", job.blocks.as_ref(), places),
        sections(job, places),
    ];
    tables.extend(communication::tables(job, places));
    tables.extend(resources::tables(job, places));
    tables.push(single_findings(job, places));
    tables.retain(|table| !table.rows.is_empty());
    let tables = tables.into_iter();
    tables.map(|table| table.of("job", &job.job_id)).collect()
}

/// What is about several jobs, or none. Tables without rows are left out.
pub(crate) fn jobs_tables(answers: &RanksAnswers) -> Vec<Table> {
    let mut tables = vec![scaling(answers), completeness::unread(answers)];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// A figure with two decimals: more of them say nothing of cores and speed-ups.
fn figure(value: Option<f64>) -> Cell {
    Cell::known(value, |value| Cell::Number((value * 100.0).round() / 100.0))
}
