//! What caches did, and when.

use crate::cache_markdown::details;
use crate::document::{Cell, Table};
use crate::model::Report;
use crate::quantity::UNKNOWN;

/// Caches that people are shown.
const MAX_CACHES: usize = 40;

/// Each cache.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Cache"),
        ("n_lookups", "Lookups"),
        ("n_hits", "Hits"),
        ("n_misses", "Misses"),
        ("n_evictions", "Evictions"),
        ("hit_ratio", "Hit rate"),
        ("peak_bytes", "Peak held"),
    ];
    let mut table = Table::new("caches", "Caches, hits over lookups", &columns).limited(MAX_CACHES);
    for cache in report
        .activity
        .caches
        .iter()
        .flat_map(|caches| &caches.each)
    {
        table.row(vec![
            Cell::name(&cache.name),
            Cell::Count(cache.lookups),
            Cell::Count(cache.hits),
            Cell::Count(cache.misses),
            Cell::Count(cache.evictions),
            Cell::known(cache.hit_ratio, Cell::Ratio),
            Cell::known(cache.peak_held_bytes, Cell::Bytes),
        ]);
    }
    table
}

/// Their decisions in order.
pub(super) fn events(report: &Report) -> Table {
    let columns = [
        ("cache", "Cache"),
        ("at_ns", "At"),
        ("step", "Step"),
        ("block", "Block"),
        ("outcome", "Outcome"),
        ("details", "Details"),
    ];
    let mut table = Table::new("cache_events", "Cache events", &columns);
    for moment in &report.activity.cache_timeline {
        let details = Some(details(moment, str::to_owned)).filter(|said| said != UNKNOWN);
        table.row(vec![
            Cell::name(&moment.cache),
            Cell::Moment(moment.at_ns),
            Cell::known(moment.step, Cell::Count),
            Cell::known(moment.block, Cell::Count),
            Cell::text(moment.outcome),
            Cell::known(details, Cell::Name),
        ]);
    }
    table
}
