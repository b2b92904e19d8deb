//! `stage_analysis`: sections by name as shares of the wall time.

use marey_analysis::Stages;

use super::figures::PERCENT;
use super::object::{Json, object};
use super::{Pairs, float_seconds, seconds};

pub(super) fn of(found: &Stages) -> impl Json {
    let stages = found.each.iter().map(|stage| {
        let calls = &stage.calls;
        let object = object! {
            /// Sum of the calls, seconds.
            total_time: seconds(calls.total_ns),
            /// Completed calls.
            call_count: calls.count,
            /// Seconds.
            avg_time: calls.mean_ns.map(float_seconds),
            /// Seconds.
            min_time: calls.min_ns.map(seconds),
            /// Seconds.
            max_time: calls.max_ns.map(seconds),
            /// Time under no other stage, seconds: loops within it are no stages, and their time is in it (self of sections is without
            /// them); null where it is not known.
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
            /// Share of the wall time during which at least one was open; null when it is not known.
            percentage_of_total: stage.share_ratio.map(|share| share * PERCENT),
        };
        (stage.name.as_str(), object)
    });
    let slowest = found.bottlenecks.iter().filter_map(|index| found.each.get(*index));
    let slowest = slowest.map(|stage| {
        object! {
            /// Its name.
            stage: &stage.name,
            /// under_no_other_stage as a share of the wall time, at most the stage's share.
            percentage: stage.under_no_other_stage_ratio.map(|share| share * PERCENT),
            /// Seconds.
            total_time: seconds(stage.calls.total_ns),
            /// Seconds.
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
        }
    });
    object! {
        /// Sections by name as shares of the wall time, by the union of their intervals; iterations are no stages.
        struct StageAnalysis;
        /// Distinct names.
        total_stages: found.each.len(),
        /// Wall time, seconds: what percentages are of.
        total_time: seconds(found.wall_ns),
        /// Wall time under any section, seconds; null when it is not known.
        covered_time: found.covered_ns.map(seconds),
        /// By name, longest total first.
        stages: Pairs(stages.collect()),
        /// Largest first.
        bottlenecks: slowest.collect::<Vec<_>>(),
    }
}
