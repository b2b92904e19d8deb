//! What the ranks of jobs did together, as tables: one file a question. Formats are elsewhere and know nothing of ranks.

mod communication;
mod completeness;
pub(crate) mod documented;
mod iterations;
mod members;
mod places;
mod ranked_job;
mod resources;
mod scaling;
mod sections;
mod shown;
mod single_findings;
mod stragglers;

use marey_analysis::ranks::{JobAnswers, RanksAnswers};

use crate::document::{Cell, Table};
use places::Places;

pub use places::listed_ranks;
pub(crate) use places::ranges;
pub use ranked_job::RankedJob;
pub(crate) use shown::job_document;
pub use shown::{aggregation_document, ranks_tables};

/// The answers about a job, in the order in which they are worth reading. Tables without rows are left out.
pub(crate) fn job_tables(job: &JobAnswers) -> Vec<Table> {
    let places = Places(&job.members);
    let mut tables = vec![
        completeness::table(job),
        members::table(job, places),
        stragglers::table(job, places),
        iterations::summary(job, places),
        iterations::each("steps", "Steps, the most uneven first", job.steps.as_ref(), places),
        iterations::each("blocks", "Blocks, the most uneven first", job.blocks.as_ref(), places),
        sections::table(job, places),
    ];
    tables.extend(communication::tables(job, places));
    tables.extend(resources::tables(job, places));
    tables.push(single_findings::table(job, places));
    tables.retain(|table| !table.rows.is_empty());
    let tables = tables.into_iter();
    tables.map(|table| table.of("job", &job.job_id)).collect()
}

/// What is about several jobs, or none. Tables without rows are left out.
pub(crate) fn jobs_tables(answers: &RanksAnswers) -> Vec<Table> {
    let mut tables = vec![scaling::table(answers), completeness::unread(answers)];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// A figure with two decimals: more of them say nothing of cores and speed-ups.
fn figure(value: Option<f64>) -> Cell {
    Cell::known(value, |value| Cell::Number((value * 100.0).round() / 100.0))
}
