//! What caches did, and when.

use super::columns::{Columns, Last};
use crate::cache_markdown;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{bytes, known, percent};

/// A longer timeline is for the Markdown file, not for a terminal.
const MAX_MOMENTS: usize = 50;

/// Each cache, then the timeline; `None` when no cache said anything.
pub(super) fn table(report: &Report) -> Option<String> {
    let caches = report.caches.as_ref()?;
    let headers = [
        "Cache",
        "Lookups",
        "Hits",
        "Misses",
        "Evictions",
        "Hit rate",
        "Peak held",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    for cache in &caches.each {
        table.row(vec![
            cut(&cache.name, 48),
            cache.lookups.to_string(),
            cache.hits.to_string(),
            cache.misses.to_string(),
            cache.evictions.to_string(),
            known(cache.hit_ratio, percent),
            known(cache.peak_held_bytes, bytes),
        ]);
    }
    let moments = &report.cache_timeline;
    let shown = &moments[..moments.len().min(MAX_MOMENTS)];
    let mut text = table.block("CACHES - Hits over Lookups", &[]);
    text.push('\n');
    text.push_str(&cache_markdown::table(shown));
    if moments.len() > shown.len() {
        let n_more = moments.len() - shown.len();
        text.extend([format!("… and {n_more} more cache events\n")]);
    }
    Some(text)
}
