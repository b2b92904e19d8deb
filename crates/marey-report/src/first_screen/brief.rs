//! The first screen as one line of JSON: stable keys, SI units in their names, rows that add up, and what is not known.

use std::borrow::Cow;
use std::marker::PhantomData;

use marey_analysis::compare::MeanChange;
use marey_analysis::findings::{Evidence, Figure, FigureUnit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::json;

use super::FirstScreen;
use super::account::{AccountRows, Part, Row};
use super::checks::Checks;
use super::differences::{DifferenceRow, Differences};
use super::finding::ScreenFinding;
use crate::compare::has_changed;
use crate::escape;
use crate::json::object::{Fields, Json, Object, object};
pub(super) use crate::json::seconds;
use crate::quantity::Unit;

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
        Self { findings, evidence, checks, lost }
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
        Facts::object(&[
            Facts::of(&first(self)),
            self.facts.clone(),
            Facts::of(&common(self, room)),
        ])
    }
}

/// Keys of an object of JSON with their values, as its text: `"steps":12,"mean_s":0.241`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(String);

impl Facts {
    /// Those of an object.
    pub(crate) fn of(object: &impl Serialize) -> Self {
        let text = serde_json::to_string(object).unwrap_or_default();
        let keys = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        Self(keys.unwrap_or_default().into())
    }

    /// All of them as one object.
    fn object(all: &[Self]) -> String {
        let keys = all.iter().map(|facts| facts.0.as_str());
        let keys: Vec<&str> = keys.filter(|keys| !keys.is_empty()).collect();
        format!("{{{}}}", keys.join(","))
    }
}

/// What every line begins with.
fn first(screen: &FirstScreen) -> impl Fields + Json + use<> {
    object! {
        /// Version of the line: 1.
        v: 1,
        kind: screen.kind,
    }
}

/// What lines of all kinds have.
fn common(screen: &FirstScreen, room: Room) -> impl Fields + Json + use<> {
    let findings = screen.findings.iter().take(room.findings);
    let findings = findings.map(|found| finding(found, screen.unit, room.evidence));
    let missing = screen.not_known.iter().map(|(what, record)| {
        object! {
            what: *what,
            /// What to record to know it.
            record: short(record),
        }
    });
    let full = Some(&screen.next.full).filter(|full| !full.is_empty());
    let next = full.into_iter().chain(&screen.next.page).cloned();
    object! {
        /// Where the time or the memory went; null where nothing says so.
        account: screen.account.as_ref().map(account),
        /// Two accounts side by side.
        differences?: screen.differences.as_ref().map(differences),
        /// What costs most, two at most.
        findings: findings.collect::<Vec<_>>(),
        /// What was looked for, where nothing is the matter.
        checks?: screen.checks.as_ref().filter(|_| room.checks).map(Checks::facts),
        /// What was not recorded, or lost, in words.
        lost?: screen.data.as_ref().map(|lost| escape::cut(lost, room.lost)),
        not_known: missing.collect::<Vec<_>>(),
        /// The command that shows everything, and the page.
        next: next.collect::<Vec<String>>(),
    }
}

fn account(found: &AccountRows) -> impl Json + use<> {
    let rows = found.rows.iter().map(|one| row(found.unit, one));
    object! {
        /// The rows' `held_s` add up to `total_s`, their `held_bytes` to `total_bytes`.
        struct Account;
        /// `wall`, `mean_request`, `rank_time` or `memory`.
        measure: found.measure,
        total_s?: in_time(found.unit, found.total),
        total_bytes?: in_bytes(found.unit, found.total),
        /// That it is the mean of.
        requests?: found.n_requests,
        /// Whose time it is together.
        ranks?: found.n_ranks,
        rows: rows.collect::<Vec<_>>(),
    }
}

fn row(unit: Unit, found: &Row) -> impl Json + use<> {
    let facts = found.facts;
    object! {
        name: short(&found.name),
        held_s?: in_time(unit, found.held),
        held_bytes?: in_bytes(unit, found.held),
        /// Something is waited for, or nothing uses it.
        waiting?: (found.part == Part::Waiting).then_some(true),
        /// It had not ended.
        open?: facts.is_open.then_some(true),
        /// Denoising steps in it.
        steps?: facts.steps,
        /// Calls of anything else.
        calls?: facts.calls,
        /// Steps that a cache answered.
        cached?: facts.cached,
        /// Of a step or call, without the first where `first_s` is there.
        mean_s?: facts.mean_s,
        /// The first, where it took much longer or shorter.
        first_s?: facts.first_s,
        median_s?: facts.median_s,
        p95_s?: facts.p95_s,
        min_s?: facts.min_s,
        max_s?: facts.max_s,
        /// The part in which a device worked for it.
        device_busy_s?: facts.device_busy_s,
    }
}

