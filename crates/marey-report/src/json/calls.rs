//! Figures of calls in seconds: `timing_stats`, `iteration_stats`, and part of each section; and `counters`.

use marey_analysis::{CallStats, Counter, Iterations, NameRow};

use super::figures::{MAX_LISTED, timestamp};
use super::object::{Fields, Json, object};
use super::{float_seconds, list, seconds};
use crate::model::Report;

/// Completed calls, durations in seconds.
pub(super) fn calls(calls: &CallStats) -> impl Fields + use<> {
    let percentiles = calls.percentiles;
    object! {
        /// Completed calls.
        count: calls.count,
        /// Sum of the durations of every completed call, seconds.
        total: seconds(calls.total_ns),
        /// total / count, seconds.
        mean: calls.mean_ns.map(float_seconds),
        /// Shortest call, seconds.
        min: calls.min_ns.map(seconds),
        /// Longest call, seconds.
        max: calls.max_ns.map(seconds),
        /// The call that ended last, seconds; null when it is not known which that was.
        last: calls.last_ns.map(seconds),
        /// Middle call, or mean of the middle two, seconds.
        median: calls.median_ns.map(float_seconds),
        /// The median, seconds.
        p50: percentiles.map(|p| seconds(p.p50_ns)),
        /// 95 % of the calls took no longer, seconds (nearest rank).
        p95: percentiles.map(|p| seconds(p.p95_ns)),
        /// 99 % of the calls took no longer, seconds (nearest rank).
        p99: percentiles.map(|p| seconds(p.p99_ns)),
        /// True: median and percentiles come from every single call. False: from a histogram, within 3.1 %. null: there are none.
        percentiles_are_exact: percentiles.map(|p| p.is_exact),
        /// Sample standard deviation, seconds; null for fewer than two calls or when not every call was recorded one by one.
        std_dev: calls.std_dev_ns.map(float_seconds),
        /// The call that began first, seconds; it often includes loading and compilation. null when it is not known which that was.
        first: calls.first_ns.map(seconds),
        /// Mean of all calls but the first, seconds.
        rest_mean: calls.rest_mean_ns.map(float_seconds),
        /// Calls that were left by an error.
        errors: calls.errors,
    }
}

/// One name in `timing_stats`.
pub(super) fn timing_stats(row: &NameRow) -> impl Json + use<> {
    object! {
        struct Timing;
        ..calls(&row.calls),
        /// Time under no other section, open calls included, seconds; null where it is not known because what is under one of them took
        /// longer than it (it outlived it, or ran in several threads at once).
        self: row.self_ns.map(seconds),
        /// Share of the wall time during which at least one was open.
        share_of_wall: row.share_of_wall_ratio,
    }
}

/// One loop.
pub(super) fn iteration_stats(found: &Iterations) -> impl Json {
    let is_whole = found.series.len() as u64 == found.calls.count;
    let is_short = found.series.len() <= MAX_LISTED;
    let durations = || found.series.iter().map(|one| seconds(one.length_ns()));
    object! {
        struct Iterations;
        /// The loop.
        name: &found.name,
        ..calls(&found.calls),
        /// count / total; null when total is 0.
        iterations_per_second: found.per_second,
        /// Every iteration in order, seconds; null when some were not recorded one by one or there are more than 10000.
        durations: (is_whole && is_short).then(|| durations().collect::<Vec<_>>()),
    }
}

/// Figures and series of one counter.
pub(super) fn counter<'a>(report: &'a Report, found: &'a Counter) -> impl Json + use<'a> {
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
        series: list(&found.series, |point| object! {
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
        }),
    }
}
