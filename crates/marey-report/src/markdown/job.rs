//! The ranks of jobs in Markdown.

use marey_analysis::ranks::RanksAnswers;

use super::escape;
use super::findings::findings_of;
use super::values::table_markdown;
use crate::rank_report::{job_tables, jobs_tables};
use crate::text::aggregation_summary;

/// Facts of a job are never cut.
const FACTS: usize = 32;

/// What the ranks of jobs did together, for pull requests; of each table at most `max_rows` rows. Ends with a line feed.
pub fn aggregation_markdown(answers: &RanksAnswers, max_rows: usize) -> String {
    let mut parts = vec![format!(
        "## Ranks\n\n```text\n{}```\n",
        aggregation_summary(answers)
    )];
    for job in &answers.jobs {
        let mut tables = job_tables(job).into_iter();
        parts.extend(
            tables
                .next()
                .map(|first| table_markdown(&first, max_rows.max(FACTS))),
        );
        parts.extend(findings_of(&job.findings));
        parts.extend(tables.map(|table| table_markdown(&table, max_rows)));
    }
    let others = jobs_tables(answers);
    parts.extend(others.iter().map(|table| table_markdown(table, max_rows)));
    if answers.jobs.is_empty() {
        parts.push(escape::text("Nothing could be read.") + "\n");
    }
    parts.join("\n")
}
