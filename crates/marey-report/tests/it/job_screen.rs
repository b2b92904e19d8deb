//! The first screen of jobs: ranks by their own numbers.

use marey::{Launch, Run, Status, Thresholds};
use marey_analysis::job::{RankSummary, Ranks};
use marey_analysis::ranks::ranks;
use marey_report::{Cell, FirstScreen, Places, RankedJob};
use marey_testing::RunBuilder;
use serde_json::Value;

use crate::shown_screen::{at_each_width, squeezed, text};

const TENTH: u64 = 100_000;

/// Tenths of milliseconds of one rank: ten steps in denoising, which takes a little more, and what is in no section.
#[derive(Clone, Copy)]
struct Rank {
    step: u64,
    denoise: u64,
    other: u64,
}

/// `other │ model_load 100.1 │ denoise: 10 steps │ vae_decode 100.1`
fn run(rank: u32, of: Rank) -> Run {
    let load = (of.other, of.other + 1001);
    let denoise = (load.1, load.1 + of.denoise);
    let decode = (denoise.1, denoise.1 + 1001);
    let ns = |tenths: u64| tenths * TENTH;
    let mut run = RunBuilder::new()
        .section("model_load", ns(load.0), ns(load.1), |_| {})
        .section("denoise", ns(denoise.0), ns(denoise.1), |s| {
            for n in 0..10 {
                let start = denoise.0 + n * of.step;
                s.iteration("denoising_step", ns(start), ns(start + of.step), |_| {});
            }
        })
        .section("vae_decode", ns(decode.0), ns(decode.1), |_| {})
        .finish(ns(decode.1));
    run.info.rank = Some(rank);
    run.info.world_size = Some(4);
    run.info.job_id = "job".into();
    run.info.host = "node".into();
    run.info.pid = 100 + rank;
    run.info.start_unix_ns = 1_700_000_000_000_000_000;
    run.info.facts.push(("boot_id".into(), "boot".into()));
    run
}

/// Wall times of 604.2, 605.9, 804.7 and 607.5 ms.
fn four() -> Vec<Run> {
    let of = |step, denoise, other| Rank { step, denoise, other };
    let ranks = [of(400, 4008, 32), of(401, 4024, 33), of(601, 6017, 28), of(402, 4040, 33)];
    (0..).zip(ranks).map(|(rank, of)| run(rank, of)).collect()
}

fn ranked(runs: &[Run]) -> RankedJob {
    let mut all = Ranks::default();
    for (n, run) in runs.iter().enumerate() {
        all.add(RankSummary::of_run(run, &format!("rank{n}.marey")));
    }
    let answers = ranks(&all, &Thresholds::default());
    let launch = Launch { wall_ns: Some(8476 * TENTH), ..Launch::default() };
    RankedJob::of(answers, Some(launch)).expect("there is one job")
}

fn screen(runs: &[Run]) -> FirstScreen {
    ranked(runs).screen(Places { full: "marey aggregate runs --full".into(), ..Places::default() })
}

#[test]
fn the_account_of_a_job_is_a_table_that_adds_up() {
    let tables = ranked(&four()).tables();
    let account = tables.iter().find(|table| table.key == "account").unwrap();
    let figures = |row: &Vec<Cell>| match row.as_slice() {
        [Cell::Name(name), Cell::Duration(slow), Cell::Duration(usual), ..] => {
            (name.clone(), slow / TENTH, usual / TENTH)
        }
        _ => panic!("{row:?}"),
    };
    let rows: Vec<(String, u64, u64)> = account.rows.iter().map(figures).collect();
    let row = |name: &str, slow, usual| (name.to_owned(), slow, usual);
    // 804.7 and 605.9 ms in all.
    assert_eq!(
        rows,
        [
            row("denoise", 6017, 4024),
            row("other", 28, 33),
            row("model_load", 1001, 1001),
            row("vae_decode", 1001, 1001),
        ]
    );
}

