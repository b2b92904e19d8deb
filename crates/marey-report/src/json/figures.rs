//! Figures of readings, durations and amounts, in the units that their keys name.

use marey_analysis::{Durations, Figures, Growth, Moment, Spread, StepSource};
use serde::Serialize;

use super::object::{Fields, object};
use super::{float_seconds, seconds};
use crate::model::{Activity, Report};
use crate::quantity::float;

pub(super) const MIB: f64 = 1.0 / 1_048_576.0;
pub(super) const PERCENT: f64 = 100.0;
pub(super) const MEGAHERTZ: f64 = 1e-6;
/// Turns, steps, blocks, deliveries and memory events that are listed; of longer lists the capture has the rest.
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
    pub(super) fn place(self, peak: Moment) -> impl Fields + Serialize + use<'a> {
        object! {
            peak_at: timestamp(self.activity, peak.start_ns),
            peak_until: timestamp(self.activity, peak.end_ns),
            peak_section: peak.node.map(|node| self.report.call_path(node)),
        }
    }

    /// Readings of a gauge, or rates.
    pub(super) fn figures(
        self,
        found: Option<Figures>,
        factor: f64,
    ) -> Option<impl Serialize + use<'a>> {
        found.map(|found| {
            object! {
                min: found.min * factor,
                avg: found.mean * factor,
                peak: found.max * factor,
                last: found.last * factor,
                ..self.place(found.peak),
            }
        })
    }

    /// What a counter grew by.
    pub(super) fn growth(
        self,
        found: Option<Growth>,
        factor: f64,
    ) -> Option<impl Serialize + use<'a>> {
        found.map(|found| {
            object! {
                total: found.total * factor,
                over_s: float_seconds(float(found.over_ns)),
                avg_per_s: found.per_second.mean * factor,
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
pub(super) fn durations(found: Option<&Durations>) -> Option<impl Serialize + use<>> {
    found.map(|found| {
        object! {
            count: found.count,
            total_ms: milliseconds(found.total_ns),
            avg_ms: found.mean_ns / 1e6,
            min_ms: milliseconds(found.min_ns),
            max_ms: milliseconds(found.max_ns),
            p50_ms: milliseconds(found.p50_ns),
            p95_ms: milliseconds(found.p95_ns),
            p99_ms: milliseconds(found.p99_ns),
            std_dev_ms: found.std_dev_ns.map(|ns| ns / 1e6),
        }
    })
}

/// The documented four figures of all computation times. Null when no time is known.
pub(super) fn computation_times(found: Option<&Durations>) -> impl Fields + Serialize + use<> {
    object! {
        total_computation_time_ms: found.map(|all| milliseconds(all.total_ns)),
        avg_computation_time_ms: found.map(|all| all.mean_ns / 1e6),
        min_computation_time_ms: found.map(|all| milliseconds(all.min_ns)),
        max_computation_time_ms: found.map(|all| milliseconds(all.max_ns)),
    }
}

/// The documented three figures of latent frames.
pub(super) fn block_sizes(found: Option<Spread>) -> impl Fields + Serialize {
    object! {
        avg_block_size: found.map(|sizes| sizes.mean),
        min_block_size: found.map(|sizes| sizes.min),
        max_block_size: found.map(|sizes| sizes.max),
    }
}

/// Where steps or blocks are known from.
pub(super) fn source(source: &StepSource) -> impl Serialize {
    let (kind, name) = match source {
        StepSource::Reported => ("reported", None),
        StepSource::Iterations(name) => ("iterations", Some(name.as_str())),
        StepSource::Sections(name) => ("sections", Some(name.as_str())),
    };
    object! { kind: kind, name: name }
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
