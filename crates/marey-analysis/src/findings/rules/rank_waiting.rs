//! Do ranks wait for each other, now one and now another?
//!
//! ```text
//! rank 0   |--compute--|----all_reduce----|-------compute-------|all_reduce|
//! rank 1   |------compute------|all_reduce|--compute--|-----all_reduce-----|
//! ```

pub(super) mod trace;

use crate::findings::job_facts::{JobFacts, sentence};
use crate::findings::prelude::*;
use crate::quantity::rounded_percent;
use crate::ranks::{RankWaitingRow, StragglerVerdict};

pub(super) const RULE: Rule = Rule {
    id: "rank-waiting",
    category: Category::Scaling,
    checks: "ranks wait for each other",
    limits: &["rank_wait_ratio"],
    saves: "no estimate; at most the waiting of the rank that waits most",
    of: &[
        Check::Job("collectives of two ranks or more", check),
        Check::Trace(
            "time that a rank waits for others, as a share of the longest trace; needs the files of several ranks of one job",
            trace::check,
        ),
    ],
};

fn check(facts: &JobFacts<'_>) -> Outcome {
    let job = facts.job;
    let rows = job.waiting.as_ref().map(|waiting| waiting.ranks.as_slice());
    let matched: Vec<&RankWaitingRow> =
        rows.unwrap_or_default().iter().filter(|row| is_known(row)).collect();
    let within_ns: u128 = matched.iter().map(|row| u128::from(row.within_ns)).sum();
    if within_ns == 0 {
        return Outcome::Unknown(
            "no rank has half of its time in collectives in calls that other ranks have, too; record them (marey.distributed)"
                .into(),
        );
    }
    let waiting_ns: u128 = matched.iter().map(|row| u128::from(waiting_ns(row))).sum();
    let share = ratio(waiting_ns, within_ns);
    let limit = facts.thresholds.rank_wait_ratio;
    if share <= limit {
        return Outcome::Passed(format!("ranks waited {} of their time", rounded_percent(share)));
    }
    let mut verdicts = job.stragglers.ranks.iter().map(|rank| rank.verdict);
    if verdicts.any(|verdict| verdict == StragglerVerdict::Slow) {
        return Outcome::Passed(format!(
            "ranks waited {} of their time for the ranks that `slow-rank` names",
            rounded_percent(share)
        ));
    }
    Outcome::Found(vec![finding(facts, &matched, share)])
}

/// Half of its time in collectives was matched: the rest waits as much of its time.
fn is_known(row: &RankWaitingRow) -> bool {
    let matched_ns = row.transfer_ns.saturating_add(row.waiting_ns);
    row.n_matched > 0 && matched_ns >= row.total_ns / 2
}

/// What a rank waited in all calls, as those tell that were matched.
fn waiting_ns(row: &RankWaitingRow) -> u64 {
    let whole = row.transfer_ns.saturating_add(row.waiting_ns).max(1);
    let all_ns = u128::from(row.total_ns) * u128::from(row.waiting_ns) / u128::from(whole);
    u64::try_from(all_ns).unwrap_or(u64::MAX).min(row.within_ns)
}

