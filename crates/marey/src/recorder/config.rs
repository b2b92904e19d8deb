//! What a recording may use, and where it goes.

use std::path::PathBuf;

use super::launch_capture::Outside;
use crate::profiling_config::{self, FILE_VARIABLE, KEYS, Key, ProfilingConfig, nearest};

/// How a recorder is set up. Every limit is fixed at the start; past it things are dropped and counted.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder that gets the job folder; `None` keeps the capture in memory (bounded by `memory_capture_bytes`).
    pub output_dir: Option<PathBuf>,
    /// Name of the job folder; `None` makes one from the environment, or from start time, host and pid.
    pub job_id: Option<String>,
    /// Whether `latest` in the output folder points to this process's job from now on. Not of a worker: the process that made it has seen to that.
    pub is_first_of_job: bool,
    /// Place in the job; `None` reads it from the environment.
    pub rank: Option<u32>,
    /// Records that a thread's ring holds; rounded up to a power of two.
    pub ring_records: usize,
    /// Bytes of a thread's ring for attributes, events and readings; rounded up to a power of two.
    pub note_bytes: usize,
    /// Distinct names and distinct call paths, each; at most 65 000.
    pub max_nodes: usize,
    /// Sections that can be open at the same time and be named after a kill.
    pub max_open: usize,
    /// Bytes for histograms (3.9 KB for each section and thread).
    pub histogram_bytes: usize,
    /// Bytes of memory that other processes can see, for all threads together.
    pub shared_bytes: usize,
    /// Bytes of the capture file. Three eighths are for the first sections and three eighths for the last; those between are in the totals
    /// only. The default keeps some six million sections, of which a report takes at most 500 MiB.
    pub capture_bytes: u64,
    /// Bytes of the capture while it is held in memory.
    pub memory_capture_bytes: u64,
    /// Time between two rounds of the drain thread, milliseconds; two and a half times as long while little is recorded.
    pub drain_interval_ms: u64,
    /// How long a stop or a fork waits for samplers, milliseconds; a fork waits twice as long for the drain, which may wait for a disk.
    pub patience_ms: u64,
    /// Where rings are put first; `None` means `/dev/shm`.
    pub ring_dir: Option<PathBuf>,
    /// The program that the recording is about, when that is not this process: the capture has its number and command line, the
    /// samplers read it, and this process's own memory is not recorded.
    pub outside: Option<Outside>,
    /// Things worth knowing about the run, kept as they are.
    pub facts: Vec<(String, String)>,
    /// What is recorded: kinds of sections by their names, and how the host is sampled while the capture is in a folder.
    pub profiling: ProfilingConfig,
    /// Files whose share in the page cache is sampled with the host, weights say; read at the first start of the process.
    pub watched_files: Vec<PathBuf>,
}

/// See [`Config::patience_ms`]; for a fork before the first start, too.
pub(super) const PATIENCE_MS: u64 = 50;

impl Default for Config {
    fn default() -> Self {
        Self {
            output_dir: None,
            job_id: None,
            is_first_of_job: true,
            rank: None,
            ring_records: 8192,
            note_bytes: 64 << 10,
            max_nodes: 4096,
            max_open: 8192,
            histogram_bytes: 4 << 20,
            shared_bytes: 64 << 20,
            capture_bytes: 40 << 20,
            memory_capture_bytes: 16 << 20,
            drain_interval_ms: 20,
            patience_ms: PATIENCE_MS,
            ring_dir: None,
            outside: None,
            facts: Vec::new(),
            profiling: ProfilingConfig::default(),
            watched_files: Vec::new(),
        }
    }
}

