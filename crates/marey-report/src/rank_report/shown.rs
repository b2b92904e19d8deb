//! What the ranks of jobs did together, as documents: by itself, and beside what one of the ranks did.

use marey::Launch;
use marey_analysis::ranks::{JobAnswers, RanksAnswers};

use super::{job_tables, jobs_tables};
use crate::document::{Block, Document, ListedFindings, Table};
use crate::first_screen::{FirstScreen, Places};
use crate::text::aggregation_summary;

/// Facts of a job are never cut.
const FACTS: usize = 32;

/// The summary in the shape of the documents, then of each job what it is, what is the matter, and tables of at most `max_rows` rows.
pub fn aggregation_document(answers: &RanksAnswers, max_rows: usize) -> Document {
    let mut found = Document::from(vec![Block::Verbatim(aggregation_summary(answers))]);
    for job in &answers.jobs {
        job_document(job, max_rows, &mut found);
    }
    let others = jobs_tables(answers).into_iter();
    found.tables(others.map(|table| table.limited(max_rows)));
    if answers.jobs.is_empty() {
        found.push(Block::Text("Nothing could be read.".into()));
    }
    found
}

/// Adds the facts of a job, its findings, and its tables, of each at most `max_rows` rows.
fn job_document(job: &JobAnswers, max_rows: usize, found: &mut Document) {
    let mut tables = job_tables(job).into_iter();
    let facts = tables.next();
    found.tables(facts.map(|facts| facts.limited(max_rows.max(FACTS))));
    let findings = ListedFindings::new(&job.findings, |_| None);
    found.blocks.extend(findings.map(Block::Findings));
    found.tables(tables.map(|table| table.limited(max_rows)));
}

/// All tables of the answers; of a single job those of its first screen, too, before the others.
pub fn ranks_tables(answers: &RanksAnswers) -> Vec<Table> {
    let mut tables = match answers.jobs.as_slice() {
        [job] => FirstScreen::of_job(job, Places::default(), None).tables(&job.findings),
        _ => Vec::new(),
    };
    tables.extend(answers.jobs.iter().flat_map(job_tables));
    tables.extend(jobs_tables(answers));
    tables
}

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
