//! The answers about jobs, as values.

use serde::Serialize;

use crate::findings::Findings;
use crate::job::{Ended, Range, Source, StagePiece, Unread, Work};

/// All jobs that were read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RanksAnswers {
    /// Each job, in order of its start.
    pub jobs: Vec<JobAnswers>,
    /// World sizes against each other; `None` unless there are two at least.
    pub scaling: Option<Scaling>,
    /// Files of which nothing could be read, by name.
    pub unread: Vec<Unread>,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

/// A process that stands for a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// What that is.
    pub source: Source,
    /// How it ended.
    pub ended: Ended,
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
    /// What it did when, on its own clock; [`Clocks::each`] says what that is on the common axis.
    pub stages: Vec<StagePiece>,
    /// Names that `stages` refers to.
    pub stage_names: Vec<String>,
    /// What it made.
    pub work: Work,
}

/// Whether a rank's figures are whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostRow {
    /// Its name; empty when not known.
    pub host: String,
    /// Its ranks.
    pub places: Vec<u32>,
}

/// A version of Marey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VersionRow {
    /// The version; `None` when files do not say.
    pub marey: Option<String>,
    /// Ranks that were recorded with it.
    pub places: Vec<u32>,
}

/// Where the processes lie on one time axis. Moment 0 is the earliest start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Clocks {
    /// Each member, by place.
    pub each: Vec<PlacedClock>,
    /// Wall clock at moment 0, nanoseconds since 1970, as the reference's clock has it; `None` when no file says.
    pub start_unix_ns: Option<u64>,
    /// The largest `error_ns` of all members; `None` when one of them is not known.
    pub error_ns: Option<u64>,
    /// What people should know of it, in words.
    pub note: String,
}

/// One process on the common axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PlacedClock {
    /// The moment of its start on the common axis; `None` when its file does not say when it ran, and nothing else tells.
    pub start_ns: Option<u64>,
    /// What was added to its wall clock to get there.
    pub correction_ns: i64,
    /// The start is right within this much, either way; `None` when nothing is known of that.
    pub error_ns: Option<u64>,
    /// How that is known.
    pub method: ClockMethod,
}

/// How a process's place on the common axis is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockMethod {
    /// Its wall clock, as the machine had it: machines differ by what their time service leaves.
    #[default]
    WallClock,
    /// It read the same clock as the reference: the same machine, not started anew in between.
    SameClock,
    /// Collectives that nobody leaves before all have come bound the difference from both sides.
    Collectives,
    /// As by collectives, from the marks that all ranks set when they began.
    StartMarks,
    /// When it ran is not known.
    NotKnown,
}

/// A figure over ranks. Ranks by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OverRanks {
    /// Ranks that have it.
    pub n_ranks: u64,
    /// Lowest.
    pub min_ns: u64,
    /// Middle one, or mean of the middle two.
    pub median_ns: f64,
    /// Mean.
    pub mean_ns: f64,
    /// Highest.
    pub max_ns: u64,
    /// The rank that has the highest; the first of equals.
    pub slowest: u32,
    /// Highest less lowest.
    pub spread_ns: u64,
    /// `spread_ns` as a share of the median; `None` when that is 0.
    pub spread_ratio: Option<f64>,
}

/// A call path over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SectionSpread {
    /// Names from the outermost section to this one.
    pub path: Vec<String>,
    /// Turns of a loop instead of a section.
    pub is_iteration: bool,
    /// Calls of all ranks.
    pub count: u64,
    /// Calls that were left by an error.
    pub errors: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Each rank's total, of ranks that completed a call; `None` when no rank did, as all below.
    pub totals: Option<OverRanks>,
    /// Each rank's mean duration of a call, rounded to nanoseconds.
    pub means: Option<OverRanks>,
    /// Shortest call of all.
    pub min_ns: Option<u64>,
    /// Longest call of all.
    pub max_ns: Option<u64>,
    /// Middle of all calls of all ranks (±3.1 %, ±6.3 % where clocks tick otherwise than in nanoseconds); `None` also when a rank that
    /// completed calls has no histogram.
    pub median_ns: Option<u64>,
    /// 95 % took no longer; likewise.
    pub p95_ns: Option<u64>,
    /// Ranks in which it was open when they ended.
    pub n_open: u64,
}

