//! Does a cache miss although the score lies just beyond its threshold?
//!
//! ```text
//! score    0.02    0.05   0.06 0.055        0.2
//! hit       x       |                              a difference: below the threshold it hits
//! near miss         |      x    x   |              up to a fifth beyond
//! miss              |               |        x
//! ```
//!
//! Whether scores are differences or similarities is read off the hits, and off the misses where nothing hit. A miss on the side
//! of the hits was decided by something else.

use marey::{CacheEvent, CacheOutcome};

use crate::findings::prelude::*;
use crate::intervals::{length_ns, union};
use crate::quantity::rounded_percent;

pub(super) const RULE: Rule = Rule {
    id: "strict-threshold",
    category: Category::Cache,
    checks: "a cache misses although scores lie just beyond its threshold",
    limits: &["cache_lookups", "near_miss_ratio", "near_misses_ratio"],
    saves: "what a cached step takes less, for each near miss; bound: the steps of these",
    of: &[Check::Run(
        "decisions of caches with score and threshold; better with denoising steps",
        check,
    )],
};

/// Decisions of one cache that a score and a threshold made.
struct Scored<'a> {
    cache: &'a str,
    n: u64,
    n_hits: u64,
    near: Vec<&'a CacheEvent>,
}

/// Whether this rule finds the cache: then its threshold is why it misses.
pub(super) fn explains(facts: &Facts<'_>, cache: &str) -> bool {
    let scored = scored(facts, cache);
    scored.is_some_and(|of| share(&of) > facts.thresholds.near_misses_ratio)
}

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(caches) = facts.caches else {
        return Outcome::Unknown("no cache reported what it did".into());
    };
    let names = caches.each.iter().map(|cache| cache.name.as_str());
    let judged: Vec<Scored<'_>> = names.filter_map(|name| scored(facts, name)).collect();
    if judged.is_empty() {
        return Outcome::Unknown(
            "no cache reported scores with a threshold that they were compared with".into(),
        );
    }
    let found: Vec<Finding> = judged
        .iter()
        .filter(|of| share(of) > facts.thresholds.near_misses_ratio)
        .map(|of| finding(facts, of, share(of), judged.len() == 1))
        .collect();
    if found.is_empty() {
        let most = judged.iter().map(share).fold(0.0, f64::max);
        return Outcome::Passed(format!(
            "at most {} of the decisions were near misses",
            rounded_percent(most)
        ));
    }
    Outcome::Found(found)
}

/// Near misses as a share of scored decisions.
fn share(of: &Scored<'_>) -> f64 {
    ratio(of.near.len() as u128, of.n.into())
}

/// `None` when too little is scored, or the scores do not tell which side hits.
fn scored<'a>(facts: &Facts<'a>, cache: &'a str) -> Option<Scored<'a>> {
    let events: Vec<(&CacheEvent, f64, f64)> = facts
        .run
        .cache_events
        .iter()
        .filter(|e| e.cache == cache)
        .filter(|e| matches!(e.outcome, CacheOutcome::Hit | CacheOutcome::Miss))
        .filter_map(|e| Some((e, e.score?, e.threshold?)))
        .filter(|(_, score, threshold)| score.is_finite() && threshold.is_finite())
        .collect();
    if float(events.len() as u64) < facts.thresholds.cache_lookups {
        return None;
    }
    let is_hit = |e: &CacheEvent| e.outcome == CacheOutcome::Hit;
    let below = |hit: bool| {
        let sides = events.iter().filter(|(e, ..)| is_hit(e) == hit);
        let (n, n_below) = sides.fold((0u64, 0u64), |(n, n_below), (_, score, threshold)| {
            (n + 1, n_below + u64::from(score <= threshold))
        });
        (n, n_below)
    };
    let hits_below = match (below(true), below(false)) {
        ((n, n_below), _) if n > 0 && n_below == n => true,
        ((n, 0), _) if n > 0 => false,
        ((0, _), (_, 0)) => true,
        ((0, _), (n, n_below)) if n_below == n => false,
        _ => return None,
    };
    let beyond = |score: f64, threshold: f64| {
        if hits_below { score - threshold } else { threshold - score }
    };
    let is_near = |score: f64, threshold: f64| {
        let by = beyond(score, threshold);
        by >= 0.0 && by <= threshold.abs() * facts.thresholds.near_miss_ratio
    };
    Some(Scored {
        cache,
        n: events.len() as u64,
        n_hits: events.iter().filter(|(e, ..)| is_hit(e)).count() as u64,
        near: events
            .iter()
            .filter(|(e, score, threshold)| !is_hit(e) && is_near(*score, *threshold))
            .map(|(e, ..)| *e)
            .collect(),
    })
}

