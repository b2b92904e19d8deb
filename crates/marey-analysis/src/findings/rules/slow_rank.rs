//! Does the job wait for slow ranks?
//!
//! ```text
//! rank 0   |--compute--|--------all_reduce--------|      waits for rank 1
//! rank 1   |----------compute----------|all_reduce|      slow
//! ```

use crate::SharedRow;
use crate::findings::job_facts::{JobFacts, sentence};
use crate::findings::prelude::*;
use crate::quantity::{duration_ns, rounded_percent};
use crate::ranks::{RankStraggler, StragglerVerdict};

pub(super) const RULE: Rule = Rule {
    id: "slow-rank",
    category: Category::Scaling,
    checks: "the job waits for ranks that are slower than the others",
    limits: &["straggler_ratio"],
    saves: "no estimate; at most what others waited in collectives to which these ranks came last",
    of: &[Check::Job(
        "a collective of all ranks; or denoising steps or blocks, and collectives, without which a slow rank looks like one that waits",
        check,
    )],
};

fn check(facts: &JobFacts<'_>) -> Outcome {
    let stragglers = &facts.job.stragglers;
    let Some(first) = stragglers.ranks.first() else {
        return Outcome::Unknown(
            "there are no two ranks with iterations, or that ended well, to compare".into(),
        );
    };
    let slow: Vec<&RankStraggler> =
        stragglers.ranks.iter().filter(|rank| rank.verdict == StragglerVerdict::Slow).collect();
    if !slow.is_empty() {
        return Outcome::Found(vec![finding(facts, &slow)]);
    }
    let what = format!(
        "{} has the most own time, {} above the median",
        facts.named(first.place),
        rounded_percent(first.score)
    );
    if stragglers.is_waiting_known {
        return Outcome::Passed(what);
    }
    Outcome::Unknown(format!(
        "{what}, but that includes waiting for others, which is not known; record collectives (marey.distributed)"
    ))
}

fn finding(facts: &JobFacts<'_>, slow: &[&RankStraggler]) -> Finding {
    let stragglers = &facts.job.stragglers;
    let mut places: Vec<u32> = slow.iter().map(|rank| rank.place).collect();
    places.sort_unstable();
    let most = slow.iter().map(|rank| rank.score).fold(0.0, f64::max);
    let slowest_ns = slow.iter().map(|rank| rank.own_ns).max().unwrap_or_default();
    let limit = facts.thresholds.straggler_ratio;
    let caused_ns = caused_ns(facts, slow);
    let mut evidence = vec![
        Evidence::ratio("own time above the median of all ranks", most).against(limit),
        Evidence::ns("own time of the slowest", slowest_ns),
        Evidence::count("ranks compared", stragglers.ranks.len() as u64),
    ];
    evidence.extend(
        caused_ns.map(|ns| Evidence::ns("time that others waited for them, warm-up included", ns)),
    );
    let host = slow.first().and_then(|rank| facts.job.members.get(rank.place as usize));
    let host = host.map(|member| member.host.as_str()).filter(|host| !host.is_empty());
    let on_host = host.filter(|_| slow.len() == 1);
    let on_host = on_host.map_or(String::new(), |host| format!(" (on {host})"));
    Finding {
        severity: Severity::of_share(most),
        issue: sentence(&format!(
            "{}{on_host} took {} longer than the median rank for its own work{}{}",
            facts.all_named(&places),
            rounded_percent(most),
            when_and_where(facts, slow).unwrap_or_default(),
            match (stragglers.is_waiting_known, caused_ns) {
                (true, Some(_)) => ", and others wait",
                (true, None) => "",
                (false, _) => " and waiting together",
            }
        )),
        remedy: "Look at the findings of that rank, its GPU's clocks and temperature, what else runs on its host, and its share of the \
                 data; give ranks even work."
            .into(),
        evidence,
        saving: caused_ns.map(|ns| {
            Saving::of_time(None, ns, "what others waited in collectives to which these ranks came last")
        }),
        confidence: if stragglers.is_waiting_known {
            Confidence::High
        } else {
            Confidence::Low
        },
        ..RULE.finding()
    }
}

/// Of one slow rank: ` since about step 90, mostly in vae_decode (812 ms, a usual rank 209 ms)`; of several it is not one thing.
fn when_and_where(facts: &JobFacts<'_>, slow: &[&RankStraggler]) -> Option<String> {
    let [only] = slow else { return None };
    let since = match (only.since_ns, only.since_step) {
        (_, Some(step)) => format!(" since about step {step}"),
        (Some(at_ns), None) => format!(" since about {} after its start", duration_ns(at_ns)),
        (None, None) => String::new(),
    };
    Some(since + &section(facts, slow).unwrap_or_default())
}

