//! The figures of `HolisticTraceAnalysis` 0.5.0, by its own output for real traces.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{HtaAnswers, HtaIdleCategory, hta_compat};
use serde_json::Value;

use super::{complete, events};

fn fixture(name: &str) -> Trace {
    let folder = format!("{}/tests/data/traces", env!("CARGO_MANIFEST_DIR"));
    let packed = format!("{folder}/{name}.json.gz");
    let file = File::open(packed).or_else(|_| File::open(format!("{folder}/{name}.json")));
    read(file.unwrap(), Limits::default()).unwrap()
}

/// What HTA said of a trace; `None` when there is no such file.
fn said(name: &str, file: &str) -> Option<Value> {
    let folder = format!("{}/tests/data/traces/expected", env!("CARGO_MANIFEST_DIR"));
    let file = File::open(format!("{folder}/{name}/{file}.json")).ok()?;
    Some(serde_json::from_reader(file).unwrap())
}

/// Microseconds of HTA, which come from floats.
fn is_near(found_ns: f64, said_us: &Value, tolerance_us: f64) {
    let said_us = said_us.as_f64().unwrap();
    let found_us = found_ns / 1_000.0;
    assert!(
        (found_us - said_us).abs() <= tolerance_us,
        "{found_us} {said_us}"
    );
}

#[expect(clippy::cast_precision_loss, reason = "less than 2^53 ns")]
fn same(found: &HtaAnswers, said: &Value) {
    let times = &said["temporal_breakdown"];
    if !times.is_null() {
        is_near(found.idle_ns as f64, &times["idle_time(us)"], 0.01);
        is_near(found.compute_ns as f64, &times["compute_time(us)"], 0.01);
        is_near(
            found.non_compute_ns as f64,
            &times["non_compute_time(us)"],
            0.01,
        );
        is_near(found.kernel_time_ns as f64, &times["kernel_time(us)"], 0.01);
    }
    let ratio = found
        .overlap_ratio
        .map(|ratio| (ratio * 10_000.0).round() / 100.0);
    assert_eq!(ratio, said["overlap_percent"].as_f64());
}

#[expect(clippy::cast_precision_loss, reason = "less than 2^53 ns")]
fn same_idle(found: &HtaAnswers, said: &Value) {
    for row in said["idle_by_stream"].as_array().unwrap() {
        let category = match row["idle_category"].as_str().unwrap() {
            "host_wait" => HtaIdleCategory::HostWait,
            "kernel_wait" => HtaIdleCategory::KernelWait,
            _ => HtaIdleCategory::Other,
        };
        let mut idle = found.idle_by_stream.iter();
        let idle = idle.find(|i| row["stream"] == i.stream && category == i.category);
        let total_ns = idle.map_or(0, |idle| idle.total_ns);
        is_near(total_ns as f64, &row["idle_time"], 0.02);
    }
}

fn same_types(found: &HtaAnswers, said: &Value) {
    let types = found.kernel_types.iter();
    let types: BTreeMap<&str, u64> = types
        .map(|row| (row.kernel_type.as_str(), row.total_ns / 1_000))
        .collect();
    let said_types = said["kernel_types"].as_object().unwrap().iter();
    let said_types: BTreeMap<&str, u64> = said_types
        .map(|(name, us)| (name.as_str(), us.as_u64().unwrap()))
        .filter(|(_, us)| *us > 0)
        .collect();
    assert_eq!(types, said_types);
}

#[test]
fn hta_says_the_same_of_real_traces() {
    let folder = format!("{}/tests/data/traces/expected", env!("CARGO_MANIFEST_DIR"));
    let mut n_same = 0;
    for entry in Path::new(&folder).read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(rounded) = said(&name, "hta_0.5.0") else {
            continue;
        };
        let trace = fixture(&name);
        // Traces in whole microseconds are the same without rounding.
        let exact = said(&name, "hta_0.5.0_no_rounding");
        let exact = exact.as_ref().unwrap_or(&rounded);
        for (said, no_rounding) in [(&rounded, false), (exact, true)] {
            let found = &hta_compat(&trace, no_rounding)[0];
            same(found, said);
            same_types(found, said);
            same_idle(found, said);
        }
        n_same += 1;
    }
    assert_eq!(n_same, 18);
}

/// A kernel, an operator …, with times in microseconds as they are written.
fn written(category: &str, name: &str, times: (&str, &str), args: &str) -> String {
    let (ts, dur) = times;
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 0, "tid": 7, "ts": {ts}, "dur": {dur}, "args": {{{args}}}}}"#
    )
}

