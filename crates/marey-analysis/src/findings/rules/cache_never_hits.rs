//! Is a cache asked in vain?
//!
//! ```text
//! step      0  1  2  3  4  5  6  7  8  9 10 11
//! teacache  m  m  m  m  m  m  m  m  m  m  m  m      12 answers, no hit
//! ```
//!
//! A cache whose threshold is the cause is left to `strict-threshold`: it is one thing, and said once.

use marey::CacheOutcome;

use crate::CacheUse;
use crate::findings::prelude::*;
use crate::intervals::{length_ns, union};
use crate::quantity::{number, rounded_percent};

use super::strict_threshold;

pub(super) const RULE: Rule = Rule {
    id: "cache-never-hits",
    category: Category::Cache,
    checks: "a cache is asked and hardly ever hits",
    limits: &["cache_hit_ratio", "cache_lookups"],
    saves: "no estimate; at most the steps in which it was asked in vain",
    of: &[Check::Run("decisions of caches", check)],
};

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(caches) = facts.caches else {
        return Outcome::Unknown("no cache reported what it did".into());
    };
    let limits = facts.thresholds;
    let is_judged = |cache: &&CacheUse| float(n_answers(cache)) >= limits.cache_lookups;
    let judged: Vec<&CacheUse> = caches.each.iter().filter(is_judged).collect();
    if judged.is_empty() {
        return Outcome::Unknown(format!(
            "no cache reported {} hits and misses",
            number(limits.cache_lookups)
        ));
    }
    let is_explained = |cache: &&CacheUse| {
        hit_ratio(cache) < limits.cache_hit_ratio && strict_threshold::explains(facts, &cache.name)
    };
    let (explained, judged): (Vec<_>, Vec<_>) = judged.into_iter().partition(is_explained);
    if judged.is_empty() {
        return Outcome::Unknown(explained.first().map_or(String::new(), |cache| {
            format!("the cache {} misses for its threshold: see strict-threshold", cache.name)
        }));
    }
    let found: Vec<Finding> = judged
        .iter()
        .filter(|cache| hit_ratio(cache) < limits.cache_hit_ratio)
        .map(|cache| finding(facts, cache))
        .collect();
    if found.is_empty() {
        let least = judged.iter().map(|cache| hit_ratio(cache)).fold(1.0, f64::min);
        return Outcome::Passed(format!(
            "each cache hit at least {} of the time",
            rounded_percent(least)
        ));
    }
    Outcome::Found(found)
}

/// Lookups whose outcome is known.
fn n_answers(cache: &CacheUse) -> u64 {
    cache.hits.saturating_add(cache.misses)
}

fn hit_ratio(cache: &CacheUse) -> f64 {
    ratio(cache.hits.into(), n_answers(cache).max(1).into())
}

fn finding(facts: &Facts<'_>, cache: &CacheUse) -> Finding {
    let misses: Vec<u64> = facts
        .run
        .cache_events
        .iter()
        .filter(|e| e.cache == cache.name && e.outcome == CacheOutcome::Miss)
        .map(|e| e.at_ns)
        .collect();
    let steps = union(facts.steps_around(&misses));
    let steps_ns = length_ns(&steps);
    Finding {
        severity: Severity::of_share(facts.share_of_wall(steps_ns)).min(Severity::Medium),
        issue: format!(
            "The cache {} hit {} of {} times",
            cache.name,
            cache.hits,
            n_answers(cache)
        ),
        remedy: "Loosen its threshold, key it by what stays the same, or take it away: asking it costs time, too. With few steps \
                 neighbouring ones differ too much for any step cache."
            .into(),
        evidence: vec![
            Evidence::ratio("hits, as a share of hits and misses", hit_ratio(cache))
                .against(facts.thresholds.cache_hit_ratio),
            Evidence::count("hits", cache.hits),
            Evidence::count("misses", cache.misses),
        ],
        intervals: Finding::longest(steps),
        saving: (steps_ns > 0).then(|| {
            Saving::of_time(None, steps_ns, "the steps in which it was asked in vain")
        }),
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, only, steps_at};
    use marey::{CacheEvent, Run};
    use marey_testing::RunBuilder;

    /// Hits, then misses, one each 10 ns.
    fn run(n_hits: u64, n_misses: u64) -> Run {
        let mut builder = RunBuilder::new();
        for at in 0..n_hits + n_misses {
            builder = builder.cache_event(CacheEvent {
                at_ns: at * 10 + 5,
                cache: "teacache".into(),
                outcome: if at < n_hits { CacheOutcome::Hit } else { CacheOutcome::Miss },
                step: Some(at),
                block: None,
                score: None,
                threshold: None,
                held_bytes: None,
                attributes: vec![],
                session: None,
            });
        }
        builder.finish(1000)
    }

    #[test]
    fn a_cache_that_never_hits_in_twelve_steps_is_named_with_these_steps() {
        let times: Vec<(u64, u64)> = (0..20).map(|at| (at * 10, at * 10 + 9)).collect();
        let found = only(check_made(&RULE, &run(0, 12), &steps_at(&times)));
        assert_eq!(found.issue, "The cache teacache hit 0 of 12 times");
        assert_eq!(found.saving.unwrap().at_most_ns, Some(12 * 9));
        assert_eq!(only(check_run(&RULE, &run(0, 12))).saving, None);
    }

    #[test]
    fn a_cache_that_misses_for_its_threshold_is_left_to_the_rule_about_that() {
        let mut near = run(0, 12);
        for event in &mut near.cache_events {
            (event.score, event.threshold) = (Some(0.16), Some(0.15));
        }
        let left = check_run(&RULE, &near);
        let expected = "the cache teacache misses for its threshold: see strict-threshold";
        assert_eq!(left, Outcome::Unknown(expected.into()));
        only(check_run(&strict_threshold::RULE, &near));
        // Far misses are no matter of the threshold.
        for event in &mut near.cache_events {
            event.score = Some(0.9);
        }
        only(check_run(&RULE, &near));
    }

    #[test]
    fn a_hit_in_twenty_is_not_below_the_limit() {
        let expected = Outcome::Passed("each cache hit at least 5 % of the time".into());
        assert_eq!(check_run(&RULE, &run(1, 19)), expected);
    }

    #[test]
    fn no_cache_or_few_answers_cannot_tell() {
        for run in [run(0, 9), run(0, 0)] {
            assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        }
    }
}