/// Steps, or blocks, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TurnsOverRanks {
    /// Turns of all ranks.
    pub count: u64,
    /// Ranks differ in how many they have: lowest and highest. `None` when they agree.
    pub counts_differ: Option<(u64, u64)>,
    /// Ranks of which turns are lost, so that the n-th of the rest need not be the n-th of the others: by place. They have a median, and
    /// are not in `each` and `heat_map`.
    pub out_of_step: Vec<u32>,
    /// Turns of a cell.
    pub per_cell: u32,
    /// Each rank's median of turns that are no warm-up, by rank; `None` when no rank has one.
    pub medians: Option<OverRanks>,
    /// Each cell over ranks, in order of time.
    pub each: Vec<TurnSpread>,
    /// Rank by cell.
    pub heat_map: HeatMap,
}

/// One cell of turns over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TurnSpread {
    /// Number of its first turn, from 0.
    pub first: u64,
    /// It holds a first turn of a generation of some rank.
    pub is_warm_up: bool,
    /// Mean duration of a turn of the cell, by rank.
    pub durations: OverRanks,
    /// The same without the time in collectives, of ranks that recorded any; `None` when none did.
    pub own: Option<OverRanks>,
}

/// Rank by cell: mean duration of the cell's turns in nanoseconds, row after row; `None` where a rank has no such turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeatMap {
    /// Places of the ranks that have turns: the rows.
    pub places: Vec<u32>,
    /// Number of columns.
    pub n_cells: u32,
    /// `places.len() · n_cells` values.
    pub durations_ns: Vec<Option<u64>>,
    /// The same without the time in collectives; empty when no rank recorded any.
    pub own_ns: Vec<Option<u64>>,
}

/// Communication over ranks. A call of a collective ends everywhere at about the same time, and moves data only once the last rank has
/// come: the shortest is the transfer, and what others take longer is waiting. Where there are many, some calls are looked at, and stand for
/// all ([`crate::job::CollectiveSums::stride`]).
///
/// ```text
/// rank 0   |------all_reduce-----|     waits 17
/// rank 1             |all_reduce-|     waits 7
/// rank 2                    |----|     the last to come: waits 0
///                           ╰ transfer
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Waiting {
    /// Each rank that took part, by place.
    pub ranks: Vec<RankWaitingRow>,
    /// Each group and name, the one with the most waiting first.
    pub collectives: Vec<CollectiveWaiting>,
}

/// Communication of one rank, without that of the start ([`CollectiveWaiting::is_start_up`]). Sums over the calls that were matched with
/// those of other ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankWaitingRow {
    /// Its place.
    pub place: u32,
    /// All calls.
    pub n_calls: u64,
    /// Their time, matched or not.
    pub total_ns: u64,
    /// Calls that were matched, with those that they stand for.
    pub n_matched: u64,
    /// What the fastest rank of each call took.
    pub transfer_ns: u64,
    /// The rest.
    pub waiting_ns: u64,
    /// `waiting_ns` as a share of both; `None` when none was matched.
    pub waiting_ratio: Option<f64>,
    /// Calls in which it was the last to come, and others waited.
    pub n_last: u64,
    /// What the others waited in those calls, on average over the others: the time that the job would gain if this rank came with the
    /// others.
    pub caused_ns: u64,
}

/// One collective over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CollectiveWaiting {
    /// The group; `None` when not known.
    pub group: Option<String>,
    /// The collective.
    pub name: String,
    /// Measured on devices.
    pub is_device: bool,
    /// It is how the ranks come together at first (`init_process_group`): no waiting of a rank, and no saving, has it in it.
    pub is_start_up: bool,
    /// Ranks that have it.
    pub n_ranks: u64,
    /// Which ranks, by place, where several groups have this name; else empty.
    pub places: Vec<u32>,
    /// Several groups have this name, and which of these ranks are one cannot be told: nothing is matched.
    pub is_ambiguous: bool,
    /// Calls of each rank; `None` when they differ, so that nothing is matched, as the two below.
    pub n_calls: Option<u64>,
    /// Over all matched calls, what the fastest rank took.
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

