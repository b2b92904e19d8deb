//! A comparison as a document: the verdict, what was compared, what changed, then what is read only when it is asked for.

use marey_analysis::compare::{Change, Measure, SectionMatch, Verdict};
use marey_analysis::findings::{Figure, FigureUnit};

use super::environment::values;
use super::headline;
use super::model::{ComparedSide, ComparisonReport, Criterion};
use super::rows::{changed, undecided};
use super::time::ComparedTime;
use super::words::{self, change, loud_verdict, measured};
use crate::document::{Block, Cell, Column, Document, Facts, Table};
use crate::quantity::{counted, float};

/// Rows of what changed; those that changed most come first.
const MAX_CHANGED: usize = 50;
/// Lines of one kind, where there can be thousands.
const MAX_LINES: usize = 20;
/// Names in a line.
const MAX_NAMES: usize = 3;

/// Everything that people are told of a comparison. Its first lines say what matters most.
pub fn comparison_document(report: &ComparisonReport) -> Document {
    let comparison = &report.comparison;
    let mut found =
        Document::from(vec![Block::Facts(verdict(report)), Block::Facts(sides(report))]);
    found.tables(ComparedTime::new(report).and_then(|time| time_table(&time)));
    let changed = measures("changed", "What changed", &changed(comparison));
    found.tables([changed.limited(MAX_CHANGED)]);
    found.blocks.extend(same(report));
    let asides = [
        ("Environment and configuration", environment(report)),
        ("New, gone and renamed sections", sections(report)),
        ("What could not be told", open(report)),
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
    let columns = [
        ("subject", "Of"),
        ("measure", "Figure"),
        ("baseline", "Baseline"),
        ("candidate", "Candidate"),
        ("change", "Change"),
        ("verdict", "Verdict"),
        ("interval", "95 %"),
    ];
    let mut table = Table::new(key, title, &columns);
    for measure in measures {
        let (subject, label) = measured(&measure.subject, measure.kind);
        let figure = |value| Cell::Figure(Figure { value, unit: measure.unit });
        let interval = measure.change.and_then(|change| change.interval);
        table.row(vec![
            subject,
            Cell::text(label),
            Cell::known(measure.baseline, |side| figure(side.value)),
            Cell::known(measure.candidate, |side| figure(side.value)),
            Cell::known(measure.change, |change| change_cell(change, measure.unit)),
            Cell::text(words::verdict(measure.verdict)),
            Cell::known(interval, |(low, high)| Cell::ChangeBetween(low, high)),
        ]);
    }
    table
}

/// The mean wall time of both sides by parts, which add up; `None` where it is not known what held the runs up.
fn time_table(time: &ComparedTime) -> Option<Table> {
    let columns = [
        ("name", "Part"),
        ("baseline_ns", "Baseline"),
        ("candidate_ns", "Candidate"),
        ("change_ns", "Change"),
        ("ratio", "Ratio"),
        ("half_width_ns", "±"),
        ("adjusted_p_value", "Adjusted p"),
    ];
    let mut table = Table::new("time", "Where the time went, mean of the runs", &columns);
    let total = ("total", &time.total, time.total_ns);
    let parts = time.parts.iter();
    let parts = parts.map(|part| (part.name.as_str(), &part.change, part.held_ns));
    for (name, change, [baseline, candidate]) in parts.chain([total]) {
        let figure = |value| Figure { value, unit: FigureUnit::Ns };
        let chance = change.chance;
        table.row(vec![
            Cell::name(name),
            Cell::Duration(baseline),
            Cell::Duration(candidate),
            Cell::Difference(figure(float(candidate) - float(baseline))),
            Cell::known(change.ratio(), |ratio| Cell::Change(1.0 + ratio)),
            Cell::known(chance, |chance| Cell::Mean(chance.half_width)),
            Cell::known(chance, |chance| Cell::Number(chance.p_value)),
        ]);
    }
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
    let columns = [("fact", "Fact"), ("baseline", "Baseline"), ("candidate", "Candidate")];
    let mut table = Table::new("environment", "", &columns);
    for difference in &report.comparison.environment {
        let known = |value: String| Some(value).filter(|value| !value.is_empty());
        let [baseline, candidate] =
            values(difference).map(|value| Cell::known(known(value), Cell::Text));
        table.row(vec![Cell::text(&difference.name), baseline, candidate]);
    }
    blocks(table)
}

fn sections(report: &ComparisonReport) -> Vec<Block> {
    let columns = [("path", "Section"), ("presence", "Is"), ("candidate_path", "In the candidate")];
    let mut table = Table::new("sections", "", &columns);
    let is_other = |section: &&SectionMatch| section.presence != Verdict::Same;
    for section in report.comparison.sections.iter().filter(is_other) {
        table.row(vec![
            Cell::Path(section.path.clone()),
            Cell::text(words::verdict(section.presence)),
            Cell::known(section.candidate_path.clone(), Cell::Path),
        ]);
    }
    blocks(table)
}

/// Nothing without rows.
fn blocks(table: Table) -> Vec<Block> {
    let table = Some(table).filter(|table| !table.rows.is_empty());
    table.map(Block::Table).into_iter().collect()
}

/// What could not be told, and why.
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
        Block::Text(format!("Reasons ({}):", report.decided.remedy())),
        Block::Facts(reasons),
    ]
}

/// How it was decided, what does not fail it, and what was incomplete.
fn decided(report: &ComparisonReport) -> Vec<Block> {
    let mut facts = Facts::default();
    facts.row("Decided by", report.decided.text());
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
