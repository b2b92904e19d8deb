//! What happened when: events and cache decisions.

use marey::{CacheEvent, CacheOutcome, Event};
use serde::Serialize;

use super::attributes::NamedValues;

/// A point in time with a name.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct EventMoment {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// As the user gave it; not safe to print.
    pub name: String,
    /// The user's data.
    pub data: NamedValues,
}

/// One decision of a cache.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CacheMoment {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// Which cache; not safe to print.
    pub cache: String,
    /// `hit`, `miss`, `eviction` or `lookup`.
    pub outcome: &'static str,
    /// Denoising step, when known.
    pub step: Option<u64>,
    /// Autoregressive block or chunk, when known.
    pub block: Option<u64>,
    /// What was compared with the threshold; `None` also for NaN and infinity.
    pub score: Option<f64>,
    /// The limit that decided; `None` also for NaN and infinity.
    pub threshold: Option<f64>,
    /// Bytes that the cache held afterwards.
    pub held_bytes: Option<u64>,
    /// Anything else that the user gave.
    pub data: NamedValues,
}

impl EventMoment {
    pub(super) fn new(event: &Event) -> Self {
        Self {
            at_ns: event.at_ns,
            name: event.name.clone(),
            data: NamedValues::new(&event.attributes),
        }
    }
}

impl CacheMoment {
    pub(super) fn new(event: &CacheEvent) -> Self {
        Self {
            at_ns: event.at_ns,
            cache: event.cache.clone(),
            outcome: match event.outcome {
                CacheOutcome::Hit => "hit",
                CacheOutcome::Miss => "miss",
                CacheOutcome::Eviction => "eviction",
                CacheOutcome::Lookup => "lookup",
            },
            step: event.step,
            block: event.block,
            score: event.score.filter(|score| score.is_finite()),
            threshold: event.threshold.filter(|limit| limit.is_finite()),
            held_bytes: event.held_bytes,
            data: NamedValues::new(&event.attributes),
        }
    }
}
