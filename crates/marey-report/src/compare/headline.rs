//! One line for each thing that matters.

use marey_analysis::compare::{Comparison, Headline, Measure, Observed, Verdict};

use super::model::ComparisonReport;
use super::words::{change as change_text, named, shortened, verdict};
use crate::quantity::known;

/// Lines of a headline at most; everything stands in the tables.
const MAX_LINES: usize = 12;

/// The lines that a report begins with, each with its verdict: that of the whole, and what it rests on. Not safe to print.
///
/// ```text
/// WORSE  slower: vae_decode, total time 45.000 s → 428.000 s (×9.51)
/// WORSE  more memory: GPU 0, GPU memory peak 8.2 GiB → 23.8 GiB (×2.90)
/// ```
pub(crate) fn lines(report: &ComparisonReport) -> Vec<(Option<Verdict>, String)> {
    let comparison = &report.comparison;
    let mut lines = Vec::new();
    // A line of its own only where none of the others says it.
    let says_verdict = |first: &Headline| first.verdict == comparison.verdict;
    let obstacles = obstacles(comparison);
    if !obstacles.is_empty() || !comparison.headline.first().is_some_and(says_verdict) {
        let obstacles = (!obstacles.is_empty()).then_some(obstacles);
        let text = obstacles.unwrap_or_else(|| summary(report));
        lines.push((Some(comparison.verdict), text));
    }
    let shown = comparison.headline.iter().take(MAX_LINES);
    lines.extend(shown.map(|headline| {
        let text = text(comparison, headline, shortened);
        (Some(headline.verdict), text)
    }));
    let left_out = comparison.headline.len().saturating_sub(MAX_LINES);
    if left_out > 0 {
        lines.push((None, format!("… and {left_out} more in the tables")));
    }
    lines
}

/// Why the figures are not of the whole; empty without a reason. Where figures are worse and no reason is, it says so first.
fn obstacles(comparison: &Comparison) -> String {
    let texts = comparison.obstacles.iter().map(|one| one.text.as_str());
    let texts = texts.collect::<Vec<_>>().join("; ");
    let is_of_verdict = comparison.obstacles.iter().any(|one| one.verdict == comparison.verdict);
    if texts.is_empty() || is_of_verdict {
        return texts;
    }
    format!("what can be compared got worse, and {texts}")
}

/// A headline without its verdict. Names of the user pass through `shown`.
pub(crate) fn text(
    comparison: &Comparison,
    headline: &Headline,
    shown: impl Fn(&str) -> String + Copy,
) -> String {
    let Some(measure) = comparison.measures.get(headline.measure) else {
        return headline.what.to_owned();
    };
    let said = format!("{} {}", named(&measure.subject, measure.kind, shown), figures(measure));
    // A section that is new says so by its verdict.
    if headline.what == verdict(headline.verdict) {
        return said;
    }
    format!("{}: {said}", headline.what)
}

fn figures(measure: &Measure) -> String {
    let side = |side: Option<Observed>| known(side, |side| measure.unit.text(side.value));
    let both = format!("{} → {}", side(measure.baseline), side(measure.candidate));
    match &measure.change {
        Some(change) => format!("{both} ({})", change_text(Some(change), measure.unit)),
        None => both,
    }
}

/// The verdict in a sentence, for when no single thing stands for it.
fn summary(report: &ComparisonReport) -> String {
    let comparison = &report.comparison;
    let of = |verdict: Verdict| {
        let measures = comparison.measures.iter();
        measures.filter(|measure| measure.verdict == verdict).count()
    };
    let n = comparison.measures.len();
    match comparison.verdict {
        Verdict::Worse => format!("{} of {n} figures", of(Verdict::Worse)),
        Verdict::Better => match of(Verdict::Worse) {
            0 => format!("{} of {n} figures, none is worse", of(Verdict::Better)),
            worse => format!(
                "{} of {n} figures; {worse} that are worse add up to less",
                of(Verdict::Better)
            ),
        },
        Verdict::CannotTell if n == 0 => "there is nothing that both sides recorded".into(),
        Verdict::CannotTell => {
            format!("none of {n} figures could be decided; {}", report.remedy())
        }
        _ => match (of(Verdict::Different), of(Verdict::CannotTell)) {
            (0, 0) => format!("none of {n} figures changed"),
            (0, open) => format!("none of {n} figures changed; {open} could not be decided"),
            (other, open) => {
                let open = match open {
                    0 => String::new(),
                    open => format!(", {open} could not be decided"),
                };
                format!("nothing got better or worse; {other} of {n} figures are different{open}")
            }
        },
    }
}
