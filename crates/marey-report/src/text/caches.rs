//! What caches did, and when.

use super::columns::{Columns, Last};
use crate::cache_markdown::details;
use crate::escape::cut;
use crate::model::{CacheMoment, Report};
use crate::quantity::{bytes, counted, known, percent, time_s};

/// A longer timeline is for the Markdown file, not for a terminal.
const MAX_MOMENTS: usize = 20;
/// More caches than this do not help anybody on a terminal.
const MAX_CACHES: usize = 40;
const NAME_WIDTH: usize = 48;
const VALUE_WIDTH: usize = 40;
const DETAILS_WIDTH: usize = 100;

/// Each cache, then the timeline; `None` when no cache said anything.
pub(super) fn table(report: &Report) -> Option<String> {
    let caches = report.activity.caches.as_ref()?;
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
    for cache in caches.each.iter().take(MAX_CACHES) {
        table.row(vec![
            cut(&cache.name, NAME_WIDTH),
            cache.lookups.to_string(),
            cache.hits.to_string(),
            cache.misses.to_string(),
            cache.evictions.to_string(),
            known(cache.hit_ratio, percent),
            known(cache.peak_held_bytes, bytes),
        ]);
    }
    let more = caches.each.len().saturating_sub(MAX_CACHES);
    let notes = (more > 0).then(|| format!("… and {more} more"));
    let text = table.block("CACHES - Hits over Lookups", notes.as_slice());
    Some(text + "\n" + &timeline(&report.activity.cache_timeline))
}

fn timeline(moments: &[CacheMoment]) -> String {
    let headers = ["Cache", "At", "Step", "Block", "Outcome", "Details"];
    let mut table = Columns::new(&headers, Last::Text);
    for moment in moments.iter().take(MAX_MOMENTS) {
        let shown = |value: &str| cut(value, VALUE_WIDTH);
        table.row(vec![
            cut(&moment.cache, NAME_WIDTH),
            format!("{} s", time_s(moment.at_ns)),
            known(moment.step, |step| step.to_string()),
            known(moment.block, |block| block.to_string()),
            moment.outcome.to_owned(),
            cut(&details(moment, shown), DETAILS_WIDTH),
        ]);
    }
    let more = moments.len().saturating_sub(MAX_MOMENTS) as u64;
    let events = || counted(more, "more cache event", "more cache events");
    let notes = (more > 0).then(|| format!("… and {}", events()));
    table.block("CACHE EVENTS", notes.as_slice())
}
