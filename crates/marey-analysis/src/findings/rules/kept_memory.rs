//! Does a stage that is done keep its memory while others need it?
//!
//! ```text
//! time        0         10        20        30        40
//! text        |---------|                                   the last call of its name
//! denoise                |----------------------|
//! GiB         1    6    9    9      12       13              grew by 8, kept 8, and the peak of 13 came later: found
//! GiB         1    6    9    1       4        5              gave it back: passed
//! ```
//!
//! What counts is what tensors use, as the allocator says; what it keeps for later is no fault. Resident memory of the process counts only where
//! no GPU was read, because the driver's own libraries stay there.
//!
//! Kept memory that nobody missed is no finding: the highest reading must come after the stage, and where the size of the memory is known, more than
//! half of it must have been in use. Models that are loaded once and stay (`load`, `init`) are meant to.

use std::collections::BTreeMap;

use marey::{MemoryReading, MemorySource, NodeKind};

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::{Phase, memory_source_name};

pub(super) const RULE: Rule = Rule {
    id: "kept-memory",
    category: Category::Memory,
    checks: "a stage that is done keeps its memory while others need it",
    limits: &["kept_memory_ratio", "memory_ratio"],
    saves: "what the stage kept, off the later peak",
    of: &[Check::Run("memory readings before, during and after a stage", check)],
};

/// Less than this is not worth a change, in bytes.
const MIN_BYTES: u64 = 256 << 20;

/// So much of its growth a stage may give back and still count as keeping it.
const TOLERANCE: u64 = 10;

/// Memory that was no fuller than this was not missed.
const ROOMY: f64 = 0.5;

/// Readings of one source around all calls of one stage.
struct Around<'a> {
    stage: &'a str,
    node: u32,
    time: Interval,
    source: MemorySource,
    before_bytes: u64,
    peak_bytes: u64,
    kept_bytes: u64,
    later_peak: &'a MemoryReading,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let by_source = by_source(facts);
    let stages = if by_source.is_empty() { Vec::new() } else { stages(facts) };
    let mut n_known = 0u64;
    let mut kept: Vec<Around<'_>> = Vec::new();
    for readings in by_source.values() {
        let seen = stages.iter().filter_map(|stage| {
            let growth = around(readings, stage)?;
            n_known += 1;
            Some(growth)
        });
        let highest = readings.iter().map(|r| r.allocated_bytes).max().unwrap_or(0);
        kept.extend(seen.filter(|kept| matters(facts, kept, highest)));
    }
    if n_known == 0 {
        return Outcome::Unknown(
            "no stage has memory readings before, during and after it (record_memory)".into(),
        );
    }
    let found = innermost(kept);
    if found.is_empty() {
        return Outcome::Passed(format!("{n_known} stages were seen before, during and after"));
    }
    Outcome::Found(found.iter().map(|kept| finding(facts, kept)).collect())
}

/// Readings of each source that is looked at, in order of time.
fn by_source<'a>(facts: &Facts<'a>) -> BTreeMap<MemorySource, Vec<&'a MemoryReading>> {
    let mut by_source: BTreeMap<MemorySource, Vec<&MemoryReading>> = BTreeMap::new();
    for reading in &facts.run.memory {
        by_source.entry(reading.source).or_default().push(reading);
    }
    if by_source.len() > 1 || facts.telemetry.gpus.is_some() {
        by_source.remove(&MemorySource::Process);
    }
    by_source
}

/// A stage from its first to its last call.
struct Stage<'a> {
    name: &'a str,
    node: u32,
    time: Interval,
}

/// Sections by name that have all ended and whose calls were all recorded.
fn stages<'a>(facts: &Facts<'a>) -> Vec<Stage<'a>> {
    let run = facts.run;
    let mut times: Vec<Option<Interval>> = vec![None; run.nodes.len()];
    for section in &run.sections {
        if let Some(time) = times.get_mut(section.node as usize) {
            let time =
                time.get_or_insert(Interval { start_ns: section.start_ns, end_ns: section.end_ns });
            time.start_ns = time.start_ns.min(section.start_ns);
            time.end_ns = time.end_ns.max(section.end_ns);
        }
    }
    let mut stages: BTreeMap<&str, Stage<'a>> = BTreeMap::new();
    for (node, time) in (0u32..).zip(times) {
        let known = &run.nodes[node as usize];
        let Some(time) = time.filter(|_| known.kind == NodeKind::Section) else {
            continue;
        };
        let stage = stages.entry(&known.name).or_insert(Stage { name: &known.name, node, time });
        stage.time.start_ns = stage.time.start_ns.min(time.start_ns);
        stage.time.end_ns = stage.time.end_ns.max(time.end_ns);
    }
    for open in &run.open {
        if let Some(node) = run.nodes.get(open.node as usize) {
            stages.remove(node.name.as_str());
        }
    }
    // What loads or sets up is meant to keep what it made.
    let stages = stages.into_values();
    stages.filter(|stage| Phase::of(stage.name) != Some(Phase::Prepare)).collect()
}

