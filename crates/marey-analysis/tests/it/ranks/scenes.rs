//! Jobs that are drawn, with figures by hand.

use marey_analysis::Interval;
use marey_analysis::job::Ended;
use marey_analysis::ranks::{ClockMethod, JobAnswers, MemberState, StragglerVerdict};

use super::drawn::{Drawn, MS, START, job};

/// Rules that found something.
fn found(job: &JobAnswers) -> Vec<&'static str> {
    job.findings.found.iter().map(|one| one.rule).collect()
}

/// Rank 2 computes for 15, the others for 10; the reduction itself takes 1.
///
/// ```text
/// step       |------ warm-up: 0 to 40 ------|-- 40 to 56 --|-- 56 to 72 --|-- 72 to 88 --|
/// rank 0, 1, 3                              |-- 10 --|---6-|               own 16 - 5 = 11
/// rank 2                                    |----- 15 ----|1               own 16
/// ```
fn with_a_slow_rank() -> Vec<Drawn> {
    let compute = |rank: u32| if rank == 2 { 15 } else { 10 };
    (0..4)
        .map(|rank| {
            let of = compute(rank);
            Drawn::new(rank, 4).steps(&[(39, 40), (of, 56), (of, 72), (of, 88)])
        })
        .collect()
}

#[test]
fn a_slow_rank_is_told_from_those_that_wait_for_it() {
    let job = job(with_a_slow_rank());
    let stragglers = &job.stragglers;
    assert!(stragglers.is_waiting_known);
    let verdicts: Vec<(u32, u64, Option<u64>, StragglerVerdict)> =
        stragglers.ranks.iter().map(|r| (r.place, r.own_ns, r.waiting_ns, r.verdict)).collect();
    let waits = |place| (place, 11 * MS, Some(5 * MS), StragglerVerdict::Waits);
    assert_eq!(
        verdicts,
        [(2, 16 * MS, Some(0), StragglerVerdict::Slow), waits(0), waits(1), waits(3)]
    );
    // 16 against 11.
    assert!((stragglers.ranks[0].score - 5.0 / 11.0).abs() < 1e-9);
    assert_eq!(found(&job), ["slow-rank"]);
}

#[test]
fn a_rank_whose_calls_failed_is_not_slow_for_it() {
    // rank 3, each steady step     |-- 10 --|all_reduce 6|--- 20: a barrier gives up ---x     own 16 - 5 = 11, as before
    let of = |rank: u32, drawn: Drawn| match rank {
        3 => drawn.with(|summary| {
            let cells = summary.steps.iter_mut().flat_map(|steps| &mut steps.cells);
            for cell in cells.skip(1) {
                cell.total_ns += 20 * MS;
                cell.failed_ns = 20 * MS;
            }
        }),
        _ => drawn,
    };
    let job = job((0..).zip(with_a_slow_rank()).map(|(rank, one)| of(rank, one)));
    let ranks = &job.stragglers.ranks;
    let row = ranks.iter().find(|row| row.place == 3).unwrap();
    assert_eq!((row.own_ns, row.waiting_ns), (11 * MS, Some(5 * MS)));
    assert_eq!(row.verdict, StragglerVerdict::Waits);
}

#[test]
fn calls_that_were_not_matched_wait_like_those_that_were() {
    // Steady steps of rank 0; its calls and those of others have these names:
    //    |-- 10 --|all_reduce 6|-- 10 --|all_reduce 6|-- 10 --|  send 6  |
    // Of 12 matched 10 are waiting: 5 of each step's 6, so that 11 is its own as if all had been matched.
    let with_messages = with_a_slow_rank().into_iter().map(|one| {
        one.with(|summary| {
            let reductions = &mut summary.collectives[0];
            let mut messages = reductions.clone();
            messages.name = "send".into();
            messages.calls = reductions.calls.split_off(3);
            for sums in [reductions, &mut messages] {
                sums.count = sums.calls.len() as u64;
                sums.total_ns = sums.calls.iter().map(Interval::length_ns).sum();
            }
            summary.collectives.push(messages);
        })
    });
    let stragglers = job(with_messages).stragglers;
    let own_ms: Vec<(u32, u64)> =
        stragglers.ranks.iter().map(|rank| (rank.place, rank.own_ns / MS)).collect();
    assert_eq!(own_ms, [(2, 16), (0, 11), (1, 11), (3, 11)]);
}

