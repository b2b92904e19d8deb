//! One row a decision of a cache, in order of time.

use marey::{CacheEvent, CacheOutcome, Run};

use super::json;
use super::whereabouts::{at_ns, at_unix_ns, recorded_for};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Cache;

type Row<'a> = At<'a, CacheEvent>;

impl Listed for Cache {
    type Item = CacheEvent;

    fn list(run: &Run) -> &[CacheEvent] {
        &run.cache_events
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            at_unix_ns(|row: &Row<'_>| row.process.unix_ns(row.it.at_ns)),
            at_ns(|row: &Row<'_>| Some(row.it.at_ns)),
            Column::text("cache", "which cache", |row: &Row<'_>| {
                Some(row.it.cache.as_str())
            }),
            Column::text(
                "outcome",
                "hit, miss, eviction, or lookup: what came of it is recorded apart or not known",
                |row: &Row<'_>| {
                    Some(match row.it.outcome {
                        CacheOutcome::Hit => "hit",
                        CacheOutcome::Miss => "miss",
                        CacheOutcome::Eviction => "eviction",
                        CacheOutcome::Lookup => "lookup",
                    })
                },
            ),
            Column::number("step", "denoising step", |row: &Row<'_>| row.it.step).null("not said"),
            Column::number("block", "block of frames", |row: &Row<'_>| row.it.block)
                .null("not said"),
            Column::real(
                "score",
                "what was compared with the threshold",
                |row: &Row<'_>| row.it.score,
            )
            .null("not said"),
            Column::real("threshold", "the limit that decided", |row: &Row<'_>| {
                row.it.threshold
            })
            .null("not said"),
            Column::number(
                "held_bytes",
                "what the cache held afterwards",
                |row: &Row<'_>| row.it.held_bytes,
            )
            .in_unit("B")
            .null("not said"),
            recorded_for(|row: &Row<'_>| row.process.session_name(row.it.session)),
            Column::made(
                "data",
                "anything else that it was given, a JSON object",
                |row: &Row<'_>| json(&row.it.attributes),
            )
            .null("nothing was"),
        ]
    }
}
