//! Ranks that work between the calls that all of them share, with figures by hand.

use marey_analysis::Interval;
use marey_analysis::job::{IterationCell, IterationSums};
use marey_analysis::ranks::{JobAnswers, StragglerVerdict};

use super::drawn::{Drawn, MS, job};

/// Four ranks that leave a call each 20 ms, nine times. Each rank works 4 in its step before it comes, and all are in the call for 2. What rank
/// 2 does before a step, in ms, keeps the others waiting:
///
/// ```text
/// ranks 0 1 3   |-step 4-|----------- all_reduce 16 -----------|     waits 14
/// rank 2        |---------- 14 ----------|-step 4-|all_reduce 2|
/// ```
fn with_work_between_steps(more_ms: impl Fn(u64) -> u64) -> Vec<Drawn> {
    with_calls(9, more_ms)
}

/// The same with so many calls.
fn with_calls(n_calls: u64, more_ms: impl Fn(u64) -> u64) -> Vec<Drawn> {
    let of = |rank: u32| {
        let (mut calls, mut cells, mut from) = (Vec::new(), Vec::new(), 0);
        for at in 0..n_calls {
            let before = more_ms(at);
            let comes = from + 4 + before;
            let begins = if rank == 2 { from + before } else { from };
            let call = Interval {
                start_ns: if rank == 2 { comes } else { from + 4 } * MS,
                end_ns: (comes + 2) * MS,
            };
            cells.push(IterationCell {
                start_ns: begins * MS,
                end_ns: call.end_ns,
                total_ns: call.end_ns - begins * MS,
                communication_ns: Some(call.length_ns()),
                ..IterationCell::default()
            });
            calls.push(call);
            from = comes + 2;
        }
        Drawn::new(rank, 4).collective("all_reduce", calls).with(|summary| {
            summary.wall_ns = from * MS;
            summary.steps = Some(IterationSums {
                count: n_calls,
                per_cell: 1,
                cells,
                ..IterationSums::default()
            });
        })
    };
    (0..4).map(of).collect()
}

/// Place, own time in ms and verdict of each rank.
fn own_times(job: &JobAnswers) -> Vec<(u32, u64, StragglerVerdict)> {
    let ranks = job.stragglers.ranks.iter();
    ranks.map(|rank| (rank.place, rank.own_ns / MS, rank.verdict)).collect()
}

#[test]
fn a_rank_that_works_between_its_steps_is_slow_although_its_steps_are_not() {
    // Eight intervals of 20: rank 2 works in all of each, the others in 6 of 20.
    use StragglerVerdict::{Slow, Waits};
    let job = job(with_work_between_steps(|_| 14));
    assert_eq!(own_times(&job), [(2, 160, Slow), (0, 48, Waits), (1, 48, Waits), (3, 48, Waits)]);
    let score = job.stragglers.ranks[0].score;
    assert!((score - (160.0 / 48.0 - 1.0)).abs() < 1e-9, "{score}");
    assert_eq!(job.findings.found[0].rule, "slow-rank");
}

#[test]
fn a_rank_that_was_long_once_is_not_slow() {
    // Once 54 longer, in one of three parts: 102 against 48. Of 54, 0, 0 the standard deviation is 31.2, and √3 times that is 54.
    use StragglerVerdict::Even;
    let job = job(with_work_between_steps(|at| if at == 4 { 54 } else { 0 }));
    assert_eq!(own_times(&job), [(2, 102, Even), (0, 48, Even), (1, 48, Even), (3, 48, Even)]);
}

#[test]
fn a_rank_that_is_long_once_a_step_is_slow_where_a_step_has_several_calls() {
    // Nine intervals, of which every third is 12 longer: 9 · 6 + 3 · 12 = 90 against 54, as much in each part.
    use StragglerVerdict::{Slow, Waits};
    let job = job(with_calls(10, |at| if at % 3 == 0 { 12 } else { 0 }));
    assert_eq!(own_times(&job), [(2, 90, Slow), (0, 54, Waits), (1, 54, Waits), (3, 54, Waits)]);
}

