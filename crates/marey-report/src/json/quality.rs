//! `data_quality`: how far the figures can be trusted.

use marey_analysis::SamplerUse;
use serde::Serialize;

use super::figures::PERCENT;
use super::{Pairs, seconds};
use crate::model::{OpenCall, Report};

/// `data_quality` of the report.
#[derive(Serialize)]
pub(super) struct DataQuality<'a> {
    is_complete: bool,
    how_measured: &'a str,
    clock: Option<&'a str>,
    synchronised_sections: Vec<SynchronisedObject<'a>>,
    losses: Pairs<&'static str, u64>,
    warnings: &'a [String],
    open_sections: Vec<OpenObject<'a>>,
    sections_missing: u64,
    samplers: Pairs<&'a str, SamplerObject>,
    unavailable: Vec<UnavailableObject<'a>>,
}

/// One sampler: what it cost, and whether it kept its times.
#[derive(Serialize)]
struct SamplerObject {
    missed_rounds: Option<f64>,
    late_avg_s: Option<f64>,
    late_max_s: Option<f64>,
    cpu_s: Option<f64>,
    cpu_percent_of_a_core: Option<f64>,
}

/// Something that could not be read.
#[derive(Serialize)]
struct UnavailableObject<'a> {
    what: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct SynchronisedObject<'a> {
    section: u32,
    path: Vec<&'a str>,
    calls: u64,
    is_at_least: bool,
}

#[derive(Serialize)]
struct OpenObject<'a> {
    section: u32,
    path: Vec<&'a str>,
    thread: Option<&'a str>,
    start: f64,
    so_far: f64,
}

impl<'a> DataQuality<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let quality = &report.quality;
        let telemetry = &report.activity.telemetry;
        let losses = quality.losses.iter();
        Self {
            is_complete: quality.is_complete,
            how_measured: &quality.how_measured,
            clock: report.run.clock.as_deref(),
            synchronised_sections: quality
                .synchronised
                .iter()
                .map(|row| SynchronisedObject {
                    section: row.node,
                    path: report.call_path(row.node),
                    calls: row.n_calls,
                    is_at_least: row.is_at_least,
                })
                .collect(),
            losses: Pairs(losses.map(|loss| (loss.kind, loss.count)).collect()),
            warnings: &quality.warnings,
            open_sections: quality
                .open
                .iter()
                .map(|open| OpenObject::new(report, open))
                .collect(),
            sections_missing: report
                .session
                .as_ref()
                .map_or(0, |session| session.n_sections_missing),
            samplers: Pairs(
                telemetry
                    .samplers
                    .iter()
                    .map(|sampler| (sampler.name.as_str(), SamplerObject::new(sampler)))
                    .collect(),
            ),
            unavailable: quality
                .unavailable
                .iter()
                .map(|missing| UnavailableObject {
                    what: &missing.what,
                    why: &missing.why,
                })
                .collect(),
        }
    }
}

impl SamplerObject {
    fn new(sampler: &SamplerUse) -> Self {
        Self {
            missed_rounds: sampler.missed,
            late_avg_s: sampler.late_s.map(|late| late.mean),
            late_max_s: sampler.late_s.map(|late| late.max),
            cpu_s: sampler.cpu.map(|cpu| cpu.total),
            cpu_percent_of_a_core: sampler.cpu.map(|cpu| cpu.per_second.mean * PERCENT),
        }
    }
}

impl<'a> OpenObject<'a> {
    fn new(report: &'a Report, open: &'a OpenCall) -> Self {
        Self {
            section: open.node,
            path: report.call_path(open.node),
            thread: open.thread.as_deref(),
            start: seconds(open.start_ns),
            so_far: seconds(open.so_far_ns),
        }
    }
}
