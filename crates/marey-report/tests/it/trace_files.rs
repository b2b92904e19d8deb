//! The report of a run whose window wrote a trace.

use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::{Thresholds, trace_answers, trace_findings};
use marey_report::{Report, TraceFile, markdown_report, profiling_report, summary, trace_json};
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
            hta_compat: None,
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
    assert!(
        read["answers"]["devices"][0]["utilization"]["busy_ns"]
            .as_u64()
            .unwrap()
            > 0
    );
    assert_eq!(gone["problem"], "it is no regular file");
    let alone = trace_json(&report.trace_files, None, &[]);
    let alone: Value = serde_json::from_slice(&alone).unwrap();
    assert_eq!(alone["files"], document["trace_files"]);
    let schema = include_str!("../../../../docs/schema/trace.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors = validator.iter_errors(&alone);
    let errors: Vec<String> = errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn text_and_markdown_of_a_run_show_its_traces() {
    let report = report();
    let text = summary(&report);
    for part in [
        "TRACE rank0.json.gz",
        "Tesla V100-SXM2-32GB",
        "KERNELS BY CLASS",
        "gone.json",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let markdown = markdown_report(&report);
    for part in [
        "## Trace `rank0.json.gz`",
        "### Kernels by class",
        "it is no regular file",
    ] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
}
