//! The first screen as one line of JSON: stable keys, SI units in their names, rows that add up, and what is not known.

use marey_analysis::findings::Evidence;

use super::account::{AccountRows, Part, Row};
use super::differences::{DifferenceRow, Differences};
use super::finding::ScreenFinding;
use super::{Facts, FirstScreen};
use crate::escape;
use crate::json::object::{Json, object};
use crate::quantity::{Unit, float};

/// Bytes that it has at most.
const MOST_BYTES: usize = 4096;
const NAME: usize = 60;
const TEXT: usize = 240;

/// What is shown where all would be too long: findings, whether with their evidence, whether the checks are listed, columns of what was lost.
#[derive(Clone, Copy)]
struct Room {
    findings: usize,
    evidence: bool,
    checks: bool,
    lost: usize,
}

/// The least telling goes first.
const ROOMS: [Room; 6] = [
    Room::new(2, true, true, TEXT),
    Room::new(2, true, false, TEXT),
    Room::new(2, false, false, TEXT),
    Room::new(2, false, false, NAME),
    Room::new(1, false, false, NAME),
    Room::new(0, false, false, NAME),
];

impl Room {
    const fn new(findings: usize, evidence: bool, checks: bool, lost: usize) -> Self {
        Self {
            findings,
            evidence,
            checks,
            lost,
        }
    }
}

impl FirstScreen {
    /// As one line of JSON of at most 4 KiB, which ends with a line feed.
    pub fn json(&self) -> String {
        let mut shown = String::new();
        for room in ROOMS {
            shown = escape::json(&(self.object(room) + "\n")).into_owned();
            if shown.len() <= MOST_BYTES {
                break;
            }
        }
        shown
    }

    /// The keys are stable: a new one is added, none changes what it means.
    fn object(&self, room: Room) -> String {
        let account = self.account.as_ref().map_or("null".into(), account);
        let differences = self.differences.as_ref();
        let findings = self.findings.iter().take(room.findings);
        let findings: Vec<_> = findings
            .map(|found| finding(found, self.unit, room.evidence))
            .collect();
        let missing = self.not_known.iter();
        let missing = missing.map(|(what, record)| object! { what: what, record: short(record) });
        let full = Some(&self.next.full).filter(|full| !full.is_empty());
        let next: Vec<&String> = full.into_iter().chain(&self.next.page).collect();
        let mut all = vec![
            Facts::of(&object! { v: 1, kind: self.kind }),
            self.headline.facts.clone(),
            Facts::key("account", &account),
        ];
        all.extend(differences.map(|found| Facts::key("differences", &rows_of_both(found))));
        all.extend(self.lines.iter().map(|line| line.facts.clone()));
        all.push(Facts::of(&object! { findings: findings }));
        all.extend(room.checks.then(|| self.checks.clone()));
        all.push(Facts::of(&object! {
            lost?: self.data.as_ref().map(|lost| escape::cut(lost, room.lost)),
            not_known: missing.collect::<Vec<_>>(),
            next: next,
        }));
        Facts::object(&all)
    }
}

fn account(found: &AccountRows) -> String {
    let rows: Vec<String> = found.rows.iter().map(|one| row(found.unit, one)).collect();
    Facts::object(&[
        Facts::of(&object! { measure: found.measure }),
        amount(found.unit, "total", found.total),
        found.facts.clone(),
        Facts::key("rows", &format!("[{}]", rows.join(","))),
    ])
}

fn row(unit: Unit, found: &Row) -> String {
    let is_waiting = (found.part == Part::Waiting).then_some(true);
    Facts::object(&[
        Facts::of(&object! { name: short(&found.name) }),
        amount(unit, "held", found.held),
        Facts::of(&object! { waiting?: is_waiting }),
        found.facts.clone(),
    ])
}

fn rows_of_both(found: &Differences) -> String {
    let [first, second] = found.totals;
    let unit = found.unit;
    let row = |row: &DifferenceRow| {
        Facts::object(&[
            Facts::of(&object! { name: short(&row.name) }),
            amount(unit, "first", row.held[0]),
            amount(unit, "second", row.held[1]),
            row.facts.clone(),
        ])
    };
    let rows: Vec<String> = found.rows.iter().map(row).collect();
    Facts::object(&[
        Facts::of(&object! { measure: found.measure, columns: &found.columns }),
        amount(unit, "first", first),
        amount(unit, "second", second),
        Facts::key("rows", &format!("[{}]", rows.join(","))),
    ])
}

/// An amount with its unit in the key: `held_s`, `held_bytes`.
fn amount(unit: Unit, key: &str, amount: u64) -> Facts {
    match unit {
        Unit::Time => Facts::key(&format!("{key}_s"), &number(seconds(amount))),
        Unit::Bytes => Facts::key(&format!("{key}_bytes"), &amount.to_string()),
    }
}

fn number(value: f64) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

fn finding(found: &ScreenFinding, unit: Unit, has_evidence: bool) -> impl Json + use<> {
    let figure = |one: &Evidence| {
        object! {
            what: short(&one.what),
            value: rounded(one.figure.value),
            unit: one.figure.unit,
        }
    };
    let figures = found.figures.iter().filter(|_| has_evidence);
    let cost = |of: Unit| found.cost.filter(|_| unit == of);
    object! {
        rule: found.rule,
        subject: escape::cut(&found.subject, TEXT),
        figure: escape::cut(&found.figure, TEXT),
        cost_s?: cost(Unit::Time).map(seconds),
        cost_bytes?: cost(Unit::Bytes),
        share_ratio?: found.share_ratio.map(rounded),
        evidence: figures.map(figure).collect::<Vec<_>>(),
        confidence: found.confidence,
        try: escape::cut(&found.tries, TEXT),
    }
}

/// A name as programs get it.
pub(super) fn short(name: &str) -> String {
    escape::cut(name, NAME)
}

/// Nanoseconds as seconds.
pub(super) fn seconds(ns: u64) -> f64 {
    float(ns) / 1e9
}

/// A length of time in seconds, to the nanosecond.
pub(super) fn in_seconds(ns: f64) -> f64 {
    ns.round() / 1e9
}

/// Four decimals: more than a share or a rate is known to.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
