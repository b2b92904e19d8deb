//! `stage_analysis`: sections by name as shares of the wall time.

use marey_analysis::Stages;
use serde::Serialize;

use super::figures::PERCENT;
use super::object::object;
use super::{Pairs, float_seconds, seconds};

pub(super) fn of(found: &Stages) -> impl Serialize {
    let stages = found.each.iter().map(|stage| {
        let calls = &stage.calls;
        let object = object! {
            total_time: seconds(calls.total_ns),
            call_count: calls.count,
            avg_time: calls.mean_ns.map(float_seconds),
            min_time: calls.min_ns.map(seconds),
            max_time: calls.max_ns.map(seconds),
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
            percentage_of_total: stage.share_ratio.map(|share| share * PERCENT),
        };
        (stage.name.as_str(), object)
    });
    let slowest = found
        .bottlenecks
        .iter()
        .filter_map(|index| found.each.get(*index));
    let slowest = slowest.map(|stage| {
        object! {
            stage: &stage.name,
            percentage: stage.under_no_other_stage_ratio.map(|share| share * PERCENT),
            total_time: seconds(stage.calls.total_ns),
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
        }
    });
    object! {
        total_stages: found.each.len(),
        total_time: seconds(found.wall_ns),
        covered_time: found.covered_ns.map(seconds),
        stages: Pairs(stages.collect()),
        bottlenecks: slowest.collect::<Vec<_>>(),
    }
}
