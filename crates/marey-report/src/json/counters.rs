//! `counters`: figures and series of each counter.

use marey_analysis::Counter;
use serde::Serialize;

use super::figures::timestamp;
use super::object::object;
use crate::model::Report;

/// One counter.
pub(super) fn counter<'a>(report: &'a Report, found: &'a Counter) -> impl Serialize + use<'a> {
    let series = found.series.iter().map(|point| {
        object! {
            timestamp: timestamp(&report.activity, point.start_ns),
            count: point.count,
            min: point.min,
            mean: point.mean,
            max: point.max,
        }
    });
    object! {
        count: found.count,
        min: found.min,
        mean: found.mean,
        max: found.max,
        last: found.last,
        series_is_each_reading: found.is_each_reading,
        series: series.collect::<Vec<_>>(),
    }
}
