//! `data_quality`: how far the figures can be trusted.

use marey_analysis::SamplerUse;
use serde::Serialize;

use super::figures::PERCENT;
use super::object::object;
use super::{Pairs, seconds};
use crate::model::Report;

pub(super) fn of(report: &Report) -> impl Serialize + '_ {
    let quality = &report.quality;
    let losses = quality.losses.iter().map(|loss| (loss.kind, loss.count));
    let synchronised = quality.synchronised.iter().map(|row| {
        object! {
            section: row.node,
            path: report.call_path(row.node),
            calls: row.n_calls,
            is_at_least: row.is_at_least,
        }
    });
    let open = quality.open.iter().map(|open| {
        object! {
            section: open.node,
            path: report.call_path(open.node),
            thread: &open.thread,
            start: seconds(open.start_ns),
            so_far: seconds(open.so_far_ns),
        }
    });
    let missing = report
        .session
        .as_ref()
        .map_or(0, |session| session.n_sections_missing);
    let samplers = report.activity.telemetry.samplers.iter();
    let samplers = samplers.map(|one| (one.name.as_str(), sampler(one)));
    let unavailable = quality.unavailable.iter();
    let unavailable = unavailable.map(|missing| object! { what: &missing.what, why: &missing.why });
    object! {
        is_complete: quality.is_complete,
        how_measured: &quality.how_measured,
        clock: &report.run.clock,
        synchronised_sections: synchronised.collect::<Vec<_>>(),
        losses: Pairs(losses.collect()),
        warnings: &quality.warnings,
        open_sections: open.collect::<Vec<_>>(),
        sections_missing: missing,
        samplers: Pairs(samplers.collect()),
        unavailable: unavailable.collect::<Vec<_>>(),
    }
}

/// What it cost, and whether it kept its times.
fn sampler(found: &SamplerUse) -> impl Serialize + use<> {
    object! {
        missed_rounds: found.missed,
        late_avg_s: found.late_s.map(|late| late.mean),
        late_max_s: found.late_s.map(|late| late.max),
        cpu_s: found.cpu.map(|cpu| cpu.total),
        cpu_percent_of_a_core: found.cpu.map(|cpu| cpu.per_second.mean * PERCENT),
    }
}
