//! Does a rank wait for another?
//!
//! ```text
//! rank 0   |--compute--|--------all_reduce--------|      waits for rank 1
//! rank 1   |----------compute----------|all_reduce|      the last to come
//! ```

use super::RULE;
use crate::findings::Thresholds;
use crate::findings::prelude::*;
use crate::findings::trace_facts::{TraceFacts, Won, saving};
use crate::quantity::rounded_percent;
use crate::{RankCommunication, RankWaiting};

pub(super) fn check(facts: &TraceFacts<'_>) -> Outcome {
    match &facts.answers.ranks {
        None => Outcome::Unknown(
            "the file is of one rank; analyze the files of all ranks of the job together".into(),
        ),
        Some(ranks) => of_ranks(ranks, facts.answers.span_ns, facts.thresholds),
    }
}

/// Of ranks whose longest trace takes `span_ns`.
pub(in crate::findings) fn of_ranks(
    ranks: &RankCommunication,
    span_ns: u64,
    thresholds: &Thresholds,
) -> Outcome {
    let known = || ranks.ranks.iter().filter(|rank| rank.waiting_ns.is_some());
    let most = known().max_by_key(|rank| rank.waiting_ns);
    let late = known().min_by_key(|rank| rank.waiting_ns);
    let Some((most, late)) = most.zip(late).filter(|_| span_ns > 0) else {
        return Outcome::Unknown("the ranks have no calls in common".into());
    };
    let waiting_ns = most.waiting_ns.unwrap_or_default().min(span_ns);
    let share = ratio(waiting_ns.into(), span_ns.into());
    let limit = thresholds.rank_wait_ratio;
    if share <= limit {
        let (who, shown) = (named(most), rounded_percent(share));
        return Outcome::Passed(format!("{who} waited most, {shown} of the time"));
    }
    Outcome::Found(vec![finding(most, late, (waiting_ns, span_ns, share), limit)])
}

fn finding(
    most: &RankWaiting,
    late: &RankWaiting,
    (waiting_ns, span_ns, share): (u64, u64, f64),
    limit: f64,
) -> Finding {
    let mut evidence = vec![
        Evidence::ratio("share of the time that it waits", share).against(limit),
        Evidence::ns("time that it waits", waiting_ns),
    ];
    let of_late = [
        ("time that the late rank waits", late.waiting_ns, FigureUnit::Ns),
        ("calls to which the late rank came last", late.n_last, FigureUnit::Count),
        ("calls of it that were compared", Some(late.n_matched), FigureUnit::Count),
    ];
    evidence.extend(
        of_late
            .into_iter()
            .filter_map(|(what, value, unit)| Some(Evidence::new(what, float(value?), unit))),
    );
    let issue = format!(
        "{} waited {} of the time for other ranks in collectives; {} waited least, so that others wait for it",
        named(most),
        rounded_percent(share),
        named(late)
    );
    let remedy = "Look at what the late rank does before its collectives (its own trace, its GPU's clocks, its share of the data), \
         and give ranks even work.";
    let how = "what the calls of the rank that waits most took longer than the shortest of each";
    let saved = saving(&Won::Within(span_ns), None, waiting_ns, how);
    let confidence = Confidence::Medium;
    Finding { evidence, confidence, ..RULE.found(share, issue, remedy, saved) }
}

fn named(rank: &RankWaiting) -> String {
    match rank.rank {
        Some(rank) => format!("Rank {rank}"),
        None => "A rank".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::rules::tests::only;

    fn rank(rank: i64, waiting_ns: u64, n_last: u64) -> RankWaiting {
        RankWaiting {
            rank: Some(rank),
            n_calls: 10,
            n_matched: 10,
            total_ns: Some(waiting_ns + 100),
            transfer_ns: Some(100),
            waiting_ns: Some(waiting_ns),
            waiting_ratio: None,
            n_last: Some(n_last),
        }
    }

    fn ranks(ranks: Vec<RankWaiting>) -> RankCommunication {
        RankCommunication { ranks, collectives: Vec::new() }
    }

    #[test]
    fn the_rank_that_waits_and_the_one_that_is_late_are_named() {
        let uneven = ranks(vec![rank(0, 200, 1), rank(1, 10, 9)]);
        let found = only(of_ranks(&uneven, 1_000, &Thresholds::default()));
        assert!(found.issue.starts_with("Rank 0 waited 20 %"), "{}", found.issue);
        assert!(found.issue.contains("Rank 1 waited least"), "{}", found.issue);
        assert_eq!(found.saving.unwrap().at_most_ns, Some(200));
    }

    #[test]
    fn ranks_in_step_pass_and_ranks_without_calls_in_common_are_not_known() {
        let even = ranks(vec![rank(0, 20, 5), rank(1, 10, 5)]);
        let limits = Thresholds::default();
        assert!(matches!(of_ranks(&even, 1_000, &limits), Outcome::Passed(_)));
        assert!(matches!(of_ranks(&even, 0, &limits), Outcome::Unknown(_)));
        let nothing = ranks(Vec::new());
        let outcome = of_ranks(&nothing, 1_000, &limits);
        assert!(matches!(outcome, Outcome::Unknown(_)));
    }
}
