//! What of the time got worse in single runs: what the tables name first.

use marey_analysis::compare::{Area, Comparison, Headline, Measure, MeasureKind, Subject, Verdict};
use marey_analysis::findings::Evidence;

use super::findings::{time_of, tries};
use super::interval_text;
use crate::compare::{ComparedTime, ComparisonReport, change, change_text, named, without_unit};
use crate::first_screen::ScreenFinding;
use crate::first_screen::line::name;
use crate::quantity::{counted, whole};

/// Columns of a name.
const NAME: usize = 40;
/// Figures that the evidence names.
const MOST: usize = 2;

/// `denoising_step › transformer: 40.1 → 52.1 ms a call (+29.9 %), 20 calls a side`
pub(super) fn slower(report: &ComparisonReport, time: &ComparedTime) -> Option<ScreenFinding> {
    let comparison = &report.comparison;
    let mut lines = slower_lines(comparison);
    let first = lines.next()?;
    let others = lines.filter(|m| m.subject != Subject::Run).take(MOST);
    let others = others.map(|m| format!("{}.", with_change(m)));
    let name = match &first.subject {
        Subject::Path(path) => path.last(),
        Subject::Loop(name) => Some(name),
        _ => None,
    };
    let (subject, decided, [each, n]) = match each(comparison, first) {
        Some(found) => found,
        None => (named_short(first), first, [const { String::new() }; 2]),
    };
    let both = [decided.baseline?.value, decided.candidate?.value];
    let [before, after] = both.map(|value| decided.unit.text(value));
    let by = change(decided.change.as_ref(), decided.unit);
    let interval = decided.change.and_then(|change| change.interval);
    let interval = interval.map(|(low, high)| interval_text([low - 1.0, high - 1.0]));
    let interval = interval.map(|text| format!("95 % CI {text}."));
    let added_ns = first.impact_ns.filter(|ns| *ns > 0.0);
    let adds = added_ns.filter(|_| name.is_some()).map(|ns| {
        let total = change_text(time.column(), time.total_ns);
        format!("It adds {}; all together {total}.", time_of(ns))
    });
    let evidence: Vec<String> = interval.into_iter().chain(adds).chain(others).collect();
    Some(ScreenFinding {
        evidence: evidence.join(" "),
        figures: vec![
            Evidence::new("before", both[0], decided.unit),
            Evidence::new("after", both[1], decided.unit),
        ],
        cost: added_ns.map(whole),
        tries: tries(report, name.map(String::as_str)),
        confidence: first.confidence,
        ..ScreenFinding::new(
            "slower-section",
            subject,
            format!("{}{each} ({by}){n}", without_unit(&before, &after)),
        )
    })
}

/// Figures of the time that got worse, most important first.
fn slower_lines(comparison: &Comparison) -> impl Iterator<Item = &Measure> {
    let measure = |line: &Headline| comparison.measures.get(line.measure);
    let worse = comparison.headline.iter().filter(|line| line.verdict == Verdict::Worse);
    let measures = worse.filter_map(measure);
    measures.filter(|m| matches!(m.kind.area(), Area::Time | Area::Device))
}

/// What a call or an iteration takes, where it is that which got worse, and there are as many on both sides: its name, the figure, and
/// the words for their number: ` a call`, `, 20 calls a side`.
fn each<'a>(
    comparison: &'a Comparison,
    first: &'a Measure,
) -> Option<(String, &'a Measure, [String; 2])> {
    let find = |kind, verdict| {
        let mut all = comparison.measures.iter();
        all.find(|m| m.kind == kind && m.verdict == verdict && m.subject == first.subject)
    };
    let (name, decided, count, words) = match &first.subject {
        Subject::Path(path) => (
            innermost(path),
            find(MeasureKind::SectionPerCall, Verdict::Worse)?,
            find(MeasureKind::SectionCalls, Verdict::Same)?,
            ["call", "calls"],
        ),
        Subject::Loop(of) if first.kind == MeasureKind::Iteration => (
            name(of, NAME),
            first,
            find(MeasureKind::Iterations, Verdict::Same)?,
            ["iteration", "iterations"],
        ),
        _ => return None,
    };
    let n = counted(whole(count.baseline?.value), words[0], words[1]);
    let article = if words[0] == "call" { "a" } else { "an" };
    let said = [format!(" {article} {}", words[0]), format!(", {n} a side")];
    Some((name, decided, said))
}

/// The last two names of a call path.
fn innermost(path: &[String]) -> String {
    let names = &path[path.len().saturating_sub(2)..];
    let names: Vec<String> = names.iter().map(|one| name(one, NAME / 2)).collect();
    names.join(" › ")
}

fn named_short(measure: &Measure) -> String {
    named(&measure.subject, measure.kind, |of| name(of, NAME))
}

/// A figure and by how much it changed: `device busy +18.9 %`.
pub(super) fn with_change(measure: &Measure) -> String {
    let by = change(measure.change.as_ref(), measure.unit);
    format!("{} {by}", named_short(measure))
}
