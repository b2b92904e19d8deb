//! A comparison as a document: the verdict, what was compared, what changed, then what is read only when it is asked for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey_analysis::compare::{
    Change, Comparison, Difference, Measure, Observed, Verdict, WorkChange,
};
use marey_analysis::findings::{Figure, FigureUnit};

use super::environment::values;
use super::headline;
use super::model::{ComparedSide, ComparisonReport, Criterion};
use super::time::ComparedTime;
use super::words::{self, change, loud_verdict, measured};
use crate::document::{Block, Cell, Column, Document, Facts, Table, named};
use crate::quantity::{counted, float};

/// Rows of what changed; those that changed most come first.
const MAX_CHANGED: usize = 50;
/// Lines of one kind, where there can be thousands.
const MAX_LINES: usize = 20;
/// Names in a line.
const MAX_NAMES: usize = 3;

/// Everything that a comparison says to people. Its first lines say what matters most.
pub fn comparison_document(report: &ComparisonReport) -> Document {
    let comparison = &report.comparison;
    let mut found =
        Document::from(vec![Block::Facts(verdict(report)), Block::Facts(sides(report))]);
    found.tables(ComparedTime::new(report).and_then(|time| time_table(&time)));
    found.tables([work_table(&comparison.work)]);
    let changed = measures("changed", "What changed", &changed(comparison));
    found.tables([changed.limited(MAX_CHANGED)]);
    found.blocks.extend(same(report));
    let asides = [
        ("Environment and configuration", environment(report)),
        ("New, gone and renamed sections", sections(report)),
        ("What could not be decided", open(report)),
        ("How it was decided", decided(report)),
    ];
    for (title, blocks) in asides {
        if !blocks.is_empty() {
            found.push(Block::Aside(title.into(), blocks));
        }
    }
    found
}

/// The headlines, what a reader has to know of them, and what fails.
fn verdict(report: &ComparisonReport) -> Facts {
    let mut facts = Facts::default();
    for (verdict, text) in headline::lines(report) {
        facts.row(verdict.map(loud_verdict).unwrap_or_default(), text);
    }
    for note in &report.comparison.notes {
        facts.row("Note", note);
    }
    for criterion in report.criteria.iter().filter(|one| one.is_met) {
        let why = why_it_fails(report, criterion);
        facts.row("Fails", format!("--fail-on {}{why}", criterion.given));
    }
    facts
}

/// The gravest obstacle, or what is beyond the limit.
fn why_it_fails(report: &ComparisonReport, criterion: &Criterion) -> String {
    let mut obstacles = report.comparison.obstacles.iter();
    if let Some(grave) = obstacles.find(|one| one.verdict == Verdict::Worse) {
        return format!(": {}", grave.text);
    }
    let measures = &report.comparison.measures;
    let met: Vec<&Measure> =
        criterion.measures.iter().filter_map(|index| measures.get(*index)).collect();
    if met.is_empty() {
        return String::new();
    }
    let name = |measure: &Measure| {
        let change = change(measure.change.as_ref(), measure.unit);
        format!("{} {change}", words::short(measure))
    };
    format!(": {}", names(&met, name))
}

fn sides(report: &ComparisonReport) -> Facts {
    let mut facts = Facts::default();
    facts.row("Baseline", report.baseline.text());
    facts.row("Candidate", report.candidate.text());
    facts
}

/// A row for each measure; without a title where what it stands in has one.
fn measures(key: &'static str, title: &str, measures: &[&Measure]) -> Table {
    let figure = |side: Option<Observed>, unit| {
        Cell::known(side, |side| Cell::Figure(Figure { value: side.value, unit }))
    };
    let interval = |measure: &Measure| measure.change.and_then(|change| change.interval);
    Table::of_each(
        key,
        title,
        measures,
        &[
            ("subject", "Of", &|m| measured(&m.subject, m.kind).0),
            ("measure", "Figure", &|m| Cell::text(measured(&m.subject, m.kind).1)),
            ("baseline", "Baseline", &|m| figure(m.baseline, m.unit)),
            ("candidate", "Candidate", &|m| figure(m.candidate, m.unit)),
            ("change", "Change", &|m| Cell::known(m.change, |change| change_cell(change, m.unit))),
            ("verdict", "Verdict", &|m| Cell::text(words::verdict(m.verdict))),
            ("interval", "95 %", &|m| {
                Cell::known(interval(m), |(low, high)| Cell::ChangeBetween(low, high))
            }),
        ],
    )
}

