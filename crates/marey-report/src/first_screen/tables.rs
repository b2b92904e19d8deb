//! What a first screen says of time or memory and of findings, as tables: their rows are its rows.

use marey_analysis::Findings;
use marey_analysis::findings::{Figure, FigureUnit};

use super::{AccountRows, DifferenceRow, Differences, FirstScreen, Row, ScreenFinding};
use crate::document::{Cell, Table, name_of};
use crate::quantity::{Unit, float};

impl FirstScreen {
    /// Its account, or the one of the slowest rank beside a usual one, if it has one; and its findings with what rules came to.
    pub(crate) fn tables(&self, rules: &Findings) -> Vec<Table> {
        let account = self.account.as_ref().map(|account| {
            let what = match account.unit {
                Unit::Time => "time",
                Unit::Bytes => "memory",
            };
            let subject = &self.headline.subject;
            account_table(account, format!("Where the {what} went · {subject}"))
        });
        let account = account.or_else(|| self.differences.as_ref().map(differences_table));
        let findings = findings_table(rules, Some(self));
        account.into_iter().chain([findings]).collect()
    }
}

/// Rows that add up to the total, *other* last.
fn account_table(account: &AccountRows, title: String) -> Table {
    let (key, shown) = match account.unit {
        Unit::Time => ("held_ns", Cell::Duration as fn(u64) -> Cell),
        Unit::Bytes => ("held_bytes", Cell::Bytes as fn(u64) -> Cell),
    };
    let share = |row: &Row| float(row.held) / float(account.total.max(1));
    let table = Table::of_each(
        "account",
        title,
        &account.rows,
        &[
            ("name", "Part", &|row| Cell::name(&row.name)),
            (key, "Held", &|row| shown(row.held)),
            ("share_ratio", "Share", &|row| Cell::ratio(share(row))),
            ("note", "Note", &|row| Cell::text_of(&row.note)),
        ],
    );
    match &account.head {
        Some(head) => table.noted(format!("{head}.")),
        None => table,
    }
}

/// Two ranks part by part, each adding up to its total.
fn differences_table(differences: &Differences) -> Table {
    let [slowest, usual, _] = &differences.columns;
    let difference = |row: &DifferenceRow| Figure {
        value: float(row.held[0]) - float(row.held[1]),
        unit: FigureUnit::Ns,
    };
    Table::of_each(
        "account",
        format!("Where the time went · {slowest} is slowest, {usual} usual"),
        &differences.rows,
        &[
            ("name", "Part", &|row| Cell::name(&row.name)),
            ("slowest_ns", "Slowest", &|row| Cell::Duration(row.held[0])),
            ("usual_ns", "Usual", &|row| Cell::Duration(row.held[1])),
            ("difference_ns", "Difference", &|row| Cell::Difference(difference(row))),
            ("note", "Note", &|row| Cell::text_of(&row.note)),
        ],
    )
}

/// A row a finding, those of rules first, and one each for the rules that found nothing or could not tell: `outcome` says which.
pub(crate) fn findings_table(rules: &Findings, screen: Option<&FirstScreen>) -> Table {
    let at_most = match screen.map_or(Unit::Time, |screen| screen.unit) {
        Unit::Time => ("at_most_ns", Cell::Duration as fn(u64) -> Cell),
        Unit::Bytes => ("at_most_bytes", Cell::Bytes as fn(u64) -> Cell),
    };
    let mut table = Table::new(
        "findings",
        "Findings",
        &[
            ("rule", "Rule"),
            ("outcome", "Outcome"),
            ("severity", "Severity"),
            ("issue", "What"),
            ("remedy", "Remedy"),
            ("estimate_ns", "Saves"),
            (at_most.0, "At most"),
            ("confidence", "Confidence"),
        ],
    );
    for found in &rules.found {
        let saving = found.saving.as_ref();
        table.row(vec![
            Cell::text(found.rule),
            Cell::text("found"),
            Cell::text(name_of(&found.severity)),
            Cell::text(found.issue.as_str()),
            Cell::text(found.remedy.as_str()),
            Cell::duration(saving.and_then(|s| s.estimate_ns)),
            Cell::duration(saving.and_then(|s| s.at_most_ns)),
            Cell::text(name_of(&found.confidence)),
        ]);
    }
    let is_of_rule = |found: &&ScreenFinding| rules.found.iter().any(|one| one.rule == found.rule);
    let own = screen.iter().flat_map(|screen| &screen.findings);
    for found in own.filter(|found| !is_of_rule(found)) {
        table.row(vec![
            Cell::text(found.rule),
            Cell::text("found"),
            Cell::Absent,
            Cell::text(found.title()),
            Cell::text(found.tries.as_str()),
            Cell::Absent,
            Cell::known(found.cost, at_most.1),
            Cell::text(name_of(&found.confidence)),
        ]);
    }
    let passed = rules.passed.iter();
    let passed = passed.map(|rule| (rule.rule, "passed", Some(&rule.what)));
    let unchecked = rules.unchecked.iter();
    let unchecked = unchecked.map(|rule| (rule.rule, "unchecked", Some(&rule.why)));
    let is_said = |rule: &&str| rules.passed.iter().any(|one| one.rule == *rule);
    let checks = screen.iter().filter_map(|screen| screen.checks.as_ref());
    let own = checks.flat_map(|checks| checks.passed.iter().copied());
    let own = own.filter(|rule| !is_said(rule)).map(|rule| (rule, "passed", None));
    for (rule, outcome, what) in passed.chain(unchecked).chain(own) {
        let mut row = vec![Cell::text(rule), Cell::text(outcome), Cell::Absent];
        row.push(Cell::text_of(what));
        row.resize(table.columns.len(), Cell::Absent);
        table.row(row);
    }
    table
}
