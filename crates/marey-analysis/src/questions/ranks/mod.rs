//! What did the ranks of a job do together, and which of them holds the others up?
//!
//! ```text
//! Ranks ─► jobs ─┬─► members     which process stands for which rank; who is missing, failed, of another version
//!                ├─► clocks      where the processes lie on one time axis, and how exactly
//!                ├─► sections    each call path over ranks
//!                ├─► turns       each step and block over ranks
//!                ├─► waiting     communication: transfer, and waiting for others
//!                ├─► stragglers  who is slow, and who only waits
//!                └─► resources   machines and GPUs
//! several jobs ─► scaling        world sizes against each other
//! ```
//!
//! Ranks are named by their *place*: an index into [`JobAnswers::members`].

mod answers;

pub use answers::{
    ClockMethod, Clocks, CollectiveWaiting, HeatMap, HostRow, JobAnswers, JobWork, Member,
    MemberState, OverRanks, PlacedClock, RankGpu, RankResources, RankStraggler, RankWaitingRow,
    RanksAnswers, Resources, Scaling, ScalingRow, SectionSpread, StragglerVerdict, Stragglers,
    TurnSpread, TurnsOverRanks, VersionRow, Waiting,
};
