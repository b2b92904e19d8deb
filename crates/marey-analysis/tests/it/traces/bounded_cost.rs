//! Traces that are made to cost much: each of them takes no more than its length, and what is left out of answers is said.

use marey_analysis::{AnswerLimits, TraceContext, limited_answers, operators, trace_answers};

use super::{complete, events, kernel};

const DEPTH: u64 = 20_000;

/// ```text
/// op 0   |----------------------|      each 2 µs shorter than the one around it
/// op 1     |------------------|
/// ...          ...
/// launch           |-|
/// ```
#[test]
fn operators_20000_deep_have_all_that_was_launched_in_them_once() {
    let mut all: Vec<String> = (0..DEPTH)
        .map(|i| {
            let name = format!("op{}", i % 7);
            complete("cpu_op", &name, 9, i, 2 * DEPTH + 1 - i, "")
        })
        .collect();
    let tied = r#""correlation": 5"#;
    let launch = complete("cuda_runtime", "cudaLaunchKernel", 9, DEPTH, DEPTH + 1, tied);
    let on = r#""correlation": 5, "stream": 7"#;
    all.push(launch);
    all.push(complete("kernel", "k", 0, DEPTH + 2, DEPTH + 12, on));
    let trace = events(&all.join(","));
    let context = TraceContext::new(&trace, None);
    let rows = operators(&context).rows;
    for i in 0..7 {
        let name = format!("op{i}");
        let row = rows.iter().find(|row| row.name == name).unwrap();
        // A call in a call of the same name counts once: the outermost has it all.
        assert_eq!(row.total_ns, (2 * DEPTH + 1 - 2 * i) * 1_000);
        assert_eq!(row.device_total_ns, Some(10_000));
        let is_innermost = i == (DEPTH - 1) % 7;
        assert_eq!(row.n_launched, Some(u64::from(is_innermost)));
    }
    let n_too_deep = trace_answers(&trace, None).quality.n_too_deep;
    // Operators 4,097 to 19,999, and the launch.
    assert_eq!(n_too_deep, DEPTH - 4_097 + 1);
}

#[test]
fn lists_that_are_too_long_keep_their_first_rows_and_say_how_many_they_lost() {
    let all = [kernel("a", 0, 50), kernel("b", 50, 70), kernel("c", 70, 80)];
    let trace = events(&all.join(","));
    let limits = AnswerLimits { rows: 2, devices: 1 };
    let answers = limited_answers(&TraceContext::new(&trace, None), limits);
    let kernels = &answers.devices.first().unwrap().kernels;
    let names: Vec<&str> = kernels.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(kernels.total_ns, 80_000);
    let said = answers.left_out.iter();
    let said: Vec<(&str, u64)> = said.map(|l| (l.list.as_str(), l.n_rows)).collect();
    assert_eq!(said, [("kernels.rows", 1), ("owned_kernels.by_operator", 1)]);
}

#[test]
fn of_two_devices_past_the_limit_one_is_kept() {
    let on_other = complete("kernel", "b", 1, 0, 5, r#""stream": 7"#);
    let trace = events(&[kernel("a", 0, 5), on_other].join(","));
    let limits = AnswerLimits { rows: 9, devices: 1 };
    let answers = limited_answers(&TraceContext::new(&trace, None), limits);
    assert_eq!(answers.devices.len(), 1);
    let left_out = answers.left_out.first().unwrap();
    assert_eq!((left_out.list.as_str(), left_out.n_rows), ("devices", 1));
}
