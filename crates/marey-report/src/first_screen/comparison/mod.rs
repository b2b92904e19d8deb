//! The first screen of a comparison: the verdict from the total, what of it each part is, memory, what got worse, and how it ends.

mod beside;
mod decided;
mod findings;
mod headline;

use std::marker::PhantomData;

use super::brief::keys_of;
use super::{DifferenceRow, Differences, Facts, FirstScreen, Labelled, Next, Sentence};
use crate::compare::{ComparedPart, ComparedTime, ComparisonReport, about, both_text, change_text};
use crate::json::object::{Fields, Json, object};
use crate::quantity::{Unit, share, signed_share};
use headline::Outcome;

impl FirstScreen {
    /// Of two runs, or of repeats of two versions.
    pub fn of_comparison(report: &ComparisonReport, full: String) -> Self {
        let time = ComparedTime::new(report);
        let outcome = Outcome::new(report, time.as_ref());
        let time = time.filter(|_| !outcome.is_cut_short());
        let has_rows = time.as_ref().is_some_and(|time| is_table_shown(&outcome, time));
        let differences = time.as_ref().filter(|_| has_rows).map(differences);
        let (lines, facts) = said(report, &outcome, time.as_ref(), has_rows);
        let mut parts: Vec<String> = Some(full.clone()).into_iter().collect();
        parts.extend(beside::exit_code(report, &outcome, time.as_ref()));
        parts.extend(beside::repeats(report, &outcome));
        Self {
            kind: "comparison",
            facts: Facts::of(&facts),
            unit: Unit::Time,
            headline: headline::headline(report, &outcome, time.as_ref()),
            account: None,
            differences,
            lines,
            findings: findings::findings(report, time.as_ref()),
            closing: report.comparison.work_said().map(Sentence::plain).into_iter().collect(),
            checks: None,
            data: beside::data(report),
            not_known: beside::not_known(report, time.as_ref()),
            next: Next { parts, full, page: None },
        }
    }
}

/// The lines below the account, and the keys of this kind of screen as JSON.
fn said(
    report: &ComparisonReport,
    outcome: &Outcome,
    time: Option<&ComparedTime>,
    has_rows: bool,
) -> (Vec<Labelled>, impl Fields + Json + use<>) {
    let largest = time.filter(|_| !has_rows).and_then(largest);
    let (memory, peaks) = beside::memory(report).unzip();
    let detectable = time.filter(|_| outcome.is_open()).and_then(detectable);
    let (detectable, least) = detectable.unzip();
    let lines = largest.into_iter().chain(memory).chain(detectable);
    let facts = object! {
        ..headline::facts(report, outcome, time),
        /// Peaks of both sides.
        memory?: peaks,
        ..least,
    };
    (lines.collect(), facts)
}

/// The keys of all comparisons.
pub(super) fn keys() -> PhantomData<impl Fields> {
    type Told<'a> = (&'a ComparisonReport, &'a Outcome, Option<&'a ComparedTime>);
    keys_of(|(report, outcome, time): Told<'_>| said(report, outcome, time, false).1)
}

/// Rows that all say "within noise" are noise.
fn is_table_shown(outcome: &Outcome, time: &ComparedTime) -> bool {
    let has_names = time.parts.len() > 1;
    let has_changed = time.parts.iter().any(ComparedPart::has_changed);
    let is_seen = |part: &ComparedPart| time.is_seen(part.difference_ns());
    has_names && time.parts.iter().any(is_seen) && (!outcome.is_open() || has_changed)
}

fn differences(time: &ComparedTime) -> Differences {
    let row = |part: &ComparedPart| DifferenceRow {
        name: part.name.clone(),
        held: part.held_ns,
        note: note(time, part),
        change: Some(part.change),
    };
    Differences {
        measure: "wall",
        unit: Unit::Time,
        columns: ["before", "after", "change"].map(Into::into),
        is_first_less_second: false,
        totals: time.total_ns,
        rows: time.parts.iter().map(row).collect(),
    }
}

/// What chance says of a part; of single runs by how much of itself it changed. `None` where it did not.
fn note(time: &ComparedTime, part: &ComparedPart) -> Option<String> {
    if !time.is_seen(part.difference_ns()) {
        return None;
    }
    match part.held_ns {
        [0, _] => return Some("new".into()),
        [_, 0] => return Some("gone".into()),
        _ => {}
    }
    let ratio = part.change.ratio().map(signed_share);
    let Some(chance) = part.change.chance else {
        return ratio;
    };
    if part.has_changed() {
        let interval = part.change.ratio_interval()?;
        return Some(format!("{} (95 % CI {})", ratio?, interval_text(interval)));
    }
    if part.change.is_beyond_chance() {
        return Some(format!("inconclusive (adjusted p = {:.2})", chance.p_value));
    }
    Some(format!("within noise (± {})", about(chance.half_width)))
}

/// `+1.0 … +4.7 %`
fn interval_text([low, high]: [f64; 2]) -> String {
    let low = signed_share(low);
    format!("{} … {}", low.trim_end_matches(" %"), signed_share(high))
}

/// Of runs without a difference that is more than chance: the largest of any part.
fn largest(time: &ComparedTime) -> Option<Labelled> {
    let mut named = time.parts.iter().filter(|part| !part.is_other);
    let part = named.find(|part| time.is_seen(part.difference_ns()))?;
    let column = time.column();
    let chance = part.change.chance;
    let noise = chance.map(|chance| format!(", within noise ± {}", about(chance.half_width)));
    let said = format!(
        "{} {} ({}{})",
        part.name,
        both_text(column, part.held_ns),
        change_text(column, part.held_ns),
        noise.unwrap_or_default()
    );
    Some(Labelled::new("Largest difference", vec![said]))
}

/// How small a change these runs would have shown.
fn detectable(time: &ComparedTime) -> Option<(Labelled, impl Fields + Json + use<>)> {
    let chance = time.total.chance?;
    let ratio = chance.detectable / time.total.baseline;
    let said = format!("a change of {} ({}) or more", about(chance.detectable), share(ratio));
    let n = chance.n_runs_for_one_percent.filter(|n| *n > time.n_runs[0].max(time.n_runs[1]));
    let more = n.map(|n| format!("1 % needs about {n} runs a side"));
    let facts = object! {
        /// The smallest change that these runs would have shown.
        detectable_s: (chance.detectable / 1e9),
        /// That one of a hundredth needs on either side; absent where there are as many.
        runs_for_one_percent?: n,
    };
    let said = Some(said).into_iter().chain(more).collect();
    Some((Labelled::new("Detectable", said), facts))
}
