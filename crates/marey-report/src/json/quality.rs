//! `data_quality`: how far the figures can be trusted.

use marey_analysis::SamplerUse;

use super::figures::PERCENT;
use super::object::{Json, object};
use super::{list, pairs, seconds};
use crate::model::Report;

pub(super) fn of(report: &Report) -> impl Json + '_ {
    let quality = &report.quality;
    let missing = report.session.as_ref().map_or(0, |session| session.n_sections_missing);
    let samplers = &report.activity.telemetry.samplers;
    object! {
        /// How far the figures can be trusted.
        struct DataQuality;
        /// Nothing was lost, the capture was sound, and recording was on.
        is_complete: quality.is_complete,
        /// What durations mean.
        how_measured: &quality.how_measured,
        /// How time was read.
        clock: &report.run.clock,
        /// Sections that were synchronised with the GPU at both ends: their times include waiting for the GPU.
        synchronised_sections: list(&report.attributes.synchronised, |row| object! {
            /// id of an entry of sections.
            section: row.node,
            /// Names from the top level down.
            path: report.call_path(row.node),
            /// How many of its calls.
            calls: row.n_calls,
            /// There may have been more: not every call was recorded one by one, or attributes were dropped.
            is_at_least: row.is_at_least,
        }),
        /// What was not recorded; only what is not 0. threads_in_private_memory is a loss unless the run closed its capture: what these
        /// threads had not drained is lost then, and how much is not known.
        losses: pairs(&quality.losses, |loss| (loss.kind, loss.count)),
        /// What was wrong with the capture.
        warnings: &quality.warnings,
        /// Sections that had not ended.
        open_sections: list(&quality.open, |open| object! {
            /// id of an entry of sections.
            section: open.node,
            /// Names from the top level down.
            path: report.call_path(open.node),
            /// Name of the thread.
            thread: &open.thread,
            /// Since the start of the run.
            start: seconds(open.start_ns),
            /// Up to the end of the run.
            so_far: seconds(open.so_far_ns),
        }),
        /// In the report of a session: sections of the run that were not recorded one by one; some may have been this session's, whose
        /// counts are of recorded sections only.
        sections_missing: missing,
        /// Each sampler by name.
        samplers: pairs(samplers, |one| (one.name.as_str(), sampler(one))),
        /// What of the machine was not read, and why.
        unavailable: &quality.unavailable,
    }
}

/// What it cost, and whether it kept its times.
fn sampler(found: &SamplerUse) -> impl Json + use<> {
    object! {
        /// Rounds that it left out because it was late.
        missed_rounds: found.missed,
        /// How late its rounds began, seconds.
        late_avg_s: found.late_s.map(|late| late.mean),
        /// The latest, seconds.
        late_max_s: found.late_s.map(|late| late.max),
        /// Processor time of its thread, seconds.
        cpu_s: found.cpu.map(|cpu| cpu.total),
        /// The same as a share of one core.
        cpu_percent_of_a_core: found.cpu.map(|cpu| cpu.per_second.mean * PERCENT),
    }
}
