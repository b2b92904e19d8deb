//! `counters`: figures and series of each counter.

use marey_analysis::{Counter, CounterPoint};
use serde::Serialize;

use super::seconds;
use crate::model::Report;

/// One counter.
#[derive(Serialize)]
pub(super) struct CounterObject {
    count: u64,
    min: f64,
    mean: f64,
    max: f64,
    last: f64,
    series_is_each_reading: bool,
    series: Vec<PointObject>,
}

#[derive(Serialize)]
struct PointObject {
    timestamp: f64,
    count: u64,
    min: f64,
    mean: f64,
    max: f64,
}

impl CounterObject {
    pub(super) fn new(report: &Report, counter: &Counter) -> Self {
        let series = counter.series.iter();
        Self {
            count: counter.count,
            min: counter.min,
            mean: counter.mean,
            max: counter.max,
            last: counter.last,
            series_is_each_reading: counter.is_each_reading,
            series: series
                .map(|point| PointObject::new(report, point))
                .collect(),
        }
    }
}

impl PointObject {
    fn new(report: &Report, point: &CounterPoint) -> Self {
        Self {
            timestamp: seconds(report.run.start_unix_ns.saturating_add(point.start_ns)),
            count: point.count,
            min: point.min,
            mean: point.mean,
            max: point.max,
        }
    }
}