/// A collective that failed on some ranks, and to which others never came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Absence {
    /// The group; `None` when not known.
    pub group: Option<String>,
    /// The collective.
    pub name: String,
    /// Ranks that did not come, by place.
    pub absent: Vec<u32>,
    /// Ranks in which it failed, by place.
    pub gave_up: Vec<u32>,
    /// Most time of one rank in calls of it that failed.
    pub longest_ns: u64,
}

/// Who is slow, and who only waits. A rank's *own time* of a turn is its duration without the time it waits for others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stragglers {
    /// What the scores are made of, in words; says so where waiting is not known and a slow rank cannot be told from one that waits.
    pub basis: String,
    /// Waiting is known: `own_ns` is without it.
    pub is_waiting_known: bool,
    /// Each rank with a figure, the highest score first.
    pub ranks: Vec<RankStraggler>,
}

/// One rank against the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankStraggler {
    /// Its place.
    pub place: u32,
    /// Its own time between the calls that all ranks share, as the basis says; else of a steady turn (median), or of the whole run.
    pub own_ns: u64,
    /// What it waited in as much time; `None` when not known.
    pub waiting_ns: Option<u64>,
    /// `own_ns` against the median of all ranks: 0.1 is ten percent slower.
    pub score: f64,
    /// What it comes to.
    pub verdict: StragglerVerdict,
}

/// What a rank is to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StragglerVerdict {
    /// As fast as the others.
    #[default]
    Even,
    /// Its own work takes longer: others wait for it.
    Slow,
    /// It takes as long as the slow ones, but waits for them.
    Waits,
}

/// Machines and GPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resources {
    /// GPUs by UUID, each once however many ranks used it; those without a UUID by rank.
    pub gpus: Vec<RankGpu>,
    /// Memory in use of all GPUs: lowest, mean of the means, highest, bytes; `None` when none was read, as all below.
    pub gpu_memory_bytes: Option<Range>,
    /// Utilisation of all GPUs: of their means lowest, mean, highest.
    pub gpu_utilization_ratio: Option<Range>,
    /// Power of all GPUs together, on average, watts; `None` also when one of them was not read.
    pub power_watts: Option<f64>,
    /// Energy of all GPUs, joules; likewise.
    pub energy_joules: Option<f64>,
    /// Each rank's own use, by place.
    pub ranks: Vec<RankResources>,
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankGpu {
    /// Ranks that read it.
    pub places: Vec<u32>,
    /// Its host.
    pub host: String,
    /// What was read; of several ranks, the one that ran longest.
    pub gpu: crate::job::GpuSums,
}

/// Use of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankResources {
    /// Its place.
    pub place: u32,
    /// What was read.
    pub machine: crate::job::MachineSums,
}

/// What all ranks made. Ranks that share a generation each count its frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobWork {
    /// Most pixel frames of any rank; `None` when no rank says, as all below.
    pub pixel_frames_max: Option<u64>,
    /// All of them together.
    pub pixel_frames_sum: Option<u64>,
    /// Lowest pixel frames in a second of any rank.
    pub pixel_frames_per_second_min: Option<f64>,
}

/// World sizes against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scaling {
    /// What was compared: the slowest rank's steady step, or block, or the whole span.
    pub measure: String,
    /// Each world size, ascending; of several jobs of one size, the median of their figures.
    pub rows: Vec<ScalingRow>,
}

/// One world size. The first one is what the others are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScalingRow {
    /// Number of ranks.
    pub world_size: u32,
    /// Jobs of that size.
    pub n_jobs: u64,
    /// The measure.
    pub duration_ns: f64,
    /// The first row's measure over this one's.
    pub speedup: f64,
    /// Where ranks share each generation: speed-up over the growth of the world, 1 is perfect.
    pub shared_efficiency: f64,
    /// Where each rank makes its own: the first row's measure over this one's, 1 is perfect.
    pub own_efficiency: f64,
    /// Share of the ranks' communication that is waiting; `None` when not known.
    pub waiting_ratio: Option<f64>,
    /// Share of the steps' time in communication; `None` when not known.
    pub communication_ratio: Option<f64>,
}
