//! Findings of the first screen: those that cost enough, each with a title, its evidence and what to try.

use marey_analysis::Thresholds;
use marey_analysis::findings::{Confidence, Evidence, Figure, FigureUnit, Finding, Severity};

use super::account_rows::{AccountRows, Phase, Row, is_waiting, phase, total_ns};
use super::amount::{share, time_ns};
use super::derived;
use super::line::name;
use super::resources::{SystemFigures, row_or_own};
use crate::figure;
use crate::model::Report;
use crate::quantity::{counted, float};

/// Share of the total from which on a finding is shown.
const COSTLY: f64 = 0.05;
/// The same of what grows with the length of the generation.
const COSTLY_AND_GROWING: f64 = 0.03;
/// Columns of a title.
const TITLE: usize = 80;
/// And of what it is about.
const SUBJECT: usize = 44;

/// A finding of the first screen. Texts hold names as the user gave them; they are not safe to print.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenFinding {
    /// The rule, or what else found it.
    pub rule: &'static str,
    /// What it is about.
    pub subject: String,
    /// The figure that says so, with the limit that decided it.
    pub figure: String,
    /// Time that it costs; `None` where that is not known.
    pub cost_ns: Option<u64>,
    /// That as a share of the total.
    pub share_ratio: Option<f64>,
    /// It costs more the longer the generation is.
    pub is_growing: bool,
    /// Sentences with figures that are not in the title.
    pub evidence: String,
    /// The same, one by one.
    pub figures: Vec<Evidence>,
    /// What to try, the most effective first.
    pub tries: String,
    /// How sure it is.
    pub confidence: Confidence,
}

/// What was looked for, where nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Rules that found nothing.
    pub passed: Vec<&'static str>,
    /// How many could not tell.
    pub n_skipped: u64,
    /// What was not recorded that they are about.
    pub missing: Vec<&'static str>,
    /// Findings that cost too little for the first screen.
    pub n_small: u64,
}

impl ScreenFinding {
    /// `subject: figure`.
    pub fn title(&self) -> String {
        match self.figure.as_str() {
            "" => self.subject.clone(),
            figure => format!("{}: {figure}", name(&self.subject, SUBJECT)),
        }
    }

    /// All that are shown, most important first: why it ended badly, else what costs most.
    pub(super) fn all(
        report: &Report,
        account: Option<&AccountRows>,
        system: &SystemFigures,
    ) -> Vec<Self> {
        if report.status.kind.is_cut_short() {
            return derived::cause(report).into_iter().collect();
        }
        if is_nothing_recorded(report) {
            return vec![derived::nothing_recorded(report)];
        }
        let ruled = report.activity.findings.found.iter();
        let ruled = ruled.filter(|found| is_asked_for(found) && found.severity > Severity::Low);
        // Steps that wait for their turn say nothing of steps.
        let ruled =
            ruled.filter(|found| report.requests.is_none() || found.rule != "step-outliers");
        let ruled = ruled.filter_map(|found| of_rule(report, account, system, found));
        let derived = derived::of_run(report, account);
        let mut all: Vec<Self> = ruled.chain(derived).collect();
        all.sort_by(|a, b| b.cost_ns.cmp(&a.cost_ns).then(a.rule.cmp(b.rule)));
        all
    }

    /// Costs enough of the total to be shown.
    pub(super) fn is_costly(&self) -> bool {
        let least = if self.is_growing {
            COSTLY_AND_GROWING
        } else {
            COSTLY
        };
        self.share_ratio.is_none_or(|share| share >= least)
    }
}

