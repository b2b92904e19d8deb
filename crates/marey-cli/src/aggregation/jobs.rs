//! Which jobs are meant.
//!
//! ```text
//! node0/  flux-1  flux-2 ─┐ share a job: one group, of which the newest job is read
//! node1/  flux-1  flux-2 ─┘
//! tp2/    tp2             ─ groups of their own: both are read, to be compared
//! tp4/    tp4             ─
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::anyhow;
use marey_report::quantity::counted;

use super::Jobs;
use super::attempts::{Attempt, runs};
use super::path_jobs::{Held, JobFiles, PathJobs, sorted};

/// What is to be read.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) files: Vec<PathBuf>,
    /// What people should know of the choice, a sentence each.
    pub(super) remarks: Vec<String>,
    /// Paths that have nothing of what was asked for, and why.
    pub(super) refused: Vec<(PathBuf, anyhow::Error)>,
}

/// The files of the jobs that are meant. Paths that have a job in common are one group, and the newest job is that of the group. What
/// tells of no job is taken, too.
pub(super) fn of_jobs(held: Vec<Held>, wanted: &Jobs) -> Chosen {
    let mut chosen = Chosen::default();
    if *wanted == Jobs::All {
        for path in held {
            chosen.files.extend(path.captures);
            chosen.files.extend(path.others);
        }
        return chosen;
    }
    for group in groups(sorted(held)) {
        group.choose(wanted, &mut chosen);
    }
    chosen
}

/// Paths with a job in common, directly or by way of others.
#[derive(Default)]
struct Group {
    paths: Vec<PathBuf>,
    jobs: BTreeMap<String, JobFiles>,
    jobless: Vec<PathBuf>,
}

fn groups(paths: Vec<PathJobs>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for path in paths {
        let shares = |group: &Group| path.jobs.keys().any(|id| group.jobs.contains_key(id));
        let (same, others): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(shares);
        groups = others;
        let mut group = Group::default();
        for one in same {
            group.add(one);
        }
        group.add(Group { paths: vec![path.path], jobs: path.jobs, jobless: path.jobless });
        groups.push(group);
    }
    groups
}

impl Group {
    fn add(&mut self, other: Self) {
        self.paths.extend(other.paths);
        self.jobless.extend(other.jobless);
        for (id, more) in other.jobs {
            let job = self.jobs.entry(id).or_default();
            job.files.extend(more.files);
            job.began = job.began.last(more.began);
            job.world_size = job.world_size.max(more.world_size);
            if job.launcher.is_empty() {
                job.launcher = more.launcher;
            }
        }
    }

    fn choose(self, wanted: &Jobs, chosen: &mut Chosen) {
        let id = match wanted {
            Jobs::Only(name) if !self.jobs.is_empty() && !self.jobs.contains_key(name) => {
                let names: Vec<&str> = self.jobs.keys().map(String::as_str).collect();
                let error = anyhow!(
                    "{} {} no job {name}; there is {}",
                    self.shown(),
                    self.verb("has", "have"),
                    names.join(", ")
                );
                chosen.refused.extend(self.paths.into_iter().next().map(|path| (path, error)));
                return;
            }
            Jobs::Only(name) => Some(name.clone()),
            _ => self.newest(&mut chosen.remarks),
        };
        let job = id.and_then(|id| self.jobs.get(&id));
        chosen.files.extend(job.iter().flat_map(|job| &job.files).cloned());
        chosen.files.extend(self.jobless);
    }

    /// The attempt of a run that began last, and what to say of others; `None` when there are no jobs.
    fn newest(&self, remarks: &mut Vec<String>) -> Option<String> {
        let mut runs = runs(self.jobs.iter().map(|(id, job)| (id.as_str(), job)));
        // By number where nothing tells when they began.
        let began =
            |(number, id): &Attempt<'_>| (self.jobs.get(*id).map(|job| job.began.at()), *number);
        for run in &mut runs {
            run.sort_by_key(began);
        }
        let newest =
            runs.iter().max_by_key(|run| run.last().map(|last| (began(last).0, last.1)))?;
        let (&(number, id), earlier) = newest.split_last()?;
        if !earlier.is_empty() {
            let names: Vec<&str> = earlier.iter().rev().map(|(_, id)| *id).collect();
            remarks.push(format!(
                "{id} is attempt {} of its run; {}: --job NAME ({})",
                u64::from(number) + 1,
                counted(earlier.len() as u64, "earlier one", "earlier ones"),
                listed(&names)
            ));
        }
        let of_run = |name: &str| newest.iter().any(|(_, id)| *id == name);
        let others: Vec<&str> =
            self.jobs.keys().map(String::as_str).filter(|name| !of_run(name)).collect();
        if !others.is_empty() {
            remarks.push(format!(
                "{} {} several jobs; this is {id}, the newest. --job NAME chooses another ({}), --job all takes all",
                self.shown(),
                self.verb("holds", "hold"),
                listed(&others)
            ));
        }
        Some(id.to_owned())
    }

    fn shown(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|p| p.display().to_string()).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        listed(&paths)
    }

    fn verb(&self, of_one: &'static str, of_several: &'static str) -> &'static str {
        if self.paths.len() == 1 { of_one } else { of_several }
    }
}

/// Jobs and paths that are named.
const MAX_LISTED: usize = 5;

fn listed(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_LISTED).copied().collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
