//! Comparisons of runs, and figures of many runs over time.

mod date;
mod document;
mod environment;
mod headline;
mod model;
mod rows;
mod sparkline;
mod trend_document;
mod trend_model;
mod words;

pub use document::comparison_document;
pub(crate) use headline::text as headline_text;
pub use model::{ComparedRun, ComparedSide, ComparisonReport, Criterion, Decided};
pub use trend_document::trend_document;
pub use trend_model::TrendReport;
