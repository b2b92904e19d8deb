//! A job of many ranks: what each of them did, small enough to keep for thousands, and all of them together.
//!
//! ```text
//! capture ─► Run ─┐
//! trace ──────────┼─► RankSummary ─► Ranks ──╮
//! report JSON ────┘                          ├─ merge, in any order and grouping ─► Ranks ─► questions/ranks
//! another machine's summaries ─────► Ranks ──╯
//! ```

mod log_buckets;
mod rank_summary;
mod ranks;

pub use log_buckets::LogBuckets;
pub use rank_summary::{
    CollectiveSums, Ended, GpuSums, MachineSums, Range, RankFinding, RankProcess, RankSummary,
    SectionSums, Source, StagePiece, TurnCell, TurnSums, Work,
};
pub use ranks::{Ranks, RanksError, Unread};
