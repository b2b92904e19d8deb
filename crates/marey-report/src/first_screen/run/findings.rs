//! Findings of the first screen: those that cost enough, each with a title, its evidence and what to try.

use marey_analysis::findings::{Finding, Severity};
use marey_analysis::{Phase, Thresholds};

use super::account::total_ns;
use super::derived;
use super::resources::{SystemFigures, row_or_own};
use crate::first_screen::checks::Checks;
use crate::first_screen::finding::target;
use crate::first_screen::parts::is_waiting;
use crate::first_screen::{AccountRows, Row, ScreenFinding};
use crate::model::Report;
use crate::quantity::{counted, float, percent, share, time_ns};

/// All that cost enough, most important first: why it ended badly, which processes did, what costs most.
pub(super) fn all(
    report: &Report,
    account: Option<&AccountRows>,
    system: &SystemFigures,
) -> Vec<ScreenFinding> {
    let lost = derived::lost(report).into_iter();
    if report.status.kind.is_cut_short() {
        return derived::cause(report).into_iter().chain(lost).collect();
    }
    if is_nothing_recorded(report) || derived::models_seen(report).is_some() {
        let nothing = derived::nothing_recorded(report);
        return lost.chain([nothing]).collect();
    }
    let ruled = report.activity.findings.found.iter();
    let ruled = ruled.filter(|found| is_asked_for(found) && found.severity > Severity::Low);
    // Steps that wait for their turn say nothing of steps.
    let ruled = ruled.filter(|found| report.requests.is_none() || found.rule != "step-outliers");
    let ruled = ruled.filter_map(|found| {
        let shown = ScreenFinding::of_rule(found, total_ns(report))?;
        match found.rule {
            "stage-bottleneck" => stage(report, account, system, found, shown),
            _ => Some(shown),
        }
    });
    let derived = derived::of_run(report, account);
    let costliest = ScreenFinding::costliest(ruled.chain(derived).collect());
    lost.chain(costliest).collect()
}

/// Rules that fit only where such a thing was recorded.
const ABOUT: [(&str, &[&str]); 6] = [
    (
        "GPU",
        &[
            "exposed-transfers",
            "fragmentation",
            "idle-gpus",
            "launch-bound",
            "low-gpu-utilization",
            "needless-offload",
            "thermal-risk",
        ],
    ),
    ("caches", &["cache-memory-for-nothing", "cache-never-hits", "strict-threshold"]),
    ("blocks", &["large-blocks", "slow-blocks"]),
    ("models", &["eager-attention", "large-model", "layer-bottleneck"]),
    ("deliveries", &["dropped-frames", "slow-frames"]),
    ("windows", &["failed-window"]),
];
/// Those of them that are named where they were not recorded.
const SAID: [&str; 4] = ["GPU", "caches", "blocks", "models"];

/// What was looked for, where nothing was found.
pub(super) fn checks(report: &Report, system: &SystemFigures) -> Checks {
    let activity = &report.activity;
    let all = &activity.findings;
    let found = activity.diffusion.as_ref();
    let is_missing = |what: &str| match what {
        "GPU" => activity.telemetry.gpus.is_none(),
        "caches" => activity.caches.is_none(),
        "blocks" => found.is_none_or(|found| found.blocks.is_none()),
        "models" => found.is_none_or(|found| found.models.is_none()),
        "deliveries" => activity.streaming.is_none(),
        "windows" => activity.windows.is_none(),
        _ => report.run.world_size.is_none_or(|n| n < 2),
    };
    let missing: Vec<_> = ABOUT.iter().filter(|(what, _)| is_missing(what)).collect();
    let fits = |rule: &str| !missing.iter().any(|(_, rules)| rules.contains(&rule));
    let open = all.unchecked.iter().filter(|one| fits(one.rule));
    let idle = system.gpus.iter().find(|gpu| gpu.busy_ratio <= 0.8);
    Checks {
        passed: all.passed.iter().map(|passed| passed.rule).collect(),
        n_skipped: all.unchecked.len() as u64,
        n_open: open.count() as u64,
        missing: missing.iter().map(|(what, _)| *what).filter(|what| SAID.contains(what)).collect(),
        n_small: all.found.iter().filter(|found| is_asked_for(found)).count() as u64,
        idle: idle.map(|gpu| (format!("GPU {}", gpu.name), 1.0 - gpu.busy_ratio)),
    }
}

/// No section, no step, nothing that was delivered.
pub(super) fn is_nothing_recorded(report: &Report) -> bool {
    let activity = &report.activity;
    report.sections.tree.is_empty()
        && activity.diffusion.is_none()
        && activity.streaming.is_none()
        && activity.layers.is_none()
        && report.quality.n_calls == 0
}

