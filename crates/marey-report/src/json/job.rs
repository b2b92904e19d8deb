//! The ranks of jobs: the document of `marey aggregate`.

use std::collections::BTreeMap;

use marey_analysis::ranks::{JobAnswers, Member, RanksAnswers, Scaling};
use serde::Serialize;
use serde_json::ser::CompactFormatter;

use super::{SCHEMA_VERSION, bytes_of, seconds, written};
use crate::rank_report::documented::{CPU, Documented, GPU};

/// More ranks than this are not indented: most of the document would be white.
const MAX_INDENTED: usize = 64;

/// What `marey aggregate --format json` writes and `marey.aggregate_reports()` returns. Ratios are 0 to 1. Ranks are named by their place: an index into `members` of their job. What is not known is `None`, never 0. The first keys
/// are those of the documents, in their units: seconds, MiB, percent.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct RanksDocument<'a> {
    /// The first number changes when a key changes its meaning or goes.
    schema_version: &'static str,
    #[schemars(extend("const" = "ranks"))]
    kind: &'static str,
    /// Processes that were read.
    total_reports: u64,
    /// Processes that stand for a rank, or for none.
    rank_count: usize,
    /// Of `peak_memory_usage_mb`, `avg_memory_usage_mb`, `peak_memory_utilization`, `avg_gpu_utilization` and `peak_gpu_utilization` of
    /// each rank that has them: `_min`, `_max`, `_avg` and `_sum` over ranks. What no rank has is not there. A GPU that several ranks share
    /// counts for each of them, and of several GPUs of a rank memory is added up: the summary, which counts each GPU once, may say other
    /// numbers.
    aggregated_gpu_metrics: BTreeMap<String, f64>,
    /// The same of `avg_cpu_usage`, `peak_cpu_usage`, `avg_memory_usage_mb` and `peak_memory_usage_mb` of the host.
    aggregated_cpu_metrics: BTreeMap<String, f64>,
    /// A row for each process that stands for a rank.
    reports_summary: Vec<ReportSummary<'a>>,
    /// Each job, in order of its start.
    jobs: &'a [JobAnswers],
    /// World sizes against each other; `None` unless there are two at least.
    scaling: Option<&'a Scaling>,
    /// Files of which nothing could be read, by name.
    unread: &'a [marey_analysis::job::Unread],
}

/// One of them.
#[derive(Serialize, schemars::JsonSchema)]
struct ReportSummary<'a> {
    /// Its number here.
    report_index: usize,
    /// What its report calls the session or run that it is of; of captures, traces and reports that do not say, the file.
    session_id: &'a str,
    /// The file that it was read from.
    file: &'a str,
    /// How long it ran, seconds.
    duration: f64,
    /// Its rank; `None` when no file says.
    rank: Option<u32>,
    /// Its job; empty when no file says.
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
    let document = RanksDocument {
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
    written(&document, CompactFormatter)
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
fn over_ranks(figures: &[Documented], answers: &RanksAnswers) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for figure in figures {
        let values = figure.values(answers);
        if values.is_empty() {
            continue;
        }
        let sum: f64 = values.iter().sum();
        let mut add = |what: &str, value: f64| {
            found.insert(format!("{}_{what}", figure.key), value);
        };
        add("min", values.iter().copied().fold(f64::INFINITY, f64::min));
        add("max", values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        add("avg", sum / crate::quantity::float(values.len() as u64));
        add("sum", sum);
    }
    found
}
