//! Which process stands for which rank, and who is missing?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::absences::{Absence, absences};
use super::dumped_calls::dumped_calls;
use super::jobs::{JobProcesses, world_sizes};
use super::placed;
use super::shared_calls::SharedCalls;
use crate::job::{DeviceSums, Ended, RankSummary, Source, StagePiece, Unread, Work};

/// A process that stands for a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Member {
    /// Which rank; `None` when no file says.
    pub rank: Option<u32>,
    /// Its host.
    pub host: String,
    /// Its place among the ranks of the host.
    pub local_rank: Option<u32>,
    /// Process id; 0 when not known.
    pub pid: u32,
    /// The file that it was read from.
    pub file: String,
    /// What a report calls the session or run that it is of; `None` when it does not say, and of captures and traces.
    pub session_id: Option<String>,
    /// What the file is.
    pub source: Source,
    /// How it ended.
    pub ended: Ended,
    /// The file ends within a block, or within the events of a trace: it was cut, or whoever wrote it was stopped meanwhile.
    pub is_truncated: bool,
    /// Whether its figures are whole.
    pub state: MemberState,
    /// How long it ran.
    pub wall_ns: u64,
    /// Sections and notes that were not recorded.
    pub n_lost: u64,
    /// What was wrong with the file.
    pub warnings: Vec<String>,
    /// Other processes of this rank: children, earlier attempts, and other files of the same one. They are in no figure.
    pub n_others: u64,
    /// What its main thread did when, on its own clock; [`super::Clocks::each`] says what that is on the common axis. Collectives lie
    /// between the sections that say what it did; more than 256 pieces are put together.
    pub stages: Vec<StagePiece>,
    /// Names that `stages` refers to.
    pub stage_names: Vec<String>,
    /// Which of `stage_names` are collectives, and waits for them: indices.
    pub communication_names: Vec<u32>,
    /// What it made.
    pub work: Work,
    /// What its GPU did, which adds up to `wall_ns`; `None` unless the file is a trace with one GPU.
    pub device: Option<DeviceSums>,
}

/// Whether a rank's figures are whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberState {
    /// It ended by itself, and everything is there.
    #[default]
    Whole,
    /// It has not ended.
    Running,
    /// It failed, was killed or vanished: what it did up to then is there.
    Cut,
    /// Something is wrong with its file, as [`Member::warnings`] say: what could be read is there.
    Damaged,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HostRow {
    /// Its name; empty when not known.
    pub host: String,
    /// Its ranks.
    pub places: Vec<u32>,
}

/// A version of Marey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct VersionRow {
    /// The version; `None` when files do not say.
    pub marey: Option<String>,
    /// Ranks that were recorded with it.
    pub places: Vec<u32>,
}

/// A job with the process that stands for each rank.
pub(super) struct Team<'a> {
    pub(super) job: JobProcesses<'a>,
    /// By rank, those without one last.
    pub(super) places: Vec<&'a RankSummary>,
    /// Of each place, the others of its rank.
    pub(super) n_others: Vec<u64>,
}

/// Missing ranks that are named: a file may say any number of ranks.
const MAX_MISSING: usize = 65_536;