#[test]
fn the_slowest_rank_stands_beside_the_one_with_the_median() {
    let screen = screen(&four());
    let shown = text(&screen, 100, false);
    // 804.7 / 605.9 = 1.328; 804.7 − 607.5 = 197.2, of 847.6 ms 23.3 %; steps 60.1 / 40.1 = 1.499.
    for expected in [
        "marey: 4 ranks finished in 847.6 ms · rank 2 is slowest: 804.7 ms, +32.8 % against rank 1 (median)",
        "denoise 601.7 ms 402.4 ms +199.3 ms 10 steps: 60.1 against 40.1 ms each",
        "model_load 100.1 ms 100.1 ms 0.0 ms",
        "other 2.8 ms 3.3 ms −0.5 ms",
        "total 804.7 ms 605.9 ms +198.8 ms",
        "Ranks rank 2: 804.7 · rank 3: 607.5 · rank 1: 605.9 · rank 0: 604.2 ms",
        "! Rank 2: the job ends 197 ms after the other ranks (23 % of 847.6 ms)",
        "All 10 steps take longer, +49.9 % in the mean; model_load and vae_decode are even.",
        "Data no collectives recorded: waiting inside steps is not known",
    ] {
        assert!(squeezed(&shown).contains(expected), "{expected}\n{shown}");
    }
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn of_even_ranks_none_is_slow() {
    let mut runs = four();
    runs[2] = run(2, Rank { step: 401, denoise: 4020, other: 30 });
    let screen = screen(&runs);
    let shown = text(&screen, 100, false);
    assert!(squeezed(&shown).contains("no rank slower than the others"), "{shown}");
    assert!(screen.differences.is_none() && screen.findings.is_empty(), "{shown}");
}

#[test]
fn a_job_that_lost_ranks_says_so_and_nothing_of_speed() {
    let mut runs = four();
    runs[2].status = Status::Failed("ValueError".into());
    runs.pop();
    let screen = screen(&runs);
    let shown = text(&screen, 100, false);
    assert!(
        squeezed(&shown).starts_with("marey: 3 of 4 ranks did not all finish after 847.6 ms: rank 2 failed (ValueError); rank 3 has no file"),
        "{shown}"
    );
    assert!(screen.differences.is_none(), "{shown}");
    assert!(screen.findings.iter().all(|found| found.rule == "lost-ranks"), "{shown}");
    insta::assert_snapshot!(at_each_width(&screen));
}

#[test]
fn programs_get_the_same_numbers() {
    let found = screen(&four()).json();
    assert!(found.len() <= 4096, "{}", found.len());
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["kind"], &found["ranks"]), (&"job".into(), &4.into()));
    assert_eq!(found["slowest"]["rank"], "rank 2");
    assert_eq!(found["slowest"]["ends_later_s"], 0.1972);
    let rows = found["differences"]["rows"].as_array().unwrap();
    let sum: f64 = rows.iter().map(|row| row["first_s"].as_f64().unwrap()).sum();
    assert!((sum - 0.8047).abs() < 1e-9, "{found}");
}

#[test]
fn a_screen_of_many_ranks_fits() {
    for n in [1, 2, 3, 9, 64, 300] {
        let rank = |rank: u32| {
            let of = Rank {
                step: 400 + u64::from(rank % 17) * 9,
                denoise: 6000 + u64::from(rank % 13) * 101,
                other: 30 + u64::from(rank),
            };
            run(rank, of)
        };
        let mut runs: Vec<Run> = (0..n).map(rank).collect();
        for run in &mut runs {
            run.info.world_size = Some(n);
        }
        let screen = screen(&runs);
        for width in [20, 59, 60, 80, 100, 140] {
            let shown = text(&screen, width, n % 2 == 0);
            assert!(shown.lines().count() <= 25, "{width}: {shown}");
            let longest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.min(100), "{width}: {shown}");
        }
        assert!(screen.json().len() <= 4096);
    }
}
