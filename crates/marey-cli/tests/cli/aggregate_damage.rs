//! `marey aggregate` with files that are damaged, and with files that are nothing of ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::aggregate::{aggregate, document, put, rank, report, text};
use crate::program::Place;

/// A job's captures in order of their names, which are `rank<rank>-<pid>.marey`.
fn captures_of(place: &Place, job: &str) -> Vec<PathBuf> {
    marey_folder::run_folder::captures(&place.out().join(job)).unwrap()
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
    assert_eq!((&written["rank_count"], &written["total_reports"]), (&json!(1), &json!(1)));
    let said = aggregate(&[text(&place.out())]);
    assert!(said.out.contains("rank 1 is damaged: "), "{}", said.out);
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
fn a_copy_that_ends_within_a_block_is_no_process_that_is_gone() {
    let place = Place::new();
    for number in 0..2 {
        rank(&place, "job", number, 2, &["section=denoise"]);
    }
    let copy = &captures_of(&place, "job")[1];
    let length = std::fs::metadata(copy).unwrap().len();
    cut_to(copy, usize::try_from(length).unwrap() - 5);
    let (code, written) = document(&[&place.out()]);
    let members = &written["jobs"][0]["members"];
    assert_eq!((code, &members[1]["is_truncated"]), (1, &json!(true)));
    assert_eq!(members[0]["is_truncated"], false);
}

#[test]
fn a_trace_that_was_cut_is_of_a_damaged_rank() {
    let place = Place::new();
    let event = r#"{"ph": "X", "cat": "user_annotation", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}"#;
    let whole = format!(r#"{{"traceEvents": [{event}, {event}]}}"#);
    put(&place, "t/rank0.json", &whole);
    let (code, _) = document(&[&place.path("t")]);
    assert_eq!(code, 0);
    put(&place, "t/rank1.json", &whole[..whole.len() - 10]);
    let (code, written) = document(&[&place.path("t")]);
    let member = &written["jobs"][0]["members"][1];
    assert_eq!((code, &member["state"]), (1, &json!("damaged")));
    assert_eq!(member["is_truncated"], true);
    let warning = member["warnings"][0].as_str().unwrap();
    assert!(warning.contains("(events read: 1)"), "{warning}");
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let place = Place::new();
    rank(&place, "job", 0, 1, &["section=denoise"]);
    // Whatever it is called, and behind a link.
    let names = ["a.marey", "b.json", "profiling_report.json", "c.pt.trace.json.gz"];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| place.path(name)).collect();
    for path in paths.iter().chain([&place.path("behind")]) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    std::os::unix::fs::symlink("behind", place.path("rank7.json")).unwrap();
    paths.push(place.path("rank7.json"));
    let job = place.job();
    let all: Vec<&Path> = paths.iter().map(PathBuf::as_path).chain([job.as_path()]).collect();
    let (code, written) = document(&all);
    let unread = written["unread"].as_array().unwrap();
    assert_eq!((code, unread.len()), (1, 5));
    for row in unread {
        let why = row["why"].as_str().unwrap();
        assert!(why.starts_with("is no regular file"), "{row}");
    }
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
    // Each cause once.
    let malformed = unread.iter().find(|row| row["file"].as_str().unwrap().ends_with("b.json"));
    let why = malformed.unwrap()["why"].as_str().unwrap();
    assert_eq!(why.matches("EOF while parsing").count(), 1, "{why}");
    let mut names: Vec<&str> =
        unread.iter().filter_map(|row| row["file"].as_str()?.rsplit('/').next()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["a.ranks.json", "b.json", "c.json", "d.json", "profiling_report_e.json", "rank5.json"]
    );
}
