//! The answers about jobs, as values.

mod clocks;
mod communication;
mod member;
mod resources;
mod scaling;
mod slowest;
mod spread;
mod straggler;

pub use clocks::{ClockMethod, Clocks, PlacedClock};
pub use communication::{Absence, CollectiveWaiting, RankWaitingRow, Waiting};
pub use member::{HostRow, Member, MemberState, VersionRow};
pub use resources::{RankGpu, RankResources, Resources};
pub use scaling::{Scaling, ScalingRow};
pub use slowest::{LastRank, SlowestRank};
pub use spread::{HeatMap, OverRanks, SectionSpread, TurnSpread, TurnsOverRanks};
pub use straggler::{RankStraggler, StragglerVerdict, Stragglers};

use serde::Serialize;

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
    pub steps: Option<TurnsOverRanks>,
    /// Blocks over ranks; `None` when no rank recorded any.
    pub blocks: Option<TurnsOverRanks>,
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
    /// What is the matter with the job as a whole.
    pub findings: Findings,
    /// What is the matter with single ranks, as their reports say it, by rule, the most severe first. Captures and traces are not asked.
    pub rank_findings: Vec<RankFindingRow>,
}

/// What a rule found in single ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RankFindingRow {
    /// The rule.
    pub rule: String,
    /// As the finding says it, of the most severe one.
    pub severity: String,
    /// The ranks, by place.
    pub places: Vec<u32>,
    /// What is the matter with one of them.
    pub issue: String,
}

/// What all ranks made. Ranks that share a generation each count its frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct JobWork {
    /// Most pixel frames of any rank; `None` when no rank says, as all below.
    pub pixel_frames_max: Option<u64>,
    /// All of them together.
    pub pixel_frames_sum: Option<u64>,
    /// Lowest pixel frames in a second of any rank.
    pub pixel_frames_per_second_min: Option<f64>,
}