fn finding(facts: &JobFacts<'_>, matched: &[&RankWaitingRow], share: f64) -> Finding {
    let most = matched.iter().max_by_key(|row| (waiting_ns(row), std::cmp::Reverse(row.place)));
    let (most_ns, who) =
        most.map_or((0, "a rank".to_owned()), |row| (waiting_ns(row), facts.named(row.place)));
    // Nobody waits for itself.
    let cause = matched
        .iter()
        .filter(|row| row.caused_ns > 0 && most.is_none_or(|most| most.place != row.place))
        .max_by_key(|row| (row.caused_ns, std::cmp::Reverse(row.place)));
    let for_whom =
        cause.map_or(String::new(), |row| format!(", mostly for {}", facts.named(row.place)));
    let collectives = facts.job.waiting.iter().flat_map(|waiting| &waiting.collectives);
    let is_partly_seen =
        collectives.clone().any(|row| row.n_missing > 0 && row.transfer_ns.is_some());
    let at_least = if is_partly_seen { "at least " } else { "" };
    let mut evidence = vec![
        Evidence::ratio(
            "share of the time from their first collective to their last that ranks wait",
            share,
        )
        .against(facts.thresholds.rank_wait_ratio),
        Evidence::ns("time that the rank waits that waits most", most_ns),
    ];
    if let Some(row) = cause {
        let name = facts.named(row.place);
        evidence.push(Evidence::ns(format!("time that others waited for {name}"), row.caused_ns));
        evidence.push(Evidence::count(format!("calls to which {name} came last"), row.n_last));
    }
    Finding {
        severity: Severity::of_share(share),
        issue: sentence(&format!(
            "ranks waited {at_least}{} of the time from their first collective to their last for each other, {who} most{for_whom}; no rank is slower than the others throughout",
            rounded_percent(share)
        )),
        remedy: "Look at which steps differ between ranks: uneven prompts or frames, loading by one rank alone, caches that skip on some \
                 ranks only. Give ranks even work, and let work that one rank does run beside that of the others."
            .into(),
        evidence,
        saving: Some(Saving::of_time(
            None,
            most_ns,
            "what the calls of the rank that waits most took longer than the shortest of each",
        )),
        confidence: Confidence::Medium,
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::job_facts::tests::{check, job};
    use crate::findings::rules::tests::only;
    use crate::ranks::{CollectiveWaiting, JobAnswers, RankStraggler, Waiting};

    /// Two ranks that worked together for 1 000, after loading, and waited so much of 400 in collectives, of which every second call was
    /// compared.
    fn waited(waiting_ns: [u64; 2]) -> JobAnswers {
        let mut job = job(2);
        let row = |(place, waiting_ns)| RankWaitingRow {
            place,
            total_ns: 400,
            n_matched: 2,
            transfer_ns: 200 - waiting_ns,
            waiting_ns,
            within_ns: 1_000,
            ..RankWaitingRow::default()
        };
        job.members.iter_mut().for_each(|member| member.wall_ns = 30_000);
        job.waiting =
            Some(Waiting { ranks: (0..).zip(waiting_ns).map(row).collect(), ..Waiting::default() });
        job
    }

    #[test]
    fn ranks_that_wait_in_turn_are_found() {
        // 150 and 50 of 200, so 300 and 100 of 400: 400 of 2 000.
        let found = only(check(&RULE, &waited([150, 50])));
        assert!(found.issue.starts_with("Ranks waited 20 % of the time"), "{}", found.issue);
        assert!(found.issue.contains("rank 0 most"), "{}", found.issue);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(300));
    }

    #[test]
    fn without_the_file_of_a_member_it_is_a_lower_bound() {
        let mut job = waited([150, 50]);
        let seen = CollectiveWaiting {
            n_missing: 1,
            transfer_ns: Some(50),
            ..CollectiveWaiting::default()
        };
        job.waiting.as_mut().unwrap().collectives.push(seen);
        let found = only(check(&RULE, &job));
        assert!(
            found.issue.starts_with("Ranks waited at least 20 % of the time"),
            "{}",
            found.issue
        );
    }

    #[test]
    fn ranks_in_step_pass_as_do_those_that_wait_for_a_slow_one() {
        // 10 and 10 of 200: 40 of 2 000.
        let even = check(&RULE, &waited([10, 10]));
        assert!(matches!(even, Outcome::Passed(_)), "{even:?}");
        let mut slow = waited([150, 0]);
        slow.stragglers.ranks = vec![RankStraggler {
            place: 1,
            verdict: StragglerVerdict::Slow,
            ..RankStraggler::default()
        }];
        assert!(matches!(check(&RULE, &slow), Outcome::Passed(_)));
    }

    #[test]
    fn the_rank_that_others_waited_for_is_named() {
        let mut job = waited([150, 50]);
        let rows = &mut job.waiting.as_mut().unwrap().ranks;
        (rows[1].caused_ns, rows[1].n_last) = (150, 2);
        let found = only(check(&RULE, &job));
        assert!(found.issue.contains("mostly for rank 1"), "{}", found.issue);
        let whats: Vec<&str> = found.evidence.iter().map(|one| one.what.as_str()).collect();
        assert_eq!(
            whats[2..],
            ["time that others waited for rank 1", "calls to which rank 1 came last"]
        );
        // Rank 0, which waits most, made the other wait more: it waits for nobody but rank 1.
        job.waiting.as_mut().unwrap().ranks[0].caused_ns = 170;
        let found = only(check(&RULE, &job));
        assert!(found.issue.contains("rank 0 most, mostly for rank 1"), "{}", found.issue);
    }

    #[test]
    fn without_calls_in_common_nobody_can_tell() {
        assert!(matches!(check(&RULE, &job(2)), Outcome::Unknown(_)));
        // 200 of 1 000 were matched: nobody knows what the other 800 are.
        let mut few = waited([150, 50]);
        for row in &mut few.waiting.as_mut().unwrap().ranks {
            row.total_ns = 1000;
        }
        assert!(matches!(check(&RULE, &few), Outcome::Unknown(_)));
    }
}
