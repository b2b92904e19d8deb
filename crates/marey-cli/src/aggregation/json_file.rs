//! What a JSON file is, by its first bytes, and which process it tells of.

use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Duration;

use marey_analysis::job::rank_in_name;
use serde::Deserialize;

use crate::content::{Beginning, opened};

/// Kinds of JSON that tell of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonFile {
    /// A profiling report.
    Report,
    /// Summaries of ranks.
    Summaries,
    /// A dump of torch's flight recorder.
    Dump,
    /// A trace, as far as its beginning tells.
    Trace,
    /// A document that Marey or another tool wrote for something else.
    Other,
}

/// Bytes that are looked at.
const BEGINNING: u64 = 1 << 16;

/// Names of documents that have keys of reports and are none.
const OTHER_NAMES: [&str; 4] = ["run.json", "memory_log.json", "raw_profiling_data", "aggregated"];

/// Keys of which a report has one.
const REPORT_KEYS: [&str; 4] =
    ["\"session_info\"", "\"stage_analysis\"", "\"timing_stats\"", "\"gpu_metrics\""];

/// Keys that stand before the events of a trace.
const TRACE_KEYS: [&str; 4] =
    ["\"schemaVersion\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"displayTimeUnit\""];

impl JsonFile {
    /// Looks at the name and the first bytes, unpacked; `None` when the file cannot be read.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let first = Beginning::of(path, BEGINNING).ok()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = Self::by(&name, &String::from_utf8_lossy(&first.bytes));
        if !first.is_packed {
            return Some(file);
        }
        // What comes before damage is enough; without anything the name has to tell.
        let is_named = first.bytes.is_empty() && Self::is_called_like_one(&name);
        // Of packed files only traces are read.
        Some(if file != Self::Other || is_named { Self::Trace } else { Self::Other })
    }

    fn by(name: &str, first: &str) -> Self {
        let has = |key: &str| first.contains(key);
        if has("\"marey_rank_summaries\"") {
            return Self::Summaries;
        }
        if has("\"traceEvents\"") {
            return Self::Trace;
        }
        if has("\"pg_status\"") || has("\"profiling_name\"") {
            return Self::Dump;
        }
        if OTHER_NAMES.iter().any(|other| name.starts_with(other)) {
            return Self::Other;
        }
        let is_summary = has("\"summary\"") && (has("\"gpu\"") || has("\"cpu\""));
        if (is_summary || REPORT_KEYS.iter().any(|key| has(key))) && !has("\"kind\": \"") {
            return Self::Report;
        }
        if name.starts_with("profiling_report") {
            return Self::Report;
        }
        if name.ends_with(".ranks.json") {
            return Self::Summaries;
        }
        let is_event = has("\"ph\"") && (has("\"ts\"") || has("\"pid\""));
        let is_trace = TRACE_KEYS.iter().any(|key| has(key)) || is_event;
        if is_trace || name.contains(".trace.json") {
            return Self::Trace;
        }
        Self::Other
    }

    /// Files of ranks have such names: what cannot be read of them is missed.
    pub(super) fn is_called_like_one(name: &str) -> bool {
        name.starts_with("profiling_report")
            || name.ends_with(".ranks.json")
            || name.contains(".trace.json")
            || rank_in_name(name).is_some()
    }
}

/// A process of a job, as a capture and the reports made of it say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub(super) struct Whose {
    job_id: Option<String>,
    rank: Option<u32>,
    pid: u32,
}

/// What is read of a report.
#[derive(Deserialize)]
struct Report {
    run: Run,
}

#[derive(Deserialize)]
struct Run {
    #[serde(flatten)]
    whose: Whose,
    /// Seconds since 1970.
    start: Option<f64>,
}

/// Longest report that is looked into.
const MAX_REPORT_BYTES: u64 = 1 << 30;

impl Whose {
    /// `None` when the capture does not begin with what it is of.
    pub(super) fn of_capture(path: &Path) -> Option<Self> {
        let info = marey::peek(path)?;
        Some(Self {
            job_id: Some(info.job_id).filter(|id| !id.is_empty()),
            rank: info.rank,
            pid: info.pid,
        })
    }

    /// Of a profiling report of Marey, with when the process began, nanoseconds since 1970; `None` of anything else, and of a damaged one.
    pub(super) fn of_report(path: &Path) -> Option<(Self, Option<u64>)> {
        if JsonFile::of(path)? != JsonFile::Report {
            return None;
        }
        let file = BufReader::new(opened(path).ok()?.take(MAX_REPORT_BYTES));
        let Report { run } = serde_json::from_reader(file).ok()?;
        let start = run.start.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let start = start.and_then(|start| u64::try_from(start.as_nanos()).ok());
        (run.whose.pid > 0).then_some((run.whose, start))
    }

    /// The job; `None` when it says none, or, of a rank, one that was made of its own process, which tells nothing of other ranks.
    pub(super) fn job(&self) -> Option<&str> {
        let id = self.job_id.as_deref().filter(|id| !id.is_empty())?;
        let is_its_own = self.rank.is_some() && id.ends_with(&format!("-{}", self.pid));
        (!is_its_own).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_by_their_keys() {
        let kind = |name: &str, first: &str| JsonFile::by(name, first);
        let report = r#"{"session_info": {"id": "s"}}"#;
        assert_eq!(kind("profiling_report_s_1.json", report), JsonFile::Report);
        assert_eq!(kind("a.json", report), JsonFile::Report);
        assert_eq!(kind("raw_profiling_data_s.json", report), JsonFile::Other);
        assert_eq!(kind("a.json", r#"{"traceEvents": ["#), JsonFile::Trace);
        let summaries = r#"{"marey_rank_summaries":1,"ranks":["#;
        assert_eq!(kind("a.json", summaries), JsonFile::Summaries);
        let ours =
            "{\n  \"schema_version\": \"1.0\",\n  \"kind\": \"ranks\",\n \"total_reports\": 2";
        assert_eq!(kind("all.json", ours), JsonFile::Other);
        assert_eq!(kind("all.json", r#"{"total_reports": 2}"#), JsonFile::Other);
    }

    #[test]
    fn json_without_a_key_that_is_known_is_nothing_of_ours() {
        let unrelated = [
            "[1, 2, 3]",
            "17",
            "[{\"name\": \"a\"}]",
            "{\"summary\": \"of a paper\"}",
            "{\"config\": {",
            "[",
        ];
        for first in unrelated {
            assert_eq!(JsonFile::by("a.json", first), JsonFile::Other, "{first}");
        }
        // What comes before the events of torch, and events without a document around them.
        let traces = [
            "{\"schemaVersion\": 1, \"deviceProperties\": [",
            "[{\"ph\": \"X\", \"ts\": 1, \"pid\"",
        ];
        for first in traces {
            assert_eq!(JsonFile::by("a.json", first), JsonFile::Trace, "{first}");
        }
        let document_002 = r#"{"summary": {"gpu": {}}}"#;
        assert_eq!(JsonFile::by("a.json", document_002), JsonFile::Report);
    }
}
