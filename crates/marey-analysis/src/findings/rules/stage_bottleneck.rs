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
//! is denoising when at least half of its time under no other stage certainly lies in steps, and where no steps are known, by its name. What ran only in other
//! threads than the leading one is no bottleneck: it ran beside.
//!
//! Denoising may have any name: `generate`, `forward`, `step`. So only a stage whose name says that it is separate work (text encoding,
//! VAE, moves, writing) is of high severity, and only beside other stages. Others are told apart by what else is known:
//!
//! ```text
//! generate   |------------------------------------------|   nearly all, and nothing recorded within it: not checked
//! make       |-------------|loop|-----------------------|   holds others: its rest is of low severity
//! denoise    |--step-step--|                                denoising is known elsewhere, so
//! watermark                |-----------------------------|  this is none: medium
//! ```

mod trace;

use std::collections::{BTreeMap, BTreeSet};

use marey::profiling_config::{SectionKind, words_of_name};
use marey::{NodeKind, OpenSection};

use crate::findings::prelude::*;
use crate::intervals::{Interval, length_ns, length_within, union};
use crate::quantity::rounded_percent;
use crate::{Kind, SectionRow, Stage};

pub(super) const RULE: Rule = Rule {
    id: "stage-bottleneck",
    category: Category::Performance,
    checks: "a stage other than denoising takes much of the time",
    limits: &["stage_ratio"],
    saves: "the stage's time under no other stage, as a bound",
    of: &[
        Check::Run("stages as sections", check),
        Check::Trace("wall time that decoding held up, as a share of the trace", trace::check),
    ],
};

/// The stages that are named at most.
const MAX_FINDINGS: usize = 3;

/// Words in the names of denoising stages, where no steps are known.
const DENOISING: [&str; 6] = ["denois", "diffus", "sampling", "sampler", "transformer", "unet"];

/// Words of the names of stages that are certainly no denoising.
const SEPARATE: [&str; 18] = [
    "tokenize",
    "vae",
    "autoencoder",
    "encode",
    "encoding",
    "decode",
    "decoding",
    "offload",
    "offloading",
    "onload",
    "save",
    "saving",
    "write",
    "writing",
    "export",
    "mux",
    "postprocess",
    "preprocess",
];

/// Words of the names of whole generations, whatever else they say: `generate_and_save`.
const WHOLE: [&str; 8] =
    ["generate", "generation", "inference", "main", "run", "pipe", "pipeline", "and"];

/// Share of the time under any section, from which on a stage is nearly all of it.
const NEARLY_ALL: f64 = 0.75;

/// Share of the wall time that known denoising has to take for other stages to be none.
const DENOISING_KNOWN: f64 = 0.1;

/// Words in the names of stages that prepare.
const PREPARING: [&str; 5] = ["load", "init", "setup", "download", "compile"];

fn check(facts: &Facts<'_>) -> Outcome {
    let known: Vec<(&Stage, f64)> = facts
        .stages
        .each
        .iter()
        .filter_map(|stage| Some((stage, stage.under_no_other_stage_ratio?)))
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
        // One that waited for its tasks did nothing itself.
        large.retain(|(stage, _)| !within(facts, stage).any(|row| row.is_detached));
    }
    large.sort_by(|a, b| b.1.total_cmp(&a.1));
    let names: Vec<&str> = large.iter().map(|(stage, _)| stage.name.as_str()).collect();
    let in_steps = ns_in_steps(facts, &names);
    let own_in_steps = |stage: &Stage| {
        let all_ns = in_steps.get(stage.name.as_str()).copied()?;
        let below: Vec<&str> = within(facts, stage).map(|row| row.name.as_str()).collect();
        let below_ns = ns_in_steps(facts, &below).values().sum();
        Some(all_ns.saturating_sub(below_ns))
    };
    let (denoising, others): (Vec<_>, Vec<_>) =
        large.into_iter().partition(|(stage, _)| is_denoising(stage, own_in_steps(stage)));
    if others.is_empty() {
        return Outcome::Passed(match denoising.first() {
            Some((_, own)) => format!("only denoising did, which took {}", rounded_percent(*own)),
            None => "none did".into(),
        });
    }
    let is_known = is_denoising_known(facts);
    let mut found = Vec::new();
    let mut whole = None;
    for (stage, own) in others {
        match severity(facts, stage, own, is_known) {
            Some(severity) => found.push(finding(facts, stage, own, severity)),
            None => whole = whole.or(Some(stage)),
        }
    }
    found.truncate(MAX_FINDINGS);
    match whole {
        Some(stage) if found.is_empty() => Outcome::Unknown(format!(
            "{} is nearly all of the run and {} within it: record its parts",
            stage.name,
            if within(facts, stage).next().is_some() {
                "little of it is in sections"
            } else {
                "has no section"
            }
        )),
        _ => Outcome::Found(found),
    }
}

