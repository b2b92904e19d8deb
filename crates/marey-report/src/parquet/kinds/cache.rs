//! One row a decision of a cache, in order of time.

use marey::{CacheEvent, CacheOutcome};

use super::{At, json};
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table.
pub(crate) struct Cache;

type Row<'a> = At<'a, CacheEvent>;

impl Table for Cache {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "at_unix_ns",
                "when, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.it.at_ns),
            )
            .in_unit("ns")
            .null("the start of the process is not known"),
            Column::number(
                "at_ns",
                "when, since the start of the process",
                |row: &Row<'_>| Some(row.it.at_ns),
            )
            .in_unit("ns"),
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
            Column::text(
                "session",
                "name of the session that it was recorded for",
                |row: &Row<'_>| row.process.session_name(row.it.session),
            )
            .null("it was recorded for none"),
            Column::made(
                "data",
                "anything else that it was given, a JSON object",
                |row: &Row<'_>| json(&row.it.attributes),
            )
            .null("nothing was"),
        ]
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        process.run.cache_events.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        At::of(process, &process.run.cache_events, place)
    }
}
