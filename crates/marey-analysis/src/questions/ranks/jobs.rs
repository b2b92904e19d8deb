//! Which processes are one job?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::members::{Team, team};
use crate::import::flight_recorder::FlightDump;
use crate::job::{RankProcess, RankSummary};

/// Processes that belong together.
pub(super) struct JobProcesses<'a> {
    /// Empty when not known.
    pub(super) job_id: String,
    /// Those that may stand for ranks.
    pub(super) processes: Vec<&'a RankSummary>,
    /// Those of attempts before, which do not.
    pub(super) earlier: Vec<&'a RankSummary>,
}

impl<'a> JobProcesses<'a> {
    fn new(job_id: &str, processes: Vec<&'a RankSummary>) -> Self {
        Self { job_id: job_id.to_owned(), processes, earlier: Vec::new() }
    }
}

/// All numbers of ranks that are said, ascending.
pub(super) fn world_sizes(processes: &[&RankSummary]) -> BTreeSet<u32> {
    let said = processes.iter().filter_map(|one| one.process.world_size);
    said.collect()
}

/// The jobs, by what tells them apart.
///
/// * Processes with the same job id are one job.
/// * Job ids that differ only in the number at their end are attempts of one job, as torchrun restarts it, where the numbers follow
///   each other, world sizes agree, the later began later and a process of the earlier failed, was killed or vanished. The last
///   attempt stands for the job.
/// * Processes without a job id, and ranks of several whose id the recorder made of its own process, are one job for each number of ranks.
///   Where ranks are there twice, they are several jobs that ran one after the other:
///
/// ```text
/// start     1     2        7     8     9
/// rank      0     1        0     1     0
///           |- first -|    |-second-|  |- third: rank 0 alone, rank 1 is missing
/// ```
///
/// Where starts are not known, the n-th file of each rank belongs to the n-th job.
/// * Dumps of flight recorders are of the only other job, where they can be; else they are processes without a job id. Of several of a rank
///   the newest counts.
pub(super) fn jobs<'a>(summaries: impl Iterator<Item = &'a RankSummary>) -> Vec<Team<'a>> {
    teams(summaries, attempts)
}

/// The same where each attempt is a job of its own.
pub(super) fn each_attempt<'a>(summaries: impl Iterator<Item = &'a RankSummary>) -> Vec<Team<'a>> {
    teams(summaries, |named| {
        named.into_iter().map(|(id, processes)| JobProcesses::new(id, processes)).collect()
    })
}

/// Processes by the ids of their jobs.
type Named<'a> = BTreeMap<&'a str, Vec<&'a RankSummary>>;

fn teams<'a>(
    summaries: impl Iterator<Item = &'a RankSummary>,
    grouped: impl Fn(Named<'a>) -> Vec<JobProcesses<'a>>,
) -> Vec<Team<'a>> {
    let mut named: Named<'a> = BTreeMap::new();
    let mut unnamed: Vec<&RankSummary> = Vec::new();
    for summary in summaries {
        match job_id(&summary.process) {
            "" => unnamed.push(summary),
            id => named.entry(id).or_default().push(summary),
        }
    }
    let (mut dumps, unnamed): (Vec<_>, Vec<_>) =
        unnamed.into_iter().partition(|one| one.dump.is_some());
    let older = take_older(&mut dumps);
    let mut groups = grouped(named);
    groups.extend(without_id(&unnamed));
    match groups.as_mut_slice() {
        [only] if dumps.iter().all(|dump| is_dump_of(dump, only)) => only.processes.extend(dumps),
        _ => groups.extend(without_id(&dumps)),
    }
    for dump in older {
        let has_newer = |group: &&mut JobProcesses<'_>| {
            group.processes.iter().any(|one| one.dump.is_some() && whose(one) == whose(dump))
        };
        groups.iter_mut().filter(has_newer).for_each(|group| group.earlier.push(dump));
    }
    groups.into_iter().map(team).collect()
}

