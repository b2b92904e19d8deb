//! Which job of a folder is meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;

use super::Jobs;

/// Captures of one job, and when the last of them was written to.
#[derive(Default)]
struct Job {
    captures: Vec<PathBuf>,
    written: Option<SystemTime>,
}

/// The captures of the jobs that are meant, and which others there are.
pub(super) fn of_jobs(
    folder: &Path,
    captures: Vec<PathBuf>,
    wanted: &Jobs,
) -> anyhow::Result<(Vec<PathBuf>, Option<String>)> {
    if *wanted == Jobs::All || captures.is_empty() {
        return Ok((captures, None));
    }
    let mut jobs: BTreeMap<String, Job> = BTreeMap::new();
    let mut unknown = Vec::new();
    for capture in captures {
        // One that does not say its job is read, so that it is named.
        let Some(info) = marey::peek(&capture).filter(|info| !info.job_id.is_empty()) else {
            unknown.push(capture);
            continue;
        };
        let job = jobs.entry(info.job_id).or_default();
        let written = std::fs::metadata(&capture).and_then(|file| file.modified());
        job.written = job.written.max(written.ok());
        job.captures.push(capture);
    }
    let names = || {
        let names: Vec<&str> = jobs.keys().map(String::as_str).collect();
        names.join(", ")
    };
    if let Jobs::Only(name) = wanted {
        let Some(job) = jobs.get(name) else {
            bail!(
                "{} has no job {name}; there is {}",
                folder.display(),
                names()
            );
        };
        return Ok((job.captures.clone(), None));
    }
    let newest = jobs.iter().max_by_key(|(name, job)| (job.written, *name));
    let Some((newest, job)) = newest else {
        return Ok((unknown, None));
    };
    let n_others = jobs.len() - 1;
    let remark = (n_others > 0).then(|| {
        let others: Vec<&str> = jobs
            .keys()
            .map(String::as_str)
            .filter(|name| name != newest)
            .take(MAX_LISTED)
            .collect();
        let more = if n_others > others.len() { ", …" } else { "" };
        format!(
            "{} holds several jobs; this is {newest}, the newest. --job NAME chooses another ({}{more}), --job all takes all",
            folder.display(),
            others.join(", ")
        )
    });
    let mut chosen = job.captures.clone();
    chosen.extend(unknown);
    Ok((chosen, remark))
}

/// Other jobs that are named.
const MAX_LISTED: usize = 5;