/// Device time of both sides by class of operators, and what changed it.
fn work_table(changes: &[WorkChange]) -> Table {
    let total = (!changes.is_empty()).then(|| WorkChange::total(changes));
    let rows: Vec<&WorkChange> = changes.iter().chain(&total).collect();
    let difference = |ns: Option<f64>| {
        Cell::known(ns, |value| Cell::Difference(Figure { value, unit: FigureUnit::Ns }))
    };
    Table::of_fields(
        "work",
        "Device time by class of operators: work or speed",
        &rows,
        "class: Class, baseline_ns: Baseline, candidate_ns: Candidate, change_ns: Change, of_work_ns: Of work, of_speed_ns: Of speed",
    )
    .shows("class", rows.iter().enumerate(), |(at, row)| match &row.class {
        Some(class) => named(class),
        None => Cell::text(if at < changes.len() { "not known" } else { "total" }),
    })
    .shows("change_ns", &rows, |row| difference(Some(row.difference_ns())))
    .shows("of_work_ns", &rows, |row| difference(row.of_work_ns))
    .shows("of_speed_ns", &rows, |row| difference(row.of_speed_ns))
    .noted("Of work: what more or less FLOPs, or least bytes where there are no FLOPs, would take at the baseline's speed. Of speed: the rest.")
}

/// The mean wall time of both sides by parts, which add up; `None` where it is not known what held the runs up.
fn time_table(time: &ComparedTime) -> Option<Table> {
    let parts = time.parts.iter().map(|part| (part.name.as_str(), part.change, part.held_ns));
    let difference = |[baseline, candidate]: [u64; 2]| {
        let value = float(candidate) - float(baseline);
        Cell::Difference(Figure { value, unit: FigureUnit::Ns })
    };
    let table = Table::of_each(
        "time",
        "Where the time went, mean of the runs",
        parts.chain([("total", time.total, time.total_ns)]),
        &[
            ("name", "Part", &|(name, ..)| Cell::name(*name)),
            ("baseline_ns", "Baseline", &|(.., held)| Cell::Duration(held[0])),
            ("candidate_ns", "Candidate", &|(.., held)| Cell::Duration(held[1])),
            ("change_ns", "Change", &|(.., held)| difference(*held)),
            ("ratio", "Ratio", &|(_, change, _)| {
                Cell::known(change.ratio(), |ratio| Cell::Change(1.0 + ratio))
            }),
            ("half_width_ns", "±", &|(_, change, _)| {
                Cell::known(change.chance, |chance| Cell::Mean(chance.half_width))
            }),
            ("adjusted_p_value", "Adjusted p", &|(_, change, _)| {
                Cell::known(change.chance, |chance| Cell::Number(chance.p_value))
            }),
        ],
    );
    let note = "±: half of the 95 % interval of the change (Welch). Adjusted p: corrected for the number of parts; that of the total is alone.";
    let has_chance = time.total.chance.is_some();
    (time.parts.len() > 1).then(|| table.noted_if(has_chance, note))
}

/// The ratio; the difference where there is none.
fn change_cell(change: Change, unit: FigureUnit) -> Cell {
    let difference = Figure { value: change.difference, unit };
    change.ratio.map_or(Cell::Difference(difference), Cell::Change)
}

/// What stayed the same, for where there is room for it.
pub(crate) fn same_measures(report: &ComparisonReport) -> Table {
    let all = report.comparison.measures.iter();
    let same: Vec<&Measure> = all.filter(|one| one.verdict == Verdict::Same).collect();
    measures("same", "", &same)
}

/// How much stayed the same; `None` where nothing did.
fn same(report: &ComparisonReport) -> Option<Block> {
    let measures = &report.comparison.measures;
    let n_same = measures.iter().filter(|one| one.verdict == Verdict::Same);
    let n_same = n_same.count() as u64;
    let stayed = counted(n_same, "figure", "figures");
    (n_same > 0).then(|| Block::Text(format!("{stayed} stayed the same (--format json has all).")))
}

fn environment(report: &ComparisonReport) -> Vec<Block> {
    let value = |of: &Difference, side: usize| {
        let value = Some(values(of)[side].clone()).filter(|value| !value.is_empty());
        Cell::known(value, Cell::Text)
    };
    blocks(Table::of_each(
        "environment",
        "",
        &report.comparison.environment,
        &[
            ("fact", "Fact", &|of| Cell::text(&of.name)),
            ("baseline", "Baseline", &|of| value(of, 0)),
            ("candidate", "Candidate", &|of| value(of, 1)),
        ],
    ))
}

