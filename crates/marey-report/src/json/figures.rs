//! Figures of readings, in the units that their keys name.

use marey_analysis::{Figures, Growth, Moment};
use serde::Serialize;

use super::{float_seconds, seconds};
use crate::model::{Activity, Report};
use crate::quantity::float;

pub(super) const MIB: f64 = 1.0 / 1_048_576.0;
pub(super) const PERCENT: f64 = 100.0;
pub(super) const MEGAHERTZ: f64 = 1e-6;

/// Whose readings are shown: a run's or a session's.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) report: &'a Report,
    pub(super) activity: &'a Activity,
}

/// When something was highest, and in which section.
#[derive(Serialize)]
pub(super) struct PeakPlace<'a> {
    #[serde(rename = "peak_at")]
    at: f64,
    #[serde(rename = "peak_until")]
    until: f64,
    #[serde(rename = "peak_section")]
    section: Option<Vec<&'a str>>,
}

/// Readings of a gauge, or rates.
#[derive(Serialize)]
pub(super) struct FiguresObject<'a> {
    min: f64,
    avg: f64,
    peak: f64,
    last: f64,
    #[serde(flatten)]
    place: PeakPlace<'a>,
}

/// What a counter grew by.
#[derive(Serialize)]
pub(super) struct GrowthObject<'a> {
    total: f64,
    over_s: f64,
    avg_per_s: f64,
    peak_per_s: f64,
    #[serde(flatten)]
    place: PeakPlace<'a>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(report: &'a Report, activity: &'a Activity) -> Self {
        Self { report, activity }
    }

    /// Seconds since 1970.
    pub(super) fn timestamp(self, at_ns: u64) -> f64 {
        seconds(self.activity.start_unix_ns.saturating_add(at_ns))
    }

    /// The time and the section of a peak.
    pub(super) fn place(self, peak: Moment) -> PeakPlace<'a> {
        PeakPlace {
            at: self.timestamp(peak.start_ns),
            until: self.timestamp(peak.end_ns),
            section: peak.node.map(|node| self.report.call_path(node)),
        }
    }

    pub(super) fn figures(self, found: Option<Figures>, factor: f64) -> Option<FiguresObject<'a>> {
        let found = found?;
        Some(FiguresObject {
            min: found.min * factor,
            avg: found.mean * factor,
            peak: found.max * factor,
            last: found.last * factor,
            place: self.place(found.peak),
        })
    }

    pub(super) fn growth(self, found: Option<Growth>, factor: f64) -> Option<GrowthObject<'a>> {
        let found = found?;
        Some(GrowthObject {
            total: found.total * factor,
            over_s: float_seconds(float(found.over_ns)),
            avg_per_s: found.per_second.mean * factor,
            peak_per_s: found.per_second.max * factor,
            place: self.place(found.per_second.peak),
        })
    }
}