/// Dumps of one rank of jobs with as many ranks say the same of them.
fn whose(dump: &RankSummary) -> (Option<u32>, Option<u32>) {
    (dump.process.world_size, dump.process.rank)
}

/// Takes the dumps of ranks of which there is a newer one: by the last time in it, then by the calls that were made.
fn take_older<'a>(dumps: &mut Vec<&'a RankSummary>) -> Vec<&'a RankSummary> {
    let made = |dump: &FlightDump| dump.groups.iter().map(|of| of.last_made.unwrap_or(0)).max();
    dumps.sort_by_key(|one| Reverse(one.dump.as_ref().map(|of| (of.last_unix_ns, made(of)))));
    let mut seen = BTreeSet::new();
    let (newest, older) =
        dumps.drain(..).partition(|one| one.process.rank.is_none() || seen.insert(whose(one)));
    *dumps = newest;
    older
}

/// The job can have written a dump: it has as many ranks, and ran when the dump's last call was made or ended.
fn is_dump_of(dump: &RankSummary, job: &JobProcesses<'_>) -> bool {
    let last_ns = dump.dump.as_ref().and_then(|dump| dump.last_unix_ns);
    let end_ns = |one: &&RankSummary| Some(one.process.start_ns()?.saturating_add(one.wall_ns));
    let end_ns = job.processes.iter().filter_map(end_ns).max();
    let span = first_start(&job.processes).zip(end_ns);
    let sizes = world_sizes(&job.processes);
    let is_of_size = dump.process.world_size.is_some_and(|size| sizes.contains(&size));
    let ran = span.zip(last_ns).is_some_and(|((start, end), at)| (start..=end).contains(&at));
    is_of_size && ran
}

/// The id of its job; empty when it says none, or one that says nothing of other ranks.
fn job_id(process: &RankProcess) -> &str {
    let id = process.job_id.as_str();
    let is_one_of_several = process.rank.is_some() && process.world_size.is_some_and(|n| n > 1);
    if is_one_of_several && is_made_of_itself(process) {
        return "";
    }
    id
}

/// The recorder made the id of time, host and process: `20261121-120000-host-4711`.
fn is_made_of_itself(process: &RankProcess) -> bool {
    let mut parts = process.job_id.split('-');
    let mut is_number = |digits: usize| {
        let part = parts.next().unwrap_or_default();
        part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let has_time = is_number(8) && is_number(6);
    let number = numbered(&process.job_id).map(|(_, number)| number);
    has_time && number.is_some_and(|n| n == process.pid || Some(n) == process.forked_from)
}

/// An id without the number at its end, and that.
fn numbered(id: &str) -> Option<(&str, u32)> {
    let (base, number) = id.rsplit_once('-')?;
    Some((base, number.parse().ok()?))
}

fn attempts(named: Named<'_>) -> Vec<JobProcesses<'_>> {
    let mut attempts: Vec<(&str, Vec<&RankSummary>)> = named.into_iter().collect();
    // Those of one base by number; 10 is not before 9.
    attempts.sort_by_key(|(id, _)| (numbered(id), *id));
    let mut groups: Vec<JobProcesses<'_>> = Vec::new();
    for (id, processes) in attempts {
        match groups.last_mut() {
            Some(before) if is_restart(before, id, &processes) => {
                let earlier = std::mem::replace(&mut before.processes, processes);
                before.earlier.extend(earlier);
                id.clone_into(&mut before.job_id);
            }
            _ => groups.push(JobProcesses::new(id, processes)),
        }
    }
    groups
}

fn is_restart(before: &JobProcesses<'_>, id: &str, processes: &[&RankSummary]) -> bool {
    let Some(((base, number), (base_before, number_before))) =
        numbered(id).zip(numbered(&before.job_id))
    else {
        return false;
    };
    let is_next = base == base_before && number_before.checked_add(1) == Some(number);
    is_next
        && before.processes.iter().any(|one| one.ended.is_cut())
        && world_sizes(&before.processes) == world_sizes(processes)
        && first_start(&before.processes)
            .zip(first_start(processes))
            .is_some_and(|(before_ns, ns)| before_ns < ns)
}

fn first_start(processes: &[&RankSummary]) -> Option<u64> {
    processes.iter().filter_map(|one| one.process.start_ns()).min()
}

/// Those without a job id: by number of ranks, those that do not say it with the others where these agree.
fn without_id<'a>(unnamed: &[&'a RankSummary]) -> Vec<JobProcesses<'a>> {
    let said = world_sizes(unnamed);
    let only = said.first().copied().filter(|_| said.len() == 1);
    let mut by_size: BTreeMap<Option<u32>, Vec<&RankSummary>> = BTreeMap::new();
    for summary in unnamed {
        let size = summary.process.world_size.or(only);
        by_size.entry(size).or_default().push(summary);
    }
    let of_size = by_size.into_values().flat_map(one_after_the_other);
    of_size.map(|processes| JobProcesses::new("", processes)).collect()
}

