//! The answers about jobs, as values.

use serde::Serialize;

use super::{
    Absence, Clocks, HostRow, IterationsOverRanks, JobWork, LastRank, Member, MemberState,
    RankFindingRow, Resources, Scaling, SectionSpread, SlowestRank, Stragglers, VersionRow,
};
use crate::findings::Findings;
use crate::job::Unread;

/// All jobs that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RanksAnswers {
    /// Each job, in order of its start.
    pub jobs: Vec<JobAnswers>,
    /// World sizes against each other; `None` unless there are two at least.
    pub scaling: Option<Scaling>,
    /// Files of which nothing could be read, by name.
    pub unread: Vec<Unread>,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct JobAnswers {
    /// The job; empty when no file says.
    pub job_id: String,
    /// Processes that were read, those that stand for no rank, too.
    pub n_processes: u64,
    /// Number of ranks that the job says it has; the highest, when files disagree.
    pub world_size: Option<u32>,
    /// Ranks of which there is no file, the first 65,536; empty when all are there, or the world size or the ranks are not known.
    pub missing: Vec<u32>,
    /// Files of its ranks of which nothing could be read, by name: nobody stands for those ranks.
    pub unread: Vec<Unread>,
    /// Dumps of flight recorders that are left out, since there is a newer one of their rank.
    pub older_dumps: Vec<String>,
    /// Files disagree about the number of ranks: all that they say, ascending. Empty when they agree.
    pub other_world_sizes: Vec<u32>,
    /// The process that stands for each rank, by rank; those without a rank last.
    pub members: Vec<Member>,
    /// Hosts by name, with their ranks' places.
    pub hosts: Vec<HostRow>,
    /// Versions of Marey, with their ranks' places; one row when all agree.
    pub versions: Vec<VersionRow>,
    /// Where processes lie on one time axis.
    pub clocks: Clocks,
    /// From the first start to the last end on that axis.
    pub span_ns: u64,
    /// Each call path over ranks, the one with the most time first.
    pub sections: Vec<SectionSpread>,
    /// Denoising steps over ranks; `None` when no rank recorded any.
    pub steps: Option<IterationsOverRanks>,
    /// Blocks over ranks; `None` when no rank recorded any.
    pub blocks: Option<IterationsOverRanks>,
    /// Communication; `None` when fewer than two ranks recorded the same calls.
    pub waiting: Option<Waiting>,
    /// Calls in which some ranks gave up because others did not come, the one with the longest wait first.
    pub absences: Vec<Absence>,
    /// Who is slow.
    pub stragglers: Stragglers,
    /// The slowest rank beside a usual one; `None` of fewer than two that ended well.
    #[serde(skip)]
    pub slowest: Option<SlowestRank>,
    /// The rank that ended after all others; `None` of one rank, and where clocks do not say it.
    #[serde(skip)]
    pub last: Option<LastRank>,
    /// Machines.
    pub resources: Resources,
    /// What all ranks made.
    pub work: JobWork,
    /// Findings of the job as a whole.
    pub findings: Findings,
    /// Findings that reports of single ranks have, by rule, the most severe first. Captures and traces have none.
    pub rank_findings: Vec<RankFindingRow>,
}

impl JobAnswers {
    /// All ranks are there, and none was cut short or damaged.
    pub fn is_whole(&self) -> bool {
        let is_sound =
            |member: &Member| matches!(member.state, MemberState::Whole | MemberState::Running);
        self.missing.is_empty() && self.unread.is_empty() && self.members.iter().all(is_sound)
    }
}

/// Communication over ranks. A call of a collective ends everywhere at about the same time, and moves data only once the last rank has
/// come: the shortest is the transfer, and what others take longer is waiting.
///
/// ```text
/// rank 0   |------all_reduce-----|     waits 17
/// rank 1             |all_reduce-|     waits 7
/// rank 2                    |----|     the last to come: waits 0
///                           ╰ transfer
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Waiting {
    /// Each rank that took part, by place.
    pub ranks: Vec<RankWaitingRow>,
    /// Each group and name, the one with the most waiting first.
    pub collectives: Vec<CollectiveWaiting>,
}

/// Communication of one rank, without that of the start ([`CollectiveWaiting::is_start_up`]). Sums over the calls that were matched with
/// those of other ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankWaitingRow {
    /// Its place.
    pub place: u32,
    /// All calls; an asynchronous one counts once.
    pub n_calls: u64,
    /// Their time, matched or not.
    pub total_ns: u64,
    /// Calls that were matched, asynchronous ones by the waits for them; of more calls than a summary keeps
    /// ([`crate::job::RankSummary::MAX_CALLS`]) the first.
    pub n_matched: u64,
    /// What the fastest rank of each call took.
    pub transfer_ns: u64,
    /// The rest.
    pub waiting_ns: u64,
    /// `waiting_ns` as a share of both; `None` when none was matched.
    pub waiting_ratio: Option<f64>,
    /// Calls in which it was the last to come, and others waited.
    pub n_last: u64,
    /// The most that one other rank waited in those calls, without what this one had waited in other groups before: what the job would gain
    /// at most if it came with the others.
    pub caused_ns: u64,
    /// From the beginning of its first matched call to the end of its last; 0 without any.
    pub within_ns: u64,
}

/// One collective over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CollectiveWaiting {
    /// The group; `None` when not known.
    pub group: Option<String>,
    /// The collective. Of an asynchronous one `all_reduce wait`: times are those of the waits for it; or `all_reduce begin`, where no rank
    /// waited for it.
    pub name: String,
    /// Measured on devices.
    pub is_device: bool,
    /// It is how the ranks come together at first (`init_process_group`): no waiting of a rank, and no saving, has it in it.
    pub is_start_up: bool,
    /// Ranks that have it.
    pub n_ranks: u64,
    /// Members of the group of which there is no file. Where there are any, transfer is what is said at most, and waiting at least: one of them may
    /// have come last. 0 also where no rank says how many members the group has.
    pub n_missing: u64,
    /// Which ranks, by place, where several groups have this name; else empty.
    pub places: Vec<u32>,
    /// Several groups have this name, and which of these ranks are one is not known: nothing is matched.
    pub is_ambiguous: bool,
    /// Calls of each rank; `None` when they differ, so that nothing is matched.
    pub n_calls: Option<u64>,
    /// Over all matched calls, what the fastest rank took; `None` when none was matched, as the one below: messages between two ranks and
    /// calls that nobody waited for are not.
    pub transfer_ns: Option<u64>,
    /// Over all matched calls and ranks, what the others took longer.
    pub waiting_ns: Option<u64>,
    /// Bytes of all ranks' calls; `None` when no rank said.
    pub bytes: Option<u64>,
    /// Calls of all ranks that were left by an error, because another rank was gone, say. They are in no other figure.
    pub n_failed: u64,
    /// Sum of their durations.
    pub failed_ns: u64,
}
