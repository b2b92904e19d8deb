//! `profiling_report.json` and `memory_log.json`.

use marey::{CacheOutcome, NodeTotals, Run};
use marey_report::{Report, memory_log, profiling_report};
use marey_testing::RunBuilder;
use serde_json::Value;

use crate::example::{killed_latent_video, latent_video, sampled_latent_video};

const SCHEMA: &str = include_str!("../../../../docs/schema/profiling_report.schema.json");

fn document(run: &Run) -> Value {
    serde_json::from_slice(&profiling_report(&Report::new(run))).expect("valid JSON")
}

fn shown(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

#[track_caller]
pub(crate) fn assert_follows_schema(document: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is sound");
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn the_report_of_a_run_that_finished() {
    let bytes = profiling_report(&Report::new(&latent_video()));
    insta::assert_snapshot!(shown(bytes));
}

#[test]
fn the_memory_log_is_a_bare_list_of_the_labelled_readings() {
    let report = Report::new(&latent_video());
    insta::assert_snapshot!(shown(memory_log(&report)), @r#"
    [
      {
        "label": "worker_start",
        "timestamp": 1700000000.128,
        "allocated_mb": 1024.0,
        "reserved_mb": 2048.0,
        "max_allocated_mb": 1124.0,
        "source": "cuda:0",
        "fragmentation": 0.5
      },
      {
        "label": "after_sampling",
        "timestamp": 1700000000.202,
        "allocated_mb": 4096.0,
        "reserved_mb": 16384.0,
        "max_allocated_mb": 4196.0,
        "source": "cuda:0",
        "fragmentation": 0.75
      },
      {
        "label": "end",
        "timestamp": 1700000000.214,
        "allocated_mb": 3000.5,
        "reserved_mb": null,
        "max_allocated_mb": null,
        "source": "process",
        "fragmentation": null
      }
    ]
    "#);
    let empty = Report::new(&RunBuilder::new().finish(10));
    assert_eq!(shown(memory_log(&empty)), "[]\n");
}

#[test]
fn every_report_follows_the_published_schema() {
    assert_follows_schema(&document(&latent_video()));
    assert_follows_schema(&document(&killed_latent_video()));
    assert_follows_schema(&document(&sampled_latent_video()));
    assert_follows_schema(&document(&RunBuilder::new().finish(0)));
    let mut unknown = latent_video();
    unknown.sections.clear();
    unknown.totals.iter_mut().for_each(|t| t.histogram = None);
    unknown.losses.sections_not_written = 12;
    assert_follows_schema(&document(&unknown));
    let mut looked_up = latent_video();
    looked_up.cache_events[0].outcome = CacheOutcome::Lookup;
    assert_follows_schema(&document(&looked_up));
    let mut many = RunBuilder::new();
    for at_ns in 0..10_001u32 {
        many = many.counter("flip", at_ns.into(), f64::from(at_ns % 2));
    }
    assert_follows_schema(&document(&many.finish(10_001)));
}

#[test]
fn a_self_time_that_is_not_known_is_null() {
    // 0         10        20
    // |- serve -|
    //     |--- stream ---|
    let run = RunBuilder::new()
        .section("serve", 0, 10, |s| {
            s.section("stream", 4, 16, |_| {});
        })
        .finish(20);
    let report = document(&run);
    assert_eq!(report["sections"][0]["self"], Value::Null);
    assert_eq!(report["timing_stats"]["serve"]["self"], Value::Null);
    assert_eq!(report["timing_stats"]["stream"]["self"], 12e-9);
    assert_follows_schema(&report);
}

#[test]
fn a_key_that_the_schema_does_not_know_is_noticed() {
    let mut changed = document(&latent_video());
    changed["timing_stats"]["block"]["count"] = "two".into();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(!jsonschema::is_valid(&schema, &changed));
}

#[test]
fn extreme_numbers_stay_finite() {
    let mut run = latent_video();
    run.sections.clear();
    for totals in &mut run.totals {
        *totals = NodeTotals {
            count: u64::MAX / 1_000_000,
            sum_ns: u64::MAX,
            max_ns: u64::MAX,
            ..NodeTotals::default()
        };
    }
    run.wall_ns = u64::MAX;
    assert_follows_schema(&document(&run));
}
