//! The terminal summary, which is also `timing_summary.txt`.

mod allocations;
mod attributes;
mod block;
mod caches;
pub(crate) mod columns;
mod counters;
mod diffusion;
mod findings;
mod first_screen;
mod iterations;
mod job;
mod layers;
mod machine;
mod memory;
mod pipelines;
mod quality;
pub(crate) mod section_peaks;
pub(crate) mod section_resources;
mod sections;
mod sessions;
mod timing;
mod windows;

use crate::model::Report;
use crate::render::text::text;
use crate::snapshot_report::snapshot_document;
use crate::trace_report::short;

pub use first_screen::{Shown, first_screen};
pub use iterations::iteration_summary;
pub use job::aggregation_summary;
pub use memory::memory_summary;
pub use timing::timing_summary;

/// Names in the timing table of the summary.
const TOP_NAMES: usize = 30;

/// Everything worth reading on a terminal: where the time went and what is the matter, the other short tables, then the details behind them, then how far they can
/// be trusted. Ends with a line feed. Tables without content are left out, except the first.
pub fn summary(report: &Report) -> String {
    let mut parts = vec![timing_summary(report, TOP_NAMES), findings::table(report)];
    if report
        .memory
        .as_ref()
        .is_some_and(|m| !m.labelled.is_empty())
    {
        parts.push(memory_summary(report));
    }
    parts.extend(report.iterations.iter().map(iterations::block_of));
    parts.push(sections::tree(report));
    parts.extend(iterations::steadiness(report));
    parts.extend(diffusion::lines(report));
    parts.extend(layers::table(report));
    parts.extend(pipelines::table(report));
    parts.extend(memory::details(report));
    parts.extend(allocations::table(report));
    parts.extend(section_peaks::table(report));
    parts.extend(section_resources::table(report));
    parts.extend(
        report
            .snapshot_files
            .iter()
            .map(|file| text(&snapshot_document(file), None)),
    );
    parts.extend(machine::table(report));
    parts.extend(caches::table(report));
    parts.extend(windows::table(report));
    parts.extend(
        report
            .trace_files
            .iter()
            .map(|file| text(&short(file), None)),
    );
    parts.extend(counters::table(report));
    parts.extend(attributes::table(report));
    parts.extend(sessions::table(report));
    parts.push(quality::lines(report));
    parts.join("\n")
}
