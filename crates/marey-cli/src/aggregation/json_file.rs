//! What a JSON file is, by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Kinds of JSON that tell of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonFile {
    /// A profiling report.
    Report,
    /// Summaries of ranks.
    Summaries,
    /// A trace, as far as its beginning tells.
    Trace,
    /// A document that Marey or another tool wrote for something else.
    Other,
}

/// Bytes that are looked at.
const BEGINNING: u64 = 1 << 16;

/// Keys of documents that lie beside reports and are none.
const OTHER: [&str; 7] = [
    "\"gpu_data\"",
    "\"cpu_data\"",
    "\"processes\"",
    "\"snapshots\"",
    "\"total_reports\"",
    "\"kind\": \"",
    "\"nodes\"",
];

/// Names of such documents.
const OTHER_NAMES: [&str; 4] = [
    "run.json",
    "memory_log.json",
    "raw_profiling_data",
    "aggregated",
];

impl JsonFile {
    /// Looks at the name and the first bytes; `None` when the file cannot be read.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut first = Vec::new();
        let file = File::open(path).ok()?;
        file.take(BEGINNING).read_to_end(&mut first).ok()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Some(Self::by(&name, &String::from_utf8_lossy(&first)))
    }

    fn by(name: &str, first: &str) -> Self {
        let has = |key: &str| first.contains(key);
        if has("\"marey_rank_summaries\"") {
            return Self::Summaries;
        }
        if has("\"traceEvents\"") || first.starts_with('\u{1f}') {
            return Self::Trace;
        }
        if OTHER_NAMES.iter().any(|other| name.starts_with(other)) {
            return Self::Other;
        }
        let keys = ["session_info", "summary", "stage_analysis", "timing_stats"];
        if keys.iter().any(|key| has(&format!("\"{key}\""))) && !has("\"kind\": \"") {
            return Self::Report;
        }
        if name.starts_with("profiling_report") {
            return Self::Report;
        }
        if OTHER.iter().any(|key| has(key)) {
            return Self::Other;
        }
        Self::Trace
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
        assert_eq!(kind("a.json", "\u{1f}\u{fffd}"), JsonFile::Trace);
        let summaries = r#"{"marey_rank_summaries":1,"ranks":["#;
        assert_eq!(kind("a.json", summaries), JsonFile::Summaries);
        let ours =
            "{\n  \"schema_version\": \"1.0\",\n  \"kind\": \"ranks\",\n \"total_reports\": 2";
        assert_eq!(kind("all.json", ours), JsonFile::Other);
        assert_eq!(kind("all.json", r#"{"total_reports": 2}"#), JsonFile::Other);
    }
}
