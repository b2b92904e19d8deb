//! A job of several ranks, as it is shown beside what one of them did.

use marey_analysis::ranks::{JobAnswers, RanksAnswers};

use super::{job_document, job_tables};
use crate::document::{Block, Document, Table};
use crate::first_screen::{FirstScreen, JobPlaces, Places};

/// Rows of each table, for people.
const ROWS: usize = 15;

/// What all ranks of a job did.
#[derive(Debug)]
pub struct RankedJob {
    pub(crate) job: JobAnswers,
    command_ns: Option<u64>,
}

impl RankedJob {
    /// `None` where the answers are about no job, or about several. `command_ns` is the wall time of the command that started all ranks, where a
    /// launcher saw it.
    pub fn of(answers: RanksAnswers, command_ns: Option<u64>) -> Option<Self> {
        let [job] = <[JobAnswers; 1]>::try_from(answers.jobs).ok()?;
        Some(Self { job, command_ns })
    }

    /// What is shown first.
    pub fn screen(&self, places: Places) -> FirstScreen {
        let places = JobPlaces {
            command_ns: self.command_ns,
            full: places.full,
            page: places.page,
        };
        FirstScreen::of_job(&self.job, places)
    }

    /// What is shown below that.
    pub(crate) fn document(&self) -> Document {
        let name = self.screen(Places::default()).headline.subject;
        let mut document = Document::from(vec![Block::Title(format!("Marey: {name}"))]);
        job_document(&self.job, ROWS, &mut document);
        document
    }

    /// Its tables, those of the first screen before the others.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = self.screen(Places::default()).tables(&self.job.findings);
        tables.extend(job_tables(&self.job));
        tables
    }
}
