//! A job of several ranks, as it is shown beside what one of them did.

use marey::Launch;
use marey_analysis::ranks::{JobAnswers, RanksAnswers};

use super::{job_document, job_tables};
use crate::document::{Block, Document, Table};
use crate::first_screen::{FirstScreen, Places};

/// Rows of each table, for people.
const ROWS: usize = 15;

/// What all ranks of a job did.
#[derive(Debug)]
pub struct RankedJob {
    pub(crate) job: JobAnswers,
    launch: Option<Launch>,
}

impl RankedJob {
    /// `None` where the answers are about no job, or about several. `launch` is what a launcher saw of the command that started all ranks.
    pub fn of(answers: RanksAnswers, launch: Option<Launch>) -> Option<Self> {
        let [job] = <[JobAnswers; 1]>::try_from(answers.jobs).ok()?;
        Some(Self { job, launch })
    }

    /// What is shown first.
    pub fn screen(&self, places: Places) -> FirstScreen {
        FirstScreen::of_job(&self.job, places, self.launch.as_ref())
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
