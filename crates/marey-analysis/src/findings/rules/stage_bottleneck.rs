//! Does a stage other than denoising hold up much of the wall time by itself?
//!
//! ```text
//! time       0         10        20        30        40
//! text       |--|
//! denoise       |--- step · step · step ---|               50 %: what the program is for
//! vae decode                               |-------------|  35 %: more than 30 %, found
//! ```
//!
//! A stage is all sections of a name. Its own time is what the account of the wall time gives to them and to loops in them, not to sections
//! in them; what ran beside the main thread has none. Denoising takes most of the time of every healthy run, so it is no finding. A stage is
//! denoising when half of its own time lies in steps; where no steps are known, when its name says so.
//!
//! Denoising may have any name: `generate`, `forward`, `step`. So a stage matters as far as its name says another phase, or it is known where
//! denoising is:
//!
//! ```text
//! generate   |------------------------------------------|   nearly all, and nothing recorded within it: not checked
//! make       |-------------|loop|-----------------------|   holds others: its rest is of low severity
//! denoise    |--step-step--|                                denoising is known elsewhere, so
//! watermark                |-----------------------------|  this is none: medium
//! vae_decode               |-----------------------------|  another phase, more than twice the limit: high
//! ```

mod trace;

use std::collections::BTreeMap;

use marey::profiling_config::{SectionKind, words_of_name};
use marey::{NodeKind, OpenSection, Run};

use crate::Phase;
use crate::account::Account;
use crate::findings::prelude::*;
use crate::intervals::{Interval, common_length_ns, length_ns, union};
use crate::quantity::rounded_percent;
use crate::questions::work::Work;

pub(super) const RULE: Rule = Rule {
    id: "stage-bottleneck",
    category: Category::Performance,
    checks: "a stage other than denoising takes much of the time",
    limits: &["stage_ratio"],
    saves: "the stage's own time, as a bound",
    of: &[
        Check::Run("stages as sections", check),
        Check::Trace("wall time that decoding held up, as a share of the trace", trace::check),
    ],
};

/// The stages that are named at most.
const MAX_FINDINGS: usize = 3;
/// Share of the time under any section, from which on a stage is nearly all of it.
const NEARLY_ALL: f64 = 0.75;
/// Share of the wall time that known denoising has to take for other stages to be none.
const DENOISING_KNOWN: f64 = 0.1;
/// Words of networks that denoise.
const NETWORKS: [&str; 2] = ["transformer", "unet"];

/// All sections of a name, or the rest of one that holds others.
struct Stage<'a> {
    name: &'a str,
    own_ns: u64,
    /// The call path of this name that held up most.
    node: u32,
    most_ns: u64,
    holds_others: bool,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let account = facts.account.filter(|account| !account.rows.is_empty() && account.wall_ns > 0);
    let Some(account) = account else {
        return Outcome::Unknown(
            "no section's own share of the wall time is known; record stages as sections".into(),
        );
    };
    let limit = facts.thresholds.stage_ratio;
    let own = |stage: &Stage<'_>| facts.share_of_wall(stage.own_ns);
    let stages = stages(facts.run, account);
    let steps = step_time(facts);
    let large = stages.iter().filter(|stage| own(stage) > limit);
    let (denoising, others): (Vec<_>, Vec<_>) =
        large.partition(|stage| is_denoising(facts.run, stage, &steps));
    if others.is_empty() {
        return Outcome::Passed(match denoising.first() {
            Some(stage) => {
                format!("only denoising did, which took {}", rounded_percent(own(stage)))
            }
            None => "none did".into(),
        });
    }
    let named = stages.iter().filter(|stage| says_denoising(stage.name));
    let named_ns = named.map(|stage| stage.own_ns).sum::<u64>();
    let is_known = facts.share_of_wall(length_ns(&steps).max(named_ns)) >= DENOISING_KNOWN;
    let covered_ns = account.wall_ns.saturating_sub(account.unattributed_ns);
    let judged = |stage: &&Stage<'_>| {
        let is_whole = float(stage.own_ns) >= float(covered_ns) * NEARLY_ALL;
        severity(stage, own(stage) > 2.0 * limit, is_known, is_whole)
    };
    let found = others.iter().filter_map(|stage| Some(finding(facts, stage, judged(stage)?)));
    let found: Vec<Finding> = found.take(MAX_FINDINGS).collect();
    if !found.is_empty() {
        return Outcome::Found(found);
    }
    let whole = others[0];
    let within = if whole.holds_others { "little of it is in sections" } else { "has no section" };
    Outcome::Unknown(format!(
        "{} is nearly all of the run and {within} within it: record its parts",
        whole.name
    ))
}

