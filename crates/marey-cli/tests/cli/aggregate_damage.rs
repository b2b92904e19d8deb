//! `marey aggregate` with files that are damaged, and with files that are nothing of ours.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::aggregate::{aggregate, document, put, rank, report, text};
use crate::program::Place;

/// A job's captures in order of their names, which are `rank<rank>-<pid>.marey`.
fn captures_of(place: &Place, job: &str) -> Vec<PathBuf> {
    marey_cli::run_folder::captures(&place.out().join(job)).unwrap()
}

fn cut_to(capture: &PathBuf, length: usize) {
    let mut bytes = std::fs::read(capture).unwrap();
    bytes.truncate(length);
    std::fs::write(capture, bytes).unwrap();
}

fn ranks(rows: &Value) -> Vec<u64> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["rank"].as_u64().unwrap()).collect()
}

#[test]
fn a_capture_that_is_cut_within_its_head_is_of_the_rank_that_its_name_says() {
    let place = Place::new();
    for number in 0..3 {
        rank(&place, "job", number, 4, &["section=denoise"]);
    }
    let captures = captures_of(&place, "job");
    // Within the header of the file, and behind it, where the process would be named.
    cut_to(&captures[1], 10);
    cut_to(&captures[2], 40);
    let (code, written) = document(&[&place.out()]);
    assert_eq!(code, 1);
    let jobs = written["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 1, "{jobs:#?}");
    assert_eq!(jobs[0]["missing"], json!([3]));
    assert_eq!(ranks(&jobs[0]["unread"]), [1, 2]);
    assert_eq!(
        (&written["rank_count"], &written["total_reports"]),
        (&json!(1), &json!(1))
    );
    let said = aggregate(&[text(&place.out())]);
    assert!(said.out.contains("rank 1 is damaged: "), "{}", said.out);
    assert!(said.out.contains("Of rank 3 there is no file"));
}

#[test]
fn a_damaged_capture_is_of_the_job_that_its_folder_is_called_after() {
    let place = Place::new();
    for job in ["first", "second"] {
        for number in 0..2 {
            rank(&place, job, number, 2, &["section=denoise"]);
        }
    }
    cut_to(&captures_of(&place, "first")[1], 40);
    // It is not the business of the newest job.
    let (code, written) = document(&[&place.out()]);
    assert_eq!((code, &written["unread"]), (0, &json!([])));
    let out = place.out();
    let said = aggregate(&[text(&out), "--job", "first", "--format", "json"]);
    let written: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, ranks(&written["unread"])), (1, vec![1]));
    assert_eq!(ranks(&written["jobs"][0]["unread"]), [1]);
    // In a folder of another machine there is nothing else of the job.
    let node1 = place.path("node1/second");
    std::fs::create_dir_all(&node1).unwrap();
    let second = captures_of(&place, "second");
    std::fs::rename(&second[1], node1.join("rank1-7.marey")).unwrap();
    cut_to(&node1.join("rank1-7.marey"), 40);
    let (_, written) = document(&[&place.out(), &place.path("node1")]);
    assert_eq!(written["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(ranks(&written["jobs"][0]["unread"]), [1]);
}

#[test]
fn a_rank_whose_path_is_not_there_is_missing() {
    let place = Place::new();
    rank(&place, "job", 0, 2, &["section=denoise"]);
    let (code, written) = document(&[&place.job(), &place.path("rank1.marey")]);
    assert_eq!(code, 1);
    assert_eq!(written["jobs"][0]["missing"], json!([1]));
    assert_eq!(written["jobs"][0]["unread"], json!([]));
}

#[test]
fn json_of_others_is_passed_over_in_folders_and_an_error_where_it_is_named() {
    let place = Place::new();
    let rank_0 = report([1.0, 2.0, 3.0], 50.0).to_string();
    put(&place, "r/rank_0/profiling_report.json", &rank_0);
    for (name, content) in [
        ("config.json", r#"{"model": "flux", "steps": 20}"#),
        ("list.json", "[1, 2, 3]"),
        ("number.json", "17"),
        ("half.json", r#"{"prompt": "a c"#),
        ("words.json", "not JSON"),
        ("empty.json", ""),
    ] {
        put(&place, &format!("r/{name}"), content);
    }
    // The beginning of a packed file, and no more.
    std::fs::write(place.path("r/packed.json.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    let (code, written) = document(&[&place.path("r")]);
    assert_eq!((code, &written["unread"]), (0, &json!([])));
    assert_eq!(written["rank_count"], 1);
    let (code, written) = document(&[&place.path("r"), &place.path("r/config.json")]);
    assert_eq!(code, 1);
    let unread = written["unread"][0]["file"].as_str().unwrap();
    assert!(unread.ends_with("r/config.json"), "{unread}");
    // A folder of nothing else holds nothing to read.
    put(&place, "s/config.json", "{}");
    let said = aggregate(&[text(&place.path("s"))]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("holds no captures"), "{}", said.err);
}

#[test]
fn json_that_looks_like_ours_and_is_damaged_is_named() {
    let place = Place::new();
    let rank_0 = report([1.0, 2.0, 3.0], 50.0).to_string();
    put(&place, "r/rank_0/profiling_report.json", &rank_0);
    for (name, content) in [
        ("a.ranks.json", "{"),
        ("b.json", r#"{"marey_rank_summaries":1,"ra"#),
        ("c.json", r#"{"session_info": {"id""#),
        ("d.json", r#"{"schemaVersion": 1, "dev"#),
        ("profiling_report_e.json", "not JSON"),
        ("rank5.json", ""),
    ] {
        put(&place, &format!("r/{name}"), content);
    }
    let (code, written) = document(&[&place.path("r")]);
    assert_eq!(code, 1);
    let unread = written["unread"].as_array().unwrap();
    let mut names: Vec<&str> = unread
        .iter()
        .filter_map(|row| row["file"].as_str()?.rsplit('/').next())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "a.ranks.json",
            "b.json",
            "c.json",
            "d.json",
            "profiling_report_e.json",
            "rank5.json"
        ]
    );
}
