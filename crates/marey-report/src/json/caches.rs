//! `cache_analysis`: all caches together, each cache, and every event.

use marey_analysis::{CacheUse, Caches};
use serde::Serialize;

use super::{Pairs, seconds};
use crate::model::{Activity, CacheMoment, NamedValues};

/// `cache_analysis` of the report.
#[derive(Serialize)]
pub(super) struct CacheAnalysis<'a> {
    cache_performance: Performance,
    cache_efficiency: Efficiency,
    caches: Pairs<&'a str, CacheObject>,
    timeline: Vec<MomentObject<'a>>,
}

#[derive(Serialize)]
struct Performance {
    hits: u64,
    misses: u64,
    evictions: u64,
    total_requests: u64,
}

#[derive(Serialize)]
struct Efficiency {
    hit_rate: Option<f64>,
    miss_rate: Option<f64>,
}

#[derive(Serialize)]
struct CacheObject {
    lookups: u64,
    hits: u64,
    misses: u64,
    evictions: u64,
    hit_rate: Option<f64>,
    peak_held_bytes: Option<u64>,
}

#[derive(Serialize)]
struct MomentObject<'a> {
    timestamp: f64,
    cache: &'a str,
    outcome: &'static str,
    step: Option<u64>,
    block: Option<u64>,
    score: Option<f64>,
    threshold: Option<f64>,
    held_bytes: Option<u64>,
    data: &'a NamedValues,
}

impl<'a> CacheAnalysis<'a> {
    /// `None` when no cache said anything.
    pub(super) fn new(activity: &'a Activity) -> Option<Self> {
        let caches = activity.caches.as_ref()?;
        Some(Self::of(activity, caches))
    }

    fn of(activity: &'a Activity, caches: &'a Caches) -> Self {
        let all = &caches.all;
        let each = caches.each.iter();
        let moments = activity.cache_timeline.iter();
        Self {
            cache_performance: Performance {
                hits: all.hits,
                misses: all.misses,
                evictions: all.evictions,
                total_requests: all.lookups,
            },
            cache_efficiency: Efficiency {
                hit_rate: all.hit_ratio,
                miss_rate: all.miss_ratio,
            },
            caches: Pairs(
                each.map(|cache| (cache.name.as_str(), CacheObject::new(cache)))
                    .collect(),
            ),
            timeline: moments
                .map(|moment| MomentObject::new(activity, moment))
                .collect(),
        }
    }
}

impl CacheObject {
    fn new(cache: &CacheUse) -> Self {
        Self {
            lookups: cache.lookups,
            hits: cache.hits,
            misses: cache.misses,
            evictions: cache.evictions,
            hit_rate: cache.hit_ratio,
            peak_held_bytes: cache.peak_held_bytes,
        }
    }
}

impl<'a> MomentObject<'a> {
    fn new(activity: &Activity, moment: &'a CacheMoment) -> Self {
        Self {
            timestamp: seconds(activity.start_unix_ns.saturating_add(moment.at_ns)),
            cache: &moment.cache,
            outcome: moment.outcome,
            step: moment.step,
            block: moment.block,
            score: moment.score,
            threshold: moment.threshold,
            held_bytes: moment.held_bytes,
            data: &moment.data,
        }
    }
}