#[test]
fn a_rank_that_is_slow_for_most_of_the_time_is_slow() {
    // 24 intervals, 14 longer in the first 16: 24 · 6 + 16 · 14 = 368 against 144. Over twelve parts of two, eight times 28 and four times 0,
    // the standard deviation is 13.8, and √12 times that is 48.
    use StragglerVerdict::{Even, Slow, Waits};
    let most = job(with_calls(25, |at| if at < 17 { 14 } else { 0 }));
    assert_eq!(
        own_times(&most),
        [(2, 368, Slow), (0, 144, Waits), (1, 144, Waits), (3, 144, Waits)]
    );
    // In the first eight alone: 144 + 112, which scatter as much.
    let less = job(with_calls(25, |at| if at < 9 { 14 } else { 0 }));
    assert_eq!(own_times(&less), [(2, 256, Even), (0, 144, Even), (1, 144, Even), (3, 144, Even)]);
}

#[test]
fn what_a_rank_waits_for_messages_is_not_its_own_work() {
    // Rank 2 comes 14 later because it waits for a message, each time.
    let ranks = with_calls(9, |_| 14);
    let messages = |one: Drawn| {
        if one.summary.process.rank != Some(2) {
            return one;
        }
        let received =
            (0..9).map(|at| Interval { start_ns: 20 * at * MS, end_ns: (20 * at + 14) * MS });
        let received = received.collect();
        one.collective("recv", received)
    };
    let job = job(ranks.into_iter().map(messages));
    let own: Vec<u64> = own_times(&job).iter().map(|(_, own_ms, _)| *own_ms).collect();
    assert_eq!(own, [48, 48, 48, 48]);
}

#[test]
fn what_a_rank_does_in_its_warm_up_is_not_held_against_it() {
    // The second iteration is warm-up, too: what comes before its end is left out, and seven intervals of 6 stay.
    let ranks = with_work_between_steps(|at| if at < 2 { 500 } else { 0 });
    let warm = |one: Drawn| {
        one.with(|summary| {
            let cells = summary.steps.iter_mut().flat_map(|steps| &mut steps.cells);
            cells.take(2).for_each(|cell| cell.is_warm_up = true);
        })
    };
    let own: Vec<u64> =
        own_times(&job(ranks.into_iter().map(warm))).iter().map(|(_, own_ms, _)| *own_ms).collect();
    assert_eq!(own, [42, 42, 42, 42]);
}

#[test]
fn of_two_runs_with_one_call_nobody_is_slow() {
    // rank 0 began to record 60 later, and came last to the only call.
    let of = |rank: u32, comes: u64, wall_ms: u64| {
        let call = Interval { start_ns: comes * MS, end_ns: wall_ms * MS };
        Drawn::new(rank, 2)
            .collective("all_reduce", vec![call])
            .with(|summary| summary.wall_ns = wall_ms * MS)
    };
    let job = job([of(0, 78, 80), of(1, 58, 140)]);
    assert!(job.stragglers.is_waiting_known);
    // 80, and 140 less the 80 that it waited; what of it is chance is not known.
    assert_eq!(
        own_times(&job),
        [(0, 80, StragglerVerdict::Unknown), (1, 60, StragglerVerdict::Unknown)]
    );
}

#[test]
fn a_rank_that_becomes_slow_in_the_last_quarter_is_slow_since_then() {
    // 49 calls, 48 intervals of 6: rank 2 works 9 instead of 6 in the last 12. Over all it works 324 against 288, an eighth more, and by chance
    // as far as thirds tell; since the end of call 36, after 37 calls of 6, it is half as long again.
    use StragglerVerdict::{Slow, Waits};
    let job = job(with_calls(49, |at| if at > 36 { 3 } else { 0 }));
    assert_eq!(
        own_times(&job),
        [(2, 324, Slow), (0, 288, Waits), (1, 288, Waits), (3, 288, Waits)]
    );
    let rank = &job.stragglers.ranks[0];
    assert_eq!((rank.since_ns, rank.since_step), (Some(222 * MS), Some(37)));
    assert!((rank.score - 0.5).abs() < 1e-9, "{}", rank.score);
    let found = &job.findings.found[0];
    assert!(found.issue.contains("since about step 37"), "{}", found.issue);
}
