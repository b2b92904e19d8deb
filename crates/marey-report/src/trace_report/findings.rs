//! What is the matter, as a table for programs. People read sentences.

use marey_analysis::Findings;

use super::kernels::name_of;
use crate::model::{Cell, Table};

pub(super) fn table(findings: &Findings) -> Table {
    let mut table = Table::new(
        "findings",
        "Findings",
        &[
            ("rule", "Rule"),
            ("severity", "Severity"),
            ("issue", "Issue"),
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
            Cell::text(name_of(&found.severity)),
            Cell::text(found.issue.as_str()),
            Cell::text(found.remedy.as_str()),
            Cell::known(saving.and_then(|s| s.estimate_ns), Cell::Duration),
            Cell::known(saving.and_then(|s| s.at_most_ns), Cell::Duration),
            Cell::text(name_of(&found.confidence)),
        ]);
    }
    table
}
