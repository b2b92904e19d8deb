//! `stage_analysis`: sections by name as shares of the wall time.

use marey_analysis::{Stage, Stages};
use serde::Serialize;

use super::figures::PERCENT;
use super::{Pairs, float_seconds, seconds};

/// `stage_analysis` of the report.
#[derive(Serialize)]
pub(super) struct StageAnalysis<'a> {
    total_stages: usize,
    total_time: f64,
    covered_time: Option<f64>,
    stages: Pairs<&'a str, StageObject>,
    bottlenecks: Vec<Bottleneck<'a>>,
}

#[derive(Serialize)]
struct StageObject {
    total_time: f64,
    call_count: u64,
    avg_time: Option<f64>,
    min_time: Option<f64>,
    max_time: Option<f64>,
    under_no_other_stage: Option<f64>,
    percentage_of_total: Option<f64>,
}

#[derive(Serialize)]
struct Bottleneck<'a> {
    stage: &'a str,
    percentage: Option<f64>,
    total_time: f64,
    under_no_other_stage: Option<f64>,
}

impl<'a> StageAnalysis<'a> {
    pub(super) fn new(found: &'a Stages) -> Self {
        let each = found.each.iter();
        let slowest = found.bottlenecks.iter();
        Self {
            total_stages: found.each.len(),
            total_time: seconds(found.wall_ns),
            covered_time: found.covered_ns.map(seconds),
            stages: Pairs(
                each.map(|stage| (stage.name.as_str(), StageObject::new(stage)))
                    .collect(),
            ),
            bottlenecks: slowest
                .filter_map(|index| found.each.get(*index))
                .map(Bottleneck::new)
                .collect(),
        }
    }
}

impl StageObject {
    fn new(stage: &Stage) -> Self {
        let calls = &stage.calls;
        Self {
            total_time: seconds(calls.total_ns),
            call_count: calls.count,
            avg_time: calls.mean_ns.map(float_seconds),
            min_time: calls.min_ns.map(seconds),
            max_time: calls.max_ns.map(seconds),
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
            percentage_of_total: stage.share_ratio.map(|share| share * PERCENT),
        }
    }
}

impl<'a> Bottleneck<'a> {
    fn new(stage: &'a Stage) -> Self {
        Self {
            stage: &stage.name,
            percentage: stage
                .under_no_other_stage_ratio
                .map(|share| share * PERCENT),
            total_time: seconds(stage.calls.total_ns),
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
        }
    }
}
