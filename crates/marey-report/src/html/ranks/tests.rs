use marey_analysis::job::StagePiece;
use marey_analysis::ranks::{HeatMap, IterationsOverRanks, Member, RankStraggler};

use super::*;

/// Ranks whose strips have pieces of 8 ns, 10 ns apart, in turn `even` and `odd`; rank 3 has the highest score.
fn job(n_ranks: u32, n_pieces: u64) -> JobAnswers {
    let piece =
        |n: u64| StagePiece { name: u32::from(n % 2 == 1), start_ns: n * 10, end_ns: n * 10 + 8 };
    let mut job = JobAnswers { span_ns: n_pieces * 10, ..JobAnswers::default() };
    for rank in 0..n_ranks {
        job.members.push(Member {
            rank: Some(rank),
            stages: (0..n_pieces).map(piece).collect(),
            stage_names: vec!["even".into(), "odd".into()],
            ..Member::default()
        });
    }
    let straggler = |place| RankStraggler { place, ..RankStraggler::default() };
    job.stragglers.ranks = vec![straggler(3)];
    job
}

fn iterations(n_ranks: u32, n_cells: u32) -> IterationsOverRanks {
    let cell = |at: u32| (at % 7 != 6).then(|| u64::from(at));
    of(HeatMap {
        places: (0..n_ranks).collect(),
        n_cells,
        durations_ns: (0..n_ranks * n_cells).map(cell).collect(),
        own_ns: Vec::new(),
    })
}

fn of(heat_map: HeatMap) -> IterationsOverRanks {
    IterationsOverRanks { heat_map, ..IterationsOverRanks::default() }
}

#[test]
fn a_collective_and_a_stage_of_one_name_are_two_names() {
    let mut job = job(1, 3);
    job.members[0].stage_names = vec!["reduce".into(), "reduce".into()];
    job.members[0].communication_names = vec![1];
    let mut columns = Columns::default();
    let found = strips::strips(&job, 3, &mut columns);
    let found = serde_json::to_value(found).unwrap();
    // Two pieces of the stage, one of the collective.
    assert_eq!(found["names"], serde_json::json!(["reduce", "reduce"]));
    assert_eq!(found["communication"], serde_json::json!([1]));
    assert_eq!(columns.bytes[..3], [0, 1, 0]);
}

#[test]
fn where_there_is_no_room_for_all_pieces_ranks_have_no_strip() {
    // 4 ranks of 100 pieces: 200 are those of two, rank 3 with the highest score and the first of the others.
    let found = strips::strips(&job(4, 100), 200, &mut Columns::default());
    let found = serde_json::to_value(found).unwrap();
    assert_eq!(found["places"], serde_json::json!([0, 3]));
    assert_eq!(found["n_pieces"], serde_json::json!([100, 100]));
    assert_eq!(found["n_left_out"], 2);
}

#[test]
fn of_too_many_ranks_those_with_the_highest_scores_stay_and_others_evenly() {
    let places: Vec<u32> = (0..100).collect();
    let kept = chosen(&job(100, 0), &places, 5);
    // Of the other 99 the ones at 0, 24, 49, 74.
    assert_eq!(kept, [0, 3, 25, 50, 75]);
    assert_eq!(chosen(&job(100, 0), &places, 100), places);
}

#[test]
fn a_map_tells_nothing_known_from_nothing_and_keeps_the_rows_of_its_ranks() {
    let mut columns = Columns::default();
    let found = maps::map(&job(4, 0), &iterations(4, 2), 100, &mut columns);
    let expected = serde_json::json!({
        "places": [0, 1, 2, 3], "n_cells": 2, "unit_ns": 1, "has_own": false, "n_rows_left_out": 0,
        "per_cell": 0, "counts_differ": null, "columns": [],
    });
    assert_eq!(serde_json::to_value(found).unwrap(), expected);
    assert_eq!(columns.bytes, [1, 2, 3, 4, 5, 6, 0, 8]);

    // Room for two rows: rank 3, and the first of the others.
    let mut columns = Columns::default();
    let found = maps::map(&job(4, 0), &iterations(4, 2), 5, &mut columns);
    let found = serde_json::to_value(found).unwrap();
    assert_eq!(found["places"], serde_json::json!([0, 3]));
    assert_eq!(found["n_rows_left_out"], 2);
    assert_eq!(columns.bytes, [1, 2, 0, 8]);
}

#[test]
fn a_map_that_lacks_cells_or_has_the_longest_durations_is_drawn_as_far_as_it_goes() {
    let mut columns = Columns::default();
    let short = of(HeatMap {
        places: vec![0, 9],
        n_cells: 2,
        durations_ns: vec![Some(u64::MAX)],
        own_ns: Vec::new(),
    });
    let found = maps::map(&job(1, 0), &short, 100, &mut columns);
    let found = serde_json::to_value(found).unwrap();
    assert_eq!(found["unit_ns"], 1_u64 << 44);
    // 2^20 in the first of four cells, by planes.
    let planes = [[0, 0, 0, 0], [0, 0, 0, 0], [16, 0, 0, 0]];
    assert_eq!(columns.bytes, planes.concat());
}

#[test]
fn a_page_of_a_thousand_ranks_has_a_few_megabytes() {
    let mut job = job(1_024, 256);
    job.steps = Some(iterations(1_024, 512));
    let answers = RanksAnswers { jobs: vec![job], ..RanksAnswers::default() };
    let bytes = html_ranks(&answers).len();
    assert!(bytes < 4_000_000, "{bytes}");
}
