//! Comparisons of runs, and figures of many runs over time.

mod document;
mod environment;
mod headline;
mod model;
mod ranks;
mod time;
mod trend_document;
mod words;

pub use document::comparison_document;
pub(crate) use document::same_measures;
pub(crate) use environment::values;
pub(crate) use headline::text as headline_text;
pub(crate) use model::minute;
pub use model::{ComparedRun, ComparedSide, ComparisonReport, Criterion, TrendReport};
pub(crate) use ranks::ComparedRank;
pub use ranks::RankTimes;
pub(crate) use time::{
    ComparedPart, ComparedTime, about, both_text, change_text, difference, has_changed,
    without_unit,
};
pub use trend_document::trend_document;
pub(crate) use words::{change, named, short, subject};
