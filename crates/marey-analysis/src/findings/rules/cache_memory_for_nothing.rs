//! Does a cache hold memory that it does not earn?
//!
//! ```text
//! held      |~~~~~~~~~~ 2 GiB ~~~~~~~~~~|
//! answers     m     m     m     h     m        no hits to speak of, or hits that save less than a hundredth of the run
//! ```

use crate::CacheUse;
use crate::findings::prelude::*;
use crate::quantity::{bytes_of, rounded_percent};

pub(super) const RULE: Rule = Rule {
    id: "cache-memory-for-nothing",
    category: Category::Cache,
    checks: "a cache holds memory that it does not earn",
    limits: &["cache_held_bytes", "cache_hit_ratio", "cache_lookups", "cache_saved_ratio"],
    saves: "memory: the most that it held",
    of: &[Check::Run(
        "decisions of caches with the bytes that they hold; better with denoising steps",
        check,
    )],
};

/// A cache with what it held and what came of it.
struct Holder<'a> {
    cache: &'a CacheUse,
    held_bytes: u64,
    hit_ratio: f64,
    /// Share of the wall time that its hits saved, where that is known.
    saved_ratio: Option<f64>,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(caches) = facts.caches else {
        return Outcome::Unknown("no cache reported what it did".into());
    };
    let limits = facts.thresholds;
    let answers = |cache: &CacheUse| cache.hits.saturating_add(cache.misses);
    let holders: Vec<Holder<'_>> = caches
        .each
        .iter()
        .filter(|cache| float(answers(cache)) >= limits.cache_lookups)
        .filter_map(|cache| {
            Some(Holder {
                cache,
                held_bytes: cache.peak_held_bytes?,
                hit_ratio: ratio(cache.hits.into(), answers(cache).max(1).into()),
                saved_ratio: saved_ratio(facts, cache),
            })
        })
        .collect();
    if holders.is_empty() {
        return Outcome::Unknown(
            "no cache reported both the bytes that it holds and enough hits and misses".into(),
        );
    }
    let is_idle = |of: &&Holder<'_>| {
        let is_earned = of.saved_ratio.map(|saved| saved >= limits.cache_saved_ratio);
        float(of.held_bytes) > limits.cache_held_bytes
            && (of.hit_ratio < limits.cache_hit_ratio || is_earned == Some(false))
    };
    let found: Vec<Finding> = holders.iter().filter(is_idle).map(|of| finding(facts, of)).collect();
    if found.is_empty() {
        return Outcome::Passed(
            "each cache with much memory hits, or saves time as far as that is known".into(),
        );
    }
    Outcome::Found(found)
}

/// What hits of the cache saved, as a share of the wall time. Known only where it is the only cache that answered for steps.
fn saved_ratio(facts: &Facts<'_>, cache: &CacheUse) -> Option<f64> {
    let saved_ns = facts.diffusion?.caching.as_ref()?.saved_ns?;
    let mut of_steps = facts.run.cache_events.iter().filter(|e| e.step.is_some());
    let is_only = of_steps.all(|e| e.cache == cache.name);
    let is_of_steps =
        facts.run.cache_events.iter().any(|e| e.step.is_some() && e.cache == cache.name);
    let share = saved_ns / float(facts.run.wall_ns.max(1));
    (is_only && is_of_steps && share.is_finite()).then_some(share)
}

fn finding(facts: &Facts<'_>, of: &Holder<'_>) -> Finding {
    let limits = facts.thresholds;
    let mut evidence = vec![
        Evidence::new("most bytes held", float(of.held_bytes), FigureUnit::Bytes)
            .against(limits.cache_held_bytes),
        Evidence::ratio("hits, as a share of hits and misses", of.hit_ratio)
            .against(limits.cache_hit_ratio),
    ];
    evidence.extend(of.saved_ratio.map(|saved| {
        Evidence::ratio("time saved, as a share of the wall time", saved)
            .against(limits.cache_saved_ratio)
    }));
    let brings = match of.saved_ratio {
        Some(saved) if saved > 0.0 => format!("saves {} of the wall time", rounded_percent(saved)),
        Some(_) => "saves no time".to_owned(),
        None => format!("hits {} of the time", rounded_percent(of.hit_ratio)),
    };
    Finding {
        severity: Severity::Medium,
        issue: format!(
            "The cache {} holds {} and {brings}",
            of.cache.name,
            bytes_of(float(of.held_bytes))
        ),
        remedy: "Limit it to the entries that hit, keep it in half precision or on the host, or switch it off where memory is what \
                 runs out."
            .into(),
        evidence,
        saving: Some(Saving::of_memory(of.held_bytes, "the most that it held")),
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_made, check_run, only};
    use crate::{Diffusion, StepCaching};
    use marey::{CacheEvent, CacheOutcome, Run};
    use marey_testing::RunBuilder;

    /// Twenty answers of a cache of steps that holds so much.
    fn run(n_hits: u64, held_bytes: Option<u64>) -> Run {
        let mut builder = RunBuilder::new();
        for at in 0..20 {
            builder = builder.cache_event(CacheEvent {
                at_ns: at,
                cache: "kv".into(),
                outcome: if at < n_hits { CacheOutcome::Hit } else { CacheOutcome::Miss },
                step: Some(at),
                block: None,
                score: None,
                threshold: None,
                held_bytes,
                attributes: vec![],
                session: None,
            });
        }
        builder.finish(1000)
    }

    fn saved(saved_ns: f64) -> Diffusion {
        Diffusion {
            caching: Some(StepCaching {
                cached: None,
                computed: None,
                n_cached: 0,
                n_computed: 0,
                saved_ns: Some(saved_ns),
            }),
            ..Diffusion::default()
        }
    }

    const GIB: u64 = 1 << 30;

    #[test]
    fn two_gigabytes_without_a_hit_are_held_for_nothing() {
        let found = only(check_run(&RULE, &run(0, Some(2_000_000_000))));
        assert_eq!(found.issue, "The cache kv holds 1.9 GiB and hits 0 % of the time");
        assert_eq!(found.saving.unwrap().at_most_bytes, Some(2_000_000_000));
    }

    #[test]
    fn hits_that_save_less_than_a_hundredth_of_the_run_do_not_earn_it() {
        let check = |ns| check_made(&RULE, &run(10, Some(GIB)), &saved(ns));
        assert_eq!(only(check(9.0)).evidence[2].figure.value, 0.009);
        assert_eq!(only(check(-5.0)).issue, "The cache kv holds 1.0 GiB and saves no time");
        assert!(matches!(check(10.0), Outcome::Passed(_)));
    }

    #[test]
    fn a_quarter_of_a_gibibyte_is_not_above_the_limit_and_hits_earn_more() {
        for run in [run(0, Some(GIB / 4)), run(1, Some(GIB))] {
            let passed = check_run(&RULE, &run);
            assert!(matches!(passed, Outcome::Passed(_)), "{passed:?}");
        }
    }

    #[test]
    fn a_cache_that_does_not_say_what_it_holds_cannot_be_judged() {
        for run in [run(0, None), RunBuilder::new().finish(10)] {
            assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        }
    }
}
