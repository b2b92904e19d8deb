//! Windows of profilers in the formats.

use marey::{Run, Window};
use marey_report::{Report, profiling_report};
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
    RunBuilder::new().with(|run| run.windows.push(window)).finish(70)
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