fn sections(report: &ComparisonReport) -> Vec<Block> {
    let sections = report.comparison.sections.iter();
    blocks(Table::of_each(
        "sections",
        "",
        sections.filter(|section| section.presence != Verdict::Same),
        &[
            ("path", "Section", &|of| Cell::Path(of.path.clone())),
            ("presence", "Is", &|of| Cell::text(words::verdict(of.presence))),
            ("candidate_path", "In the candidate", &|of| {
                Cell::known(of.candidate_path.clone(), Cell::Path)
            }),
        ],
    ))
}

/// Nothing without rows.
fn blocks(table: Table) -> Vec<Block> {
    let table = Some(table).filter(|table| !table.rows.is_empty());
    table.map(Block::Table).into_iter().collect()
}

/// What could not be decided, and why.
fn open(report: &ComparisonReport) -> Vec<Block> {
    let all = report.comparison.measures.iter();
    let all: Vec<&Measure> = all.filter(|m| m.verdict == Verdict::CannotTell).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let mut reasons = Facts::default();
    let undecided = undecided(&all);
    for (reason, measures) in undecided.iter().take(MAX_LINES) {
        let names = names(measures, words::short);
        reasons.row("", format!("{names}: {reason}"));
    }
    and_more(&mut reasons, undecided.len());
    let mut table = measures("open", "", &all);
    // It is the same in each row.
    let is_verdict = |column: &Column| column.key == "verdict";
    let kept: Vec<bool> = table.columns.iter().map(|c| !is_verdict(c)).collect();
    table.keep_columns(&kept);
    vec![
        Block::Table(table),
        Block::Text(format!("Reasons ({}):", report.remedy())),
        Block::Facts(reasons),
    ]
}

/// How it was decided, what does not fail it, and what was incomplete.
fn decided(report: &ComparisonReport) -> Vec<Block> {
    let mut facts = Facts::default();
    facts.row("Decided by", report.decided_text());
    for criterion in report.criteria.iter().filter(|one| !one.is_met) {
        facts.row("Passes", format!("--fail-on {}", criterion.given));
    }
    incomplete(&mut facts, "Incomplete baseline", &report.baseline);
    incomplete(&mut facts, "Incomplete candidate", &report.candidate);
    vec![Block::Facts(facts)]
}

/// What was incomplete on a side, as rows.
pub(super) fn incomplete(facts: &mut Facts, label: &str, side: &ComparedSide) {
    let lines = side.incomplete();
    for line in lines.iter().take(MAX_LINES) {
        facts.row(label, line);
    }
    and_more(facts, lines.len());
}

fn and_more(facts: &mut Facts, n: usize) {
    if n > MAX_LINES {
        facts.row("", format!("… and {} more", n - MAX_LINES));
    }
}

/// The first few, and how many more there are.
fn names(measures: &[&Measure], name: impl Fn(&Measure) -> String) -> String {
    let names = measures.iter().take(MAX_NAMES).map(|measure| name(measure));
    let more = measures.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.collect::<Vec<_>>().join("; ") + &more
}

/// Measures that changed, those that changed most first: times by their share of the largest change of a time, others by their
/// ratio.
fn changed(comparison: &Comparison) -> Vec<&Measure> {
    let has_changed =
        |measure: &&Measure| !matches!(measure.verdict, Verdict::Same | Verdict::CannotTell);
    let mut changed: Vec<&Measure> = comparison.measures.iter().filter(has_changed).collect();
    let most_ns = changed.iter().filter_map(|measure| impact_ns(measure));
    let most_ns = most_ns.fold(1.0, f64::max);
    let weight = |measure: &Measure| match impact_ns(measure) {
        Some(ns) => ns / most_ns,
        // A number of calls explains, and is no good or bad by itself.
        None if measure.unit == FigureUnit::Count => 0.0,
        None => {
            let ratio = measure.change.and_then(|change| change.ratio);
            ratio.map_or(0.0, |ratio| (ratio - 1.0).abs().min(1.0))
        }
    };
    changed.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    changed
}

/// What a changed time adds to a run or takes from it; `None` for what is no time.
fn impact_ns(measure: &Measure) -> Option<f64> {
    let is_time = measure.unit == FigureUnit::Ns;
    let side = measure.baseline.or(measure.candidate);
    let ns = measure.impact_ns.or(side.map(|side| side.value));
    ns.filter(|_| is_time).map(f64::abs)
}

/// Why measures could not be decided, with those that it is about; most of them first.
fn undecided<'a>(open: &[&'a Measure]) -> Vec<(&'a str, Vec<&'a Measure>)> {
    let mut reasons: BTreeMap<&str, Vec<&Measure>> = BTreeMap::new();
    for measure in open {
        reasons.entry(&measure.reason).or_default().push(measure);
    }
    let mut found: Vec<_> = reasons.into_iter().collect();
    found.sort_by_key(|(_, measures)| Reverse(measures.len()));
    found
}
