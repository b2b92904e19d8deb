//! Figures of readings, durations and amounts, in the units that their keys name.

use marey_analysis::{Durations, Figures, Growth, Moment, Spread, StepSource};

use super::object::{Fields, Json, object};
use super::{float_seconds, seconds};
use crate::model::{Activity, Report};
use crate::quantity::float;

pub(super) const MIB: f64 = 1.0 / 1_048_576.0;
pub(super) const PERCENT: f64 = 100.0;
pub(super) const MEGAHERTZ: f64 = 1e-6;
/// Iterations, steps, blocks, deliveries and memory events that are listed; of longer lists the capture has the rest.
pub(super) const MAX_LISTED: usize = 10_000;

/// Whose readings are shown: a run's or a session's.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) report: &'a Report,
    pub(super) activity: &'a Activity,
}

impl<'a> Scope<'a> {
    pub(super) fn new(report: &'a Report, activity: &'a Activity) -> Self {
        Self { report, activity }
    }

    /// The time and the section of a peak.
    pub(super) fn place(self, peak: Moment) -> impl Fields + Json + use<'a> {
        object! {
            /// When it was highest, seconds since 1970; for a rate the beginning of the time between two readings.
            peak_at: timestamp(self.activity, peak.start_ns),
            /// As peak_at; later where it happened between two readings, as what the kernel counts.
            peak_until: timestamp(self.activity, peak.end_ns),
            /// Names of the innermost section that was open then, for a rate all the time between the two readings, from the outermost on;
            /// null when none was.
            peak_section: peak.node.map(|node| self.report.call_path(node)),
        }
    }

    /// Readings of a gauge, or rates.
    pub(super) fn figures(
        self,
        found: Option<Figures>,
        factor: f64,
    ) -> Option<impl Json + use<'a>> {
        found.map(|found| {
            object! {
                /// Readings, or rates between readings, in the unit that the key names.
                struct Figures;
                /// Lowest.
                min: found.min * factor,
                /// Mean over the time: each reading stands for the time half way to its neighbours.
                avg: found.mean * factor,
                /// Highest.
                peak: found.max * factor,
                /// The last one.
                last: found.last * factor,
                ..self.place(found.peak),
            }
        })
    }

    /// What a counter grew by.
    pub(super) fn growth(self, found: Option<Growth>, factor: f64) -> Option<impl Json + use<'a>> {
        found.map(|found| {
            object! {
                /// What a counter grew by, in the unit that the key names.
                struct Growth;
                /// Between the first and the last reading.
                total: found.total * factor,
                /// Time between them, seconds.
                over_s: float_seconds(float(found.over_ns)),
                /// total / over_s.
                avg_per_s: found.per_second.mean * factor,
                /// Highest rate between two readings.
                peak_per_s: found.per_second.max * factor,
                ..self.place(found.per_second.peak),
            }
        })
    }
}

/// A moment as seconds since 1970.
pub(super) fn timestamp(activity: &Activity, at_ns: u64) -> f64 {
    seconds(activity.start_unix_ns.saturating_add(at_ns))
}

/// Figures of durations, in milliseconds.
pub(super) fn durations(found: Option<&Durations>) -> Option<impl Json + use<>> {
    found.map(|found| {
        object! {
            /// Figures of durations, in milliseconds.
            struct Durations;
            /// How many.
            count: found.count,
            /// Their sum.
            total_ms: milliseconds(found.total_ns),
            /// Mean.
            avg_ms: found.mean_ns / 1e6,
            /// Shortest.
            min_ms: milliseconds(found.min_ns),
            /// Longest.
            max_ms: milliseconds(found.max_ns),
            /// The median.
            p50_ms: milliseconds(found.p50_ns),
            /// 95 % took no longer.
            p95_ms: milliseconds(found.p95_ns),
            /// 99 % took no longer.
            p99_ms: milliseconds(found.p99_ns),
            /// Sample standard deviation; null for fewer than two.
            std_dev_ms: found.std_dev_ns.map(|ns| ns / 1e6),
        }
    })
}

/// The documented four figures of all computation times. Null when no time is known.
pub(super) fn computation_times(found: Option<&Durations>) -> impl Fields + Json + use<> {
    object! {
        /// Sum of all steps whose duration is known; null when none is.
        total_computation_time_ms: found.map(|all| milliseconds(all.total_ns)),
        /// Mean of them.
        avg_computation_time_ms: found.map(|all| all.mean_ns / 1e6),
        /// Shortest of them.
        min_computation_time_ms: found.map(|all| milliseconds(all.min_ns)),
        /// Longest of them.
        max_computation_time_ms: found.map(|all| milliseconds(all.max_ns)),
    }
}

/// The documented three figures of latent frames.
pub(super) fn block_sizes(found: Option<Spread>) -> impl Fields + Json {
    object! {
        /// Mean latent frames of a step; null when none said.
        avg_block_size: found.map(|sizes| sizes.mean),
        /// Fewest of them.
        min_block_size: found.map(|sizes| sizes.min),
        /// Most of them.
        max_block_size: found.map(|sizes| sizes.max),
    }
}

/// Where steps or blocks are known from.
pub(super) fn source(source: &StepSource) -> impl Json {
    let (kind, name) = match source {
        StepSource::Reported => ("reported", None),
        StepSource::Iterations(name) => ("iterations", Some(name.as_str())),
        StepSource::Sections(name) => ("sections", Some(name.as_str())),
    };
    object! {
        /// Where steps or blocks are known from.
        struct Source;
        /// `reported`, `iterations` or `sections`: the program reported them, or they are iterations of a loop, or calls of a section.
        kind: kind,
        /// The loop or section, as the user named it; the first of such names where there are several. null for reports.
        name: name,
    }
}

/// The first items of a list that may be of any length, and how many are left out.
pub(super) fn listed<'a, T, O>(all: &'a [T], object: impl Fn(&'a T) -> O) -> (Vec<O>, u64) {
    let first = all.iter().take(MAX_LISTED).map(object).collect();
    (first, all.len().saturating_sub(MAX_LISTED) as u64)
}

/// Nanoseconds as milliseconds.
pub(super) fn milliseconds(ns: u64) -> f64 {
    float(ns) / 1e6
}
