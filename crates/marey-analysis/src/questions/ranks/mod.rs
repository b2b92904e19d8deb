//! What did the ranks of a job do together, and which of them holds the others up?
//!
//! ```text
//! Ranks ─► jobs ─┬─► members     which process stands for which rank; who is missing, unread, failed, of another version
//!                ├─► clocks      where the processes lie on one time axis, and how exactly
//!                ├─► sections    each call path over ranks
//!                ├─► iterations  each step and block over ranks
//!                ├─► waiting     communication: transfer, and waiting for others
//!                ├─► absences    calls in which ranks gave up or hang because others did not come
//!                ├─► dumped_calls  the same by dumps of flight recorders
//!                ├─► stragglers  who is slow, and who only waits
//!                ├─► slowest     what takes the slowest longer than a usual one
//!                └─► resources   machines and GPUs
//! several jobs ─► scaling        world sizes against each other
//! ```
//!
//! Ranks are named by their *place*: an index into [`JobAnswers::members`].

mod absences;
mod answers;
mod between_calls;
mod blame;
mod call_parts;
mod clocks;
mod dumped_calls;
mod iterations;
mod jobs;
mod members;
mod over_ranks;
mod resources;
mod scaling;
mod sections;
mod shared_calls;
mod single_findings;
mod slowest;
mod stragglers;
mod unread_ranks;
mod waiting;
mod work;

pub use absences::{Absence, OtherCall, may_hang};
pub use answers::{CollectiveWaiting, JobAnswers, RankWaitingRow, RanksAnswers, Waiting};
pub use call_parts::{CallParts, call_parts};
pub use clocks::{ClockMethod, Clocks, PlacedClock};
pub use iterations::{HeatMap, IterationSpread, IterationsOverRanks};
pub use members::{HostRow, Member, MemberState, VersionRow};
pub use over_ranks::OverRanks;
pub use resources::{RankGpu, RankResources, Resources};
pub use scaling::{Scaling, ScalingRow};
pub use sections::SectionSpread;
pub use single_findings::RankFindingRow;
pub use slowest::{LastRank, SlowestRank};
pub use stragglers::{RankStraggler, StragglerVerdict, Stragglers};
pub use work::JobWork;

use marey::Thresholds;

use crate::findings::job_findings;
use crate::job::{RankSummary, Ranks, Unread};
use members::Team;

/// What the ranks of each job did together. Costs a few passes over the summaries.
pub fn ranks(ranks: &Ranks, thresholds: &Thresholds) -> RanksAnswers {
    answers(&jobs::jobs(ranks.summaries()), ranks, thresholds)
}

/// The same where each attempt of a job is a job.
pub fn each_attempt(ranks: &Ranks, thresholds: &Thresholds) -> RanksAnswers {
    answers(&jobs::each_attempt(ranks.summaries()), ranks, thresholds)
}

fn answers(teams: &[Team<'_>], ranks: &Ranks, thresholds: &Thresholds) -> RanksAnswers {
    let all_unread = || ranks.unread().filter(|file| !file.is_merged);
    let unread = unread_ranks::unread_ranks(teams, all_unread());
    let mut jobs: Vec<JobAnswers> =
        teams.iter().zip(unread).map(|(team, unread)| of_job(team, unread, thresholds)).collect();
    jobs.sort_by(|a, b| order(a).cmp(&order(b)));
    RanksAnswers { scaling: scaling::scaling(&jobs), jobs, unread: all_unread().cloned().collect() }
}

/// By start, those that do not say it last, then by name.
fn order(job: &JobAnswers) -> (bool, Option<u64>, &str) {
    let start = job.clocks.start_unix_ns;
    (start.is_none(), start, &job.job_id)
}

fn of_job(team: &Team<'_>, unread: Vec<Unread>, thresholds: &Thresholds) -> JobAnswers {
    let places = &team.places;
    let shared = shared_calls::shared_calls(places);
    let clocks = clocks::clocks(places, &shared);
    let waiting = waiting::waiting(places, &shared, &clocks);
    let stragglers = stragglers::stragglers(places, &shared, waiting.as_ref(), thresholds);
    let mut answers = JobAnswers {
        job_id: team.job.job_id.clone(),
        n_processes: team.n_processes(),
        world_size: team.world_size(),
        missing: team.missing(&unread),
        unread,
        older_dumps: team.older_dumps(),
        other_world_sizes: team.other_world_sizes(),
        members: team.members(),
        hosts: team.hosts(),
        versions: team.versions(),
        span_ns: clocks::span_ns(places, &clocks),
        sections: sections::sections(places),
        steps: iterations::iterations(places, |rank| rank.steps.as_ref()),
        absences: team.absences(&shared),
        slowest: slowest::slowest(places, &stragglers, thresholds),
        last: slowest::last(places, &clocks),
        stragglers,
        waiting,
        blocks: iterations::iterations(places, |rank| rank.blocks.as_ref()),
        resources: resources::resources(places),
        work: work::work(places),
        rank_findings: single_findings::single_findings(places),
        clocks,
        ..JobAnswers::default()
    };
    answers.findings = job_findings(&answers, thresholds);
    answers
}

/// Communication over ranks of which nothing but their calls is known.
pub(crate) fn waiting_by_durations(places: &[&RankSummary]) -> Option<Waiting> {
    waiting::waiting(places, &shared_calls::shared_calls(places), &Clocks::default())
}

/// The summaries of members, each with its place.
fn placed<'a>(places: &[&'a RankSummary]) -> impl Iterator<Item = (u32, &'a RankSummary)> {
    (0_u32..).zip(places.iter().copied())
}
