//! What was put together of a job, in the shape of the documents.

use marey_analysis::job::Range;
use marey_analysis::ranks::RanksAnswers;

use crate::rank_report::documented;

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