/// How much a stage matters that took so much itself; `None` when it is nearly the whole work and may be denoising.
fn severity(
    facts: &Facts<'_>,
    stage: &Stage,
    own: f64,
    is_denoising_known: bool,
) -> Option<Severity> {
    if is_preparing(&stage.name.to_lowercase()) {
        // A short run is mostly loading.
        return Some(Severity::Low);
    }
    if is_separate(&stage.name) {
        let is_large = own > 2.0 * facts.thresholds.stage_ratio;
        return Some(if is_large && has_others_beside(facts, stage) {
            Severity::High
        } else {
            Severity::Medium
        });
    }
    if is_denoising_known && within(facts, stage).next().is_none() {
        return Some(Severity::Medium);
    }
    let covered_ns = facts.stages.covered_ns.unwrap_or(facts.stages.wall_ns);
    let is_whole =
        float(stage.under_no_other_stage_ns.unwrap_or(0)) >= float(covered_ns) * NEARLY_ALL;
    (is_denoising_known || !is_whole).then_some(Severity::Low)
}

/// Whether steps, or stages with names of denoising, say where denoising is.
fn is_denoising_known(facts: &Facts<'_>) -> bool {
    let steps_ns = facts.step_time().map_or(0, |times| length_ns(&times));
    let is_named = |stage: &&Stage| is_denoising(stage, None);
    let named = facts.stages.each.iter().filter(is_named);
    let named = named.filter_map(|stage| stage.share_ratio).fold(0.0, f64::max);
    facts.share_of_wall(steps_ns).max(named) >= DENOISING_KNOWN
}

fn is_separate(name: &str) -> bool {
    let kind = SectionKind::of(name);
    let words = words_of_name(name);
    let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
    matches!(kind, Some(SectionKind::TextEncoding | SectionKind::VaeDecode))
        || (has(&SEPARATE) && !has(&WHOLE))
}

/// Nodes above one, the nearest first.
fn above(facts: &Facts<'_>, node: u32) -> impl Iterator<Item = u32> {
    let nodes = &facts.run.nodes;
    let parent = |node: u32| nodes.get(node as usize).and_then(|n| n.parent);
    std::iter::successors(parent(node), move |node| parent(*node))
}

fn sections<'a>(facts: &Facts<'a>) -> impl Iterator<Item = &'a SectionRow> {
    let rows = facts.sections.tree.iter();
    rows.filter(|row| row.kind == Kind::Section)
}

/// Sections of other names within the stage.
fn within<'a>(facts: &'a Facts<'_>, stage: &'a Stage) -> impl Iterator<Item = &'a SectionRow> {
    let is_of_stage = |node: u32| {
        let node = facts.run.nodes.get(node as usize);
        node.is_some_and(|node| node.kind == marey::NodeKind::Section && node.name == stage.name)
    };
    sections(facts)
        .filter(move |row| row.name != stage.name && above(facts, row.node).any(is_of_stage))
}