/// Of the processes of a job, those that stand for its ranks.
///
/// ```text
/// rank 0   |----- A -----x   |-------- C --------|     C: the last attempt
///            |- child -|         |- B -|               B began while C ran: its child
/// rank 1                     (no file)                 missing, when there are two ranks
/// ```
///
/// In this order: a process that recorded something; that was not forked; a capture before a trace before a report; that did not begin
/// while another one of its rank ran on the same host; the one that began last. Of those without a rank, all stand for themselves that
/// recorded something and were not forked.
pub(super) fn team(job: JobProcesses<'_>) -> Team<'_> {
    let mut by_rank: BTreeMap<u32, Vec<&RankSummary>> = BTreeMap::new();
    let mut rankless: Vec<&RankSummary> = Vec::new();
    for one in &job.processes {
        match one.process.rank {
            Some(rank) => by_rank.entry(rank).or_default().push(one),
            None => rankless.push(one),
        }
    }
    let mut n_earlier: BTreeMap<u32, u64> = BTreeMap::new();
    for rank in job.earlier.iter().filter_map(|one| one.process.rank) {
        *n_earlier.entry(rank).or_default() += 1;
    }
    let (mut places, mut n_others) = (Vec::new(), Vec::new());
    for (rank, of_rank) in by_rank {
        n_others.push(of_rank.len() as u64 - 1 + n_earlier.remove(&rank).unwrap_or_default());
        places.extend(standing(of_rank));
    }
    for one in without_rank(&rankless, places.is_empty()) {
        let is_its_fork = |fork: &&&RankSummary| {
            let (fork, process) = (&fork.process, &one.process);
            fork.forked_from == Some(process.pid) && fork.host == process.host
        };
        n_others.push(rankless.iter().filter(is_its_fork).count() as u64);
        places.push(one);
    }
    Team { job, places, n_others }
}

/// Where a file lies; empty when its name has no folder.
pub(super) fn folder(file: &str) -> &str {
    file.rsplit_once(['/', '\\']).map_or("", |(folder, _)| folder)
}

/// Of several processes of a rank the one that stands for it; `None` of none.
fn standing(mut of_rank: Vec<&RankSummary>) -> Option<&RankSummary> {
    prefer(&mut of_rank, has_recorded);
    prefer(&mut of_rank, |one| one.process.forked_from.is_none());
    let best = of_rank.iter().map(|one| one.source).min();
    prefer(&mut of_rank, |one| Some(one.source) == best);
    let all = of_rank.clone();
    prefer(&mut of_rank, |one| !all.iter().any(|other| ran_at_start(other, one)));
    let key = |one: &&RankSummary| {
        (one.process.start_ns(), Reverse(one.process.pid), Reverse(one.file.clone()))
    };
    of_rank.into_iter().max_by_key(key)
}

/// Keeps those that are so, where there are any.
fn prefer(processes: &mut Vec<&RankSummary>, is_so: impl Fn(&RankSummary) -> bool) {
    if processes.iter().any(|one| is_so(one)) {
        processes.retain(|one| is_so(one));
    }
}

/// Something of its own, not only what samplers read.
fn has_recorded(one: &RankSummary) -> bool {
    let has_iterations = one.steps.is_some() || one.blocks.is_some();
    let has_sections = !(one.sections.is_empty() && one.stages.is_empty());
    has_iterations || has_sections || !(one.collectives.is_empty() && one.marks.is_empty())
}

/// `running` had begun, and had not ended, when `begun` began.
fn ran_at_start(running: &RankSummary, begun: &RankSummary) -> bool {
    let Some((from_ns, at_ns)) = running.process.start_ns().zip(begun.process.start_ns()) else {
        return false;
    };
    let is_same_host = running.process.host == begun.process.host;
    is_same_host && from_ns < at_ns && at_ns < from_ns.saturating_add(running.wall_ns)
}

/// Those without a rank that stand for themselves. Where there is nobody else, one that recorded nothing will do.
fn without_rank<'a>(rankless: &[&'a RankSummary], is_alone: bool) -> Vec<&'a RankSummary> {
    let mut standing = rankless.to_vec();
    standing.retain(|one| one.process.forked_from.is_none() && has_recorded(one));
    if standing.is_empty() && is_alone {
        standing = rankless.to_vec();
        prefer(&mut standing, |one| one.process.forked_from.is_none());
        prefer(&mut standing, has_recorded);
    }
    standing
}