impl Checks {
    pub(super) fn new(report: &Report) -> Self {
        let all = &report.activity.findings;
        let activity = &report.activity;
        let found = activity.diffusion.as_ref();
        let known = [
            ("GPU", activity.telemetry.gpus.is_some()),
            ("caches", activity.caches.is_some()),
            ("blocks", found.is_some_and(|found| found.blocks.is_some())),
            ("models", found.is_some_and(|found| found.models.is_some())),
        ];
        let missing = known.into_iter().filter(|(_, is_known)| !is_known);
        Self {
            passed: all.passed.iter().map(|passed| passed.rule).collect(),
            n_skipped: all.unchecked.len() as u64,
            missing: missing.map(|(what, _)| what).collect(),
            n_small: all.found.iter().filter(|found| is_asked_for(found)).count() as u64,
        }
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

fn of_rule(
    report: &Report,
    account: Option<&AccountRows>,
    system: &SystemFigures,
    found: &Finding,
) -> Option<ScreenFinding> {
    let saving = found.saving.as_ref();
    let cost_ns = saving.and_then(|saving| saving.estimate_ns.or(saving.at_most_ns));
    let total = float(total_ns(report).max(1));
    let is_about_time = cost_ns.is_some();
    if !is_about_time && found.severity < Severity::High {
        return None;
    }
    let decided = found.evidence.iter().find(|one| one.limit.is_some());
    let target = decided.and_then(target).unwrap_or_default();
    let is_in_issue = decided.is_some_and(|decided| is_in(decided, &found.issue));
    let issue = found.issue.trim_end_matches('.');
    let shown = ScreenFinding {
        rule: found.rule,
        subject: with_target(issue, if is_in_issue { &target } else { "" }),
        figure: String::new(),
        cost_ns,
        share_ratio: cost_ns.map(|ns| float(ns) / total),
        is_growing: false,
        evidence: evidence(found),
        figures: found.evidence.clone(),
        tries: first_sentences(&found.remedy),
        confidence: found.confidence,
    };
    if found.rule != "stage-bottleneck" {
        return Some(shown);
    }
    stage(report, account, system, found, &target, shown)
}

/// A stage that takes much, as the row of the account that holds it; `None` where that is denoising.
fn stage(
    report: &Report,
    account: Option<&AccountRows>,
    system: &SystemFigures,
    found: &Finding,
    target: &str,
    shown: ScreenFinding,
) -> Option<ScreenFinding> {
    let node = found.node?;
    let held_in = row_or_own(report, account, node)?;
    let row = account.and_then(|account| account.row(&held_in));
    if phase(&held_in) == Some(Phase::Denoise) || is_waiting(&held_in) {
        return None;
    }
    // As it is printed in the row.
    let took_ns = row.map_or(shown.cost_ns.unwrap_or(0), |(_, printed_ns)| printed_ns);
    let row = row.map(|(row, _)| row);
    let share_ratio = float(took_ns) / float(total_ns(report).max(1));
    Some(ScreenFinding {
        figure: format!(
            "{}, {} of the run{target}",
            time_ns(took_ns),
            share(share_ratio)
        ),
        cost_ns: Some(took_ns),
        share_ratio: Some(share_ratio),
        evidence: stage_evidence(report, node, &held_in, row, system),
        tries: stage_try(report, node, &held_in).unwrap_or(shown.tries),
        subject: held_in,
        ..shown
    })
}

/// ` (target ≤ 30 %)` by the figure that decided; `None` without one.
fn target(decided: &Evidence) -> Option<String> {
    let limit = decided.limit?;
    let sign = if decided.figure.value >= limit {
        '≤'
    } else {
        '≥'
    };
    let unit = decided.figure.unit;
    let limit = match unit {
        FigureUnit::Ratio => format!("{} %", crate::quantity::number(limit * 100.0)),
        _ => figure::figure(Figure { value: limit, unit }),
    };
    Some(format!(" (target {sign} {limit})"))
}

/// The sentence with the target where both fit into a title.
fn with_target(issue: &str, target: &str) -> String {
    let whole = format!("{issue}{target}");
    if whole.chars().count() <= TITLE {
        whole
    } else {
        issue.to_owned()
    }
}

/// The figures that are not in the title.
fn evidence(found: &Finding) -> String {
    let figures = found
        .evidence
        .iter()
        .filter(|one| !is_in(one, &found.issue));
    let figures: Vec<String> = figures.map(figure::evidence).collect();
    figures.join(" · ")
}

/// The sentence has the figure.
fn is_in(shown: &Evidence, sentence: &str) -> bool {
    let figure = figure::figure(shown.figure);
    let number = figure.split(' ').next().unwrap_or_default();
    sentence.contains(number.trim_end_matches(".0"))
}

/// As many whole sentences as two lines hold, at least one.
fn first_sentences(text: &str) -> String {
    const TWO_LINES: usize = 170;
    let ends = text.match_indices(['.', ';']).map(|(at, _)| at + 1);
    let is_end = |end: &usize| text[*end..].is_empty() || text[*end..].starts_with(' ');
    let ends: Vec<usize> = ends.filter(is_end).collect();
    let fitting = ends.iter().rev().find(|end| **end <= TWO_LINES);
    let end = fitting.or(ends.first()).copied().unwrap_or(text.len());
    let mut kept = text[..end].trim_end_matches([';', ' ']).to_owned();
    if !kept.ends_with('.') {
        kept.push('.');
    }
    kept
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
    let below = report
        .sections
        .tree
        .iter()
        .filter(|one| one.parent == Some(node));
    let part = own.or(below.max_by_key(|one| one.inclusive_ns));
    let first = match (part, row.and_then(|row| row.note.as_ref())) {
        (Some(part), _) if part.calls.count > 0 => format!(
            "{} takes {} of it in {}.",
            part.name,
            time_ns(part.inclusive_ns),
            counted(part.calls.count, "call", "calls")
        ),
        (_, Some(note)) => format!("It is {}.", note.text()),
        _ => "It is one call.".into(),
    };
    let busy = system
        .own_cores
        .zip(system.n_cores)
        .filter(|_| system.gpus.is_empty());
    let busy = busy.map(|(own, n)| format!(" The run keeps {own:.2} of {n} cores busy."));
    first + &busy.unwrap_or_default()
}

/// What to try for a stage, where the rule's own words do not fit this run.
fn stage_try(report: &Report, node: u32, name: &str) -> Option<String> {
    let has_gpu = report.activity.telemetry.gpus.is_some();
    let is_leaf = !report
        .sections
        .tree
        .iter()
        .any(|one| one.parent == Some(node));
    let said = match phase(name) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_is_cut_after_a_sentence() {
        assert_eq!(
            first_sentences("Do this. Then that."),
            "Do this. Then that."
        );
        let long = format!("Do this, say with vae.decode(); {}.", "that ".repeat(60));
        assert_eq!(first_sentences(&long), "Do this, say with vae.decode().");
        assert_eq!(first_sentences("no end"), "no end.");
    }

    #[test]
    fn a_target_says_which_way_is_good() {
        let high = Evidence::new("share", 0.44, FigureUnit::Ratio).against(0.3);
        assert_eq!(target(&high).unwrap(), " (target ≤ 30 %)");
        let low = Evidence::new("mean utilisation", 0.41, FigureUnit::Ratio).against(0.6);
        assert_eq!(target(&low).unwrap(), " (target ≥ 60 %)");
    }
}
