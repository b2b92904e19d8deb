//! Of which ranks is there a file, but one of which nothing could be read?
//!
//! ```text
//! runs/flux-42/rank0-100.marey   read: rank 0 of job flux-42
//! runs/flux-42/rank1-101.marey   not read: rank 1 by its name, of flux-42 by its folder
//!                                no file of rank 2: that one is missing
//! ```

use super::jobs::JobProcesses;
use super::members::{Team, folder as file_folder};
use crate::job::{RankSummary, Unread};

/// Of each job, in their order, the files of which nothing could be read that are of ranks which nobody stands for.
///
/// The rank is that of the file's name. The job is the first of these that is known: the one that the folder is called after; the
/// only one that has files in that folder; the only one of all. A file among those of an earlier attempt is of no rank of the last
/// one.
pub(super) fn unread_ranks<'a>(
    teams: &[Team<'_>],
    unread: impl Iterator<Item = &'a Unread>,
) -> Vec<Vec<Unread>> {
    let mut of_teams: Vec<Vec<Unread>> = vec![Vec::new(); teams.len()];
    for file in unread {
        let at = file.rank.and_then(|rank| {
            let at = job_of(teams, file_folder(&file.file))?;
            teams.get(at)?.may_have(rank).then_some(at)
        });
        if let Some(of_team) = at.and_then(|at| of_teams.get_mut(at)) {
            of_team.push(file.clone());
        }
    }
    of_teams
}

fn job_of(teams: &[Team<'_>], folder: &str) -> Option<usize> {
    let only = |is_it: &dyn Fn(&JobProcesses<'_>) -> bool| {
        let mut found = (0..).zip(teams).filter(|(_, team)| is_it(&team.job));
        let first = found.next().map(|(at, _)| at);
        first.filter(|_| found.next().is_none())
    };
    let is_in =
        |processes: &[&RankSummary]| processes.iter().any(|one| file_folder(&one.file) == folder);
    let name = folder.rsplit(['/', '\\']).next().unwrap_or_default();
    if !name.is_empty()
        && let Some(called) = only(&|job| job.job_id == name)
    {
        return Some(called);
    }
    if teams.iter().any(|team| is_in(&team.job.processes)) {
        return only(&|job| is_in(&job.processes));
    }
    let is_earlier = teams.iter().any(|team| is_in(&team.job.earlier));
    only(&|_| true).filter(|_| !is_earlier)
}

#[cfg(test)]
mod tests {
    use super::super::jobs::jobs;
    use super::*;
    use crate::job::{Ended, RankProcess};

    fn read(job_id: &str, file: &str, rank: u32) -> RankSummary {
        RankSummary {
            process: RankProcess {
                job_id: job_id.to_owned(),
                rank: Some(rank),
                pid: 100 + rank,
                start_unix_ns: 1,
                world_size: Some(3),
                ..RankProcess::default()
            },
            file: file.to_owned(),
            ..RankSummary::default()
        }
    }

    fn unread(file: &str, rank: u32) -> Unread {
        Unread {
            file: file.to_owned(),
            rank: Some(rank),
            why: "is empty".to_owned(),
            ..Unread::default()
        }
    }

    /// Of each job, its name, the ranks with unread files, and those that are missing.
    fn of(read: &[RankSummary], unread: &[Unread]) -> Vec<(String, Vec<u32>, Vec<u32>)> {
        let teams = jobs(read.iter());
        let of_teams = unread_ranks(&teams, unread.iter());
        let each = teams.iter().zip(of_teams);
        each.map(|(team, files)| {
            let ranks = files.iter().filter_map(|file| file.rank).collect();
            (team.job.job_id.clone(), ranks, team.missing(&files))
        })
        .collect()
    }

    #[test]
    fn a_rank_whose_file_could_not_be_read_is_not_missing() {
        let found = of(&[read("a", "runs/a/rank0", 0)], &[unread("runs/a/rank1", 1)]);
        assert_eq!(found, [("a".into(), vec![1], vec![2])]);
        // One that stands twice, one that the job does not have, and one that says no rank.
        let mut nobody = unread("runs/a/x", 2);
        nobody.rank = None;
        let others = [unread("runs/a/rank0", 0), unread("runs/a/rank3", 3), nobody];
        let found = of(&[read("a", "runs/a/rank0", 0)], &others);
        assert_eq!(found, [("a".into(), vec![], vec![1, 2])]);
    }

    #[test]
    fn of_several_jobs_the_folder_tells_which_one_a_file_is_of() {
        let two = [
            read("a", "node0/a/rank0", 0),
            read("b", "node0/b/rank0", 0),
            read("c", "mixed/rank0", 0),
            read("d", "mixed/rank1", 1),
        ];
        let ranks = |file: &str| -> Vec<Vec<u32>> {
            let found = of(&two, &[unread(file, 2)]);
            found.into_iter().map(|(_, ranks, _)| ranks).collect()
        };
        // Its name, on another machine; the files beside it; two jobs in one folder; nothing.
        assert_eq!(ranks("node1/b/rank2"), [vec![], vec![2], vec![], vec![]]);
        assert_eq!(ranks("node0/a/rank2"), [vec![2], vec![], vec![], vec![]]);
        assert!(ranks("mixed/rank2").concat().is_empty());
        assert!(ranks("rank2").concat().is_empty());
        // There is only one job it can be of.
        let found = of(&two[..1], &[unread("rank2", 2)]);
        assert_eq!(found, [("a".into(), vec![2], vec![1])]);
    }

    #[test]
    fn a_file_of_an_earlier_attempt_tells_nothing_of_the_last_one() {
        let mut first = read("run-0", "run-0/rank0", 0);
        first.ended = Ended::Killed(9);
        let mut second = read("run-1", "run-1/rank0", 0);
        second.process.start_unix_ns = 2;
        let found = of(&[first, second], &[unread("run-0/rank1", 1)]);
        assert_eq!(found, [("run-1".into(), vec![], vec![1, 2])]);
    }
}
