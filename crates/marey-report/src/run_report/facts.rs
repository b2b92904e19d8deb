//! What a reader looks for first, and what somebody needs to make the run again.

use marey_analysis::{Diffusion, Gpus, UnderNoSection, memory_source_name};

use super::memory::most;
use crate::document::{Block, Facts};
use crate::model::{Report, launch_text};
use crate::quantity::{bytes, duration_ns, per_second_of, percent};

/// More GPUs than this nobody compares in a line.
const MAX_GPUS: usize = 8;
/// Facts that tell one process from another, and nothing to who wants to make the run again.
const OF_A_PROCESS: [&str; 4] = ["start_time", "boot_id", "pid_namespace", "ring_folder"];

/// How it ended, where it ran, and the figures that stand for all others.
pub(super) fn key_facts(report: &Report) -> Facts {
    let run = &report.run;
    let mut facts = Facts::default();
    facts.row("Status", report.status.text());
    facts.row("Wall time", wall_time(report));
    facts.known("Command", said(run.command.join(" ")));
    let launch = run.launch.as_ref().and_then(launch_text);
    facts.known("Launched", launch);
    facts.row("Process", process(report));
    facts.known("Recording", run.why_outside());
    let activity = &report.activity;
    if let Some(diffusion) = &activity.diffusion {
        pace(&mut facts, diffusion);
    }
    facts.known("Peak memory", said(peaks(report)));
    if let Some(gpus) = &activity.telemetry.gpus {
        facts.known("GPU busy", said(busy(gpus)));
        let energy = gpus.together.energy;
        facts.known("GPU energy", energy.map(|energy| format!("{:.2} Wh", energy.watt_hours())));
    }
    let caches = activity.caches.as_ref();
    let hits = caches.and_then(|caches| caches.all.hit_ratio);
    facts.known("Cache hits", hits.map(percent));
    facts
}

fn said(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn wall_time(report: &Report) -> String {
    let wall = duration_ns(report.run.wall_ns);
    match (report.sections.under_no_section, report.under_no_section_ratio) {
        (UnderNoSection::Known(ns), Some(ratio)) => {
            let (uncovered, share) = (duration_ns(ns), percent(ratio));
            format!("{wall}, {uncovered} of it ({share}) under no section")
        }
        _ => wall,
    }
}

fn process(report: &Report) -> String {
    let run = &report.run;
    let mut parts = vec![format!("pid {}", run.pid)];
    parts.extend(run.host.as_ref().map(|host| format!("on {host}")));
    if let Some(rank) = run.rank {
        let of = run.world_size.map(|n| format!(" of {n}"));
        parts.push(format!("rank {rank}{}", of.unwrap_or_default()));
    }
    parts.extend(run.job_id.as_ref().map(|job| format!("job {job}")));
    parts.join(", ")
}

/// Steps, and frames with what they count.
fn pace(facts: &mut Facts, diffusion: &Diffusion) {
    let steps = diffusion.steps.as_ref();
    let steady = steps.and_then(|steps| steps.steady.as_ref());
    let step = steady.map(|steady| {
        let [p50, p95] = [steady.p50_ns, steady.p95_ns].map(duration_ns);
        format!("median {p50}, p95 {p95}")
    });
    facts.known("Denoising step", step);
    for rate in &diffusion.rates {
        let (frames, meaning) = (per_second_of(rate.per_second), &rate.meaning);
        facts.row("Frames", format!("{frames}/s, {meaning}"));
    }
}

fn peaks(report: &Report) -> String {
    let sources = report.memory.iter().flat_map(|memory| &memory.sources);
    let peaks = sources.map(|source| {
        let (name, most) = (memory_source_name(source.source), bytes(most(source)));
        format!("{name} {most}")
    });
    peaks.collect::<Vec<_>>().join(" · ")
}

/// Each GPU by what it is called: the busiest says nothing of the others.
fn busy(gpus: &Gpus) -> String {
    let busy = gpus.each.iter().take(MAX_GPUS).filter_map(|gpu| {
        let mean = percent(gpu.utilization?.mean);
        let name = gpu.index.as_ref().unwrap_or(&gpu.uuid);
        Some(match gpus.each.len() {
            1 => mean,
            _ => format!("GPU {name} {mean}"),
        })
    });
    busy.collect::<Vec<_>>().join(" · ")
}

/// Versions, devices and what was configured; `None` when nothing was recorded.
pub(super) fn environment(report: &Report) -> Option<Block> {
    let mut facts = Facts::default();
    let known = report.run.facts.iter();
    for (key, value) in known.filter(|(key, _)| !OF_A_PROCESS.contains(&key.as_str())) {
        facts.row(key, value);
    }
    let title = "Environment and configuration".into();
    (!facts.rows.is_empty()).then(|| Block::Aside(title, vec![Block::Facts(facts)]))
}