#[test]
fn of_two_ranks_whose_steps_scatter_none_is_called_slow() {
    // Steady steps of rank 0: 10 20 10 20 10 20, of rank 1: 20 10 20 20 10 20; medians of 10 and 20, each off by much more.
    let steps = |lengths: [u64; 6]| {
        let mut at = 40;
        let mut drawn = vec![(39, 40)];
        for of in lengths {
            at += of + 1;
            drawn.push((of, at));
        }
        drawn
    };
    let ranks = |lengths: [[u64; 6]; 2]| {
        let each = (0..2).zip(lengths);
        each.map(|(rank, lengths)| Drawn::new(rank, 2).steps(&steps(lengths))).collect::<Vec<_>>()
    };
    let slow = |job: &JobAnswers| {
        let ranks = job.stragglers.ranks.iter();
        ranks.filter(|rank| rank.verdict == StragglerVerdict::Slow).count()
    };
    let scattered = job(ranks([[10, 20, 10, 20, 10, 20], [20, 10, 20, 20, 10, 20]]));
    assert_eq!(slow(&scattered), 0);
    // As much longer in each step is no chance.
    assert_eq!(slow(&job(ranks([[10; 6], [20; 6]]))), 1);
}

#[test]
fn who_starts_late_is_not_who_holds_the_work_up() {
    // rank 0   |--- init_process_group, 500 ---|10 |all_reduce...
    // rank 2               it starts late:   |1|
    let starts = |one: Drawn| {
        let late = one.summary.process.rank == Some(2);
        let start_ns = if late { 499 * MS } else { 0 };
        let call = Interval { start_ns, end_ns: 500 * MS };
        one.collective("init_process_group", vec![call])
    };
    let without = job(with_a_slow_rank()).waiting.unwrap();
    let with = job(with_a_slow_rank().into_iter().map(starts)).waiting.unwrap();
    assert_eq!(with.ranks, without.ranks);
    // Its row stands: three ranks waited 499 each.
    let marked: Vec<_> = with.collectives.iter().filter(|row| row.is_start_up).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(
        (marked[0].name.as_str(), marked[0].waiting_ns),
        ("init_process_group", Some(3 * 499 * MS))
    );
}

#[test]
fn without_collectives_a_slow_rank_is_not_told_from_one_that_waits() {
    let without = with_a_slow_rank().into_iter().map(|one| {
        one.with(|summary| {
            summary.collectives.clear();
            for cell in summary.steps.iter_mut().flat_map(|steps| &mut steps.cells) {
                cell.communication_ns = None;
            }
        })
    });
    let job = job(without);
    assert!(!job.stragglers.is_waiting_known);
    assert!(job.stragglers.basis.contains("cannot be told"));
    let verdicts = job.stragglers.ranks.iter().map(|rank| rank.verdict);
    assert!(verdicts.into_iter().all(|one| one == StragglerVerdict::Unknown));
    assert_eq!(job.waiting, None);
    assert!(found(&job).is_empty());
}

#[test]
fn a_rank_that_is_longer_is_not_called_slow_where_waiting_is_not_known() {
    // Steps of 16 against 11: whether it works or waits in them nobody recorded.
    let of = |rank: u32| {
        let ms = if rank == 2 { 16 } else { 11 };
        Drawn::new(rank, 4).steps(&[(1, 40), (1, 40 + ms), (1, 40 + 2 * ms)]).with(|summary| {
            summary.collectives.clear();
            for cell in summary.steps.iter_mut().flat_map(|steps| &mut steps.cells) {
                cell.communication_ns = None;
            }
        })
    };
    let job = job((0..4).map(of));
    let first = &job.stragglers.ranks[0];
    assert_eq!((first.place, first.own_ns), (2, 16 * MS));
    assert_eq!(first.verdict, StragglerVerdict::Unknown);
    assert!(found(&job).is_empty(), "{:?}", job.findings.found);
}

