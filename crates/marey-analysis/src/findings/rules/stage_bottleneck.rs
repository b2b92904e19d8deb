//! Does a stage other than denoising take much of the wall time?
//!
//! ```text
//! time       0         10        20        30        40
//! text       |--|
//! denoise       |--- step · step · step ---|               50 %: what the program is for
//! vae decode                               |-------------|  35 %: more than 30 %, found
//! ```
//!
//! Denoising takes most of the time of every healthy run, so it is no finding; what makes it slow is the business of other rules. A stage
//! is denoising when at least half of its own time certainly lies in steps, and where no steps are known, by its name. What ran only in other
//! threads than the leading one is no bottleneck: it ran beside.

use std::collections::{BTreeMap, BTreeSet};

use marey::profiling_config::SectionKind;

use crate::findings::words::percent;
use crate::findings::{
    Category, Confidence, Evidence, Facts, FigureUnit, Finding, Outcome, Rule, Saving, Severity,
};
use crate::intervals::{Interval, length_within};
use crate::stats::float;
use crate::{Kind, Stage};

pub(super) const RULE: Rule = Rule {
    id: "stage-bottleneck",
    category: Category::Performance,
    checks: "a stage other than denoising takes much of the wall time",
    check,
};

/// The stages that are named at most.
const MAX_FINDINGS: usize = 3;

/// Words in the names of denoising stages, where no steps are known.
const DENOISING: [&str; 6] = [
    "denois",
    "diffus",
    "sampling",
    "sampler",
    "transformer",
    "unet",
];

/// Words in the names of stages that prepare.
const PREPARING: [&str; 5] = ["load", "init", "setup", "download", "compile"];

fn check(facts: &Facts<'_>) -> Outcome {
    let known: Vec<(&Stage, f64)> = facts
        .stages
        .each
        .iter()
        .filter_map(|stage| Some((stage, stage.own_ratio?)))
        .collect();
    if known.is_empty() {
        return Outcome::Unknown(
            "no section's own share of the wall time is known; record stages as sections".into(),
        );
    }
    let limit = facts.thresholds.stage_ratio;
    let mut large: Vec<(&Stage, f64)> = known;
    large.retain(|(_, own)| *own > limit);
    if !large.is_empty() {
        let beside = beside(facts);
        large.retain(|(stage, _)| !beside.contains(stage.name.as_str()));
    }
    large.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<&str> = large.iter().map(|(stage, _)| stage.name.as_str()).collect();
    let in_steps = ns_in_steps(facts, &names);
    let (denoising, others): (Vec<_>, Vec<_>) = large
        .into_iter()
        .partition(|(stage, _)| is_denoising(stage, in_steps.get(stage.name.as_str()).copied()));
    if others.is_empty() {
        return Outcome::Passed(match denoising.first() {
            Some((_, own)) => format!("only denoising did, which took {}", percent(*own)),
            None => "none did".into(),
        });
    }
    let found = others.iter().take(MAX_FINDINGS);
    Outcome::Found(
        found
            .map(|(stage, own)| finding(facts, stage, *own, limit))
            .collect(),
    )
}

/// Names of sections that ran only beside the leading thread, the one with the most time in sections at the top level: nobody waited
/// for their time as such.
fn beside<'a>(facts: &Facts<'a>) -> BTreeSet<&'a str> {
    let run = facts.run;
    let node_of = |section: &marey::Section| run.nodes.get(section.node as usize);
    let mut top_ns = vec![0u64; run.threads.len()];
    for section in &run.sections {
        let is_top = node_of(section).is_some_and(|node| node.parent == Some(0));
        if let Some(sum) = top_ns.get_mut(section.thread as usize).filter(|_| is_top) {
            *sum = sum.saturating_add(section.duration_ns());
        }
    }
    let threads = (0u32..).zip(&top_ns);
    let leading = threads.max_by_key(|(thread, ns)| (**ns, std::cmp::Reverse(*thread)));
    let leading = leading.map(|(thread, _)| thread);
    // Per node: it has records, and records in the leading thread.
    let mut seen = vec![(false, false); run.nodes.len()];
    for section in &run.sections {
        if let Some((is_there, is_leading)) = seen.get_mut(section.node as usize) {
            *is_there = true;
            *is_leading |= Some(section.thread) == leading;
        }
    }
    let names = |is_wanted: fn(&(bool, bool)) -> bool| -> BTreeSet<&str> {
        let nodes = run.nodes.iter().zip(&seen);
        let wanted = nodes.filter(|(_, seen)| is_wanted(seen));
        wanted.map(|(node, _)| node.name.as_str()).collect()
    };
    let within = names(|(_, is_leading)| *is_leading);
    let others = names(|(is_there, is_leading)| *is_there && !*is_leading);
    others.difference(&within).copied().collect()
}

