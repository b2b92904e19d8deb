//! What caches did, and when: as tables, and as the documents' Markdown table.

use crate::document::{Cell, Table};
use crate::escape::markdown;
use crate::model::{CacheMoment, Report};
use crate::quantity::{UNKNOWN, bytes, known, time_s};

/// Caches that people are shown.
const MAX_CACHES: usize = 40;

/// Each cache.
pub(super) fn table(report: &Report) -> Table {
    let caches = report.activity.caches.iter();
    Table::of_each(
        "caches",
        "Caches, hits over lookups",
        caches.flat_map(|caches| &caches.each),
        &[
            ("name", "Cache", &|c| Cell::name(&c.name)),
            ("n_lookups", "Lookups", &|c| Cell::Count(c.lookups)),
            ("n_hits", "Hits", &|c| Cell::Count(c.hits)),
            ("n_misses", "Misses", &|c| Cell::Count(c.misses)),
            ("n_evictions", "Evictions", &|c| Cell::Count(c.evictions)),
            ("hit_ratio", "Hit rate", &|c| Cell::ratio(c.hit_ratio)),
            ("peak_bytes", "Peak held", &|c| Cell::bytes(c.peak_held_bytes)),
        ],
    )
    .limited(MAX_CACHES)
}

/// Their decisions in order.
pub(super) fn events(report: &Report) -> Table {
    let said = |moment: &CacheMoment| {
        let said = Some(details(moment, str::to_owned));
        Cell::known(said.filter(|said| said != UNKNOWN), Cell::Name)
    };
    Table::of_each(
        "cache_events",
        "Cache events",
        &report.activity.cache_timeline,
        &[
            ("cache", "Cache", &|c| Cell::name(&c.cache)),
            ("at_ns", "At", &|c| Cell::Moment(c.at_ns)),
            ("step", "Step", &|c| Cell::count(c.step)),
            ("block", "Block", &|c| Cell::count(c.block)),
            ("outcome", "Outcome", &|c| Cell::text(c.outcome)),
            ("details", "Details", &|c| said(c)),
        ],
    )
}

/// Every cache event as a row of a Markdown table; one sentence when there were none.
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
fn details(moment: &CacheMoment, shown: impl Fn(&str) -> String) -> String {
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