#[test]
fn even_ranks_have_no_findings() {
    let even = (0..4).map(|rank| Drawn::new(rank, 4).steps(&[(39, 40), (15, 56), (15, 72)]));
    let job = job(even);
    assert!(found(&job).is_empty(), "{:?}", job.findings.found);
    assert_eq!(job.clocks.error_ns, Some(MS));
}

#[test]
fn a_clock_that_is_5_seconds_ahead_is_found_out_from_barriers() {
    // True time            0        100 102        200 201
    // rank 0  began at 0   |         |-|            ||          on its own clock the same
    // rank 1  began at 10            ||             |-|         its wall clock is 5 s ahead
    //
    // rank 0 was within 99 to 102 and 198 to 201, rank 1 within 100 to 102 and 200 to 202 of true time. Seen from rank 0's clock, what
    // rank 1's has to be put forward by lies, less 5 s, between 99 - 102 = -3 and 102 - 100 = 2, and between 198 - 202 = -4 and
    // 201 - 200 = 1: -3 to 1, in the middle -1, right within 2. The truth is 0.
    let ahead_ns = 5_000 * MS;
    let ranks = [
        Drawn::new(0, 2).barriers(&[(99, 102), (198, 201)]),
        Drawn::new(1, 2)
            .barriers(&[(90, 92), (190, 192)])
            .with(|summary| summary.process.start_unix_ns = START + ahead_ns + 10 * MS),
    ];
    let clocks = job(ranks).clocks;
    let rank_1 = clocks.each[1];
    assert_eq!(rank_1.method, ClockMethod::Collectives);
    assert_eq!(rank_1.correction_ns, -5_001_000_000);
    assert_eq!(rank_1.error_ns, Some(2 * MS));
    // It began at 10: 9 is right within 2.
    assert_eq!(rank_1.start_ns, Some(9 * MS));
    assert_eq!((clocks.each[0].start_ns, clocks.each[0].error_ns), (Some(0), Some(0)));
    assert_eq!((clocks.start_unix_ns, clocks.error_ns), (Some(START), Some(2 * MS)));
    assert!(clocks.note.contains("right within 2.00 ms"), "{}", clocks.note);
}

#[test]
fn clocks_that_drift_say_so_and_have_a_wider_error() {
    // rank 1's clock runs ahead by 0 at first and by 40 ms in the end:
    // rank 0     100 |-| 101               1 000 |-| 1 002
    // rank 1     100 |-| 101               1 040 |-| 1 042
    // bounds     -1 to 1                   -42 to -38
    // No offset fits: the middle of -38 and -1 is -19.5, half of 37 and the width of 4 the error.
    let ranks = [
        Drawn::new(0, 2).barriers(&[(100, 101), (1000, 1002)]),
        Drawn::new(1, 2).barriers(&[(100, 101), (1040, 1042)]),
    ];
    let clocks = job(ranks).clocks;
    assert_eq!(clocks.each[1].correction_ns, -19_500_000);
    assert_eq!(clocks.each[1].error_ns, Some(22_500_000));
    assert!(clocks.note.contains("drifted"), "{}", clocks.note);
    assert!(clocks.note.contains("37.0 ms"), "{}", clocks.note);
}

#[test]
fn a_clock_without_calls_in_common_is_reached_over_another_one() {
    // group a: rank 0 and 1, group b: rank 1 and 2. Each bound is 2 wide on either side.
    let in_group = |name: &'static str, drawn: Drawn| {
        let call = Interval { start_ns: 10 * MS, end_ns: 12 * MS };
        let drawn = drawn.collective("barrier", vec![call]);
        drawn.with(|summary| {
            if let Some(last) = summary.collectives.last_mut() {
                last.group = Some(name.to_owned());
            }
        })
    };
    let ranks = [
        in_group("a", Drawn::new(0, 3)),
        in_group("b", in_group("a", Drawn::new(1, 3))),
        in_group("b", Drawn::new(2, 3)),
    ];
    let clocks = job(ranks).clocks;
    let errors: Vec<Option<u64>> = clocks.each.iter().map(|one| one.error_ns).collect();
    assert_eq!(errors, [Some(0), Some(2 * MS), Some(4 * MS)]);
}

