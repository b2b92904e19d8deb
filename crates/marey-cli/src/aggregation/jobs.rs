//! Which job of a folder is meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;

use super::Jobs;
use super::whose::Whose;

/// Files of one job, and when the last of them was written to.
#[derive(Default)]
struct Job {
    files: Vec<PathBuf>,
    /// A capture, where there are any: reports of old jobs may be new.
    written: Option<SystemTime>,
}

/// The files of the jobs that are meant, and which other jobs there are. What does not say its job is taken, too.
pub(super) fn of_jobs(
    folder: &Path,
    captures: Vec<PathBuf>,
    others: Vec<PathBuf>,
    wanted: &Jobs,
) -> anyhow::Result<(Vec<PathBuf>, Option<String>)> {
    if *wanted == Jobs::All {
        return Ok((captures.into_iter().chain(others).collect(), None));
    }
    let mut jobs: BTreeMap<String, Job> = BTreeMap::new();
    let (mut unknown, mut jobless) = (Vec::new(), Vec::new());
    for capture in captures {
        // One that does not say its job is read, so that it is named.
        let Some(info) = marey::peek(&capture).filter(|info| !info.job_id.is_empty()) else {
            unknown.push(capture);
            continue;
        };
        let job = jobs.entry(info.job_id).or_default();
        job.written = job.written.max(written(&capture));
        job.files.push(capture);
    }
    let mut reported: BTreeMap<String, Job> = BTreeMap::new();
    for other in others {
        match Whose::of_report(&other).as_ref().and_then(Whose::job) {
            Some(id) => {
                let job = reported.entry(id.to_owned()).or_default();
                job.written = job.written.max(written(&other));
                job.files.push(other);
            }
            None => jobless.push(other),
        }
    }
    for (id, reports) in reported {
        let job = jobs.entry(id).or_default();
        job.written = job.written.or(reports.written);
        job.files.extend(reports.files);
    }
    if jobs.is_empty() {
        unknown.extend(jobless);
        return Ok((unknown, None));
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
        let files = job.files.iter().cloned();
        return Ok((files.chain(jobless).collect(), None));
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
    let mut chosen = job.files.clone();
    chosen.extend(unknown);
    chosen.extend(jobless);
    Ok((chosen, remark))
}

fn written(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file)
        .and_then(|file| file.modified())
        .ok()
}

/// Other jobs that are named.
const MAX_LISTED: usize = 5;
