//! The document of a run: what programs may build on.

use std::collections::BTreeSet;

use marey_report::{Cell, FirstScreen, Places, Report, Table, run_tables};
use marey_testing::RunBuilder;

use crate::example::{killed_latent_video, latent_video, sampled_latent_video};
use crate::shown::{row, table};

#[test]
fn names_of_tables_and_columns_are_names_for_programs_and_stand_for_one_thing() {
    let is_name =
        |key: &str| key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    for run in [latent_video(), killed_latent_video(), sampled_latent_video()] {
        let mut keys = BTreeSet::new();
        for table in run_tables(&Report::new(&run), None) {
            assert!(is_name(table.key) && keys.insert(table.key), "{}", table.key);
            let columns: BTreeSet<&str> = table.columns.iter().map(|column| column.key).collect();
            assert_eq!(columns.len(), table.columns.len(), "{}", table.key);
            assert!(columns.iter().all(|key| is_name(key)), "{columns:?}");
            let is_whole = |row: &Vec<Cell>| row.len() == table.columns.len();
            assert!(table.rows.iter().all(is_whole), "{}", table.key);
        }
        assert!(keys.len() > 8, "{keys:?}");
    }
}

#[test]
fn the_account_and_the_findings_of_the_first_screen_are_tables() {
    let report = Report::new(&latent_video());
    let screen = FirstScreen::of_run(&report, &Places::default());
    let tables = run_tables(&report, None);
    let first: Vec<&str> = tables.iter().take(2).map(|table| table.key).collect();
    assert_eq!(first, ["account", "findings"]);
    let column = |table: &Table, key: &str| -> Vec<Cell> {
        let at = table.columns.iter().position(|column| column.key == key);
        let rows = table.rows.iter();
        rows.map(|row| row[at.unwrap()].clone()).collect()
    };
    let held = column(&tables[0], "held_ns").into_iter();
    let held = held.map(|cell| match cell {
        Cell::Duration(ns) => ns,
        other => panic!("{other:?}"),
    });
    // The run took 100 ms.
    assert_eq!(held.sum::<u64>(), 100_000_000);
    let rows = screen.account.unwrap().rows;
    let names: Vec<Cell> = rows.iter().map(|row| Cell::name(&row.name)).collect();
    assert_eq!(column(&tables[0], "name"), names);
    let rules = column(&tables[1], "rule");
    let is_there = |rule: &str| rules.contains(&Cell::text(rule));
    assert!(screen.findings.iter().all(|found| is_there(found.rule)));
    let all = &report.activity.findings;
    assert!(rules.len() >= all.found.len() + all.passed.len() + all.unchecked.len());
}

#[test]
fn figures_in_tables_are_those_of_the_report() {
    let names = table(&latent_video(), "section_names").unwrap();
    let block = row(&names, "block").unwrap();
    // Two calls of 24 ms in a run of 100 ms.
    let expected = [
        Cell::Count(2),
        Cell::Duration(48_000_000),
        Cell::Mean(24_000_000.0),
        Cell::Duration(24_000_000),
    ];
    assert_eq!(block[1..5], expected);
    assert_eq!(block[8], Cell::Ratio(0.48));
    let tree = table(&latent_video(), "sections").unwrap();
    let outside = row(&tree, "(under no section)").unwrap();
    assert_eq!(outside[1], Cell::Duration(13_000_000));
    let loops = table(&latent_video(), "loops").unwrap();
    assert_eq!(row(&loops, "denoise_step").unwrap()[1], Cell::Count(6));
}

#[test]
fn a_name_within_itself_says_what_its_outermost_calls_took() {
    // attn  |---- 10 ms ----|  |- 5 ms -|
    //         |- 4 ms -|
    let ms = 1_000_000;
    let run = RunBuilder::new()
        .section("attn", 0, 10 * ms, |s| {
            s.section("attn", 2 * ms, 6 * ms, |_| {});
        })
        .section("attn", 12 * ms, 17 * ms, |_| {})
        .finish(20 * ms);
    let names = table(&run, "section_names").unwrap();
    assert_eq!(row(&names, "attn").unwrap()[2], Cell::Duration(19 * ms));
    let note =
        "Total counts calls within calls of the same name again. Without these: attn 15.0 ms.";
    assert!(names.notes.iter().any(|said| said == note), "{:?}", names.notes);
}

#[test]
fn where_calls_were_not_recorded_one_by_one_percentiles_are_about_that() {
    let mut run = RunBuilder::new().section("load", 0, 12, |_| {}).finish(20);
    run.sections.clear();
    run.losses.sections_ring_full = 1;
    let names = table(&run, "section_names").unwrap();
    let median = &row(&names, "load").unwrap()[6];
    assert!(matches!(median, Cell::About(_)), "{median:?}");
    assert!(names.notes[0].starts_with("≈ from a histogram"));
}