#[test]
fn ranks_of_one_machine_read_one_clock_and_others_without_calls_only_their_own() {
    let on_boot = |rank: u32, boot: &str| {
        let boot = boot.to_owned();
        Drawn::new(rank, 3).steps(&[(10, 20)]).with(move |summary| {
            summary.process.boot_id = boot;
            summary.collectives.clear();
            summary.process.start_unix_ns += u64::from(rank) * MS;
        })
    };
    let clocks = job([on_boot(0, "x"), on_boot(1, "x"), on_boot(2, "y")]).clocks;
    let methods: Vec<ClockMethod> = clocks.each.iter().map(|one| one.method).collect();
    assert_eq!(methods, [ClockMethod::SameClock, ClockMethod::SameClock, ClockMethod::WallClock]);
    let starts: Vec<Option<u64>> = clocks.each.iter().map(|one| one.start_ns).collect();
    assert_eq!(starts, [Some(0), Some(MS), Some(2 * MS)]);
    assert_eq!((clocks.each[1].error_ns, clocks.error_ns), (Some(0), None));
}

#[test]
fn marks_align_where_no_collective_does_and_their_error_is_not_known() {
    // rank 0    4 x
    // rank 1   1 x         3 ahead of it, if they set their marks at one moment
    let clocks = job([Drawn::new(0, 2).marks(&[4]), Drawn::new(1, 2).marks(&[1])]).clocks;
    let rank_1 = clocks.each[1];
    assert_eq!(
        (rank_1.method, rank_1.correction_ns, rank_1.error_ns),
        (ClockMethod::StartMarks, 3_000_000, None)
    );
    assert_eq!(clocks.error_ns, None);
    assert_eq!(
        clocks.note,
        "1 of 2 ranks were aligned by marks that ranks set at about the same time; how far apart is not known, so that the error is not, either."
    );
}

#[test]
fn marks_that_scatter_say_so_and_bound_nothing() {
    // rank 0    4 x      100 x      200 x
    // rank 1   1 x     90 x      195 x           3, 10 and 5 ahead of it: 5, scattered over 7
    let ranks = [Drawn::new(0, 2).marks(&[4, 100, 200]), Drawn::new(1, 2).marks(&[1, 90, 195])];
    let clocks = job(ranks).clocks;
    let rank_1 = clocks.each[1];
    assert_eq!((rank_1.correction_ns, rank_1.error_ns), (5_000_000, None));
    assert!(clocks.note.contains("scatters over 7.00 ms"), "{}", clocks.note);
}

#[test]
fn marks_that_ranks_set_in_different_numbers_align_nothing() {
    // The first mark of rank 1 may be the second one of rank 0.
    let methods = |ended: Ended| -> Vec<ClockMethod> {
        let ranks = [
            Drawn::new(0, 2).marks(&[4, 100]),
            Drawn::new(1, 2).marks(&[1]).with(|summary| summary.ended = ended),
        ];
        let each = job(ranks).clocks.each;
        each.iter().map(|clock| clock.method).collect()
    };
    let (same, wall) = (ClockMethod::SameClock, ClockMethod::WallClock);
    assert_eq!(methods(Ended::Finished), [same, wall]);
    // Those of a killed rank are the first ones.
    assert_eq!(methods(Ended::Killed(9)), [same, ClockMethod::StartMarks]);
}

