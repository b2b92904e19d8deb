//! What a report says about each session, and the report of one session.

use marey::{CacheEvent, CacheOutcome, Generation, Run, StreamingEvent};
use marey_report::{Report, profiling_report, summary};
use marey_testing::RunBuilder;
use serde_json::{Value, json};

use crate::example::{killed_latent_video, sampled_latent_video};
use crate::json::assert_follows_schema;
use crate::shown::words;

const SECOND: u64 = 1_000_000_000;

fn document(report: &Report) -> Value {
    serde_json::from_slice(&profiling_report(report)).expect("valid JSON")
}

fn frames(frames: u64) -> Generation {
    Generation::Streaming(StreamingEvent { frames: Some(frames), ..StreamingEvent::default() })
}

fn decision(session: u32, outcome: CacheOutcome) -> CacheEvent {
    CacheEvent {
        at_ns: 0,
        cache: "kv".into(),
        outcome,
        step: None,
        block: None,
        score: None,
        threshold: None,
        held_bytes: None,
        attributes: vec![],
        session: Some(session),
    }
}

/// Two sessions at the same time, in two threads.
///
/// ```text
/// s          0    1    2    3    4    5    6
/// P          |----------------------------|     thread one: stage p, 3 frames a second
/// Q             |-------------------------|     thread two: stage q, 1 frame a second
/// ```
fn two_at_once() -> Run {
    let mut builder = RunBuilder::new()
        .session("P", 0, Some(6 * SECOND), vec![("seed".into(), 1i64.into())])
        .section("p", SECOND, 4 * SECOND, |_| {})
        .event("p is ready", SECOND, vec![]);
    for n in 1..=5 {
        builder = builder.generation(n * SECOND, None, frames(3));
    }
    builder = builder.thread("two").session("Q", SECOND / 2, Some(6 * SECOND), vec![]).section(
        "q",
        SECOND,
        4 * SECOND,
        |_| {},
    );
    for n in 1..=5 {
        builder = builder.generation(n * SECOND, None, frames(1));
    }
    let outcomes = [(8, CacheOutcome::Hit), (2, CacheOutcome::Miss), (10, CacheOutcome::Eviction)];
    for (count, outcome) in outcomes {
        for _ in 0..count {
            builder = builder.cache_event(decision(0, outcome));
        }
    }
    builder.finish(7 * SECOND)
}

#[test]
fn two_sessions_at_once_have_their_own_keys() {
    let report = document(&Report::new(&two_at_once()));
    assert_follows_schema(&report);
    let [p, q] = &report["sessions"].as_array().unwrap()[..] else {
        panic!("{report}");
    };
    let stages = |session: &Value| {
        let stages = session["stage_analysis"]["stages"].as_object().unwrap();
        stages.keys().cloned().collect::<Vec<String>>()
    };
    assert_eq!((stages(p), stages(q)), (vec!["p".to_owned()], vec!["q".to_owned()]));
    assert_eq!(p["stage_analysis"]["stages"]["p"]["percentage_of_total"], 50.0);
    let fps = |session: &Value| session["streaming_analysis"]["current_fps"].clone();
    assert_eq!((fps(p), fps(q)), (json!(3.0), json!(1.0)));
    assert_eq!(p["events"][0]["name"], "p is ready");
    assert_eq!(q["events"], json!([]));
    assert_eq!(q["cache_analysis"], Value::Null);
    assert_eq!(p["session_info"]["id"], "P");
    assert_eq!(p["session_info"]["tags"], json!({"seed": 1}));
    assert_eq!(p["session_info"]["duration"], 6.0);
    assert_eq!(q["session_info"]["start_time"], 0.5);
}

#[test]
fn the_report_of_a_session_is_a_report_of_its_own() {
    let run = two_at_once();
    let report = Report::of_session(&run, 1).unwrap();
    let shown = document(&report);
    assert_follows_schema(&shown);
    assert_eq!(shown["session_info"]["id"], "Q");
    assert_eq!(shown["timestamp"], 0.5);
    assert_eq!(shown["run"]["wall"], 5.5);
    assert_eq!(shown["run"]["id"], document(&Report::new(&run))["run"]["id"]);
    assert_eq!(shown["sessions"], json!([]));
    let names: Vec<&String> = shown["timing_stats"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["q"]);
    assert_eq!(shown["data_quality"]["sections_missing"], 0);
    assert_eq!(Report::of_session(&run, 2), None);
    let all: Vec<Report> = Report::of_sessions(&run).collect();
    assert_eq!(all[1], report);
}

