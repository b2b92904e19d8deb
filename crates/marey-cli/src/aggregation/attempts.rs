//! Which jobs are attempts of one run?

use std::collections::BTreeMap;

use super::path_jobs::JobFiles;

/// The number of an attempt, from 0, and the id of its job.
pub(super) type Attempt<'a> = (u32, &'a str);

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
pub(super) fn runs<'a>(
    jobs: impl Iterator<Item = (&'a str, &'a JobFiles)>,
) -> Vec<Vec<Attempt<'a>>> {
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