#[test]
fn the_start_of_the_processes_aligns_where_no_other_collective_does() {
    let started = |rank: u32, [start_ms, end_ms]: [u64; 2]| {
        let call = Interval { start_ns: start_ms * MS, end_ns: end_ms * MS };
        let drawn = Drawn::new(rank, 2).collective("init_process_group", vec![call]);
        // Marks have nothing to say where it does.
        drawn.marks(&[900 * u64::from(rank)]).with(|summary| {
            summary.collectives[0].is_synchronising = false;
        })
    };
    let on_boot = |boot: &str, drawn: Drawn| {
        let boot = boot.to_owned();
        drawn.with(|summary| summary.process.boot_id = boot)
    };
    // rank 0     4 |--| 7
    // rank 1   1 |--| 4           between 4 - 4 = 0 and 7 - 1 = 6
    let clocks = job([started(0, [4, 7]), started(1, [1, 4])]).clocks;
    let rank_1 = clocks.each[1];
    assert_eq!(
        (rank_1.method, rank_1.correction_ns, rank_1.error_ns),
        (ClockMethod::Collectives, 3_000_000, Some(3 * MS))
    );
    assert!(clocks.note.ends_with("had come is assumed."), "{}", clocks.note);
    // On one clock, a rank that leaves before the other comes contradicts nobody, and shows that it is no meeting: marks align rank 2.
    let torn = || [on_boot("one", started(0, [4, 7])), on_boot("one", started(1, [8, 9]))];
    let clocks = job(torn()).clocks;
    assert_eq!(clocks.error_ns, Some(0));
    assert!(!clocks.note.contains("contradict"), "{}", clocks.note);
    let clocks = job(torn().into_iter().chain([started(2, [1, 4])])).clocks;
    assert_eq!(clocks.each[2].method, ClockMethod::StartMarks);
}

#[test]
fn marks_of_one_clock_say_nothing_and_are_no_communication() {
    // rank 0   10 |barrier| 12   13 x
    // rank 1   11 |barrier| 12         32 x
    let on_one = |rank: u32, barriers: &[(u64, u64)], mark: u64| {
        let drawn = Drawn::new(rank, 2).barriers(barriers).marks(&[mark]);
        drawn.with(|summary| {
            summary.process.boot_id = "one".into();
            if barriers.is_empty() {
                summary.collectives.clear();
            }
        })
    };
    let with_barrier = job([on_one(0, &[(10, 12)], 13), on_one(1, &[(11, 12)], 32)]);
    let clocks = &with_barrier.clocks;
    assert_eq!(clocks.error_ns, Some(0));
    assert!(!clocks.note.contains("contradict"), "{}", clocks.note);
    let waiting = with_barrier.waiting.unwrap();
    let calls: Vec<u64> = waiting.ranks.iter().map(|row| row.n_calls).collect();
    assert_eq!((calls, waiting.collectives.len()), (vec![1, 1], 1));
    let alone = job([on_one(0, &[], 13), on_one(1, &[], 32)]);
    assert_eq!(alone.waiting, None);
    // Ranks of one clock that left a barrier before others came are still named: by 20 - 12.
    let torn = job([on_one(0, &[(10, 12)], 13), on_one(1, &[(20, 22)], 32)]);
    assert_eq!(torn.clocks.error_ns, Some(8 * MS));
    assert!(torn.clocks.note.contains("contradict each other by 8.00 ms"));
}

#[test]
fn a_missing_a_killed_and_a_newer_rank_are_named_and_the_rest_is_used() {
    // rank 0   |--step--|--step--|--step--|
    // rank 1   |--step--|--step--x          killed
    // rank 2                                no file
    // rank 3   |--step--|--step--|--step--|  of a later version
    let steps = [(10, 20), (10, 32), (10, 44)];
    let ranks = [
        Drawn::new(0, 4).steps(&steps),
        Drawn::new(1, 4).steps(&steps[..2]).with(|summary| {
            summary.ended = Ended::Killed(9);
        }),
        Drawn::new(3, 4).steps(&steps).with(|summary| {
            summary.marey = Some("0.2.0".into());
        }),
    ];
    let job = job(ranks);
    assert_eq!(job.missing, [2]);
    let states: Vec<MemberState> = job.members.iter().map(|one| one.state).collect();
    assert_eq!(states, [MemberState::Whole, MemberState::Cut, MemberState::Whole]);
    assert_eq!(found(&job), ["lost-ranks", "mixed-versions"]);
    let steps = job.steps.unwrap();
    assert_eq!((steps.count, steps.counts_differ), (8, Some((2, 3))));
    // Its first two calls are matched.
    let n_matched: Vec<u64> = job.waiting.unwrap().ranks.iter().map(|r| r.n_matched).collect();
    assert_eq!(n_matched, [3, 2, 3]);
}
