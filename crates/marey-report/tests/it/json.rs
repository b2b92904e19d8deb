//! `profiling_report.json` and `memory_log.json`.

use marey::{CacheOutcome, NodeTotals, Run};
use marey_report::{Report, memory_log, profiling_report};
use marey_testing::RunBuilder;
use serde_json::Value;

use crate::example::{killed_latent_video, latent_video};

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
fn the_report_of_a_run_that_was_killed() {
    let bytes = profiling_report(&Report::new(&killed_latent_video()));
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
fn counters_and_attributes_have_the_documented_keys() {
    let report = document(&latent_video());
    let queue = &report["counters"]["queue_length"];
    assert_eq!((&queue["count"], &queue["mean"]), (&3.into(), &2.5.into()));
    assert_eq!(queue["series"][1]["timestamp"], 1_700_000_000.155);
    let call = &report["section_attributes"][0];
    assert_eq!(
        (&call["start_s"], &call["duration_s"]),
        (&0.018.into(), &0.024.into())
    );
    assert_eq!(call["attributes"]["sync"], true);
    assert_eq!(report["section_attributes_left_out"], 0);
    let synchronised = &report["data_quality"]["synchronised_sections"][0];
    assert_eq!(synchronised["section"], call["section"]);
    assert_eq!(
        (&synchronised["calls"], &synchronised["is_at_least"]),
        (&2.into(), &false.into())
    );
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
fn the_documented_keys_have_the_documented_meaning() {
    let report = document(&latent_video());
    assert_eq!(report["timestamp"], 1_700_000_000.125);
    let block = &report["timing_stats"]["block"];
    assert_eq!(block["count"], 2);
    for (key, seconds) in [
        ("total", 0.048),
        ("mean", 0.024),
        ("min", 0.024),
        ("max", 0.024),
    ] {
        assert_eq!(block[key], seconds, "{key}");
    }
    let steps = &report["iteration_stats"];
    assert_eq!(steps["count"], 6);
    assert_eq!(steps["total"], 0.04);
    assert_eq!(steps["median"], 0.006);
    let first = &report["memory_snapshots"][0];
    assert_eq!(first["label"], "worker_start");
    assert_eq!(first["allocated_mb"], 1024.0);
    assert_eq!(first["timestamp"], 1_700_000_000.128);
    assert_eq!(report["memory_snapshots"].as_array().unwrap().len(), 3);
}

#[test]
fn a_run_without_iterations_has_an_empty_object_for_them() {
    let report = document(&RunBuilder::new().finish(10));
    assert_eq!(report["iteration_stats"], serde_json::json!({}));
    assert_eq!(report["timing_stats"], serde_json::json!({}));
}

#[test]
fn names_are_in_the_order_of_their_totals() {
    let bytes = profiling_report(&Report::new(&latent_video()));
    let text = shown(bytes);
    let position = |name: &str| text.find(&format!("\"{name}\": {{")).expect(name);
    assert!(position("generate") < position("block"));
    assert!(position("block") < position("vae_decode"));
}

#[test]
fn the_model_itself_serializes_without_made_up_numbers() {
    let report = serde_json::to_value(Report::new(&RunBuilder::new().finish(0))).unwrap();
    assert_eq!(report["memory"], Value::Null);
    assert_eq!(report["sections"]["under_no_section"]["known"], 0);
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
