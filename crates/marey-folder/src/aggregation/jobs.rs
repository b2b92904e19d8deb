//! Which jobs are meant.
//!
//! ```text
//! node0/  flux-1  flux-2 ─┐ share a job: one group, of which the newest job is read
//! node1/  flux-1  flux-2 ─┘
//! tp2/    tp2             ─ groups of their own: both are read, to be compared
//! tp4/    tp4             ─
//! ```

use std::collections::BTreeMap;

use anyhow::anyhow;
use marey_report::quantity::counted;

use super::inputs::path_unread;
use super::path_jobs::{JobFiles, PathJobs, with_unsaid};
use super::{Input, Inputs, Jobs};

/// Adds the files of the jobs that are meant. Paths that have a job in common are one group, and the newest job is that of the group. What
/// tells of no job is taken, too.
pub(super) fn choose(held: Vec<PathJobs>, wanted: &Jobs, found: &mut Inputs) {
    for group in groups(with_unsaid(held)) {
        group.choose(wanted, found);
    }
}

/// Paths with a job in common, directly or by way of others, taken together.
fn groups(paths: Vec<PathJobs>) -> Vec<PathJobs> {
    let mut groups: Vec<PathJobs> = Vec::new();
    for path in paths {
        let shares = |group: &PathJobs| path.jobs.keys().any(|id| group.jobs.contains_key(id));
        let (same, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(shares);
        let all = same.into_iter().chain([path]);
        groups = others;
        groups.extend(all.reduce(PathJobs::with));
    }
    groups
}

impl PathJobs {
    fn choose(&self, wanted: &Jobs, found: &mut Inputs) {
        let id = match wanted {
            Jobs::Only(name) if !self.jobs.is_empty() && !self.jobs.contains_key(name) => {
                let names: Vec<&str> = self.jobs.keys().map(String::as_str).collect();
                let error = anyhow!(
                    "{} {} no job {name}; there is {}",
                    self.shown(),
                    self.verb("has", "have"),
                    names.join(", ")
                );
                found.unread.extend(self.paths.first().map(|path| path_unread(path, &error)));
                return;
            }
            Jobs::Only(name) => Some(name.clone()),
            Jobs::Newest => self.newest(&mut found.remarks),
            Jobs::All => None,
        };
        let jobs = self.jobs.iter().filter(|(name, _)| match wanted {
            Jobs::All => true,
            _ => id.as_ref() == Some(name),
        });
        let files = jobs.flat_map(|(_, job)| &job.files).chain(&self.jobless);
        found.files.extend(files.map(|path| Input::new(path)));
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

/// The number of an attempt, from 0, and the id of its job.
type Attempt<'a> = (u32, &'a str);

/// Jobs that are attempts of one run, the first one first; a job without others is a run of its own.
///
/// ```text
/// flux-0    torchrun, 8 ranks    attempt 0 ─┐
/// flux-1    torchrun, 8 ranks    attempt 1 ─┴ one run
/// sdxl-3    torchrun, 8 ranks                 by itself: there is no sdxl-0
/// seed-0    no torchrun                       by itself: the number is part of a name that somebody gave it
/// ```
///
/// torchrun counts its restarts at the end of the id, Slurm's requeued jobs have `-again1` there. That an earlier attempt failed is not
/// looked up: it would take reading the captures. So a name that somebody gave to jobs of torchrun (`MAREY_JOB_ID=flux-0`) counts, too.
fn runs<'a>(jobs: impl Iterator<Item = (&'a str, &'a JobFiles)>) -> Vec<Vec<Attempt<'a>>> {
    let mut by_base: BTreeMap<(&str, Option<u32>), Vec<Attempt<'_>>> = BTreeMap::new();
    let mut runs = Vec::new();
    for (id, job) in jobs {
        match attempt(id, &job.launcher) {
            Some((base, number)) => {
                let run = by_base.entry((base, job.world_size)).or_default();
                run.push((number, id));
            }
            None => runs.push(vec![(0, id)]),
        }
    }
    for (_, mut run) in by_base {
        run.sort_unstable();
        if run.first().is_some_and(|(number, _)| *number == 0) {
            runs.push(run);
        } else {
            runs.extend(run.into_iter().map(|(_, id)| vec![(0, id)]));
        }
    }
    runs
}

/// What all attempts of a run have in common, and the number of this one.
fn attempt<'a>(id: &'a str, launcher: &str) -> Option<(&'a str, u32)> {
    let numbered = |sign| {
        let (base, number): (&str, &str) = id.rsplit_once(sign)?;
        Some((base, number.parse().ok()?))
    };
    match launcher {
        "torchrun" => numbered("-"),
        "Slurm" => Some(numbered("-again").unwrap_or((id, 0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(launcher: &str, world_size: u32) -> JobFiles {
        JobFiles {
            launcher: launcher.to_owned(),
            world_size: Some(world_size),
            ..JobFiles::default()
        }
    }

    #[test]
    fn restarts_of_torchrun_and_requeued_jobs_of_slurm_are_one_run() {
        let (torchrun, four, slurm, other) =
            (job("torchrun", 8), job("torchrun", 4), job("Slurm", 8), job("environment", 8));
        let jobs = [
            ("flux-0", &torchrun),
            ("flux-10", &torchrun),
            ("flux-2", &torchrun),
            ("sdxl-3", &torchrun),
            // As many ranks make one run.
            ("wan-0", &torchrun),
            ("wan-1", &four),
            ("slurm-7.0", &slurm),
            ("slurm-7.0-again1", &slurm),
            ("seed-0", &other),
            ("seed-1", &other),
        ];
        let found = runs(jobs.into_iter());
        let several: Vec<&Vec<Attempt<'_>>> = found.iter().filter(|run| run.len() > 1).collect();
        assert_eq!(
            several,
            [
                &vec![(0, "flux-0"), (2, "flux-2"), (10, "flux-10")],
                &vec![(0, "slurm-7.0"), (1, "slurm-7.0-again1")]
            ]
        );
        assert_eq!(found.len(), 2 + 5);
    }
}