fn differences(found: &Differences) -> impl Json + use<> {
    let [first, second] = found.totals;
    let unit = found.unit;
    let rows = found.rows.iter().map(|row| difference(unit, row));
    object! {
        struct Differences;
        measure: found.measure,
        /// What the first account, the second one and the difference are called.
        columns: found.columns.clone(),
        first_s?: in_time(unit, first),
        first_bytes?: in_bytes(unit, first),
        second_s?: in_time(unit, second),
        second_bytes?: in_bytes(unit, second),
        rows: rows.collect::<Vec<_>>(),
    }
}

fn difference(unit: Unit, row: &DifferenceRow) -> impl Json + use<> {
    let [first, second] = row.held;
    let change = row.change.as_ref();
    object! {
        name: short(&row.name),
        first_s?: in_time(unit, first),
        first_bytes?: in_bytes(unit, first),
        second_s?: in_time(unit, second),
        second_bytes?: in_bytes(unit, second),
        /// It is more than chance.
        changed?: change.map(has_changed),
        /// What the difference is of the first.
        ratio?: change.and_then(MeanChange::ratio),
        /// Where that lies with 95 % confidence.
        interval?: change.and_then(MeanChange::ratio_interval),
        adjusted_p_value?: change.and_then(|change| Some(change.chance?.p_value)),
    }
}

fn in_time(unit: Unit, amount: u64) -> Option<f64> {
    (unit == Unit::Time).then(|| seconds(amount))
}

fn in_bytes(unit: Unit, amount: u64) -> Option<u64> {
    (unit == Unit::Bytes).then_some(amount)
}

fn finding(found: &ScreenFinding, unit: Unit, has_evidence: bool) -> impl Json + use<> {
    let figure = |one: &Evidence| {
        let Figure { value, unit } = one.figure;
        let is_time = unit == FigureUnit::Ns;
        object! {
            what: short(&one.what),
            value: if is_time { in_seconds(value) } else { rounded(value) },
            /// `count`, `seconds`, `bytes`, `bytes_per_second`, `ratio`, `per_second`, `celsius`, `watts`, `joules`, `hertz` or `number`.
            unit: unit.in_documents().0,
        }
    };
    let figures = found.figures.iter().filter(|_| has_evidence);
    let cost = |of: Unit| found.cost.filter(|_| unit == of);
    object! {
        struct Finding;
        rule: found.rule,
        subject: escape::cut(&found.subject, TEXT),
        figure: escape::cut(&found.figure, TEXT),
        cost_s?: cost(Unit::Time).map(seconds),
        cost_bytes?: cost(Unit::Bytes),
        /// The cost as a share of the total. Costs of several findings may overlap.
        share_ratio?: found.share_ratio.map(rounded),
        evidence: figures.map(figure).collect::<Vec<_>>(),
        confidence: found.confidence,
        try: escape::cut(&found.tries, TEXT),
    }
}

/// The line, for its schema.
pub(crate) struct Brief;

impl JsonSchema for Brief {
    fn schema_name() -> Cow<'static, str> {
        "First screen".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let each = [
            of_kind("run", super::run::keys(), generator),
            of_kind("trace", super::trace::keys(), generator),
            of_kind("snapshot", super::snapshot::keys(), generator),
            of_kind("job", super::job::keys(), generator),
            of_kind("comparison", super::comparison::keys(), generator),
        ];
        json_schema!({
            "description": "What `--brief --format json` writes: the first screen as one line of at most 4 KiB. Keys are stable: later \
                versions may add some. Units are in the names of keys (`_s`, `_bytes`, `_ratio`, `_hz`). What is not known is absent or \
                null, and `not_known` says what to record to know it.",
            "oneOf": each,
        })
    }
}

/// The keys that a function gives.
pub(super) fn keys_of<A, F: Fields>(_: fn(A) -> F) -> PhantomData<F> {
    PhantomData
}

fn of_kind<F: Fields>(kind: &str, keys: PhantomData<F>, generator: &mut SchemaGenerator) -> Schema {
    let begin = keys_of(|screen: &FirstScreen| first(screen));
    let end = keys_of(|(screen, room): (&FirstScreen, Room)| common(screen, room));
    let mut schema = together(begin, keys, end, generator);
    schema.insert("title".into(), kind.into());
    if let Some(of_kind) = schema.pointer_mut("/properties/kind") {
        *of_kind = json!({ "const": kind });
    }
    schema
}

fn together<A: Fields, B: Fields, C: Fields>(
    _: PhantomData<A>,
    _: PhantomData<B>,
    _: PhantomData<C>,
    generator: &mut SchemaGenerator,
) -> Schema {
    <Object<(A, (B, C))>>::json_schema(generator)
}

/// A name as programs get it.
pub(super) fn short(name: &str) -> String {
    escape::cut(name, NAME)
}

/// A length of time in seconds, to the nanosecond.
pub(super) fn in_seconds(ns: f64) -> f64 {
    ns.round() / 1e9
}

/// Four decimals: more than a share or a rate is known to.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
