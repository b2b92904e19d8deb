//! What the processes of a job have done so far, as figures for monitoring systems.
//!
//! ```text
//! live looks ─► observe (figures by metric and labels) ─┬─► exposition   what Prometheus scrapes
//!                                                       └─► marey-cli    what a collector of OpenTelemetry is sent
//! ```
//!
//! What a look does not know is absent, never 0.

mod exposition;
mod metric;
mod observe;

pub use exposition::exposition;
pub use metric::{Instrument, Metric};
pub use observe::{Figures, Fleet, Group, Label, Member, MemberLabels, Past, Value, observe};
