//! What a file is, by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;
use marey_analysis::job::rank_in_name;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A memory snapshot.
    Pickle,
    /// JSON, compressed or not.
    Json(Json),
    /// A recording of Marey.
    Capture,
    /// What cannot be read here, and what to do about it.
    Other(&'static str),
}

/// What JSON is, as far as its beginning and its name tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Json {
    /// A profiling report.
    Report,
    /// Summaries of ranks.
    Summaries,
    /// A dump of torch's flight recorder.
    Dump,
    /// A trace.
    Trace,
    /// A document that Marey or another tool wrote for something else.
    Other,
}

/// Beginnings of files that people have beside their traces, and what they are.
const BEGINNINGS: [(&[u8], &str); 8] = [
    (b"version https://git-lfs", "a pointer of Git LFS; `git lfs pull` fetches the file"),
    (
        b"[[",
        "a memory timeline of torch.profiler (export_memory_timeline), which has no events; \
         a snapshot says more (torch.cuda.memory._dump_snapshot)",
    ),
    (b"SQLite format 3\0", SQLITE),
    (b"PK\x03\x04", "a zip archive, such as torch.save writes; no trace and no memory snapshot"),
    (b"<", "a page or XML; name the trace that it was made from"),
    (b"\x89HDF", "an HDF5 file; no trace and no memory snapshot"),
    (b"PAR1", "a Parquet file; no trace and no memory snapshot"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it with `zstd -d` first"),
];

const SQLITE: &str = "an SQLite database, such as `nsys export` writes, or _dump_snapshot_sqlite of torch; \
     this reads traces of torch.profiler (export_chrome_trace) and snapshots of _dump_snapshot";
const NSYS: &str =
    "a report of Nsight Systems; this reads traces of torch.profiler (export_chrome_trace)";
const PERFETTO: &str = "a trace in Perfetto's own format; this reads JSON, such as torch.profiler's export_chrome_trace writes";

const XPLANE: &str = "an XPlane of XProf (JAX, TensorFlow); this reads its trace.json.gz";
const STACKS: &str =
    "stacks, such as torch.profiler's export_stacks writes; flame graph tools read them";
const SEGMENTS: &str =
    "memory segments as JSON; this reads the pickle that torch.cuda.memory._dump_snapshot writes";

/// What JSON without events is, by its first keys.
const KEYS: [(&[&str], &str); 6] = [
    (
        &["pg_config"],
        "a dump of NCCL's flight recorder; `marey aggregate` reads those of all ranks together",
    ),
    (
        &["schema_version"],
        "a document of Marey; `marey report` shows the recording that it was made from",
    ),
    (
        &["schema", "nodes"],
        "an execution trace of PyTorch (ET), which has no times of devices; this reads what torch.profiler's export_chrome_trace writes",
    ),
    (&["segments", "device_traces"], SEGMENTS),
    (
        &["total_duration_ms", "steps"],
        "a perf dump of sglang (--perf-dump-path), which has no events; this reads traces of torch.profiler (export_chrome_trace)",
    ),
    (
        &["shared", "profiles"],
        "a profile of speedscope; this reads traces of torch.profiler (export_chrome_trace)",
    ),
];

/// Names of documents that have keys of reports and are none.
const OTHER_NAMES: [&str; 4] = ["run.json", "memory_log.json", "raw_profiling_data", "aggregated"];

/// Keys of which a report has one.
const REPORT_KEYS: [&str; 4] =
    ["\"session_info\"", "\"stage_analysis\"", "\"timing_stats\"", "\"gpu_metrics\""];

/// Keys that stand before the events of a trace.
const TRACE_KEYS: [&str; 4] =
    ["\"schemaVersion\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"displayTimeUnit\""];

/// Bytes that are looked at.
const BEGINNING: u64 = 1 << 16;
/// Bytes of these that tell the kind of a file.
const FIRST: usize = 192;

/// A file to read. Anything else is refused before it is opened: opening a pipe waits until somebody writes into it.
pub fn opened(path: &Path) -> anyhow::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        bail!(
            "is no regular file but a pipe, a socket or a device; write what comes from there into a file first"
        );
    }
    Ok(File::open(path)?)
}

