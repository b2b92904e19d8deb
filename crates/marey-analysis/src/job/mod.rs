//! A job of many ranks: what each of them did, small enough to keep for thousands, and all of them together.
//!
//! ```text
//! capture ─► Run ─┐
//! trace ──────────┼─► RankSummary ─► Ranks ──╮
//! report, dump ───┘                          ├─ merge, in any order and grouping ─► Ranks ─► questions/ranks
//! another machine's summaries ─────► Ranks ──╯
//! ```

mod collectives;
mod iteration_cells;
mod joined;
mod log_buckets;
mod of_report;
mod of_run;
mod of_torch;
mod rank_name;
mod rank_summary;
mod ranks;

pub(crate) use collectives::{BEGIN, START_UP, WAIT, is_between_two, is_synchronising};
pub use joined::{joined, program_name, totals_only};
pub use log_buckets::LogBuckets;
pub use rank_name::{is_of_dump, rank_in_name};
pub use rank_summary::{
    CollectiveSums, DeviceSums, Ended, GpuSums, IterationCell, IterationSums, MachineSums, Range,
    RankFinding, RankProcess, RankSummary, SectionSums, Source, StagePiece, Work,
};
pub use ranks::{Ranks, RanksError, Unread};