fn finding(facts: &Facts<'_>, of: &Scored<'_>, share: f64, is_only: bool) -> Finding {
    let limits = facts.thresholds;
    let n_near = of.near.len() as u64;
    let moments: Vec<u64> = of.near.iter().map(|e| e.at_ns).collect();
    let steps = union(facts.steps_around(&moments));
    let steps_ns = length_ns(&steps);
    let of_decisions = |n: u64| ratio(n.into(), of.n.max(1).into());
    Finding {
        severity: Severity::of_share(facts.share_of_wall(steps_ns)),
        issue: format!(
            "{n_near} of {} decisions of the cache {} missed by at most {} of its threshold",
            of.n,
            of.cache,
            rounded_percent(limits.near_miss_ratio)
        ),
        remedy: format!(
            "Try a threshold that is {} more tolerant and compare pictures of the same seeds: {n_near} more decisions would have hit.",
            rounded_percent(limits.near_miss_ratio)
        ),
        evidence: vec![
            Evidence::ratio("near misses, as a share of decisions", share)
                .against(limits.near_misses_ratio),
            Evidence::count("near misses", n_near),
            Evidence::ratio("hits, as a share of decisions", of_decisions(of.n_hits)),
            Evidence::ratio("hits with the near misses, as a share", of_decisions(of.n_hits + n_near)),
        ],
        intervals: Finding::longest(steps),
        saving: (steps_ns > 0).then(|| {
            let estimate_ns = is_only.then(|| per_hit_ns(facts)).flatten();
            let estimate_ns = estimate_ns.map(|ns| ns.saturating_mul(n_near).min(steps_ns));
            Saving::of_time(
                estimate_ns,
                steps_ns,
                "the median computed step less the median cached one for each near miss, at most the steps in which they lie; \
                 scores after a hit would differ",
            )
        }),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

/// What a step that a cache answers takes less, in the mean; `None` when not known, or when it takes more.
fn per_hit_ns(facts: &Facts<'_>) -> Option<u64> {
    let caching = facts.diffusion?.caching.as_ref()?;
    let per_hit_ns = caching.saved_ns? / float(caching.n_cached);
    (per_hit_ns >= 0.0).then_some(whole(per_hit_ns))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::StepCaching;
    use crate::findings::rules::tests::{check_made, check_run, only, steps_at};
    use marey::Run;
    use marey_testing::RunBuilder;

    /// Decisions of a step cache, one each 10 ns, as outcome and score.
    fn run(decisions: &[(CacheOutcome, f64)], threshold: f64) -> Run {
        let mut builder = RunBuilder::new();
        for (at, (outcome, score)) in decisions.iter().enumerate() {
            builder = builder.cache_event(CacheEvent {
                at_ns: at as u64 * 10 + 5,
                cache: "teacache".into(),
                outcome: *outcome,
                step: Some(at as u64),
                block: None,
                score: Some(*score),
                threshold: Some(threshold),
                held_bytes: None,
                attributes: vec![],
                session: None,
            });
        }
        builder.finish(decisions.len() as u64 * 10)
    }

    /// Ten decisions: six misses far away, two hits, and two misses with these scores.
    fn ten(near: [f64; 2]) -> Run {
        let mut decisions = vec![(CacheOutcome::Miss, 0.2); 6];
        decisions.extend([(CacheOutcome::Hit, 0.02), (CacheOutcome::Hit, 0.05)]);
        decisions.extend(near.map(|score| (CacheOutcome::Miss, score)));
        run(&decisions, 0.05)
    }

    #[test]
    fn misses_within_a_fifth_beyond_the_threshold_are_near() {
        let found = only(check_run(&RULE, &ten([0.055, 0.0599])));
        assert_eq!(
            found.issue,
            "2 of 10 decisions of the cache teacache missed by at most 20 % of its threshold"
        );
        let shares: Vec<f64> = found.evidence.iter().map(|e| e.figure.value).collect();
        assert_eq!(shares, [0.2, 2.0, 0.2, 0.4]);
        assert_eq!(found.saving, None, "no steps are known");
    }

    #[test]
    fn steps_that_were_cached_tell_what_a_hit_saves() {
        let times: Vec<(u64, u64)> = (0..10).map(|at| (at * 10, at * 10 + 10)).collect();
        let mut diffusion = steps_at(&times);
        diffusion.caching = Some(StepCaching {
            cached: None,
            computed: None,
            n_cached: 2,
            n_computed: 8,
            saved_ns: Some(14.0),
        });
        let found = only(check_made(&RULE, &ten([0.055, 0.0599]), &diffusion));
        let saving = found.saving.unwrap();
        assert_eq!((saving.estimate_ns, saving.at_most_ns), (Some(14), Some(20)));
    }

    #[test]
    fn one_near_miss_in_ten_is_not_above_the_limit() {
        let expected = Outcome::Passed("at most 10 % of the decisions were near misses".into());
        assert_eq!(check_run(&RULE, &ten([0.055, 0.061])), expected);
    }

    #[test]
    fn similarities_hit_above_their_threshold() {
        let mut decisions = vec![(CacheOutcome::Miss, 0.1); 6];
        decisions.extend([(CacheOutcome::Miss, 0.85); 3]);
        decisions.push((CacheOutcome::Hit, 0.95));
        let found = only(check_run(&RULE, &run(&decisions, 0.9)));
        assert_eq!(found.evidence[1].figure.value, 3.0);
        // Without a hit the misses tell the side: all of them lie below.
        let found = only(check_run(&RULE, &run(&[(CacheOutcome::Miss, 0.85); 10], 0.9)));
        assert_eq!(found.evidence[1].figure.value, 10.0);
    }

    #[test]
    fn scores_on_both_sides_few_of_them_or_none_tell_nothing() {
        let mut mixed = vec![(CacheOutcome::Hit, 0.04); 5];
        mixed.extend([(CacheOutcome::Hit, 0.06); 5]);
        let few = [(CacheOutcome::Miss, 0.055); 9];
        for run in [run(&mixed, 0.05), run(&few, 0.05), RunBuilder::new().finish(10)] {
            assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        }
    }
}