/// What was read around a stage; `None` unless something was read before, during and after it.
fn around<'a>(readings: &[&'a MemoryReading], stage: &Stage<'a>) -> Option<Around<'a>> {
    let time = stage.time;
    let from = readings.partition_point(|r| r.at_ns <= time.start_ns);
    let until = readings.partition_point(|r| r.at_ns <= time.end_ns);
    let before = readings[..from].last()?;
    let peak_bytes = readings[from..until].iter().map(|r| r.allocated_bytes).max()?;
    let after = &readings[until..];
    // The earliest of equals: what comes later is not asked for.
    let later_peak = after.iter().rev().max_by_key(|r| r.allocated_bytes)?;
    let up_to_peak = after.iter().take_while(|r| r.at_ns <= later_peak.at_ns);
    let lowest = up_to_peak.map(|r| r.allocated_bytes).min()?;
    let first = after.first()?.allocated_bytes;
    let growth = peak_bytes.saturating_sub(before.allocated_bytes);
    // A first reading far above the stage's own peak is another stage's: it does not say what this one left.
    let is_left = first <= peak_bytes.saturating_add(growth / TOLERANCE);
    let kept_bytes = lowest.min(peak_bytes).saturating_sub(before.allocated_bytes);
    Some(Around {
        stage: stage.name,
        node: stage.node,
        time,
        source: before.source,
        before_bytes: before.allocated_bytes,
        peak_bytes,
        kept_bytes: if is_left { kept_bytes } else { 0 },
        later_peak,
    })
}

fn matters(facts: &Facts<'_>, kept: &Around<'_>, highest_bytes: u64) -> bool {
    let growth = kept.peak_bytes.saturating_sub(kept.before_bytes);
    let is_kept = kept.kept_bytes >= growth - growth / TOLERANCE && growth > 0;
    let least = float(highest_bytes) * facts.thresholds.kept_memory_ratio;
    let is_large = kept.kept_bytes >= MIN_BYTES && float(kept.kept_bytes) > least;
    let was_missed = kept.later_peak.allocated_bytes > kept.peak_bytes;
    is_kept && is_large && was_missed && fill(facts, kept.source).is_none_or(|fill| fill > ROOMY)
}

/// Highest share of the source's memory that was in use; `None` when its size is not known.
fn fill(facts: &Facts<'_>, source: MemorySource) -> Option<f64> {
    match source {
        MemorySource::Process => facts.telemetry.memory.as_ref()?.peak_used_ratio(),
        MemorySource::TorchCuda(_) => facts.telemetry.gpus.as_ref()?.together.peak_memory_ratio,
    }
}

/// Of stages within one another the innermost.
fn innermost(mut kept: Vec<Around<'_>>) -> Vec<Around<'_>> {
    kept.sort_by_key(|kept| (kept.source, kept.time.length_ns(), kept.time.start_ns));
    let mut chosen: Vec<Around<'_>> = Vec::new();
    for one in kept {
        let holds = |inner: &Around<'_>| {
            inner.source == one.source
                && one.time.start_ns <= inner.time.start_ns
                && inner.time.end_ns <= one.time.end_ns
        };
        if !chosen.iter().any(holds) {
            chosen.push(one);
        }
    }
    chosen
}

fn finding(facts: &Facts<'_>, kept: &Around<'_>) -> Finding {
    let fill = fill(facts, kept.source);
    let is_short = fill.is_some_and(|fill| fill > facts.thresholds.memory_ratio);
    let share = float(kept.kept_bytes) / float(kept.later_peak.allocated_bytes).max(1.0);
    let bytes = |what, value| Evidence::new(what, float(value), FigureUnit::Bytes);
    Finding {
        severity: if is_short { Severity::High } else { Severity::Medium },
        issue: format!(
            "{} kept its memory on {} after it was done: {} of the later peak",
            kept.stage,
            memory_source_name(kept.source),
            rounded_percent(share)
        ),
        remedy: "Move its model away when it is done: enable_model_cpu_offload(), enable_group_offload(…), or model.to(\"cpu\") and \
                 torch.cuda.empty_cache(); for a text encoder, encode first and delete it before denoising."
            .into(),
        evidence: vec![
            Evidence::ratio("kept share of the later peak", share)
                .against(facts.thresholds.kept_memory_ratio),
            bytes("before it", kept.before_bytes),
            bytes("most during it", kept.peak_bytes),
            bytes("kept until the later peak", kept.kept_bytes),
            bytes("the later peak", kept.later_peak.allocated_bytes),
        ],
        intervals: vec![Interval {
            start_ns: kept.time.end_ns,
            end_ns: kept.later_peak.at_ns.max(kept.time.end_ns),
        }],
        node: Some(kept.node),
        saving: Some(Saving::of_memory(
            kept.kept_bytes,
            "what it kept, off the later peak; moving it there and back costs time",
        )),
        // Readings say how much is held, not what it is.
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests;
