//! Findings in Markdown.

use marey_analysis::findings::{Finding, Findings};

use super::escape::text;
use crate::figure;
use crate::quantity::counted;

const MAX_FINDINGS: usize = 10;

/// What is the matter, and how much was looked at; `None` when nothing could be.
pub(super) fn findings_of(all: &Findings) -> Option<String> {
    if all.found.is_empty() && all.passed.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = all.found.iter().take(MAX_FINDINGS).map(finding).collect();
    if all.found.is_empty() {
        lines.push("Nothing was found.".into());
    }
    if all.found.len() > MAX_FINDINGS {
        lines.push(format!("- … and {} more", all.found.len() - MAX_FINDINGS));
    }
    let (passed, unchecked) = (all.passed.len() as u64, all.unchecked.len() as u64);
    let unchecked = (unchecked > 0).then(|| format!(", {unchecked} could not be made"));
    let passed = counted(passed, "check", "checks");
    lines.push(format!(
        "\n{passed} passed{}.",
        unchecked.unwrap_or_default()
    ));
    Some(format!("### Findings\n\n{}\n", lines.join("\n")))
}

fn finding(found: &Finding) -> String {
    let severity = figure::severity(found.severity);
    let saving = found.saving.as_ref().and_then(figure::saving);
    let saving = saving.map(|amount| format!(" Saves {amount}."));
    format!(
        "- **{severity}**: {}. {}{}",
        text(found.issue.trim_end_matches('.')),
        text(&found.remedy),
        saving.unwrap_or_default()
    )
}
