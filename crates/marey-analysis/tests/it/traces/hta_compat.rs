//! The figures of `HolisticTraceAnalysis` 0.5.0, by its own output for real traces.

use std::collections::BTreeMap;

use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{HtaAnswers, HtaIdleCategory, hta_compat};
use serde_json::Value;

use super::{complete, events, kernel};

fn fixture(name: &str) -> Trace {
    let folder = format!("{}/tests/data/traces", env!("CARGO_MANIFEST_DIR"));
    let path = format!("{folder}/{name}.json.gz");
    read(std::fs::File::open(path).unwrap(), Limits::default()).unwrap()
}

fn said(name: &str, file: &str) -> Value {
    let folder = format!("{}/tests/data/traces/expected", env!("CARGO_MANIFEST_DIR"));
    let path = format!("{folder}/{name}/{file}.json");
    serde_json::from_reader(std::fs::File::open(path).unwrap()).unwrap()
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

/// Idle time of streams, where the trace has all launches: without some HTA blames 9 of 4006 µs on the host that are not late.
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

/// Only with rounding: without it HTA cuts each slice of this table to whole microseconds, which is not imitated.
fn same_types(found: &HtaAnswers, said: &Value) {
    let types = found.kernel_types.iter();
    let types: BTreeMap<&str, u64> = types
        .map(|row| (row.kernel_type.as_str(), row.total_ns / 1_000))
        .collect();
    let said_types = said["kernel_types"].as_object().unwrap().iter();
    let said_types: BTreeMap<&str, u64> = said_types
        .map(|(name, us)| (name.as_str(), us.as_u64().unwrap()))
        .collect();
    assert_eq!(types, said_types);
}

#[test]
fn hta_says_the_same_of_real_traces() {
    let names = [
        "nccl_parser_config__nccl_data",
        "critical_path__alexnet__benchmark_result_2869224_1695835535_trace",
    ];
    for name in names {
        let trace = fixture(name);
        same(&hta_compat(&trace, false)[0], &said(name, "hta_0.5.0"));
        same_types(&hta_compat(&trace, false)[0], &said(name, "hta_0.5.0"));
        same_idle(&hta_compat(&trace, false)[0], &said(name, "hta_0.5.0"));
        let exact = said(name, "hta_0.5.0_no_rounding");
        same(&hta_compat(&trace, true)[0], &exact);
        same_idle(&hta_compat(&trace, true)[0], &exact);
    }
    // With rounding HTA ends in an assertion: fills of less than a microsecond come to less than nothing.
    let name = "traces__h100__Qwen_Qwen1.5-0.5B-Chat__1016005";
    same(
        &hta_compat(&fixture(name), true)[0],
        &said(name, "hta_0.5.0_no_rounding"),
    );
}

#[test]
fn operators_of_the_host_with_a_stream_are_the_one_exception() {
    // HTA: 94 µs, of which 92 are an operator of the host that has `args.stream`.
    let name = "triton_example__triton_example";
    let found = hta_compat(&fixture(name), true);
    let said = said(name, "hta_0.5.0_no_rounding");
    assert_eq!(said["temporal_breakdown"]["compute_time(us)"], 95.812);
    assert_eq!(found[0].compute_ns, 1_760);
}

#[test]
fn the_last_step_and_what_it_launched_are_left_out() {
    // host     |--step 1--||--step 2--|
    // µs       0  [1]     10  [2]      20
    // device         |-1-|        |-2-|      and 3, whose launch nobody knows
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
        kernel("k", 0, 2),
    ];
    let found = hta_compat(&events(&all.join(",")), false);
    assert_eq!((found.len(), found[0].kernel_time_ns), (1, 4_000));
}

#[test]
fn nothing_without_devices() {
    assert_eq!(hta_compat(&events(""), false), []);
}