/// The first bytes of a file.
pub struct Beginning {
    /// Unpacked, so many as there are before damage.
    pub bytes: Vec<u8>,
    /// The file is compressed.
    pub is_packed: bool,
    is_sound: bool,
}

impl Beginning {
    /// Of a regular file.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let mut bytes = Vec::new();
        opened(path)?.take(BEGINNING).read_to_end(&mut bytes).context("cannot read it")?;
        if !bytes.starts_with(b"\x1f\x8b") {
            return Ok(Self { bytes, is_packed: false, is_sound: true });
        }
        bytes.clear();
        let unpacked = MultiGzDecoder::new(opened(path)?).take(BEGINNING).read_to_end(&mut bytes);
        Ok(Self { bytes, is_packed: true, is_sound: unpacked.is_ok() })
    }
}

impl Json {
    /// Of packed files only traces are read. Of these what comes before damage is enough; without anything the name has to tell.
    fn of(name: &str, first: &Beginning) -> Self {
        let found = Self::by(name, &String::from_utf8_lossy(&first.bytes));
        let is_named = first.bytes.is_empty() && Self::is_called_like_one(name);
        match found {
            found if !first.is_packed => found,
            Self::Other if !is_named => Self::Other,
            _ => Self::Trace,
        }
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
        let has_key = is_summary || REPORT_KEYS.iter().any(|key| has(key));
        if has_key && !has("\"kind\": \"") || name.starts_with("profiling_report") {
            return Self::Report;
        }
        if name.ends_with(".ranks.json") {
            return Self::Summaries;
        }
        let is_event = has("\"ph\"") && (has("\"ts\"") || has("\"pid\""));
        let is_trace = TRACE_KEYS.iter().any(|key| has(key)) || is_event;
        if is_trace || name.contains(".trace.json") { Self::Trace } else { Self::Other }
    }

    /// Files of ranks have such names: what cannot be read of them is missed.
    pub fn is_called_like_one(name: &str) -> bool {
        name.starts_with("profiling_report")
            || name.ends_with(".ranks.json")
            || name.contains(".trace.json")
            || rank_in_name(name).is_some()
    }
}

impl Content {
    /// Looks at the first bytes, and where they say nothing at the name.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let first = Beginning::of(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = first.bytes.get(..FIRST).unwrap_or(&first.bytes);
        Ok(match Self::by(bytes, &name.to_ascii_lowercase()) {
            Some(Self::Pickle) if first.is_packed => {
                Self::Other("a compressed pickle; unpack it with `gunzip` first")
            }
            Some(Self::Other(what)) if !first.is_packed || first.is_sound => Self::Other(what),
            Some(content) if !first.is_packed => content,
            // The reader of traces names damage with its place.
            _ => Self::Json(Json::of(&name, &first)),
        })
    }

    /// `None` of JSON.
    fn by(first: &[u8], name: &str) -> Option<Self> {
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let beginning = BEGINNINGS.iter().find(|(bytes, _)| first.starts_with(bytes));
        let text = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
        Some(match (first, text.trim_ascii_start()) {
            ([], _) => Self::Other(EMPTY),
            ([0x80, 2..=5, ..], _) => Self::Pickle,
            ([b'M', b'A', b'R', b'E', b'Y', ..], _) => Self::Capture,
            _ if ends(&[".nsys-rep", ".qdrep"]) => Self::Other(NSYS),
            _ if ends(&[".pftrace", ".perfetto-trace"]) => Self::Other(PERFETTO),
            _ if ends(&[".xplane.pb"]) => Self::Other(XPLANE),
            (_, [b'[', rest @ ..]) if has(rest, b"\"total_size\"") => Self::Other(SEGMENTS),
            _ => match beginning {
                Some((_, what)) => Self::Other(what),
                // Also when all of it is white so far.
                None if matches!(text.trim_ascii_start(), [] | [b'{' | b'[', ..]) => return None,
                // The first field of Perfetto's messages.
                None if first.first() == Some(&0x0a) => Self::Other(PERFETTO),
                None if ends(&[".txt"]) && text.contains(&b';') => Self::Other(STACKS),
                None => Self::Other("no kind of file that is known here"),
            },
        })
    }
}

