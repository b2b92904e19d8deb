//! A finding of the first screen: a title, its evidence and what to try.

use marey_analysis::findings::{Confidence, Evidence, FigureUnit, Finding, Severity};

use super::line::name;
use crate::quantity::{float, number};

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
    /// Time or memory that it costs; `None` where that is not known.
    pub cost: Option<u64>,
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

impl ScreenFinding {
    /// One that the figures say for certain; the rest is for whoever makes it.
    pub(crate) fn new(rule: &'static str, subject: impl Into<String>, figure: String) -> Self {
        Self {
            rule,
            subject: subject.into(),
            figure,
            cost: None,
            share_ratio: None,
            is_growing: false,
            evidence: String::new(),
            figures: Vec::new(),
            tries: String::new(),
            confidence: Confidence::High,
        }
    }

    /// What a rule found, in a run of such a length; `None` of what is neither about time nor severe.
    pub(crate) fn of_rule(found: &Finding, total_ns: u64) -> Option<Self> {
        let saving = found.saving.as_ref();
        let cost = saving.and_then(|saving| saving.estimate_ns.or(saving.at_most_ns));
        if cost.is_none() && found.severity < Severity::High {
            return None;
        }
        let decided = found.evidence.iter().find(|one| one.limit.is_some());
        let is_in_issue = decided.is_some_and(|decided| is_in(decided, &found.issue));
        let target = target(found).filter(|_| is_in_issue);
        let issue = found.issue.trim_end_matches('.');
        let title = with_target(issue, &target.unwrap_or_default());
        let parts = title.split_once(": ");
        let parts = parts.filter(|(subject, _)| subject.chars().count() <= SUBJECT);
        let (subject, figure) = parts.unwrap_or((&title, ""));
        let shown = Self {
            evidence: evidence(found),
            figures: found.evidence.clone(),
            tries: first_sentences(&found.remedy),
            confidence: found.confidence,
            ..Self::new(found.rule, subject, figure.into())
        };
        Some(match cost {
            Some(cost) => shown.costing(cost, total_ns),
            None => shown,
        })
    }

    /// The same with what it costs of a total.
    pub(crate) fn costing(self, cost: u64, total: u64) -> Self {
        Self { cost: Some(cost), share_ratio: Some(float(cost) / float(total.max(1))), ..self }
    }

    /// Those that cost enough of the total, what costs most first.
    pub(crate) fn costliest(mut all: Vec<Self>) -> Vec<Self> {
        all.retain(|found| {
            let is_growing = found.is_growing;
            let least = if is_growing { COSTLY_AND_GROWING } else { COSTLY };
            found.share_ratio.is_none_or(|share| share >= least)
        });
        all.sort_by(|a, b| b.cost.cmp(&a.cost).then(a.rule.cmp(b.rule)));
        all
    }

    /// `subject: figure`.
    pub fn title(&self) -> String {
        match self.figure.as_str() {
            "" => self.subject.clone(),
            figure => format!("{}: {figure}", name(&self.subject, SUBJECT)),
        }
    }
}

/// ` (target ≤ 30 %)` by the figure that decided; `None` without one.
pub(super) fn target(found: &Finding) -> Option<String> {
    found.evidence.iter().find_map(limit_of)
}

fn limit_of(decided: &Evidence) -> Option<String> {
    let limit = decided.limit?;
    let sign = if decided.figure.value >= limit { '≤' } else { '≥' };
    let unit = decided.figure.unit;
    let limit = match unit {
        FigureUnit::Ratio => format!("{} %", number(limit * 100.0)),
        _ => unit.text(limit),
    };
    Some(format!(" (target {sign} {limit})"))
}

/// The sentence with the target where both fit into a title.
fn with_target(issue: &str, target: &str) -> String {
    let whole = format!("{issue}{target}");
    if whole.chars().count() <= TITLE { whole } else { issue.to_owned() }
}

/// The figures that are not in the title.
fn evidence(found: &Finding) -> String {
    let figures = found.evidence.iter().filter(|one| !is_in(one, &found.issue));
    let figures: Vec<String> = figures.map(ToString::to_string).collect();
    figures.join(" · ")
}

/// The sentence has the figure.
pub(super) fn is_in(shown: &Evidence, sentence: &str) -> bool {
    let figure = shown.figure.to_string();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_is_cut_after_a_sentence() {
        assert_eq!(first_sentences("Do this. Then that."), "Do this. Then that.");
        let long = format!("Do this, say with vae.decode(); {}.", "that ".repeat(60));
        assert_eq!(first_sentences(&long), "Do this, say with vae.decode().");
        assert_eq!(first_sentences("no end"), "no end.");
    }

    #[test]
    fn a_target_says_which_way_is_good() {
        let target = |ratio: f64, limit: f64| {
            let decided = Evidence::new("share", ratio, FigureUnit::Ratio).against(limit);
            limit_of(&decided).unwrap()
        };
        assert_eq!(target(0.44, 0.3), " (target ≤ 30 %)");
        assert_eq!(target(0.41, 0.6), " (target ≥ 60 %)");
    }
}
