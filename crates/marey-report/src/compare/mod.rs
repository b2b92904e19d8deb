//! Comparisons of runs, and figures of many runs over time, in every format but HTML.

mod date;
mod environment;
mod figure;
mod figures;
mod headline;
mod json;
mod markdown;
mod model;
mod rows;
mod sparkline;
mod text;
mod trend_json;
mod trend_markdown;
mod trend_model;
mod trend_text;
mod words;

pub use json::comparison_json;
pub use markdown::comparison_markdown;
pub use model::{ComparedRun, ComparedSide, ComparisonReport, Criterion, Decided};
pub use text::comparison_text;
pub use trend_json::trend_json;
pub use trend_markdown::trend_markdown;
pub use trend_model::TrendReport;
pub use trend_text::trend_text;
