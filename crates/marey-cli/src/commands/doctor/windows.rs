//! Windows of profilers in which processes of the newest jobs ended: the next window may do the same.

use std::path::{Path, PathBuf};

use super::check::Check;
use crate::run_folder::{CutOff, JobCaptures, captures};

/// Older jobs are not looked at.
const MAX_JOBS: usize = 10;
/// Captures that are larger in all are not read for this.
const MOST_BYTES: u64 = 256 << 20;

/// A line for each of the newest jobs of which a process ended in a window; none when none did, or there is no job. In this
/// folder, else where programs record.
pub(super) fn checks(folder: Option<&Path>) -> Vec<Check> {
    if let Some(Err(problem)) = folder.map(captures) {
        return vec![Check::limited("window", problem.to_string())];
    }
    let out = std::env::var_os("MAREY_OUTPUT_DIR").filter(|dir| !dir.is_empty());
    let out = folder
        .map(Path::to_owned)
        .or(out.map(PathBuf::from))
        .unwrap_or_else(marey::default_output_dir);
    let mut bytes = MOST_BYTES;
    let jobs = JobCaptures::newest(&out, MAX_JOBS);
    jobs.iter().filter_map(|job| check(&job.name(), &job.cut_off(&mut bytes))).collect()
}

fn check(job: &str, cut_off: &[CutOff]) -> Option<Check> {
    let first = cut_off.first()?;
    let others = match cut_off.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    let text = format!(
        "the job {job} ended in {} ({}{others}); marey report tells what it did until then. Next time record fewer steps, without \
         shapes and stacks, or lower max_host_bytes",
        first.windows.join(", "),
        first.capture.display(),
    );
    Some(Check::limited("window", text))
}