/// Cuts processes into jobs of which each rank is there once.
fn one_after_the_other(mut processes: Vec<&RankSummary>) -> Vec<Vec<&RankSummary>> {
    processes.sort_by_key(|one| (one.process.start_ns(), &one.file, &one.process));
    let are_known = processes.iter().all(|one| one.process.start_ns().is_some());
    let mut jobs: Vec<Vec<&RankSummary>> = Vec::new();
    let mut n_of_rank: BTreeMap<u32, usize> = BTreeMap::new();
    let mut current = 0_usize;
    for one in processes {
        let own_rank = one.process.rank.filter(|_| one.process.forked_from.is_none());
        if let Some(rank) = own_rank {
            let n_before = n_of_rank.entry(rank).or_default();
            if are_known {
                // The rank is in this job already: the next one has begun.
                current += usize::from(*n_before > current);
                *n_before = current + 1;
            } else {
                current = *n_before;
                *n_before += 1;
            }
        }
        if jobs.len() <= current {
            jobs.resize_with(current + 1, Vec::new);
        }
        if let Some(job) = jobs.get_mut(current) {
            job.push(one);
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Ended;

    fn process(job_id: &str, rank: u32, start_unix_ns: u64) -> RankSummary {
        RankSummary {
            process: RankProcess {
                job_id: job_id.to_owned(),
                rank: Some(rank),
                pid: 100 + rank,
                start_unix_ns,
                world_size: Some(2),
                ..RankProcess::default()
            },
            file: format!("{job_id}/{rank}/{start_unix_ns}"),
            ..RankSummary::default()
        }
    }

    /// Starts of the members of each job.
    fn starts(summaries: &[RankSummary]) -> Vec<Vec<u64>> {
        let jobs = jobs(summaries.iter());
        let of_job = |team: &Team<'_>| {
            let places = team.places.iter();
            places.map(|one| one.process.start_unix_ns).collect()
        };
        jobs.iter().map(of_job).collect()
    }

    #[test]
    fn ids_tell_jobs_apart() {
        let ranks = [process("a", 0, 1), process("b", 0, 2), process("a", 1, 3)];
        assert_eq!(starts(&ranks), [vec![1, 3], vec![2]]);
    }

    #[test]
    fn a_restarted_job_is_one_and_its_last_attempt_stands_for_it() {
        // run-9    rank 0 |--x killed   rank 1 |--x
        // run-10                 rank 0 |-----|   rank 1 |-----|
        let mut ranks = [
            process("run-9", 0, 1),
            process("run-9", 1, 2),
            process("run-10", 0, 11),
            process("run-10", 1, 12),
        ];
        ranks[0].ended = Ended::Killed(9);
        let found = jobs(ranks.iter());
        assert_eq!(starts(&ranks), [vec![11, 12]]);
        assert_eq!(found[0].job.job_id, "run-10");
        assert_eq!((found[0].n_processes(), &found[0].n_others[..]), (4, &[1, 1][..]));
        // Asked for each attempt, both are there.
        let each = each_attempt(ranks.iter());
        let each: Vec<(&str, u64)> =
            each.iter().map(|team| (team.job.job_id.as_str(), team.n_processes())).collect();
        assert_eq!(each, [("run-10", 2), ("run-9", 2)]);
    }

    #[test]
    fn numbered_jobs_are_no_attempts_when_the_earlier_one_ended_well_or_had_other_ranks() {
        let mut ranks = [process("gpus-1", 0, 1), process("gpus-2", 0, 11)];
        assert_eq!(starts(&ranks), [vec![1], vec![11]]);
        ranks[0].ended = Ended::WithoutClosing;
        assert_eq!(starts(&ranks), [vec![11]]);
        ranks[1].process.world_size = Some(4);
        assert_eq!(starts(&ranks), [vec![1], vec![11]]);
    }

    #[test]
    fn ranks_whose_id_is_their_own_are_put_together() {
        // The id that a recorder makes without a launcher's: time, host, process.
        let ranks =
            [process("20261121-120000-node-100", 0, 1), process("20261121-120000-node-101", 1, 2)];
        assert_eq!(starts(&ranks), [vec![1, 2]]);
        let mut alone = ranks.clone();
        for one in &mut alone {
            one.process.world_size = None;
        }
        assert_eq!(starts(&alone), [vec![1], vec![2]]);
    }

    #[test]
    fn without_ids_jobs_follow_each_other_in_time() {
        // start  1 2   7 8   9
        // rank   0 1   1 0   0
        let at = |(rank, start)| process("", rank, start);
        let ranks = [(0, 1), (1, 2), (1, 7), (0, 8), (0, 9)].map(at);
        assert_eq!(starts(&ranks), [vec![1, 2], vec![8, 7], vec![9]]);
    }

    #[test]
    fn dumps_are_of_the_only_job_that_ran_when_they_were_written() {
        // job a    1 000 |--------------| 1 100
        // dump              x 1 050                x 2 000
        let mut ranks = [process("a", 0, 1_000), process("a", 1, 1_000), process("", 1, 0)];
        ranks[0].wall_ns = 100;
        let mut n_of_jobs = |last_unix_ns| {
            ranks[2].dump =
                Some(FlightDump { last_unix_ns: Some(last_unix_ns), ..FlightDump::default() });
            let each = jobs(ranks.iter());
            each.iter().map(Team::n_processes).collect::<Vec<_>>()
        };
        assert_eq!(n_of_jobs(1_050), [3]);
        assert_eq!(n_of_jobs(2_000), [2, 1]);
    }

    #[test]
    fn without_starts_the_nth_file_of_each_rank_belongs_to_the_nth_job() {
        let of = |(rank, file): (u32, &str)| {
            let mut one = process("", rank, 0);
            file.clone_into(&mut one.file);
            one
        };
        let ranks = [(0, "a0"), (0, "b0"), (1, "a1"), (1, "b1")].map(of);
        let found = jobs(ranks.iter());
        let files: Vec<Vec<&str>> = found
            .iter()
            .map(|team| team.places.iter().map(|one| one.file.as_str()).collect())
            .collect();
        assert_eq!(files, [["a0", "a1"], ["b0", "b1"]]);
    }

    #[test]
    fn without_ids_numbers_of_ranks_tell_jobs_apart() {
        let mut ranks = [process("", 0, 1), process("", 1, 2), process("", 0, 3)];
        ranks[2].process.world_size = Some(1);
        assert_eq!(starts(&ranks), [vec![3], vec![1, 2]]);
        // One that does not say it belongs to the only size.
        ranks[2].process.world_size = Some(2);
        ranks[1].process.world_size = None;
        assert_eq!(starts(&ranks), [vec![1, 2], vec![3]]);
    }
}
