//! How far the figures can be trusted.

use marey_analysis::{SamplerUse, SynchronisedRow};

use super::joined_path;
use crate::document::Facts;
use crate::model::{OpenCall, Report};
use crate::quantity::{counted, duration, duration_ns, percent, time_s, whole};

const MAX_OPEN: usize = 20;
const MAX_SYNCHRONISED: usize = 20;

/// How durations were measured, what had not ended, what was lost, and what was odd.
pub(super) fn facts(report: &Report) -> Facts {
    let quality = &report.quality;
    let mut facts = Facts::about("Data quality");
    facts.row("How measured", &quality.how_measured);
    facts.known("Synchronised", synchronised(report));
    facts.known("GPU time", quality.why_no_gpu_times());
    for open in quality.open.iter().take(MAX_OPEN) {
        facts.row("Open", open_call(report, open));
    }
    let more = quality.open.len().saturating_sub(MAX_OPEN);
    facts.known("Open", (more > 0).then(|| format!("… and {more} more")));
    for loss in &quality.losses {
        let what = if loss.is_only_risk { "Note" } else { "Lost" };
        facts.row(what, format!("{} {}", loss.count, loss.meaning));
    }
    if let Some(session) = report.session.as_ref().filter(|s| s.n_sections_missing > 0) {
        let sections = counted(session.n_sections_missing, "section", "sections");
        facts.row(
            "Lost",
            format!("{sections} of the run may have been this session's: its counts are of recorded sections only"),
        );
    }
    let samplers = report.activity.telemetry.samplers.iter();
    for late in samplers.filter_map(late_sampler) {
        facts.row("Sampler", late);
    }
    for warning in &quality.warnings {
        facts.row("Warning", warning);
    }
    let complete = quality.is_complete.then_some("complete, nothing was lost");
    facts.known("Data", complete);
    facts
}

/// The sections whose times include waiting for the GPU; `None` when there were none.
fn synchronised(report: &Report) -> Option<String> {
    let rows = &report.attributes.synchronised;
    let shown = |row: &SynchronisedRow| {
        let path = joined_path(report, row.node);
        let at_least = if row.is_at_least { "at least " } else { "" };
        let calls = counted(row.n_calls, "call", "calls");
        format!("{path} ({at_least}{calls})")
    };
    let mut sections: Vec<String> = rows.iter().take(MAX_SYNCHRONISED).map(shown).collect();
    if rows.len() > MAX_SYNCHRONISED {
        sections.push(format!("… and {} more", rows.len() - MAX_SYNCHRONISED));
    }
    let sections = sections.join(", ");
    (!rows.is_empty()).then(|| {
        format!("with the GPU at both ends, so that times include waiting for it: {sections}")
    })
}

fn open_call(report: &Report, open: &OpenCall) -> String {
    let path = joined_path(report, open.node);
    let thread = open.thread.as_ref().map(|name| format!(" in {name}"));
    format!(
        "{path}{}, since {} s, {} so far",
        thread.unwrap_or_default(),
        time_s(open.start_ns),
        duration_ns(open.so_far_ns)
    )
}

/// What a sampler did that did not keep its times.
fn late_sampler(sampler: &SamplerUse) -> Option<String> {
    let missed = sampler.missed.filter(|missed| *missed > 0.0)?;
    let late = sampler.late_s.map(|late| duration(late.max * 1e9));
    let late = late.map(|late| format!(", up to {late} late"));
    let cost = sampler.cpu.map(|cpu| percent(cpu.per_second.mean));
    let cost = cost.map(|cost| format!(", took {cost} of a core"));
    Some(format!(
        "{}: left out {}{}{}",
        sampler.name,
        counted(whole(missed), "round", "rounds"),
        late.unwrap_or_default(),
        cost.unwrap_or_default()
    ))
}
