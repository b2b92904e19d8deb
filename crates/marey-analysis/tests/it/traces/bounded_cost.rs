//! Traces that are made to cost much: each of them takes no more than its length, and what is left out of answers is said.

use marey_analysis::{TraceContext, operators, trace_answers};

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
    // 10,001 kernels, the first 10,001 µs long, each 1 µs shorter than the one before.
    let mut at = 0;
    let all = (0..10_001).map(|n| {
        let start = at;
        at += 10_001 - n;
        kernel(&format!("k{n}"), start, at)
    });
    let all: Vec<String> = all.collect();
    let answers = trace_answers(&events(&all.join(",")), None);
    let kernels = &answers.devices.first().unwrap().kernels;
    assert_eq!((kernels.rows.len(), kernels.rows[0].name.as_str()), (10_000, "k0"));
    assert_eq!(kernels.rows[9_999].name, "k9999");
    // 1 + 2 + … + 10,001 µs.
    assert_eq!(kernels.total_ns, 10_001 * 10_002 / 2 * 1_000);
    let said = answers.left_out.iter();
    let said: Vec<(&str, u64)> = said.map(|l| (l.list.as_str(), l.n_rows)).collect();
    assert_eq!(said, [("kernels.rows", 1), ("owned_kernels.by_operator", 1)]);
}

#[test]
fn of_1025_devices_1024_are_kept() {
    let each = (0..1_025).map(|n| complete("kernel", "a", n, 0, 5, r#""stream": 7"#));
    let each: Vec<String> = each.collect();
    let answers = trace_answers(&events(&each.join(",")), None);
    assert_eq!(answers.devices.len(), 1_024);
    let left_out = answers.left_out.first().unwrap();
    assert_eq!((left_out.list.as_str(), left_out.n_rows), ("devices", 1));
}
