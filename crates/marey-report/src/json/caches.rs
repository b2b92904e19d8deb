//! `cache_analysis`: all caches together, each cache, and every event.

use serde::Serialize;

use super::Pairs;
use super::figures::timestamp;
use super::object::object;
use crate::model::Activity;

/// `None` when no cache said anything.
pub(super) fn of(activity: &Activity) -> Option<impl Serialize> {
    let found = activity.caches.as_ref()?;
    let all = &found.all;
    let each = found.each.iter().map(|cache| {
        let object = object! {
            lookups: cache.lookups,
            hits: cache.hits,
            misses: cache.misses,
            evictions: cache.evictions,
            hit_rate: cache.hit_ratio,
            peak_held_bytes: cache.peak_held_bytes,
        };
        (cache.name.as_str(), object)
    });
    let moments = activity.cache_timeline.iter().map(|moment| {
        object! {
            timestamp: timestamp(activity, moment.at_ns),
            cache: &moment.cache,
            outcome: moment.outcome,
            step: moment.step,
            block: moment.block,
            score: moment.score,
            threshold: moment.threshold,
            held_bytes: moment.held_bytes,
            data: &moment.data,
        }
    });
    Some(object! {
        cache_performance: object! {
            hits: all.hits,
            misses: all.misses,
            evictions: all.evictions,
            total_requests: all.lookups,
        },
        cache_efficiency: object! { hit_rate: all.hit_ratio, miss_rate: all.miss_ratio },
        caches: Pairs(each.collect()),
        timeline: moments.collect::<Vec<_>>(),
    })
}
