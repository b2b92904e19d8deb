//! The timeline of cache decisions as a Markdown table.

use crate::escape::markdown;
use crate::model::{CacheMoment, Report};
use crate::quantity::{UNKNOWN, bytes, known, time_s};

/// Every cache event as a row; one sentence when there were none.
pub fn cache_markdown(report: &Report) -> String {
    let moments = &report.activity.cache_timeline;
    if moments.is_empty() {
        return "No cache events were recorded.\n".into();
    }
    let mut lines = vec![
        "| Time (s) | Step | Block | Cache | Outcome | Details |".to_owned(),
        "| ---: | ---: | ---: | --- | --- | --- |".to_owned(),
    ];
    lines.extend(moments.iter().map(line));
    lines.join("\n") + "\n"
}

fn line(moment: &CacheMoment) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} |",
        time_s(moment.at_ns),
        known(moment.step, |step| step.to_string()),
        known(moment.block, |block| block.to_string()),
        markdown(&moment.cache),
        moment.outcome,
        details(moment, markdown)
    )
}

/// Everything about the moment that has no column; texts of the user pass through `shown`.
pub(crate) fn details(moment: &CacheMoment, shown: impl Fn(&str) -> String) -> String {
    let mut parts = Vec::new();
    parts.extend(moment.score.map(|score| format!("score {score}")));
    parts.extend(moment.threshold.map(|limit| format!("threshold {limit}")));
    parts.extend(moment.held_bytes.map(|held| format!("held {}", bytes(held))));
    let given = moment.data.0.iter();
    parts.extend(given.map(|(name, value)| format!("{}={}", shown(name), shown(&value.text()))));
    if parts.is_empty() {
        return UNKNOWN.into();
    }
    parts.join(", ")
}
