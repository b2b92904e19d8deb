//! The report of a run whose window wrote a trace.

use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::{Thresholds, trace_answers, trace_findings};
use marey_report::{
    Report, TraceFile, csv, document_text, joined, profiling_report, trace_document,
    trace_file_tables, trace_json,
};
use serde_json::Value;

use crate::example::latent_video;
use crate::json::assert_follows_schema;

/// A real trace: rank 0 of eight, on a V100.
const TRACE: &[u8] = include_bytes!(
    "../../../marey-analysis/tests/data/traces/rank0.step_12.1694128201545.pt.trace.json.gz"
);

fn report() -> Report {
    let trace = read(TRACE, Limits::default()).expect("a trace");
    let answers = trace_answers(&trace, None);
    let mut report = Report::new(&latent_video());
    report.trace_files = vec![
        TraceFile {
            file: "rank0.json.gz".into(),
            findings: trace_findings(&answers, &Thresholds::default()),
            answers: Some(answers),
            problem: None,
        },
        TraceFile::unread("gone.json".into(), "it is no regular file".into()),
    ];
    report
}

#[test]
fn the_report_with_a_trace_follows_its_schema_and_that_of_traces() {
    let report = report();
    let document: Value = serde_json::from_slice(&profiling_report(&report)).unwrap();
    assert_follows_schema(&document);
    let [read, gone] = [0, 1].map(|at| &document["trace_files"][at]);
    assert!(read["answers"]["devices"][0]["utilization"]["busy_s"].as_f64().unwrap() > 0.0);
    assert_eq!(gone["problem"], "it is no regular file");
    let alone = trace_json(&report.trace_files, None, &[]);
    let alone: Value = serde_json::from_slice(&alone).unwrap();
    assert_eq!(alone["files"], document["trace_files"]);
    let schema = include_str!("../../../../docs/schema/trace.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors = validator.iter_errors(&alone);
    let errors: Vec<String> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn file_of(events: &[String]) -> TraceFile {
    let text = format!(r#"{{"traceEvents": [{}]}}"#, events.join(","));
    let trace = read(text.as_bytes(), Limits::default()).expect("a trace");
    let answers = trace_answers(&trace, None);
    TraceFile {
        file: "a.json".into(),
        findings: trace_findings(&answers, &Thresholds::default()),
        answers: Some(answers),
        problem: None,
    }
}

/// An event in microseconds.
fn event(category: &str, name: &str, pid: u32, at: u32, duration: u32, correlation: u32) -> String {
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": 7, "ts": {at}, "dur": {duration}, "args": {{"correlation": {correlation}}}}}"#
    )
}

#[test]
fn what_is_said_of_a_step_is_a_column_for_programs_and_stands_with_its_name_for_people() {
    // host     l   |-- 0 --|          |-- 1 --|      |-- 2 --|      l launches before all steps
    // device     k    |------ k ------|  |-k-|          |-k-|
    let mut events = vec![
        event("cuda_runtime", "cudaLaunchKernel", 9, 0, 1, 1),
        event("kernel", "k", 0, 2, 2, 1),
    ];
    for (correlation, at, duration) in [(2, 10, 20), (3, 40, 4), (4, 60, 4)] {
        let launch = event("cuda_runtime", "cudaLaunchKernel", 9, at + 1, 1, correlation);
        events.extend([
            event("user_annotation", "denoising_step", 9, at, 10, 0),
            launch,
            event("kernel", "k", 0, at + 2, duration, correlation),
        ]);
    }
    let file = file_of(&events);
    let tables = trace_file_tables(&file);
    let steps = tables.into_iter().find(|table| table.key == "steps");
    let steps = csv(&joined(steps.as_slice()).expect("steps"));
    let rows: Vec<Vec<&str>> =
        steps.split("\r\n").map(|line| line.split(',').take(4).collect()).collect();
    assert_eq!(rows[0], ["file", "name", "place", "is_warm_up"]);
    assert_eq!(rows[1], ["a.json", "0", "part", "true"]);
    assert_eq!(rows[2], ["a.json", "1", "part", "false"]);
    assert_eq!(rows[4], ["a.json", "", "before", ""]);
    let text = document_text(&trace_document(&file, 15, false), None);
    for part in ["0 (warm-up)", "(before)"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for part in ["Place", "Warm-up"] {
        assert!(!text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn work_of_a_device_that_is_not_understood_is_not_passed_over() {
    let file = file_of(&[
        event("mtia_ccp_events", "FC", 0, 0, 1, 0),
        event("mtia_ccp_events", "FC", 0, 1, 1, 0),
    ]);
    let text = document_text(&trace_document(&file, 15, false), None);
    let said = "work of a device that is not analysed: 2 rows of mtia_ccp_events";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("host alone"), "{text}");
}