impl Team<'_> {
    /// All of them.
    pub(super) fn n_processes(&self) -> u64 {
        (self.job.processes.len() + self.job.earlier.len()) as u64
    }

    /// Number of ranks; the highest, where files disagree.
    pub(super) fn world_size(&self) -> Option<u32> {
        world_sizes(&self.job.processes).last().copied()
    }

    /// All that files say, where they disagree.
    pub(super) fn other_world_sizes(&self) -> Vec<u32> {
        let sizes = world_sizes(&self.job.processes);
        if sizes.len() < 2 { Vec::new() } else { sizes.into_iter().collect() }
    }

    /// Dumps of which there is a newer one of their rank, by file.
    pub(super) fn older_dumps(&self) -> Vec<String> {
        let older = self.job.earlier.iter().filter(|one| one.dump.is_some());
        let files: BTreeSet<String> = older.map(|one| one.file.clone()).collect();
        files.into_iter().collect()
    }

    /// Ranks that somebody stands for.
    fn ranks(&self) -> BTreeSet<u32> {
        self.places.iter().filter_map(|one| one.process.rank).collect()
    }

    /// Ranks below the world size that nobody stands for and no file is called after, ascending; none where no process says its rank.
    pub(super) fn missing(&self, unread: &[Unread]) -> Vec<u32> {
        let mut there = self.ranks();
        let world_size = self.world_size().filter(|_| !there.is_empty()).unwrap_or_default();
        there.extend(unread.iter().filter_map(|file| file.rank));
        let missing = (0..world_size).filter(|rank| !there.contains(rank));
        missing.take(MAX_MISSING).collect()
    }

    /// The job can have a rank of this number, and nobody stands for it.
    pub(super) fn may_have(&self, rank: u32) -> bool {
        let there = self.ranks();
        !there.is_empty()
            && !there.contains(&rank)
            && self.world_size().is_none_or(|world_size| rank < world_size)
    }

    /// By dumps, which say which call of which group it is, and by captures.
    pub(super) fn absences(&self, shared: &[SharedCalls<'_>]) -> Vec<Absence> {
        let numbered = (0_u32..).zip(&self.places);
        let numbered = numbered.filter_map(|(place, one)| Some((one.process.rank?, place)));
        let places: BTreeMap<u32, u32> = numbered.collect();
        let mut found = dumped_calls(&self.job.processes, |rank| places.get(&rank).copied());
        found.extend(absences(&self.places, shared, self.world_size()));
        found
    }

    pub(super) fn members(&self) -> Vec<Member> {
        let each = self.places.iter().zip(&self.n_others);
        each.map(|(one, n_others)| member(one, *n_others)).collect()
    }

    /// By name.
    pub(super) fn hosts(&self) -> Vec<HostRow> {
        let by_host = self.placed_by(|one| one.process.host.clone()).into_iter();
        by_host.map(|(host, places)| HostRow { host, places }).collect()
    }

    /// By version, what does not say one first.
    pub(super) fn versions(&self) -> Vec<VersionRow> {
        let by_version = self.placed_by(|one| one.marey.clone()).into_iter();
        by_version.map(|(marey, places)| VersionRow { marey, places }).collect()
    }

    fn placed_by<K: Ord>(&self, key: impl Fn(&RankSummary) -> K) -> BTreeMap<K, Vec<u32>> {
        let mut found: BTreeMap<K, Vec<u32>> = BTreeMap::new();
        for (place, one) in placed(&self.places) {
            found.entry(key(one)).or_default().push(place);
        }
        found
    }
}

fn member(one: &RankSummary, n_others: u64) -> Member {
    let process = &one.process;
    Member {
        rank: process.rank,
        host: process.host.clone(),
        local_rank: process.local_rank,
        pid: process.pid,
        file: one.file.clone(),
        session_id: one.session_id.clone(),
        source: one.source,
        ended: one.ended.clone(),
        is_truncated: one.is_truncated,
        state: state(one),
        wall_ns: one.wall_ns,
        n_lost: one.n_lost,
        warnings: one.warnings.clone(),
        n_others,
        stages: one.stages.clone(),
        stage_names: one.stage_names.clone(),
        communication_names: one.communication_names.clone(),
        work: one.work.clone(),
        device: one.device,
    }
}

