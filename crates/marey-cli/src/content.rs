//! What a file is, by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A memory snapshot.
    Pickle,
    /// JSON, compressed or not.
    Trace,
    /// A recording of Marey.
    Capture,
    /// What cannot be read here, and what to do about it.
    Other(&'static str),
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

/// Bytes that are looked at.
const FIRST: u64 = 192;

/// A file to read. Anything else is refused before it is opened: opening a pipe waits until somebody writes into it.
pub(crate) fn opened(path: &Path) -> anyhow::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        bail!(
            "is no regular file but a pipe, a socket or a device; write what comes from there into a file first"
        );
    }
    Ok(File::open(path)?)
}

/// The first bytes of a file.
pub(crate) struct Beginning {
    /// Unpacked, so many as there are before damage.
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_packed: bool,
    is_sound: bool,
}

impl Beginning {
    /// At most so many of them.
    pub(crate) fn of(path: &Path, n_bytes: u64) -> anyhow::Result<Self> {
        let mut bytes = Vec::new();
        opened(path)?.take(n_bytes).read_to_end(&mut bytes).context("cannot read it")?;
        if !bytes.starts_with(b"\x1f\x8b") {
            return Ok(Self { bytes, is_packed: false, is_sound: true });
        }
        bytes.clear();
        let unpacked = MultiGzDecoder::new(opened(path)?).take(n_bytes).read_to_end(&mut bytes);
        Ok(Self { bytes, is_packed: true, is_sound: unpacked.is_ok() })
    }
}

impl Content {
    /// Looks at the first bytes, and where they say nothing at the name's ending.
    pub(crate) fn of(path: &Path) -> anyhow::Result<Self> {
        let first = Beginning::of(path, FIRST)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(match Self::by(&first.bytes, &name.to_ascii_lowercase()) {
            content if !first.is_packed => content,
            Self::Pickle => Self::Other("a compressed pickle; unpack it with `gunzip` first"),
            Self::Other(what) if first.is_sound => Self::Other(what),
            // The reader of traces names damage with its place.
            _ => Self::Trace,
        })
    }

    fn by(first: &[u8], name: &str) -> Self {
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let beginning = BEGINNINGS.iter().find(|(bytes, _)| first.starts_with(bytes));
        let text = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
        match (first, text.trim_ascii_start()) {
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
                None if matches!(text.trim_ascii_start(), [] | [b'{' | b'[', ..]) => Self::Trace,
                // The first field of Perfetto's messages.
                None if first.first() == Some(&0x0a) => Self::Other(PERFETTO),
                None if ends(&[".txt"]) && text.contains(&b';') => Self::Other(STACKS),
                None => Self::Other("no kind of file that is known here"),
            },
        }
    }
}

const EMPTY: &str = "empty (0 bytes): whoever wrote it was stopped";

fn has(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|part| part == wanted)
}

/// What JSON without events is, by its first keys; `None` when they say nothing.
pub(super) fn by_keys(keys: &[String]) -> Option<&'static str> {
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
            assert_eq!(Content::by(first, "a"), Content::Trace);
        }
    }
}
