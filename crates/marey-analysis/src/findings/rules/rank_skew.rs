//! Does this rank wait for the others?
//!
//! ```text
//! all_reduce   |7|     |2|      |-- 8 --|     |-3-|
//!             first   shortest   waits 6      waits 1      waiting: 7, what is above the shortest; the first sets up
//! barrier      |---- 9 ----|                               all of it is waiting
//! ```
//!
//! One rank sees only its own side: that another one is late, and not which or why.

pub(super) mod trace;

use std::collections::BTreeMap;

use crate::findings::prelude::*;
use crate::intervals::Interval;
use crate::quantity::rounded_percent;
use crate::questions::work::{Call, Work, calls};
use crate::whereabouts::main_thread;

pub(super) const RULE: Rule = Rule {
    id: "rank-skew",
    category: Category::Scaling,
    checks: "a rank waits for the others",
    limits: &["rank_wait_ratio"],
    saves: "no estimate; at most the time of each call above the shortest of its kind",
    of: &[
        Check::Run(
            "a job of several ranks; sections named as collectives (`all_reduce`, `all_gather`, `all_to_all`, `barrier`)",
            check,
        ),
        Check::Trace(
            "time that a rank waits for others, as a share of the longest trace; needs the files of several ranks of one job",
            trace::check,
        ),
    ],
};

/// So many calls of a collective, the first apart, tell how long it takes without waiting.
const ENOUGH_CALLS: usize = 3;

/// Waits in collectives of one call path.
struct Waits {
    node: u32,
    waited_ns: u64,
    times: Vec<Interval>,
    n_calls: usize,
    is_barrier: bool,
}

fn check(facts: &Facts<'_>) -> Outcome {
    let Some(world_size) = facts.run.info.world_size.filter(|n| *n > 1) else {
        return Outcome::Unknown("the run is no rank of a job of several".into());
    };
    let collectives = calls(facts.run, |name| Work::Collective.is_of(name));
    if collectives.each.is_empty() {
        return Outcome::Unknown(
            "no section is named as a collective (all_reduce, all_gather, all_to_all, barrier)"
                .into(),
        );
    }
    let n_missing = collectives.n_missing;
    let mut by_node: BTreeMap<u32, Vec<Call>> = BTreeMap::new();
    for call in collectives.of_thread(main_thread(facts.run)).each {
        by_node.entry(call.node).or_default().push(call);
    }
    let judged: Vec<Waits> =
        by_node.into_iter().filter_map(|(node, calls)| waits(facts, node, &calls)).collect();
    if judged.is_empty() {
        return Outcome::Unknown(format!(
            "no collective of the main thread was called {} times, which it takes to know how long it is without waiting",
            ENOUGH_CALLS + 1
        ));
    }
    let waited_ns = judged.iter().fold(0u64, |sum, w| sum.saturating_add(w.waited_ns));
    let share = facts.share_of_wall(waited_ns);
    if share <= facts.thresholds.rank_wait_ratio {
        let what =
            format!("waiting for other ranks took {} of the wall time", rounded_percent(share));
        return Outcome::passed_without(n_missing, what);
    }
    Outcome::Found(vec![finding(facts, judged, share, world_size)])
}

/// What one collective waited, its first call apart; `None` for one that was not called often enough.
fn waits(facts: &Facts<'_>, node: u32, calls: &[Call]) -> Option<Waits> {
    let later = calls.get(1..).filter(|later| later.len() >= ENOUGH_CALLS)?;
    let name = facts.run.nodes.get(node as usize).map_or("", |n| n.name.as_str());
    let is_barrier = Work::Barrier.is_of(name);
    let shortest_ns = later.iter().map(|call| call.time.length_ns()).min()?;
    let work_ns = if is_barrier { 0 } else { shortest_ns };
    let wait_ns = |call: &Call| call.time.length_ns().saturating_sub(work_ns);
    Some(Waits {
        node,
        waited_ns: later.iter().fold(0, |sum, call| sum.saturating_add(wait_ns(call))),
        times: later.iter().filter(|call| wait_ns(call) > 0).map(|call| call.time).collect(),
        n_calls: later.len(),
        is_barrier,
    })
}

