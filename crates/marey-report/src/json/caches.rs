//! `cache_analysis`: all caches together, each cache, and every event.

use super::figures::timestamp;
use super::object::{Json, object};
use super::{list, pairs};
use crate::model::Activity;

/// `None` when no cache said anything.
pub(super) fn of(activity: &Activity) -> Option<impl Json> {
    let found = activity.caches.as_ref()?;
    let all = &found.all;
    Some(object! {
        struct CacheAnalysis;
        /// All caches together.
        cache_performance: object! {
            /// Lookups that found something.
            hits: all.hits,
            /// Lookups that found nothing.
            misses: all.misses,
            /// Entries thrown out.
            evictions: all.evictions,
            /// Lookups of each cache, added up.
            total_requests: all.lookups,
        },
        /// All caches together.
        cache_efficiency: object! {
            /// Hits over lookups.
            hit_rate: all.hit_ratio,
            /// Misses over lookups.
            miss_rate: all.miss_ratio,
        },
        /// Each cache by name.
        caches: pairs(&found.each, |cache| (cache.name.as_str(), object! {
            /// Lookups that were recorded as such, and at least hits and misses together.
            lookups: cache.lookups,
            /// Lookups that found something.
            hits: cache.hits,
            /// Lookups that found nothing.
            misses: cache.misses,
            /// Entries thrown out.
            evictions: cache.evictions,
            /// Hits over lookups.
            hit_rate: cache.hit_ratio,
            /// Most bytes that it held after any event.
            peak_held_bytes: cache.peak_held_bytes,
        })),
        /// Every event in order of time.
        timeline: list(&activity.cache_timeline, |moment| object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, moment.at_ns),
            /// Which cache.
            cache: &moment.cache,
            /// `hit`, `miss`, `eviction` or `lookup`: looked up, and what came of it is recorded apart or not known.
            outcome: moment.outcome,
            /// Denoising step.
            step: moment.step,
            /// Autoregressive block or chunk.
            block: moment.block,
            /// What was compared with the threshold.
            score: moment.score,
            /// The limit that decided.
            threshold: moment.threshold,
            /// Bytes that the cache held afterwards.
            held_bytes: moment.held_bytes,
            data: &moment.data,
        }),
    })
}