#[test]
fn nested_sessions_are_in_the_report_of_the_outer_one() {
    let run = RunBuilder::new()
        .session("before", 0, Some(SECOND), vec![])
        .session("outer", SECOND, Some(9 * SECOND), vec![])
        .session("inner", 2 * SECOND, Some(4 * SECOND), vec![])
        .session("innermost", 2 * SECOND, Some(3 * SECOND), vec![])
        .section("x", 2 * SECOND, 3 * SECOND, |_| {})
        .with(|run| {
            run.sessions[2].parent = Some(1);
            run.sessions[3].parent = Some(2);
        })
        .finish(10 * SECOND);
    let report = document(&Report::of_session(&run, 1).unwrap());
    assert_follows_schema(&report);
    let sessions = report["sessions"].as_array().unwrap();
    let nested: Vec<_> = sessions.iter().map(|s| (&s["name"], &s["parent"])).collect();
    assert_eq!(nested, [(&json!("inner"), &Value::Null), (&json!("innermost"), &json!(0))]);
    for session in sessions {
        assert_eq!(session["stage_analysis"]["total_stages"], 1);
    }
}

#[test]
fn every_report_of_a_session_follows_the_published_schema() {
    for run in [sampled_latent_video(), killed_latent_video()] {
        for report in Report::of_sessions(&run) {
            assert_follows_schema(&document(&report));
        }
    }
}

#[test]
fn a_session_of_a_run_that_lost_sections_says_that_it_counts_what_is_there() {
    let report = Report::of_session(&killed_latent_video(), 0).unwrap();
    let shown = document(&report);
    assert_eq!(shown["data_quality"]["sections_missing"], 6);
    assert_eq!(shown["under_no_section"]["seconds"], Value::Null);
    let text = summary(&report);
    let expected = "6 sections of the run may have been this session's";
    assert!(words(&text).contains(expected), "{text}");
}

#[test]
fn an_open_session_has_no_end() {
    let report = document(&Report::new(&sampled_latent_video()));
    let second = &report["sessions"][1]["session_info"];
    assert_eq!((&second["end_time"], &second["duration"]), (&Value::Null, &Value::Null));
    assert_eq!(report["sessions"][1]["streaming_analysis"]["total_frames_streamed"], 9);
}

#[test]
fn of_very_many_sessions_a_hundred_say_what_they_did_and_all_are_there() {
    // Sessions in a row, a second each; every tenth from 400 to 790 takes two, and they are the 40 longest.
    let mut builder = RunBuilder::new();
    let mut at_ns = 0;
    for n in 0..1_000 {
        let length_ns = if (400..800).contains(&n) && n % 10 == 0 { 2 } else { 1 } * SECOND;
        builder = builder
            .session(&format!("clip {n}"), at_ns, Some(at_ns + length_ns), vec![])
            .section("denoise", at_ns, at_ns + SECOND, |_| {});
        at_ns += length_ns;
    }
    let run = builder.finish(at_ns);
    let report = Report::new(&run);
    let shown = document(&report);
    assert_follows_schema(&shown);
    let sessions = shown["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1_000);
    assert_eq!(sessions[999]["name"], "clip 999");
    assert_eq!(sessions[41]["duration"], 1.0);
    assert_eq!(shown["sessions_left_short"], 900);
    let is_full = |n: &usize| sessions[*n].get("stage_analysis").is_some();
    let full: Vec<usize> = (0..1_000).filter(is_full).collect();
    let longest = (400..800).step_by(10);
    let expected: Vec<usize> = (0..40).chain(longest).chain(980..1_000).collect();
    assert_eq!(full, expected);
    let text = summary(&report);
    assert!(text.contains("clip 39") && !text.contains("clip 40"), "{text}");
    assert!(text.contains("and 960 more"), "{text}");
    assert!(document(&Report::new(&two_at_once())).get("sessions_left_short").is_none());
}
