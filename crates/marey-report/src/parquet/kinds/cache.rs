//! One row a decision of a cache, in order of time.

use marey::{CacheEvent, CacheOutcome, Run};

use super::json;
use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            at_unix_ns() => row.process.unix_ns(row.it.at_ns);
            at_ns() => Some(row.it.at_ns);
            text("cache", "which cache") => Some(row.it.cache.as_str());
            text("outcome", "hit, miss, eviction, or lookup: what came of it is recorded apart or not known")
                => Some(match row.it.outcome {
                    CacheOutcome::Hit => "hit",
                    CacheOutcome::Miss => "miss",
                    CacheOutcome::Eviction => "eviction",
                    CacheOutcome::Lookup => "lookup",
                });
            number("step", "denoising step") null "not said" => row.it.step;
            number("block", "block of frames") null "not said" => row.it.block;
            real("score", "what was compared with the threshold") null "not said" => row.it.score;
            real("threshold", "the limit that decided") null "not said" => row.it.threshold;
            bytes("held_bytes", "what the cache held afterwards") null "not said" => row.it.held_bytes;
            recorded_for() => row.process.session_name(row.it.session);
            made("data", "anything else that it was given, a JSON object")
                null "nothing was" => json(&row.it.attributes);
        }
    }
}
