//! The ranks of jobs: the document of `marey aggregate`.

use marey_analysis::ranks::{JobAnswers, Member, RanksAnswers, Scaling};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{SCHEMA_VERSION, bytes_of, seconds};
use crate::escape;
use crate::rank_report::documented::{CPU, Documented, GPU};

/// More ranks than this are not indented: most of the document would be white.
const MAX_INDENTED: usize = 64;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    kind: &'static str,
    total_reports: u64,
    rank_count: usize,
    aggregated_gpu_metrics: Map<String, Value>,
    aggregated_cpu_metrics: Map<String, Value>,
    reports_summary: Vec<ReportSummary<'a>>,
    jobs: &'a [JobAnswers],
    scaling: Option<&'a Scaling>,
    unread: &'a [marey_analysis::job::Unread],
}

#[derive(Serialize)]
struct ReportSummary<'a> {
    report_index: usize,
    session_id: &'a str,
    file: &'a str,
    duration: f64,
    rank: Option<u32>,
    job_id: &'a str,
}

/// What the ranks of jobs did together, as UTF-8 JSON, safe to print; indented unless there are many ranks.
/// `docs/schema/ranks.schema.json` describes it.
pub fn aggregation_json(answers: &RanksAnswers) -> Vec<u8> {
    let jobs = answers.jobs.iter();
    let members = jobs.flat_map(|job| job.members.iter().map(move |member| (job, member)));
    let reports_summary: Vec<ReportSummary<'_>> = members
        .enumerate()
        .map(|(index, (job, member))| ReportSummary::new(index, job, member))
        .collect();
    let document = Document {
        schema_version: SCHEMA_VERSION,
        kind: "ranks",
        total_reports: answers.jobs.iter().map(|job| job.n_processes).sum(),
        rank_count: reports_summary.len(),
        aggregated_gpu_metrics: over_ranks(&GPU, answers),
        aggregated_cpu_metrics: over_ranks(&CPU, answers),
        reports_summary,
        jobs: &answers.jobs,
        scaling: answers.scaling.as_ref(),
        unread: &answers.unread,
    };
    if document.rank_count <= MAX_INDENTED {
        return bytes_of(&document);
    }
    let text = serde_json::to_string(&document).unwrap_or_default();
    (escape::json(&text).into_owned() + "\n").into_bytes()
}

impl<'a> ReportSummary<'a> {
    fn new(report_index: usize, job: &'a JobAnswers, member: &'a Member) -> Self {
        Self {
            report_index,
            session_id: member.session_id.as_ref().unwrap_or(&member.file),
            file: &member.file,
            duration: seconds(member.wall_ns),
            rank: member.rank,
            job_id: &job.job_id,
        }
    }
}

/// Lowest, highest, mean and sum of each figure over ranks; what no rank has is not there.
fn over_ranks(figures: &[Documented], answers: &RanksAnswers) -> Map<String, Value> {
    let mut found = Map::new();
    for figure in figures {
        let values = figure.values(answers);
        if values.is_empty() {
            continue;
        }
        let sum: f64 = values.iter().sum();
        let mut add = |what: &str, value: f64| {
            found.insert(format!("{}_{what}", figure.key), json!(value));
        };
        add("min", values.iter().copied().fold(f64::INFINITY, f64::min));
        add(
            "max",
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        add("avg", sum / crate::quantity::float(values.len() as u64));
        add("sum", sum);
    }
    found
}