/// Where the slowest of them takes most of what it takes longer than a usual rank: `, mostly in vae_decode (812 ms, a usual rank 209 ms)`.
fn section(facts: &JobFacts<'_>, slow: &[&RankStraggler]) -> Option<String> {
    let slowest = facts.job.slowest.as_ref().filter(|found| found.is_own_time)?;
    slow.iter().find(|rank| rank.place == slowest.place)?;
    let rows = &slowest.account.as_ref()?.rows;
    let longer = |row: &SharedRow| match row.self_ns[..] {
        [slowest_ns, usual_ns] => slowest_ns.saturating_sub(usual_ns),
        _ => 0,
    };
    let all_ns: u64 = rows.iter().map(longer).sum();
    let most = rows.iter().max_by_key(|row| longer(row))?;
    let [slowest_ns, usual_ns] = most.self_ns[..] else { return None };
    (longer(most) > all_ns / 2).then(|| {
        let [own, usual] = [slowest_ns, usual_ns].map(duration_ns);
        format!(", mostly in {} ({own}, a usual rank {usual})", most.name)
    })
}

/// What others waited for these ranks in calls that were matched; `None` when not known, or when it was elsewhere.
fn caused_ns(facts: &JobFacts<'_>, slow: &[&RankStraggler]) -> Option<u64> {
    let rows = &facts.job.waiting.as_ref()?.ranks;
    let of_slow = rows.iter().filter(|row| slow.iter().any(|rank| rank.place == row.place));
    let known = of_slow.filter(|row| row.n_matched > 0);
    let caused_ns = known.map(|row| row.caused_ns);
    caused_ns.reduce(u64::saturating_add).filter(|ns| *ns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::job_facts::tests::{check, job};
    use crate::findings::rules::tests::only;
    use crate::ranks::{JobAnswers, RankWaitingRow, SlowestRank, Waiting};
    use crate::{PathTime, SharedAccount};

    /// Rank 1 needs half as long again as rank 0.
    fn uneven(verdict: StragglerVerdict, is_waiting_known: bool) -> JobAnswers {
        let mut job = job(2);
        let rank = |place, own_ns, score, verdict| RankStraggler {
            place,
            own_ns,
            score,
            verdict,
            ..RankStraggler::default()
        };
        job.members[1].host = "node-7".into();
        job.stragglers.is_waiting_known = is_waiting_known;
        job.stragglers.ranks =
            vec![rank(1, 15, 0.5, verdict), rank(0, 10, 0.0, StragglerVerdict::Even)];
        job
    }

    #[test]
    fn a_slow_rank_is_named_with_what_others_waited_for_it() {
        let mut job = uneven(StragglerVerdict::Slow, true);
        job.waiting = Some(Waiting {
            ranks: vec![RankWaitingRow {
                place: 1,
                n_matched: 3,
                caused_ns: 120,
                ..RankWaitingRow::default()
            }],
            ..Waiting::default()
        });
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Rank 1 (on node-7) took 50 % longer than the median rank for its own work, and others wait"
        );
        assert_eq!(found.saving.unwrap().at_most_ns, Some(120));
        assert_eq!(found.confidence, Confidence::High);
    }

    #[test]
    fn the_section_that_takes_it_longer_is_named() {
        // denoise 500 and 490, vae_decode 812 and 209 ms.
        let mut job = uneven(StragglerVerdict::Slow, true);
        let time = |name: &str, self_ms: u64| PathTime {
            path: vec![name.into()],
            is_iteration: false,
            self_ns: self_ms * 1_000_000,
        };
        let of = |denoise, decode| (0, vec![time("denoise", denoise), time("vae_decode", decode)]);
        job.slowest = Some(SlowestRank {
            place: 1,
            is_own_time: true,
            account: Some(SharedAccount::new(vec![of(500, 812), of(490, 209)])),
            ..SlowestRank::default()
        });
        let found = only(check(&RULE, &job));
        let named = "for its own work, mostly in vae_decode (812 ms, a usual rank 209 ms)";
        assert!(found.issue.contains(named), "{}", found.issue);
    }

    #[test]
    fn nothing_is_promised_where_nobody_waited_in_a_matched_call() {
        let mut job = uneven(StragglerVerdict::Slow, true);
        job.waiting = Some(Waiting {
            ranks: vec![RankWaitingRow { place: 1, n_matched: 3, ..RankWaitingRow::default() }],
            ..Waiting::default()
        });
        let found = only(check(&RULE, &job));
        assert!(found.issue.ends_with("for its own work"), "{}", found.issue);
        assert_eq!((found.saving, found.evidence.len()), (None, 3));
    }

    #[test]
    fn where_waiting_is_not_known_nobody_is_sure() {
        let found = only(check(&RULE, &uneven(StragglerVerdict::Slow, false)));
        assert_eq!((found.confidence, found.saving), (Confidence::Low, None));
        let even = uneven(StragglerVerdict::Even, false);
        assert!(matches!(check(&RULE, &even), Outcome::Unknown(_)));
    }

    #[test]
    fn even_ranks_pass_and_one_alone_is_not_compared() {
        let even = uneven(StragglerVerdict::Even, true);
        assert!(matches!(check(&RULE, &even), Outcome::Passed(_)));
        assert!(matches!(check(&RULE, &job(1)), Outcome::Unknown(_)));
    }
}
