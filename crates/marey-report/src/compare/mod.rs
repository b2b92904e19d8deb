//! Comparisons of runs, and figures of many runs over time, in every format but HTML.

mod date;
mod document;
mod environment;
mod headline;
mod json;
mod model;
mod rows;
mod sparkline;
mod trend_document;
mod trend_json;
mod trend_model;
mod words;

pub use document::comparison_document;
pub use json::comparison_json;
pub use model::{ComparedRun, ComparedSide, ComparisonReport, Criterion, Decided};
pub use trend_document::trend_document;
pub use trend_json::trend_json;
pub use trend_model::TrendReport;