/// How much a stage matters; `None` when it is nearly the whole work and may be denoising.
fn severity(
    stage: &Stage<'_>,
    is_large: bool,
    is_denoising_known: bool,
    is_whole: bool,
) -> Option<Severity> {
    match Phase::of(stage.name) {
        _ if Work::Offloading.is_of(stage.name) => {}
        // A short run is mostly loading.
        Some(Phase::Prepare) => return Some(Severity::Low),
        Some(_) => {}
        None if is_denoising_known && !stage.holds_others => return Some(Severity::Medium),
        None => return (is_denoising_known || !is_whole).then_some(Severity::Low),
    }
    Some(if is_large { Severity::High } else { Severity::Medium })
}

/// Stages by own time, the most first.
fn stages<'a>(run: &'a Run, account: &Account) -> Vec<Stage<'a>> {
    let mut found: BTreeMap<&str, Stage<'a>> = BTreeMap::new();
    for row in &account.rows {
        let nodes =
            || std::iter::successors(Some(row.node), |node| run.nodes[*node as usize].parent);
        let is_section =
            |node: &u32| *node > 0 && run.nodes[*node as usize].kind == NodeKind::Section;
        let mut sections = nodes().filter(is_section);
        let Some(node) = sections.next() else { continue };
        let name = run.nodes[node as usize].name.as_str();
        for above in sections {
            let above = run.nodes[above as usize].name.as_str();
            if let Some(stage) = found.get_mut(above).filter(|_| above != name) {
                stage.holds_others = true;
            }
        }
        let new = Stage { name, own_ns: 0, node, most_ns: 0, holds_others: false };
        let stage = found.entry(name).or_insert(new);
        stage.own_ns = stage.own_ns.saturating_add(row.self_ns);
        if row.node == node && row.held_ns > stage.most_ns {
            (stage.node, stage.most_ns) = (node, row.held_ns);
        }
    }
    let mut stages: Vec<Stage<'a>> = found.into_values().collect();
    stages.sort_by_key(|stage| std::cmp::Reverse(stage.own_ns));
    stages
}

/// Time in denoising steps; one in which the program was killed is one.
fn step_time(facts: &Facts<'_>) -> Vec<Interval> {
    let Some(mut times) = facts.step_time() else { return Vec::new() };
    let run = facts.run;
    let is_step = |open: &&OpenSection| run.nodes[open.node as usize].kind == NodeKind::Iteration;
    let open = run.open.iter().filter(is_step);
    times.extend(
        open.map(|open| Interval { start_ns: open.start_ns, end_ns: open.end_ns(run.wall_ns) }),
    );
    union(times)
}