/// Time of the calls of each name that lies in steps; empty when no steps are known.
fn ns_in_steps<'a>(facts: &Facts<'_>, names: &[&'a str]) -> BTreeMap<&'a str, u64> {
    let Some(times) = facts.step_time() else {
        return BTreeMap::new();
    };
    let mut sums: BTreeMap<&str, u64> = names.iter().map(|name| (*name, 0)).collect();
    for call in calls(facts, |name| names.contains(&name)) {
        if let Some(sum) = names
            .iter()
            .find(|name| **name == call.0)
            .and_then(|name| sums.get_mut(name))
        {
            *sum = sum.saturating_add(length_within(call.1, &times));
        }
    }
    sums
}

/// Recorded calls of the sections whose names are wanted.
fn calls<'a>(
    facts: &Facts<'a>,
    is_wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a str, Interval)> {
    let run = facts.run;
    let is_wanted: Vec<bool> = run
        .nodes
        .iter()
        .map(|node| node.kind == marey::NodeKind::Section && is_wanted(&node.name))
        .collect();
    run.sections.iter().filter_map(move |section| {
        let node = section.node as usize;
        is_wanted.get(node).copied().filter(|is| *is)?;
        let interval = Interval {
            start_ns: section.start_ns,
            end_ns: section.end_ns,
        };
        Some((run.nodes[node].name.as_str(), interval))
    })
}

/// What of its calls is in steps and cannot lie in other stages below it is at least half of its own time.
fn is_denoising(stage: &Stage, ns_in_steps: Option<u64>) -> bool {
    let name = stage.name.to_lowercase();
    let is_named = DENOISING.iter().any(|word| name.contains(word)) && !is_preparing(&name);
    let Some((in_steps, own_ns)) = ns_in_steps.zip(stage.own_ns) else {
        let kind = SectionKind::of(&stage.name);
        let of_denoising = [SectionKind::InferenceStep, SectionKind::BlockComputation];
        return is_named || kind.is_some_and(|kind| of_denoising.contains(&kind));
    };
    let below_ns = stage.calls.total_ns.saturating_sub(own_ns);
    in_steps.saturating_sub(below_ns) >= own_ns.div_ceil(2)
}

fn is_preparing(name: &str) -> bool {
    PREPARING.iter().any(|word| name.contains(word))
}

fn finding(facts: &Facts<'_>, stage: &Stage, own: f64, limit: f64) -> Finding {
    let kind = SectionKind::of(&stage.name);
    let is_preparing = is_preparing(&stage.name.to_lowercase());
    let own_ns = stage.own_ns.unwrap_or(0);
    let severity = if is_preparing {
        // A short run is mostly loading.
        Severity::Low
    } else if own > 2.0 * limit {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut evidence = vec![
        Evidence::new("its own share of the wall time", own, FigureUnit::Ratio).against(limit),
        Evidence::new("its own time", float(own_ns), FigureUnit::Ns),
        Evidence::new("its calls", float(stage.calls.count), FigureUnit::Count),
    ];
    let first = stage.calls.first_ns.filter(|_| stage.calls.count > 1);
    evidence.extend(first.map(|ns| Evidence::new("its first call", float(ns), FigureUnit::Ns)));
    let rest = stage.calls.rest_mean_ns;
    evidence.extend(rest.map(|ns| Evidence::new("mean of its other calls", ns, FigureUnit::Ns)));
    Finding {
        rule: RULE.id,
        category: RULE.category,
        severity,
        issue: format!(
            "{} took {} of the wall time by itself",
            stage.name,
            percent(own)
        ),
        remedy: remedy(kind, is_preparing).into(),
        evidence,
        intervals: Finding::longest(calls(facts, |name| name == stage.name).map(|(_, call)| call)),
        node: largest_node(facts, &stage.name),
        saving: Some(Saving::of_time(
            None,
            own_ns.min(facts.run.wall_ns),
            "its own time, if it took none at all",
        )),
        confidence: Confidence::High,
    }
}

fn remedy(kind: Option<SectionKind>, is_preparing: bool) -> &'static str {
    match kind {
        Some(SectionKind::VaeDecode) => {
            "See that the decoder runs on the GPU in half precision; torch.compile(vae.decode), channels_last, or a small decoder \
             (AutoencoderTiny) make it faster. enable_tiling() and enable_slicing() save memory and cost time: they help where memory \
             ran out, not otherwise."
        }
        Some(SectionKind::TextEncoding) => {
            "Encode each prompt once and hand prompt_embeds on; keep the text encoder on the GPU, or quantise it (BitsAndBytesConfig, \
             TorchAoConfig) so that it fits there."
        }
        _ if is_preparing => {
            "Keep the process and make several clips in it; load safetensors straight to the device (device_map=\"cuda\", \
             low_cpu_mem_usage=True, HF_ENABLE_PARALLEL_LOADING=1) and keep compiled code (TORCHINDUCTOR_CACHE_DIR)."
        }
        _ => {
            "Record sections within it to see what takes the time, or open the timeline there; what does not need the GPU can run in \
             a thread beside denoising."
        }
    }
}

/// Of the call paths of this name the one that took longest.
fn largest_node(facts: &Facts<'_>, name: &str) -> Option<u32> {
    let rows = facts.sections.tree.iter();
    let of_name = rows.filter(|row| row.kind == Kind::Section && row.name == name);
    of_name
        .max_by_key(|row| row.inclusive_ns)
        .map(|row| row.node)
}

#[cfg(test)]
mod tests;
