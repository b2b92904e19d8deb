//! What caches did, and when.

use crate::cache_markdown::details;
use crate::document::{Cell, Table};
use crate::model::{CacheMoment, Report};
use crate::quantity::UNKNOWN;

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