/// When a stage was open; with `is_within` when sections of other names were open in it.
fn calls(run: &Run, stage: &str, is_within: bool) -> impl Iterator<Item = Interval> {
    let mut is_it = vec![false; run.nodes.len()];
    let mut has_it = is_it.clone();
    for (id, node) in run.nodes.iter().enumerate() {
        // A parent has a smaller id than its children.
        is_it[id] = node.kind == NodeKind::Section && node.name == stage;
        has_it[id] = is_it[id] || node.parent.is_some_and(|parent| has_it[parent as usize]);
    }
    let wanted = run.nodes.iter().zip(is_it.iter().zip(has_it));
    let wanted: Vec<bool> =
        wanted
            .map(|(node, (is_it, has_it))| {
                if is_within { has_it && !is_it && node.kind == NodeKind::Section } else { *is_it }
            })
            .collect();
    let ended = run.sections.iter().map(|s| (s.node, s.start_ns, s.end_ns));
    let open = run.open.iter().map(|open| (open.node, open.start_ns, open.end_ns(run.wall_ns)));
    let calls = ended.chain(open).filter(move |call| wanted.get(call.0 as usize) == Some(&true));
    calls.map(|(_, start_ns, end_ns)| Interval { start_ns, end_ns })
}

/// Half of its own time lies in steps; where none are known, its name says so.
fn is_denoising(run: &Run, stage: &Stage<'_>, steps: &[Interval]) -> bool {
    // Decoding in steps, or beside them, is decoding.
    if steps.is_empty() || Phase::of(stage.name).is_some_and(|phase| phase != Phase::Denoise) {
        return says_denoising(stage.name);
    }
    let in_steps_ns = |is_within: bool| {
        common_length_ns(&union(calls(run, stage.name, is_within).collect()), steps)
    };
    in_steps_ns(false).saturating_sub(in_steps_ns(true)) >= stage.own_ns.div_ceil(2)
}

fn says_denoising(name: &str) -> bool {
    match Phase::of(name) {
        Some(phase) => phase == Phase::Denoise,
        None => {
            SectionKind::of(name) == Some(SectionKind::BlockComputation)
                || words_of_name(name).iter().any(|word| NETWORKS.contains(&word.as_str()))
        }
    }
}

fn finding(facts: &Facts<'_>, stage: &Stage<'_>, severity: Severity) -> Finding {
    let own = facts.share_of_wall(stage.own_ns);
    let mut evidence = vec![
        Evidence::ratio("its own share of the wall time", own)
            .against(facts.thresholds.stage_ratio),
        Evidence::ns("its own time", stage.own_ns),
    ];
    if let Some(row) = facts.sections.by_name.iter().find(|row| row.name == stage.name) {
        evidence.push(Evidence::count("its calls", row.calls.count));
        let first = row.calls.first_ns.filter(|_| row.calls.count > 1);
        evidence.extend(first.map(|ns| Evidence::ns("its first call", ns)));
        let rest = row.calls.rest_mean_ns;
        evidence
            .extend(rest.map(|ns| Evidence::new("mean of its other calls", ns, FigureUnit::Ns)));
    }
    Finding {
        severity,
        issue: format!("{} took {} of the wall time by itself", stage.name, rounded_percent(own)),
        remedy: remedy(stage.name, severity > Severity::Low).into(),
        evidence,
        intervals: Finding::longest(calls(facts.run, stage.name, false)),
        node: Some(stage.node),
        saving: Some(Saving::of_time(None, stage.own_ns, "all of its own time")),
        ..RULE.finding()
    }
}

/// What could be done; of a stage that may be denoising itself (`is_sure` is false) only how to see more.
fn remedy(name: &str, is_sure: bool) -> &'static str {
    match Phase::of(name) {
        Some(Phase::Decode) => {
            "See that the decoder runs on the GPU in half precision; torch.compile(vae.decode), channels_last, or a small decoder \
             (AutoencoderTiny) make it faster. enable_tiling() and enable_slicing() save memory and cost time: they help where memory \
             ran out, not otherwise."
        }
        Some(Phase::Encode) => {
            "Encode each prompt once and hand prompt_embeds on; keep the text encoder on the GPU, or quantise it (BitsAndBytesConfig, \
             TorchAoConfig) so that it fits there."
        }
        Some(Phase::Prepare) if !is_sure => {
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

#[cfg(test)]
mod tests;