fn finding(facts: &Facts<'_>, mut judged: Vec<Waits>, share: f64, world_size: u32) -> Finding {
    judged.sort_by_key(|waits| std::cmp::Reverse(waits.waited_ns));
    let waited_ns = judged.iter().fold(0u64, |sum, w| sum.saturating_add(w.waited_ns));
    let waited_ns = waited_ns.min(facts.run.wall_ns);
    let n_calls: usize = judged.iter().map(|w| w.n_calls).sum();
    let rank = facts.run.info.rank;
    Finding {
        severity: Severity::of_share(share),
        issue: format!(
            "{} of {world_size} waits for the others for {} of the wall time",
            rank.map_or("A rank".to_owned(), |rank| format!("Rank {rank}")),
            rounded_percent(share)
        ),
        remedy: "Look at the rank that waits least: it is the late one. Give all ranks the same number of tokens and the same \
                 steps, keep decoding, saving and logging off rank 0, pin each process to the cores near its GPU."
            .into(),
        evidence: vec![
            Evidence::ratio("share of the wall time", share)
                .against(facts.thresholds.rank_wait_ratio),
            Evidence::ns("time in collectives above the shortest call of each", waited_ns),
            Evidence::count("calls", n_calls as u64),
        ],
        intervals: Finding::longest(judged.iter().flat_map(|w| w.times.iter().copied())),
        node: judged.first().map(|w| w.node),
        saving: Some(Saving::of_time(
            None,
            waited_ns,
            "the time above the shortest call of each collective, which stands for the transfer itself",
        )),
        // Calls that move more also take longer.
        confidence: if judged.iter().all(|w| w.is_barrier) {
            Confidence::Medium
        } else {
            Confidence::Low
        },
        ..RULE.finding()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use crate::findings::rules::tests::{check_run, only};
    use marey::Run;
    use marey_testing::RunBuilder;

    /// Calls of these lengths, one each 20 ns, in a run of 100.
    fn rank(name: &str, lengths: &[u64], world_size: Option<u32>) -> Run {
        let mut builder = RunBuilder::new();
        for (at, length_ns) in lengths.iter().enumerate() {
            let start_ns = at as u64 * 20;
            builder = builder.section(name, start_ns, start_ns + length_ns, |_| {});
        }
        let about = |run: &mut Run| {
            run.info.rank = Some(1);
            run.info.world_size = world_size;
        };
        builder.with(about).finish(100)
    }

    #[test]
    fn what_is_above_the_shortest_call_is_waiting_and_the_first_does_not_count() {
        // 19 | 2, 8, 3: 0 + 6 + 1 of 100.
        let found = only(check_run(&RULE, &rank("all_reduce", &[19, 2, 8, 3], Some(2))));
        assert_eq!(found.evidence[1].figure.value, 7.0);
        assert_eq!(found.issue, "Rank 1 of 2 waits for the others for 7 % of the wall time");
        assert_eq!(found.confidence, Confidence::Low);
        assert_eq!(found.intervals.len(), 2);
    }

    #[test]
    fn in_a_barrier_everything_is_waiting() {
        let found = only(check_run(&RULE, &rank("barrier", &[9, 2, 2, 2], Some(2))));
        assert_eq!(found.evidence[1].figure.value, 6.0);
        assert_eq!(found.confidence, Confidence::Medium);
    }

    #[test]
    fn a_twentieth_of_the_time_is_not_above_it() {
        let passed = check_run(&RULE, &rank("all_reduce", &[19, 2, 6, 3], Some(2)));
        let expected = "waiting for other ranks took 5 % of the wall time";
        assert_eq!(passed, Outcome::Passed(expected.into()));
    }

    #[test]
    fn calls_that_are_in_the_totals_only_may_have_waited() {
        let mut run = rank("all_reduce", &[19, 2, 6, 3], Some(2));
        run.totals[1].count = 9;
        let unknown = "waiting for other ranks took 5 % of the wall time, \
                       but 5 calls of such sections were not recorded one by one";
        assert_eq!(check_run(&RULE, &run), Outcome::Unknown(unknown.into()));
    }

    #[test]
    fn a_single_process_and_a_rank_without_collectives_cannot_tell() {
        for run in [
            rank("all_reduce", &[9, 2, 8, 3], None),
            rank("all_reduce", &[9, 2, 8, 3], Some(1)),
            rank("all_reduce", &[9, 2, 8], Some(2)),
            rank("denoise", &[9, 2, 8, 3], Some(2)),
        ] {
            assert!(matches!(check_run(&RULE, &run), Outcome::Unknown(_)));
        }
    }
}
