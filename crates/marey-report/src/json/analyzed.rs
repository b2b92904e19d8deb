//! The documents of `marey analyze`, what traces and memory snapshots say, and of `marey aggregate`, the ranks of jobs.

use std::collections::BTreeMap;

use marey_analysis::ranks::{JobAnswers, Member, RanksAnswers};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::ser::CompactFormatter;

use super::object::{Json, object};
use super::{SCHEMA_VERSION, bytes_of, seconds, written};
use crate::model::{SnapshotFile, TraceFile, TraceRanks};
use crate::rank_report::documented::{CPU, Documented, GPU};

/// What `marey analyze FILE.pickle --format json` writes. What is not known is `None`, never 0.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct SnapshotDocument<'a> {
    /// The first number changes when a key changes its meaning or goes.
    #[schemars(regex(pattern = r"^2\.[0-9]+$"))]
    schema_version: &'static str,
    #[schemars(extend("const" = "memory_snapshot"))]
    kind: &'static str,
    #[serde(flatten)]
    file: &'a SnapshotFile,
}

/// What `marey analyze TRACE --format json` writes. Moments (`start_s`, `at_s`, `first_s`) count from the
/// first event of the trace. What is not known is `None`, never 0.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct TraceDocument<'a> {
    /// The first number changes when a key changes its meaning or goes.
    #[schemars(regex(pattern = r"^2\.[0-9]+$"))]
    schema_version: &'static str,
    #[schemars(extend("const" = "trace"))]
    kind: &'static str,
    /// The files, in the order in which they were named.
    files: &'a [TraceFile],
    /// What the files of several ranks of one job say together; `None` when they are of fewer than two ranks, name a rank twice, or
    /// disagree about the number of ranks.
    ranks: Option<&'a TraceRanks>,
    /// CUDA memory snapshots that lay beside the traces; absent when there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    memory_snapshot_files: &'a [SnapshotFile],
}

/// What a memory snapshot says, as UTF-8 JSON, indented, safe to print. `docs/schema/memory_snapshot.schema.json` describes it.
pub fn snapshot_json(file: &SnapshotFile) -> Vec<u8> {
    bytes_of(&SnapshotDocument { schema_version: SCHEMA_VERSION, kind: "memory_snapshot", file })
}

/// What traces say, alone and as ranks of one job, and memory snapshots that lay beside them, as UTF-8 JSON, indented, safe to print.
/// `docs/schema/trace.schema.json` describes it.
pub fn trace_json(
    files: &[TraceFile],
    ranks: Option<&TraceRanks>,
    snapshots: &[SnapshotFile],
) -> Vec<u8> {
    bytes_of(&TraceDocument {
        schema_version: SCHEMA_VERSION,
        kind: "trace",
        files,
        ranks,
        memory_snapshot_files: snapshots,
    })
}

/// More ranks than this are not indented: most of the document would be white.
const MAX_INDENTED: usize = 64;

/// What the ranks of jobs did together, as UTF-8 JSON, safe to print; indented unless there are many ranks.
/// `docs/schema/ranks.schema.json` describes it.
pub fn aggregation_json(answers: &RanksAnswers) -> Vec<u8> {
    let n_ranks: usize = answers.jobs.iter().map(|job| job.members.len()).sum();
    match ranks_document(answers) {
        document if n_ranks <= MAX_INDENTED => bytes_of(&document),
        document => written(&document, CompactFormatter),
    }
}

// Of the document of ranks; the schema says no more of it.
#[derive(Serialize, JsonSchema)]
#[schemars(inline, extend("const" = "ranks"))]
struct RanksKind(&'static str);

pub(super) fn ranks_document(answers: &RanksAnswers) -> impl Json + use<'_> {
    let jobs = answers.jobs.iter();
    let members = jobs.flat_map(|job| job.members.iter().map(move |member| (job, member)));
    let members: Vec<(usize, (&JobAnswers, &Member))> = members.enumerate().collect();
    object! {
        /// What `marey aggregate --format json` writes and `marey.aggregate_reports()` returns. Ratios are 0 to 1. Ranks are named by their place: an index into `members` of their job. What is not known is `None`, never 0. The first keys
        /// are those of the documents, in their units: seconds, MiB, percent.
        struct RanksDocument;
        /// The first number changes when a key changes its meaning or goes.
        schema_version: SCHEMA_VERSION,
        kind: RanksKind("ranks"),
        /// Processes that were read.
        total_reports: answers.jobs.iter().map(|job| job.n_processes).sum::<u64>(),
        /// Processes that stand for a rank, or for none.
        rank_count: members.len(),
        /// Of `peak_memory_usage_mb`, `avg_memory_usage_mb`, `peak_memory_utilization`, `avg_gpu_utilization` and `peak_gpu_utilization` of
        /// each rank that has them: `_min`, `_max`, `_avg` and `_sum` over ranks. What no rank has is not there. A GPU that several ranks share
        /// counts for each of them, and of several GPUs of a rank memory is added up: the summary, which counts each GPU once, may say other
        /// numbers.
        aggregated_gpu_metrics: over_ranks(&GPU, answers),
        /// The same of `avg_cpu_usage`, `peak_cpu_usage`, `avg_memory_usage_mb` and `peak_memory_usage_mb` of the host.
        aggregated_cpu_metrics: over_ranks(&CPU, answers),
        /// A row for each process that stands for a rank.
        reports_summary: members.iter().map(report_summary).collect::<Vec<_>>(),
        /// Each job, in order of its start.
        jobs: &answers.jobs,
        /// World sizes against each other; `None` unless there are two at least.
        scaling: answers.scaling.as_ref(),
        /// Files of which nothing could be read, by name.
        unread: &answers.unread,
    }
}

fn report_summary<'a>(
    (report_index, (job, member)): &(usize, (&'a JobAnswers, &'a Member)),
) -> impl Json + use<'a> {
    object! {
        /// One of them.
        struct ReportSummary;
        /// Its number here.
        report_index: *report_index,
        /// What its report calls the session or run that it is of; of captures, traces and reports that do not say, the file.
        session_id: member.session_id.as_ref().unwrap_or(&member.file),
        /// The file that it was read from.
        file: &member.file,
        /// How long it ran, seconds.
        duration: seconds(member.wall_ns),
        /// Its rank; `None` when no file says.
        rank: member.rank,
        /// Its job; empty when no file says.
        job_id: &job.job_id,
    }
}

/// Lowest, highest, mean and sum of each figure over ranks; what no rank has is not there.
fn over_ranks(figures: &[Documented], answers: &RanksAnswers) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (key, of) in figures {
        let ranks = answers.jobs.iter().flat_map(|job| &job.resources.ranks);
        let values = ranks.filter_map(|rank| of(&rank.machine));
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        if values.is_empty() {
            continue;
        }
        let sum: f64 = values.iter().sum();
        let mut add = |what: &str, value: f64| {
            found.insert(format!("{key}_{what}"), value);
        };
        add("min", values.iter().copied().fold(f64::INFINITY, f64::min));
        add("max", values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        add("avg", sum / crate::quantity::float(values.len() as u64));
        add("sum", sum);
    }
    found
}
