//! The ranks of jobs on a terminal.

use marey_analysis::job::Range;
use marey_analysis::ranks::RanksAnswers;

use super::findings;
use super::table::table_text;
use crate::rank_report::{documented, job_tables, jobs_tables};

/// What was put together, in the shape of the documents: how many reports and ranks, and what GPUs did. Ends with a line feed.
pub fn aggregation_summary(answers: &RanksAnswers) -> String {
    let n_reports: u64 = answers.jobs.iter().map(|job| job.n_processes).sum();
    let n_ranks: usize = answers.jobs.iter().map(|job| job.members.len()).sum();
    let mut text = format!(
        "=== Aggregation Summary ===\nTotal reports processed: {n_reports}\nRanks: {n_ranks}\n"
    );
    let (memory, utilization) = documented::gpus(answers);
    let mut lines = Vec::new();
    lines.extend(memory.map(|range| line("GPU Memory", range, "MB")));
    lines.extend(utilization.map(|range| line("GPU Utilization", range, "%")));
    if !lines.is_empty() {
        text += "\n=== GPU Metrics (Aggregated) ===\n";
        text += &lines.join("");
    }
    text
}

fn line(name: &str, Range { min, mean, max }: Range, unit: &str) -> String {
    format!("{name} - Min: {min:.1}{unit}, Max: {max:.1}{unit}, Avg: {mean:.1}{unit}\n")
}

/// The summary, then of each job what is the matter and tables of at most `max_rows` rows. Ends with a line feed.
pub fn aggregation_text(answers: &RanksAnswers, max_rows: usize) -> String {
    let mut parts = vec![aggregation_summary(answers)];
    for job in &answers.jobs {
        let mut tables = job_tables(job).into_iter();
        parts.extend(
            tables
                .next()
                .map(|first| table_text(&first, max_rows.max(FACTS))),
        );
        parts.extend(findings::of_trace(&job.findings));
        parts.extend(tables.map(|table| table_text(&table, max_rows)));
    }
    parts.extend(jobs_tables(answers).iter().map(|t| table_text(t, max_rows)));
    parts.join("\n")
}

/// Facts of a job are never cut.
const FACTS: usize = 32;
