//! Does each cache hit, and what does it hold for that?

use marey::{CacheEvent, CacheOutcome, Run};
use serde::Serialize;

use crate::stats::ratio;

/// What all caches of a run did.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Caches {
    /// All caches together; `name` is empty.
    pub all: CacheUse,
    /// Each cache, in the order of their first events.
    pub each: Vec<CacheUse>,
}

/// What one cache did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CacheUse {
    /// The cache's name as the user gave it; not safe to print.
    pub name: String,
    /// Lookups that were recorded as such, and at least hits and misses together.
    pub lookups: u64,
    /// Lookups that found something.
    pub hits: u64,
    /// Lookups that found nothing.
    pub misses: u64,
    /// Entries thrown out.
    pub evictions: u64,
    /// Hits over lookups, 0 to 1; `None` without lookups.
    pub hit_ratio: Option<f64>,
    /// Misses over lookups, 0 to 1; `None` without lookups.
    pub miss_ratio: Option<f64>,
    /// Most bytes that it held after any event; `None` when it never said. For all caches together it is not known.
    pub peak_held_bytes: Option<u64>,
}

/// Figures of each cache; `None` when no cache event was recorded.
pub fn caches(run: &Run) -> Option<Caches> {
    let mut each: Vec<CacheUse> = Vec::new();
    for event in &run.cache_events {
        // Pipelines have a handful of caches.
        let known = each.iter().position(|cache| cache.name == event.cache);
        let index = known.unwrap_or_else(|| {
            each.push(CacheUse { name: event.cache.clone(), ..CacheUse::default() });
            each.len() - 1
        });
        let cache = &mut each[index];
        cache.count(event);
        cache.peak_held_bytes = cache.peak_held_bytes.max(event.held_bytes);
    }
    for cache in &mut each {
        cache.finish();
    }
    (!each.is_empty()).then(|| Caches { all: together(&each), each })
}

/// All caches as one. A lookup of one cache is not a lookup of another, so their lookups add up.
fn together(each: &[CacheUse]) -> CacheUse {
    let sum = |of: fn(&CacheUse) -> u64| each.iter().map(of).sum();
    let mut all = CacheUse {
        lookups: sum(|cache| cache.lookups),
        hits: sum(|cache| cache.hits),
        misses: sum(|cache| cache.misses),
        evictions: sum(|cache| cache.evictions),
        ..CacheUse::default()
    };
    all.finish();
    all
}

impl CacheUse {
    fn count(&mut self, event: &CacheEvent) {
        match event.outcome {
            CacheOutcome::Hit => self.hits += 1,
            CacheOutcome::Miss => self.misses += 1,
            CacheOutcome::Eviction => self.evictions += 1,
            CacheOutcome::Lookup => self.lookups += 1,
        }
    }

    /// Counts lookups that were not recorded apart, then the rates.
    fn finish(&mut self) {
        self.lookups = self.lookups.max(self.hits + self.misses);
        let of_lookups = |n: u64| (self.lookups > 0).then(|| ratio(n.into(), self.lookups.into()));
        (self.hit_ratio, self.miss_ratio) = (of_lookups(self.hits), of_lookups(self.misses));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn event(cache: &str, outcome: CacheOutcome, held_bytes: Option<u64>) -> CacheEvent {
        CacheEvent {
            at_ns: 0,
            cache: cache.into(),
            outcome,
            step: None,
            block: None,
            score: None,
            threshold: None,
            held_bytes,
            attributes: vec![],
            session: None,
        }
    }

    #[test]
    fn the_hit_rate_is_hits_over_lookups() {
        let run = RunBuilder::new()
            .cache_event(event("teacache", CacheOutcome::Miss, Some(100)))
            .cache_event(event("teacache", CacheOutcome::Hit, Some(300)))
            .cache_event(event("kv", CacheOutcome::Eviction, None))
            .cache_event(event("teacache", CacheOutcome::Hit, Some(200)))
            .cache_event(event("teacache", CacheOutcome::Eviction, None))
            .finish(10);
        let caches = caches(&run).unwrap();
        let teacache = &caches.each[0];
        assert_eq!((teacache.lookups, teacache.hits), (3, 2));
        assert_eq!((teacache.misses, teacache.evictions), (1, 1));
        assert_eq!(teacache.hit_ratio, Some(2.0 / 3.0));
        assert_eq!(teacache.miss_ratio, Some(1.0 / 3.0));
        assert_eq!(teacache.peak_held_bytes, Some(300));
        assert_eq!(caches.all.evictions, 2);
    }

    #[test]
    fn lookups_that_were_recorded_apart_are_counted_once() {
        // Four lookups, of which the outcome of three is known.
        let outcomes = [
            CacheOutcome::Lookup,
            CacheOutcome::Hit,
            CacheOutcome::Lookup,
            CacheOutcome::Miss,
            CacheOutcome::Lookup,
            CacheOutcome::Hit,
            CacheOutcome::Lookup,
        ];
        let mut builder = RunBuilder::new().cache_event(event("kv", CacheOutcome::Miss, None));
        for outcome in outcomes {
            builder = builder.cache_event(event("teacache", outcome, None));
        }
        let caches = caches(&builder.finish(10)).unwrap();
        let teacache = &caches.each[1];
        assert_eq!((teacache.lookups, teacache.hits, teacache.misses), (4, 2, 1));
        assert_eq!((teacache.hit_ratio, teacache.miss_ratio), (Some(0.5), Some(0.25)));
        let all = &caches.all;
        assert_eq!((all.lookups, all.hits, all.misses), (5, 2, 2));
        assert_eq!(all.hit_ratio, Some(0.4));
    }

    #[test]
    fn fewer_lookups_than_answers_never_make_a_rate_above_one() {
        let run = RunBuilder::new()
            .cache_event(event("kv", CacheOutcome::Lookup, None))
            .cache_event(event("kv", CacheOutcome::Hit, None))
            .cache_event(event("kv", CacheOutcome::Hit, None))
            .finish(10);
        let kv = &caches(&run).unwrap().each[0];
        assert_eq!((kv.lookups, kv.hit_ratio), (2, Some(1.0)));
    }

    #[test]
    fn a_lookup_whose_outcome_is_not_known_is_no_hit() {
        let run = RunBuilder::new().cache_event(event("kv", CacheOutcome::Lookup, None)).finish(10);
        let kv = &caches(&run).unwrap().each[0];
        assert_eq!((kv.lookups, kv.hit_ratio), (1, Some(0.0)));
    }

    #[test]
    fn a_cache_that_was_never_asked_has_no_hit_rate() {
        let run =
            RunBuilder::new().cache_event(event("kv", CacheOutcome::Eviction, None)).finish(10);
        assert_eq!(caches(&run).unwrap().each[0].hit_ratio, None);
    }
}
