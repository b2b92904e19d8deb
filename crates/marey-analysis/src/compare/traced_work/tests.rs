//! Traces that are written here, whose operators have shapes, against each other.

use super::super::{Comparison, TracedSide, compare_traces};
use super::*;
use crate::CompareOptions;
use crate::import::chrome::{Limits, read};

/// Operators with the rows of their matrices, each with a kernel of so many microseconds, one after the other.
///
/// ```text
/// operator  |-----|      |-----|
/// kernel      |---|        |---|
/// ```
fn side(calls: &[(&str, u64, u64)]) -> TracedSide {
    let (mut events, mut at) = (Vec::new(), 0);
    for (id, (name, rows, us)) in (1..).zip(calls) {
        let (shapes, types) = match *name {
            "aten::mm" => (format!("[[{rows}, 1000], [1000, 1000]]"), r#"["float", "float"]"#),
            "aten::add" => {
                (format!("[[{rows}, 1000], [{rows}, 1000], []]"), r#"["float", "float", "Scalar"]"#)
            }
            _ => (format!("[[{rows}, 1000], [], []]"), r#"["float", "Scalar", "Scalar"]"#),
        };
        let row = |category: &str, name: &str, pid: u64, start: u64, lasts: u64, args: &str| {
            format!(
                r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": 7, "ts": {start}, "dur": {lasts}, "args": {{{args}}}}}"#
            )
        };
        let values = r#""Concrete Inputs": ["", "1", "False"]"#;
        let inputs = format!(r#"{values}, "Input Dims": {shapes}, "Input type": {types}"#);
        events.push(row("cpu_op", name, 9, at, us + 5, &inputs));
        let launched = format!(r#""correlation": {id}"#);
        events.push(row("cuda_runtime", "cudaLaunchKernel", 9, at + 1, 1, &launched));
        events.push(row("kernel", "k", 0, at + 3, *us, &format!(r#""stream": 7, {launched}"#)));
        at += us + 10;
    }
    let json = format!(r#"{{"traceEvents": [{}]}}"#, events.join(","));
    let mut side = TracedSide::default();
    side.push(&read(json.as_bytes(), Limits::default()).unwrap());
    side
}

fn compared(baseline: &[(&str, u64, u64)], candidate: &[(&str, u64, u64)]) -> Comparison {
    compare_traces(&side(baseline), &side(candidate), &CompareOptions::default())
}

/// Class, device time of both sides in microseconds, and of the change what is of work and of speed.
type Row = (Option<KernelClass>, u64, u64, Option<i64>, Option<i64>);

#[expect(clippy::cast_possible_truncation, reason = "whole microseconds")]
fn rows(found: &Comparison) -> Vec<Row> {
    let us = |ns: f64| (ns / 1e3).round() as i64;
    let row = |row: &WorkChange| {
        let parts = (row.of_work_ns.map(us), row.of_speed_ns.map(us));
        (row.class, row.baseline_ns / 1_000, row.candidate_ns / 1_000, parts.0, parts.1)
    };
    found.work.iter().map(row).collect()
}

fn note(found: &Comparison) -> Option<&str> {
    found.notes.iter().map(String::as_str).find(|note| note.starts_with("Device time"))
}

#[test]
fn less_work_and_more_speed_are_told_apart() {
    // mm         600 µs, 2 GFLOP   ─► 400 µs, 1.6 GFLOP    at the old speed 480: -120 of work, -80 of speed
    // add        200 µs, 12 MB     ─► 250 µs, 12 MB        +50 of speed
    // softmax    100 µs            ─► none                 -100 of work
    // ??          20 µs            ─► 20 µs
    let found = compared(
        &[
            ("aten::mm", 1000, 600),
            ("aten::add", 1000, 200),
            ("aten::_softmax", 1000, 100),
            ("??", 1, 20),
        ],
        &[("aten::mm", 800, 400), ("aten::add", 1000, 250), ("??", 1, 20)],
    );
    let expected = [
        (Some(KernelClass::Gemm), 600, 400, Some(-120), Some(-80)),
        (Some(KernelClass::Softmax), 100, 0, Some(-100), Some(0)),
        (Some(KernelClass::Elementwise), 200, 250, Some(0), Some(50)),
        (None, 20, 20, None, None),
    ];
    assert_eq!(rows(&found), expected);
    // 920 ─► 670 µs.
    let said = "Device time -250 µs: -220 µs by less work, -30.0 µs by the same work done faster.";
    assert_eq!(note(&found), Some(said));
}

#[test]
fn where_much_of_the_work_is_not_known_nothing_is_said() {
    // 200 of 800 µs.
    let before = [("aten::mm", 1000, 600), ("??", 1, 200)];
    let after = [("aten::mm", 1000, 300), ("??", 1, 20)];
    let found = compared(&before, &after);
    assert_eq!((rows(&found), note(&found)), (vec![], None));
    // Nor where nothing changed.
    let found = compared(&before[..1], &before[..1]);
    assert_eq!((rows(&found), note(&found)), (vec![], None));
}