/// Whether there is a section that neither holds the stage nor lies within it.
fn has_others_beside(facts: &Facts<'_>, stage: &Stage) -> bool {
    let Some(own) = largest_node(facts, &stage.name) else {
        return false;
    };
    sections(facts).any(|row| {
        row.name != stage.name
            && !above(facts, own).any(|node| node == row.node)
            && !above(facts, row.node).any(|node| node == own)
    })
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
    let Some(mut times) = facts.step_time() else {
        return BTreeMap::new();
    };
    // A step in which the program was killed is one.
    let run = facts.run;
    let is_turn = |open: &&OpenSection| {
        let node = run.nodes.get(open.node as usize);
        node.is_some_and(|node| node.kind == NodeKind::Iteration)
    };
    times.extend(
        run.open
            .iter()
            .filter(is_turn)
            .map(|open| Interval { start_ns: open.start_ns, end_ns: open.end_ns(run.wall_ns) }),
    );
    let times = union(times);
    let mut sums: BTreeMap<&str, u64> = names.iter().map(|name| (*name, 0)).collect();
    for call in calls(facts, |name| names.contains(&name)) {
        if let Some(sum) =
            names.iter().find(|name| **name == call.0).and_then(|name| sums.get_mut(name))
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
        .map(|node| node.kind == NodeKind::Section && is_wanted(&node.name))
        .collect();
    let ended = run.sections.iter().map(|s| (s.node, s.start_ns, s.end_ns));
    let open = run.open.iter();
    let open = open.map(|open| (open.node, open.start_ns, open.end_ns(run.wall_ns)));
    ended.chain(open).filter_map(move |(node, start_ns, end_ns)| {
        let node = node as usize;
        is_wanted.get(node).copied().filter(|is| *is)?;
        Some((run.nodes[node].name.as_str(), Interval { start_ns, end_ns }))
    })
}

/// What of its calls is in steps, and in no other stages below it, is at least half of its time under no other stage.
fn is_denoising(stage: &Stage, own_in_steps_ns: Option<u64>) -> bool {
    let name = stage.name.to_lowercase();
    let is_named = DENOISING.iter().any(|word| name.contains(word));
    let is_named = is_named && !is_preparing(&name) && !is_move(&name);
    let Some((in_steps, under_no_other_stage_ns)) =
        own_in_steps_ns.zip(stage.under_no_other_stage_ns)
    else {
        let kind = SectionKind::of(&stage.name);
        let of_denoising = [SectionKind::InferenceStep, SectionKind::BlockComputation];
        return is_named || kind.is_some_and(|kind| of_denoising.contains(&kind));
    };
    in_steps >= under_no_other_stage_ns.div_ceil(2)
}

/// Loads or compiles; moving between host and device is work of every generation.
fn is_preparing(name: &str) -> bool {
    PREPARING.iter().any(|word| name.contains(word)) && !is_move(name)
}

fn is_move(name: &str) -> bool {
    ["offload", "onload"].iter().any(|word| name.contains(word))
}

fn finding(facts: &Facts<'_>, stage: &Stage, own: f64, severity: Severity) -> Finding {
    let limit = facts.thresholds.stage_ratio;
    let kind = SectionKind::of(&stage.name);
    let is_preparing = is_preparing(&stage.name.to_lowercase());
    let is_sure = severity > Severity::Low;
    let under_no_other_stage_ns = stage.under_no_other_stage_ns.unwrap_or(0);
    let mut evidence = vec![
        Evidence::ratio("its own share of the wall time", own).against(limit),
        Evidence::ns("its time under no other stage", under_no_other_stage_ns),
        Evidence::count("its calls", stage.calls.count),
    ];
    let first = stage.calls.first_ns.filter(|_| stage.calls.count > 1);
    evidence.extend(first.map(|ns| Evidence::ns("its first call", ns)));
    let rest = stage.calls.rest_mean_ns;
    evidence.extend(rest.map(|ns| Evidence::new("mean of its other calls", ns, FigureUnit::Ns)));
    Finding {
        severity,
        issue: format!("{} took {} of the wall time by itself", stage.name, rounded_percent(own)),
        remedy: remedy(kind, is_preparing, is_sure).into(),
        evidence,
        intervals: Finding::longest(calls(facts, |name| name == stage.name).map(|(_, call)| call)),
        node: largest_node(facts, &stage.name),
        saving: Some(Saving::of_time(
            None,
            under_no_other_stage_ns.min(facts.run.wall_ns),
            "its time under no other stage, if it took none at all",
        )),
        ..RULE.finding()
    }
}

/// What could be done; of a stage that may be denoising itself (`is_sure` is false) only how to see more.
fn remedy(kind: Option<SectionKind>, is_preparing: bool, is_sure: bool) -> &'static str {
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
        _ if !is_sure => {
            "Record sections within it to see what takes the time, or open the timeline there; if it is denoising itself, record each \
             step as an iteration, then the rules about steps look at it."
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
    of_name.max_by_key(|row| row.inclusive_ns).map(|row| row.node)
}

#[cfg(test)]
mod tests;