/// Speed that nobody asked for, and what the user chose, are no findings; with a limit of his own they are.
fn is_asked_for(found: &Finding) -> bool {
    let defaults = Thresholds::default();
    let limit = match found.rule {
        "slow-frames" => defaults.frames_per_second,
        "slow-blocks" => defaults.blocks_per_second,
        "many-steps" => defaults.steps_per_generation,
        "large-blocks" => defaults.block_frames,
        "large-model" => defaults.model_parameters,
        _ => return true,
    };
    let decided = found.evidence.iter().find_map(|one| one.limit);
    decided.is_some_and(|decided| (decided - limit).abs() > f64::EPSILON)
}

/// A stage that takes much, as the row of the account that holds it; `None` where that is denoising.
fn stage(
    report: &Report,
    account: Option<&AccountRows>,
    system: &SystemFigures,
    found: &Finding,
    shown: ScreenFinding,
) -> Option<ScreenFinding> {
    let node = found.node?;
    let held_in = row_or_own(report, account, node)?;
    let row = account.and_then(|account| account.row(&held_in));
    if Phase::of(&held_in) == Some(Phase::Denoise) || is_waiting(&held_in) {
        return None;
    }
    // As it is printed in the row.
    let took_ns = row.map_or(shown.cost.unwrap_or(0), |(_, printed_ns)| printed_ns);
    let row = row.map(|(row, _)| row);
    let of_request = account.filter(|_| report.requests.is_some());
    let (total, of) = match of_request {
        Some(account) => (account.total, "a mean request"),
        None => (total_ns(report), "the run"),
    };
    let ratio = float(took_ns) / float(total.max(1));
    let limit = found.evidence.iter().find_map(|one| one.limit)?;
    if ratio <= limit {
        return None;
    }
    let ratio = match share(ratio) {
        same if same == share(limit) => percent(ratio),
        apart => apart,
    };
    let target = target(found).unwrap_or_default();
    let found = ScreenFinding {
        figure: format!("{}, {ratio} of {of}{target}", time_ns(took_ns)),
        evidence: stage_evidence(report, node, &held_in, row, system),
        tries: stage_try(report, node, &held_in).unwrap_or(shown.tries),
        subject: held_in,
        ..shown
    };
    Some(found.costing(took_ns, total))
}

/// The largest part of a stage, or its calls, and how busy the processors were.
fn stage_evidence(
    report: &Report,
    node: u32,
    name: &str,
    row: Option<&Row>,
    system: &SystemFigures,
) -> String {
    let own = report.section_row(node).filter(|own| own.name != name);
    let below = report.sections.tree.iter().filter(|one| one.parent == Some(node));
    let part = own.or(below.max_by_key(|one| one.inclusive_ns));
    let first = match (part, row.and_then(|row| row.note.as_ref())) {
        (Some(part), _) if part.calls.count > 0 => format!(
            "{} takes {} of it in {}.",
            part.name,
            time_ns(part.inclusive_ns),
            counted(part.calls.count, "call", "calls")
        ),
        (_, Some(note)) => format!("It is {note}."),
        _ => "It is one call.".into(),
    };
    let busy = system.own_cores.zip(system.n_cores).filter(|_| system.gpus.is_empty());
    let busy = busy.map(|(own, n)| format!(" The run keeps {own:.2} of {n} cores busy."));
    first + &busy.unwrap_or_default()
}

/// What to try for a stage, where the rule's own words do not fit this run.
fn stage_try(report: &Report, node: u32, name: &str) -> Option<String> {
    let has_gpu = report.activity.telemetry.gpus.is_some();
    let is_leaf = !report.sections.tree.iter().any(|one| one.parent == Some(node));
    let said = match Phase::of(name) {
        Some(Phase::Decode) if has_gpu => {
            "torch.compile(vae.decode) in half precision, or a small decoder (AutoencoderTiny)."
        }
        Some(Phase::Decode) => "a smaller decoder (TAEHV, AutoencoderTiny) or fewer output pixels.",
        Some(Phase::Encode) => "encode each prompt once and hand prompt_embeds on.",
        Some(Phase::Save) => "write in another process, or a faster codec or preset.",
        Some(Phase::Prepare) => "keep the process and make several clips in it.",
        None if is_leaf => "the timeline there (marey view), which shows what ran beside it.",
        None => "the timeline there (marey view), or sections in what has none yet.",
        Some(Phase::Denoise) => return None,
    };
    Some(said.into())
}
