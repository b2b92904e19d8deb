//! `counters`: figures and series of each counter.

use marey_analysis::Counter;

use super::figures::timestamp;
use super::object::{Json, object};
use crate::model::Report;

/// One counter.
pub(super) fn counter<'a>(report: &'a Report, found: &'a Counter) -> impl Json + use<'a> {
    let series = found.series.iter().map(|point| {
        object! {
            /// When it was taken, or the first of several, seconds since 1970.
            timestamp: timestamp(&report.activity, point.start_ns),
            /// Readings in this point.
            count: point.count,
            /// Smallest.
            min: point.min,
            /// Mean.
            mean: point.mean,
            /// Largest.
            max: point.max,
        }
    });
    object! {
        struct Counter;
        /// Readings.
        count: found.count,
        /// Smallest reading.
        min: found.min,
        /// Mean of the readings, each counting the same however long it held.
        mean: found.mean,
        /// Largest reading.
        max: found.max,
        /// The reading that was taken last.
        last: found.last,
        /// True: every point of series is one reading. False: there are more than 10000, and a point is all readings of one ten-thousandth
        /// of the time from the first to the last.
        series_is_each_reading: found.is_each_reading,
        /// In order of time; stretches without a reading have no point.
        series: series.collect::<Vec<_>>(),
    }
}
