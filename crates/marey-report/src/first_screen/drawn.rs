//! The first screen as a page draws it: texts as they are printed, and lengths of bars.

use serde::Serialize;

use super::account::{AccountRows, Part};
use super::differences::{DifferenceRow, Differences};
use super::{FirstScreen, Mood, ScreenFinding};
use crate::quantity::float;

/// What a page has of a first screen. Texts are not safe to print.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct DrawnScreen<'a> {
    subject: &'a str,
    outcome: &'a str,
    mood: Mood,
    /// Behind the outcome.
    after: String,
    /// Where the time or the memory went, or by how much that differs.
    bars: Vec<Bars<'a>>,
    /// A label and its text.
    lines: Vec<(&'static str, String)>,
    findings: Vec<DrawnFinding<'a>>,
    closing: Vec<(Mood, &'a str)>,
    data: Option<&'a str>,
}

/// Rows that add up.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Bars<'a> {
    head: Option<&'a str>,
    /// Above the figures; none where they say it themselves.
    columns: Vec<&'a str>,
    rows: Vec<BarRow<'a>>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct BarRow<'a> {
    name: &'a str,
    part: Part,
    /// Of the whole, 0 to 1: one, or one of each of two sides. None of a total.
    ratios: Vec<f64>,
    figures: Vec<String>,
    note: Option<&'a str>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct DrawnFinding<'a> {
    rule: &'static str,
    title: String,
    evidence: &'a str,
    tries: &'a str,
}

impl FirstScreen {
    /// As a page has it.
    pub(crate) fn drawn(&self) -> DrawnScreen<'_> {
        let head = &self.headline;
        let parts = head.parts.iter().map(|part| format!(" · {part}"));
        let account = self.account.iter().map(of_account);
        let differences = self.differences.iter().map(of_differences);
        let lines = self.lines.iter().filter(|line| !line.parts.is_empty());
        let closing = self.closing.iter();
        DrawnScreen {
            subject: &head.subject,
            outcome: &head.outcome,
            mood: head.mood,
            after: head.after.clone() + &parts.collect::<String>(),
            bars: account.chain(differences).collect(),
            lines: lines.map(|line| (line.label, line.parts.join(" · "))).collect(),
            findings: self.findings.iter().map(of_finding).collect(),
            closing: closing.map(|said| (said.mood, &*said.text)).collect(),
            data: self.data.as_deref(),
        }
    }
}

fn of_account(account: &AccountRows) -> Bars<'_> {
    let (column, printed) = account.printed();
    let figures = printed.into_iter().zip(account.shares());
    let rows = account.rows.iter().zip(figures);
    let rows = rows.map(|(row, (printed, share))| BarRow {
        name: &row.name,
        part: row.part,
        ratios: vec![ratio(row.held, account.total)],
        figures: vec![column.shown(printed), format!("{}.{} %", share / 10, share % 10)],
        note: row.note.as_deref(),
    });
    Bars { head: account.head.as_deref(), columns: Vec::new(), rows: rows.collect() }
}

/// The last row is that of the totals.
fn of_differences(found: &Differences) -> Bars<'_> {
    let most = found.totals[0].max(found.totals[1]);
    let figures = found.texts();
    let rows = found.rows.iter().map(Some).chain([None]).zip(figures);
    Bars {
        head: None,
        columns: found.columns.iter().map(String::as_str).collect(),
        rows: rows.map(|(row, texts)| difference(row, texts, most)).collect(),
    }
}

/// A row, or the totals.
fn difference(row: Option<&DifferenceRow>, figures: [String; 3], most: u64) -> BarRow<'_> {
    let (name, part) = row.map_or(("total", Part::Other), |row| (&row.name, Part::Work));
    BarRow {
        name,
        part,
        ratios: row.map_or_else(Vec::new, |row| row.held.map(|held| ratio(held, most)).into()),
        figures: figures.into(),
        note: row.and_then(|row| row.note.as_deref()),
    }
}

fn of_finding(found: &ScreenFinding) -> DrawnFinding<'_> {
    DrawnFinding {
        rule: found.rule,
        title: found.title(),
        evidence: &found.evidence,
        tries: &found.tries,
    }
}

fn ratio(held: u64, total: u64) -> f64 {
    float(held) / float(total.max(1))
}