/// The caps: a number's variable, its least and its most, and what it sets.
type Cap = (&'static str, u64, u64, fn(&mut Config, u64));
const CAPS: [Cap; 8] = [
    ("MAREY_RING_RECORDS", 64, 1 << 22, |config, n| config.ring_records = size(n)),
    ("MAREY_NOTE_BYTES", 4096, 1 << 28, |config, n| config.note_bytes = size(n)),
    ("MAREY_MAX_NODES", 16, 65_000, |config, n| config.max_nodes = size(n)),
    ("MAREY_MAX_OPEN", 64, 1 << 20, |config, n| config.max_open = size(n)),
    ("MAREY_SHARED_BYTES", 0, u64::MAX, |config, n| config.shared_bytes = size(n)),
    ("MAREY_CAPTURE_BYTES", 0, u64::MAX, |config, n| config.capture_bytes = n),
    ("MAREY_DRAIN_INTERVAL_MS", 1, 10_000, |config, n| config.drain_interval_ms = n),
    ("MAREY_PATIENCE_MS", 1, 600_000, |config, n| config.patience_ms = n),
];

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The other variables of the recorder. Those of the keys of `ProfilingConfig`, of which it uses `MAREY_ENABLED` and `MAREY_OUTPUT_DIR`,
/// are known by their table.
const OTHERS: [&str; 10] = [
    "MAREY_GPU_TIMES",
    "MAREY_INSTRUMENT",
    "MAREY_JOB_ID",
    "MAREY_LAUNCHER",
    "MAREY_NVML_LIBRARY",
    "MAREY_RING_DIR",
    "MAREY_SECTION_MEMORY",
    "MAREY_SHARE_FILES",
    "MAREY_TORCH_PROFILE",
    "MAREY_WATCHED_FILES",
];

impl Config {
    pub(crate) fn patience_ns(&self) -> u64 {
        self.patience_ms.saturating_mul(1_000_000)
    }

    /// The defaults, changed by the environment: `MAREY_OUTPUT_DIR`, `MAREY_JOB_ID`, `MAREY_RING_DIR` and the caps
    /// `MAREY_RING_RECORDS`, `MAREY_NOTE_BYTES`, `MAREY_MAX_NODES`, `MAREY_MAX_OPEN`, `MAREY_SHARED_BYTES`, `MAREY_CAPTURE_BYTES`,
    /// `MAREY_DRAIN_INTERVAL_MS`, `MAREY_PATIENCE_MS`, `MAREY_WATCHED_FILES` (paths with colons between), and the variables of [`ProfilingConfig`]. The second value holds one warning for each variable that could not be used.
    pub fn from_env() -> (Self, Vec<String>) {
        let mut config = Self::default();
        let mut warnings = Vec::new();
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("MAREY_") && !is_known(&name) {
                warnings.push(unknown(&name));
            }
        }
        let (profiling, errors) = ProfilingConfig::from_env_tolerant();
        config.profiling = profiling;
        warnings.extend(errors.iter().map(ToString::to_string));
        let text = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        config.output_dir = text("MAREY_OUTPUT_DIR").map(PathBuf::from);
        config.job_id = text("MAREY_JOB_ID");
        config.ring_dir = text("MAREY_RING_DIR").map(PathBuf::from);
        let watched = std::env::var_os("MAREY_WATCHED_FILES").unwrap_or_default();
        let watched = std::env::split_paths(&watched);
        config.watched_files = watched.filter(|p| !p.as_os_str().is_empty()).collect();
        for (name, least, most, set) in CAPS {
            let Some(given) = text(name) else { continue };
            match given.replace('_', "").parse::<u64>() {
                Ok(number) => set(&mut config, number.clamp(least, most)),
                Err(_) => warnings
                    .push(format!("{name}={given:?} is not a whole number; the default is used")),
            }
        }
        (config, warnings)
    }
}

/// All variables but those of the keys.
fn known<'a>() -> impl Iterator<Item = &'a str> {
    CAPS.into_iter().map(|(name, ..)| name).chain(OTHERS)
}

fn is_known(name: &str) -> bool {
    known().any(|known| known == name) || profiling_config::is_known_variable(name)
}

fn unknown(name: &str) -> String {
    let keys: Vec<String> = KEYS.iter().map(Key::variable).collect();
    let known = known().chain(keys.iter().map(String::as_str));
    match nearest(name, known.chain([FILE_VARIABLE])) {
        Some(meant) => format!(
            "{name} is not a variable that Marey knows, and changes nothing; did you mean {meant}?"
        ),
        None => format!("{name} is not a variable that Marey knows; it changes nothing"),
    }
}
