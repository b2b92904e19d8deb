//! Captures of programs that did not record themselves, which `marey run` sampled from outside.

use std::path::Path;

use marey::RunInfo;
use marey_report::{Report, escape, summary};

/// The fact that says why a program was sampled from outside.
pub(crate) const OUTSIDE_BECAUSE: &str = "outside_because";

/// Whether a capture is of a program that was sampled from outside, by its name.
pub(crate) fn is_outside_capture(capture: &Path) -> bool {
    let name = capture.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"outside-")
}

/// The same, by what it says.
pub(super) fn is_outside(info: &RunInfo) -> bool {
    info.facts.iter().any(|(key, _)| key == "outside_of")
}

/// The terminal summary. Of a program that was sampled from outside it says so, and why.
pub fn summary_of(report: &Report) -> String {
    let text = summary(report);
    match why_outside(report) {
        Some(why) => format!("{text}{why}\n"),
        None => text,
    }
}

/// That and why a program was sampled from outside, in a sentence; `None` where it recorded itself.
pub(crate) fn why_outside(report: &Report) -> Option<String> {
    let mut facts = report.run.facts.iter();
    let (_, why) = facts.find(|(key, _)| key == OUTSIDE_BECAUSE)?;
    let why = escape::cut(why, 400);
    Some(format!(
        "Sampled from outside, the program recorded nothing itself: {why}"
    ))
}
