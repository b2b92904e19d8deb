//! What the processes of a job have done so far, as figures for monitoring systems.
//!
//! ```text
//! live looks ─► observe (figures by metric and labels) ─┬─► exposition   what Prometheus scrapes
//!                                                       └─► marey-cli    what a collector of OpenTelemetry is sent
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
pub use metric::{Instrument, Metric};
pub use observe::{Fleet, observe};
pub use past::Past;
