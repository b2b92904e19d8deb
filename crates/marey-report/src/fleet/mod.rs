//! What the processes of a job have done so far, as figures for Prometheus.
//!
//! ```text
//! live looks ─► observe (figures by metric and labels) ─► exposition (the text that is scraped)
//! ```
//!
//! What a look does not know is absent, never 0.

mod exposition;
mod figures;
mod group;
mod metric;
mod observe;
mod past;
mod program;
mod readings;
mod sections;
#[cfg(test)]
mod tests;

pub use exposition::exposition;
pub use figures::{Figures, Label, Value};
pub use group::{Group, Member, MemberLabels};
pub use metric::{Kind, Metric};
pub use observe::{Fleet, observe};
pub use past::Past;