/// Microseconds of what HTA takes for kernels, idle, computing and the rest.
fn times(trace: &Trace) -> [u64; 4] {
    let found = &hta_compat(trace, false)[0];
    let times = [
        found.kernel_time_ns,
        found.idle_ns,
        found.compute_ns,
        found.non_compute_ns,
    ];
    times.map(|ns| ns / 1_000)
}

#[test]
fn operators_of_the_host_with_a_stream_are_kernels_to_hta() {
    // host     |-----triton (cpu_op, args.stream 0)-----|
    // µs       0                                        92  94  96
    // stream 7                                              |k|
    let all = [
        complete("cpu_op", "triton", 9, 0, 92, r#""stream": 0"#),
        complete("kernel", "triton", 0, 94, 96, r#""stream": 7"#),
    ];
    let trace = events(&all.join(","));
    assert_eq!(times(&trace), [96, 2, 94, 0]);
    // Idle time of streams is of kernels alone.
    assert_eq!(hta_compat(&trace, false)[0].idle_by_stream, []);
    // A stream of -1, or one that is no number, is none.
    let none = [
        complete("cpu_op", "triton", 9, 0, 92, r#""stream": -1"#),
        complete("cpu_op", "triton", 9, 0, 92, r#""stream": "s""#),
        complete("kernel", "triton", 0, 94, 96, r#""stream": 7"#),
    ];
    assert_eq!(times(&events(&none.join(","))), [2, 0, 2, 0]);
}

#[test]
fn what_rounding_leaves_less_than_nothing_of_adds_to_hta_s_idle_time() {
    // µs      0.5      10.2   20.1 20.9   30.2      40.7
    // stream   |----a----|      |b|        |----c----|
    // HTA      1        10     21 20       31       40      work 9 - 1 + 9 of 39
    let of = |name, start, length| written("kernel", name, (start, length), r#""stream": 7"#);
    let all = [
        of("a", "0.5", "9.7"),
        of("b", "20.1", "0.8"),
        of("c", "30.2", "10.5"),
    ];
    let trace = events(&all.join(","));
    assert_eq!(times(&trace), [39, 22, 17, 0]);
    // Gaps of 11 and 11.
    let idle = hta_compat(&trace, false)[0].idle_by_stream[0];
    let expected = (HtaIdleCategory::KernelWait, 22_000);
    assert_eq!((idle.category, idle.total_ns), expected);
    // In the middle of other work it is nothing.
    let within = [of("a", "0.5", "9.7"), of("b", "4.1", "0.8")];
    assert_eq!(times(&events(&within.join(","))), [9, 0, 9, 0]);
}

#[test]
fn microseconds_are_floats_to_hta() {
    // Since 1970 they are quarters: 0.1 is 0.0, and 5.3 is 5.25.
    let stream = r#""stream": 7"#;
    let start = "1700000000000000.1";
    let trace = events(&written("kernel", "k", (start, "5.2"), stream));
    assert_eq!(times(&trace), [5, 0, 5, 0]);
    // Whole beginnings are not rounded, nor are their ends then.
    let trace = events(&written("kernel", "k", ("0", "5.2"), stream));
    assert_eq!(hta_compat(&trace, false)[0].compute_ns, 5_200);
}

#[test]
fn the_last_step_and_what_it_launched_are_left_out() {
    // host     |--step 1--||--step 2--|
    // µs       0  [1]     10  [2]      20
    // device   |0|   |-1-|        |-2-|      and 3, which names a launch that is not there
    let launch = |id: u32, at| {
        let args = format!(r#""correlation": {id}"#);
        complete("cuda_runtime", "cudaLaunchKernel", 9, at, at + 1, &args)
    };
    let launched = |id: u32, start, end| {
        let args = format!(r#""stream": 7, "correlation": {id}"#);
        complete("kernel", "k", 0, start, end, &args)
    };
    let all = [
        complete("user_annotation", "ProfilerStep#1", 9, 0, 10, ""),
        complete("user_annotation", "ProfilerStep#2", 9, 10, 20, ""),
        launch(1, 3),
        launch(2, 13),
        launched(1, 6, 10),
        launched(2, 16, 20),
        launched(3, 11, 12),
        // Without the number of a launch it is taken for the host's, and began in time.
        complete("kernel", "k", 0, 0, 2, r#""stream": 7"#),
    ];
    assert_eq!(times(&events(&all.join(","))), [10, 4, 6, 0]);
}

#[test]
fn nothing_without_devices() {
    assert_eq!(hta_compat(&events(""), false), []);
}
