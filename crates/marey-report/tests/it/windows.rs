//! Windows of profilers in the formats.

use marey::{Run, Window};
use marey_report::{Report, markdown_report, profiling_report, summary};
use marey_testing::RunBuilder;
use serde_json::{Value, json};

use crate::json::assert_follows_schema;

/// A window that was driven by hand: the run has no denoising steps.
fn by_hand() -> Run {
    let window = Window {
        name: "flux".into(),
        instrument: "torch.profiler".into(),
        recording_ns: Some(20),
        stopped_ns: Some(40),
        stop_reason: Some("steps".into()),
        ..Window::default()
    };
    RunBuilder::new()
        .with(|run| run.windows.push(window))
        .finish(70)
}

#[test]
fn steps_that_nobody_counted_are_null() {
    let bytes = profiling_report(&Report::new(&by_hand()));
    let document: Value = serde_json::from_slice(&bytes).expect("valid JSON");
    assert_follows_schema(&document);
    let window = &document["profiler_windows"][0];
    let steps = (&window["warm_up_steps"], &window["recorded_steps"]);
    assert_eq!(steps, (&json!(null), &json!(null)));
}

#[test]
fn steps_that_nobody_counted_are_left_out_of_what_is_read() {
    let report = Report::new(&by_hand());
    let text = summary(&report);
    let row = text.lines().find(|line| line.trim().starts_with("flux"));
    let row: Vec<&str> = row.expect("a row").split_whitespace().collect();
    assert_eq!(
        row,
        ["flux", "0.000", "s", "40", "ns", "-", "-", "-", "steps"]
    );
    let text = markdown_report(&report);
    assert!(text.contains("| recorded, ended by steps |"), "{text}");
}