/// A dump of torch's flight recorder, a pickle or JSON.
pub fn is_dump(path: &Path) -> bool {
    is_pickled_dump(path) || matches!(Content::of(path), Ok(Content::Json(Json::Dump)))
}

/// Bytes of a pickle in which the keys are that tell what it is: only versions stand before them.
const KEYS_WITHIN: usize = 4096;

/// A pickle that names the groups of ranks, or calls of them.
pub(crate) fn is_pickled_dump(path: &Path) -> bool {
    // With its length before it, of one byte or of four.
    let groups: [&[u8]; 2] = [b"\x09pg_config", b"\x09\0\0\0pg_config"];
    let calls: [&[u8]; 2] = [b"\x0eprofiling_name", b"\x0e\0\0\0profiling_name"];
    is_pickle_with(path, &[groups, calls].concat())
}

/// A memory snapshot, whatever its name ends in.
pub fn is_snapshot(path: &Path) -> bool {
    is_pickle_with(path, &[b"\x08segments", b"\x08\0\0\0segments"])
}

fn is_pickle_with(path: &Path, keys: &[&[u8]]) -> bool {
    Beginning::of(path).is_ok_and(|first| {
        let bytes = first.bytes.get(..KEYS_WITHIN).unwrap_or(&first.bytes);
        bytes.first() == Some(&0x80) && keys.iter().any(|key| has(bytes, key))
    })
}

const EMPTY: &str = "empty (0 bytes): whoever wrote it was stopped";

fn has(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|part| part == wanted)
}

/// What JSON without events is, by its first keys; `None` when they say nothing.
pub fn by_keys(keys: &[String]) -> Option<&'static str> {
    let has = |wanted: &[&str]| wanted.iter().all(|key| keys.iter().any(|k| k == key));
    let known = KEYS.iter().find(|(wanted, _)| has(wanted));
    known.map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_a_trace_whatever_stands_before_it() {
        for first in [&b"{\"a\""[..], b" \n[", b"\xef\xbb\xbf{", b"\n\n"] {
            assert_eq!(Content::by(first, "a"), None);
        }
    }

    #[test]
    fn documents_are_told_by_their_keys() {
        let kind = |name: &str, first: &str| Json::by(name, first);
        let report = r#"{"session_info": {"id": "s"}}"#;
        assert_eq!(kind("profiling_report_s_1.json", report), Json::Report);
        assert_eq!(kind("a.json", report), Json::Report);
        assert_eq!(kind("raw_profiling_data_s.json", report), Json::Other);
        assert_eq!(kind("a.json", r#"{"traceEvents": ["#), Json::Trace);
        let summaries = r#"{"marey_rank_summaries":1,"ranks":["#;
        assert_eq!(kind("a.json", summaries), Json::Summaries);
        let ours =
            "{\n  \"schema_version\": \"1.0\",\n  \"kind\": \"ranks\",\n \"total_reports\": 2";
        assert_eq!(kind("all.json", ours), Json::Other);
        assert_eq!(kind("all.json", r#"{"total_reports": 2}"#), Json::Other);
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
            assert_eq!(Json::by("a.json", first), Json::Other, "{first}");
        }
        // What comes before the events of torch, and events without a document around them.
        let traces = [
            "{\"schemaVersion\": 1, \"deviceProperties\": [",
            "[{\"ph\": \"X\", \"ts\": 1, \"pid\"",
        ];
        for first in traces {
            assert_eq!(Json::by("a.json", first), Json::Trace, "{first}");
        }
        let document_002 = r#"{"summary": {"gpu": {}}}"#;
        assert_eq!(Json::by("a.json", document_002), Json::Report);
    }
}
