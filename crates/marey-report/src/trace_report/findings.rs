//! What the rules came to, as a table for programs. People read sentences.

use marey_analysis::Findings;

use super::kernels::name_of;
use crate::document::{Cell, Table};

/// A row a finding, and one each for the rules that found nothing or could not tell: `outcome` says which.
pub(super) fn table(findings: &Findings) -> Table {
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
            ("at_most_ns", "At most"),
            ("confidence", "Confidence"),
        ],
    );
    for found in &findings.found {
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
    let passed = findings.passed.iter();
    let passed = passed.map(|rule| (rule.rule, "passed", &rule.what));
    let unchecked = findings.unchecked.iter();
    let unchecked = unchecked.map(|rule| (rule.rule, "unchecked", &rule.why));
    for (rule, outcome, what) in passed.chain(unchecked) {
        let mut row = vec![Cell::text(rule), Cell::text(outcome), Cell::Absent];
        row.push(Cell::text(what.as_str()));
        row.resize(table.columns.len(), Cell::Absent);
        table.row(row);
    }
    table
}