/// Whether its figures are whole. What ended early is cut, whatever else is the matter with its file.
pub(super) fn state(one: &RankSummary) -> MemberState {
    match &one.ended {
        ended if ended.is_cut() => MemberState::Cut,
        Ended::Running => MemberState::Running,
        _ if !one.warnings.is_empty() => MemberState::Damaged,
        _ => MemberState::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{RankProcess, SectionSums};

    /// Ran from `start` for 10.
    fn process(rank: Option<u32>, pid: u32, start_unix_ns: u64) -> RankSummary {
        RankSummary {
            process: RankProcess {
                rank,
                pid,
                start_unix_ns,
                host: "node".into(),
                world_size: Some(4),
                ..RankProcess::default()
            },
            wall_ns: 10,
            sections: vec![SectionSums::default()],
            ..RankSummary::default()
        }
    }

    fn of(processes: &[RankSummary]) -> Team<'_> {
        team(JobProcesses {
            job_id: "job".into(),
            processes: processes.iter().collect(),
            earlier: Vec::new(),
        })
    }

    fn pids(team: &Team<'_>) -> Vec<u32> {
        team.places.iter().map(|one| one.process.pid).collect()
    }

    #[test]
    fn the_last_attempt_of_a_rank_stands_for_it_and_the_others_are_counted() {
        // rank 0   |--- 1 ---|   |--- 2 ---|
        //                           |--- 3, its child ---|
        // rank 1                 |--- 4 ---|
        let all = [
            process(Some(1), 4, 20),
            process(Some(0), 3, 25),
            process(Some(0), 2, 20),
            process(Some(0), 1, 5),
        ];
        let found = of(&all);
        assert_eq!(pids(&found), [2, 4]);
        assert_eq!(found.n_others, [2, 0]);
        assert_eq!((found.n_processes(), found.missing(&[])), (4, vec![2, 3]));
    }

    #[test]
    fn forked_processes_and_those_that_recorded_nothing_stand_for_a_rank_only_without_others() {
        let mut all = [process(Some(0), 1, 1), process(Some(0), 2, 30), process(Some(0), 3, 50)];
        all[1].process.forked_from = Some(1);
        all[2].sections.clear();
        assert_eq!(pids(&of(&all)), [1]);
        assert_eq!(pids(&of(&all[1..])), [2]);
        assert_eq!(pids(&of(&all[2..])), [3]);
    }

    #[test]
    fn a_capture_goes_before_a_report_of_a_later_time() {
        let mut all = [process(Some(0), 1, 1), process(Some(0), 0, 90)];
        all[1].source = Source::Report;
        assert_eq!(pids(&of(&all)), [1]);
    }

    #[test]
    fn processes_without_a_rank_come_last_and_launchers_that_recorded_nothing_do_not_count() {
        let mut all = [process(None, 7, 1), process(None, 8, 1), process(Some(3), 9, 1)];
        all[0].sections.clear();
        let found = of(&all);
        assert_eq!((pids(&found), found.n_processes()), (vec![9, 8], 3));
        // A job of nobody else is still a job.
        assert_eq!(pids(&of(&all[..1])), [7]);
        assert!(of(&all[..2]).missing(&[]).is_empty());
    }

    #[test]
    fn world_sizes_that_disagree_are_named_and_the_highest_counts() {
        let mut all = [process(Some(0), 1, 1), process(Some(1), 2, 1)];
        assert!(of(&all).other_world_sizes().is_empty());
        all[1].process.world_size = Some(2);
        let found = of(&all);
        assert_eq!(found.world_size(), Some(4));
        assert_eq!(found.other_world_sizes(), [2, 4]);
        all[1].process.world_size = Some(u32::MAX);
        assert_eq!(of(&all).missing(&[]).len(), 65_536);
    }

    #[test]
    fn states_tell_whole_running_cut_and_damaged_files_apart() {
        let mut one = process(Some(0), 1, 1);
        one.ended = Ended::Finished;
        assert_eq!(state(&one), MemberState::Whole);
        one.warnings = vec!["a block is damaged".into()];
        assert_eq!(state(&one), MemberState::Damaged);
        one.ended = Ended::Running;
        assert_eq!(state(&one), MemberState::Running);
        for ended in
            [Ended::Killed(9), Ended::WithoutClosing, Ended::Failed("out of memory".into())]
        {
            one.ended = ended;
            assert_eq!(state(&one), MemberState::Cut);
        }
    }

    #[test]
    fn hosts_and_versions_name_their_ranks() {
        let mut all = [process(Some(0), 1, 1), process(Some(1), 2, 1), process(Some(2), 3, 1)];
        all[1].process.host = "other".into();
        all[2].marey = Some("0.2.0".into());
        let found = of(&all);
        let hosts: Vec<(String, Vec<u32>)> =
            found.hosts().into_iter().map(|row| (row.host, row.places)).collect();
        assert_eq!(hosts, [("node".into(), vec![0, 2]), ("other".into(), vec![1])]);
        let versions: Vec<(Option<String>, Vec<u32>)> =
            found.versions().into_iter().map(|row| (row.marey, row.places)).collect();
        assert_eq!(versions, [(None, vec![0, 1]), (Some("0.2.0".into()), vec![2])]);
    }
}
