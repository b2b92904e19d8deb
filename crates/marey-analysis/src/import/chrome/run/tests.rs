use marey::{MemorySource, NodeKind, Run};

use super::{outline_of, run_of};
use crate::import::chrome::{Allocation, Limits, Trace, read};

fn trace(json: &str) -> Trace {
    read(json.as_bytes(), Limits::default()).unwrap()
}

/// An event of thread 7 of process 1, in microseconds.
fn host(category: &str, name: &str, start: u64, end: u64, args: &str) -> String {
    let duration = end - start;
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 1, "tid": 7, "ts": {start}, "dur": {duration}, "args": {{{args}}}}}"#
    )
}

/// A kernel of stream 7 of device 0.
fn kernel(name: &str, start: u64, end: u64, correlation: u32) -> String {
    let duration = end - start;
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {start}, "dur": {duration}, "args": {{"stream": 7, "correlation": {correlation}}}}}"#
    )
}

fn events(events: &[String]) -> Trace {
    trace(&format!(r#"{{"traceEvents": [{}]}}"#, events.join(",")))
}

/// Call paths with the sections of each, in microseconds.
fn drawn(run: &Run) -> Vec<(String, Vec<(u64, u64)>)> {
    let path = |node: usize| {
        let up = |id: &u32| run.nodes[*id as usize].parent;
        let ids = std::iter::successors(u32::try_from(node).ok(), up);
        let mut names: Vec<&str> = ids.map(|id| run.nodes[id as usize].name.as_str()).collect();
        names.reverse();
        names[1..].join("/")
    };
    let of = |node: usize| {
        let sections = run.sections.iter().filter(|s| s.node as usize == node);
        let us = sections.map(|s| (s.start_ns / 1000, s.end_ns / 1000));
        (path(node), us.collect())
    };
    (1..run.nodes.len()).map(of).collect()
}

#[test]
fn rows_of_the_host_are_sections_and_those_that_stick_out_are_cut() {
    // µs       0    10    20    30    40
    // step     |-- ProfilerStep#1 --|-- ProfilerStep#2 --|
    // python    |-- forward ------|                         left out
    // module      |-- nn.Module: Linear_0 --|               cut at 30
    // op            |-mm-|
    let run = run_of(&events(&[
        host("user_annotation", "ProfilerStep#1", 0, 30, ""),
        host("python_function", "a.py(1): forward", 1, 25, ""),
        host("python_function", "nn.Module: Linear_0", 2, 35, ""),
        host("cpu_op", "aten::mm", 5, 10, ""),
        host("user_annotation", "ProfilerStep#2", 30, 60, ""),
    ]));
    let found = drawn(&run);
    let expected = [
        ("ProfilerStep", vec![(0, 30), (30, 60)]),
        ("ProfilerStep/nn.Module: Linear_0", vec![(2, 30)]),
        ("ProfilerStep/nn.Module: Linear_0/aten::mm", vec![(5, 10)]),
    ];
    assert_eq!(found, expected.map(|(path, at)| (path.to_owned(), at)));
    assert_eq!(run.nodes[1].kind, NodeKind::Section);
    assert_eq!((run.wall_ns, run.threads.len()), (60_000, 1));
    let step = &run.totals[1];
    assert_eq!((step.count, step.sum_ns, step.first_ns, step.last_ns), (2, 60_000, 30_000, 30_000));
    let said: Vec<&str> = run.unavailable.iter().map(|u| u.what.as_str()).collect();
    assert_eq!(said, ["python_functions", "overlaps"]);
    assert!(run.unavailable.iter().all(|u| u.why.starts_with("1 ")));
}

#[test]
fn steps_of_the_profiler_are_turns_of_a_loop_only_where_traces_are_compared() {
    let step = |n: u64| host("user_annotation", &format!("ProfilerStep#{n}"), n, n + 1, "");
    let steps = events(&[step(0), step(1)]);
    assert_eq!(run_of(&steps).nodes[1].kind, NodeKind::Section);
    assert_eq!(outline_of(&steps).nodes[1].kind, NodeKind::Iteration);
}

#[test]
fn gpu_time_belongs_to_the_range_that_launched_it() {
    // µs       0         10        20        30        40
    // host     |---a-----||---b----|
    //            ↓1  ↓2       ↓3
    // stream 7      |-1-|       |--2---|  |-3-|            2 runs while b is open, and is a's
    let run = run_of(&events(&[
        host("user_annotation", "a", 0, 10, ""),
        host("cuda_runtime", "cudaLaunchKernel", 2, 3, r#""correlation": 1"#),
        host("cuda_runtime", "cudaLaunchKernel", 6, 7, r#""correlation": 2"#),
        host("user_annotation", "b", 10, 20, ""),
        host("cuda_runtime", "cudaLaunchKernel", 14, 15, r#""correlation": 3"#),
        kernel("k1", 4, 8, 1),
        kernel("k2", 16, 24, 2),
        kernel("k3", 27, 31, 3),
    ]));
    let spans = run.gpu_spans.iter().map(|span| {
        let name = run.nodes[span.node as usize].name.as_str();
        (name, span.device, span.stream, span.delay_ns, span.gpu_ns)
    });
    let spans: Vec<_> = spans.collect();
    assert_eq!(spans, [("a", 0, 7, Some(4_000), 20_000), ("b", 0, 7, Some(17_000), 4_000)]);
}

#[test]
fn facts_are_those_of_the_trace_and_nothing_else() {
    let run = run_of(&trace(
        r#"{"baseTimeNanoseconds": 1000000000, "distributedInfo": {"rank": 3, "world_size": 8, "backend": "nccl"},
            "deviceProperties": [{"id": 0, "name": "H100"}], "host_name": "h", "cuda_runtime_version": 12040,
            "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 5, "tid": 5, "ts": 2, "dur": 1}]}"#,
    ));
    assert_eq!(run.info.start_unix_ns, 1_000_002_000);
    assert_eq!((run.info.rank, run.info.world_size), (Some(3), Some(8)));
    assert_eq!((run.info.host.as_str(), run.info.pid), ("h", 5));
    let facts: Vec<(&str, &str)> =
        run.info.facts.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let expected = [("gpu 0", "H100"), ("backend", "nccl"), ("cuda_runtime_version", "12040")];
    assert_eq!(facts, expected);
    let empty = run_of(&Trace::default());
    assert_eq!((empty.wall_ns, empty.info.start_unix_ns), (0, 0));
    assert_eq!(empty.totals.len(), 1);
}

#[test]
fn allocations_of_gpus_are_readings_of_memory_and_those_of_the_host_a_series() {
    let said = |at_ns, device_type, device, allocated| Allocation {
        at_ns,
        track: 0,
        device_type: Some(device_type),
        device: Some(device),
        bytes: 1,
        allocated_bytes: Some(allocated),
        reserved_bytes: None,
    };
    let run = run_of(&Trace {
        allocations: vec![
            said(Some(9), 1, 2, 70),
            said(Some(5), 1, 2, 60),
            said(None, 1, 2, 50),
            said(Some(7), 0, -1, 11),
        ],
        ..Trace::default()
    });
    let readings: Vec<_> =
        run.memory.iter().map(|r| (r.at_ns, r.source, r.allocated_bytes)).collect();
    let gpu = MemorySource::TorchCuda(2);
    assert_eq!(readings, [(5, gpu, 60), (9, gpu, 70)]);
    assert_eq!(run.series.len(), 1);
    assert_eq!(run.series[0].points.len(), 1);
}

#[test]
fn what_nests_deeper_than_sections_can_is_counted() {
    let deep: Vec<String> = (0..300).map(|n| host("cpu_op", "f", n, 1_000 - n, "")).collect();
    let run = run_of(&events(&deep));
    assert_eq!(run.sections.len(), 200);
    assert_eq!(run.losses.sections_unrecorded, 100);
}

#[test]
fn an_outline_of_a_trace_with_steps_has_the_paths_of_one_without() {
    let range = host("user_annotation", "unet", 1, 8, "");
    let step = host("user_annotation", "ProfilerStep#1", 0, 9, "");
    let with = drawn(&outline_of(&events(&[step, range.clone()])));
    let without = drawn(&outline_of(&events(&[range])));
    let paths = |drawn: Vec<(String, _)>| -> Vec<String> {
        drawn.into_iter().map(|(path, _): (String, Vec<(u64, u64)>)| path).collect()
    };
    assert_eq!(paths(with), ["ProfilerStep", "unet"]);
    assert_eq!(paths(without), ["unet"]);
}

#[test]
fn an_outline_has_operators_that_are_in_no_module_and_no_operator() {
    // µs       0         10        20        30
    // range    |----------- step --------------|
    // module     |-- nn.Module: A --|
    // op           |linear|            |- to -|
    // op            |mm|                |copy|
    // call           ||
    let outline = outline_of(&events(&[
        host("user_annotation", "step", 0, 30, ""),
        host("python_function", "nn.Module: A", 1, 15, ""),
        host("cpu_op", "aten::linear", 2, 9, ""),
        host("cpu_op", "aten::mm", 3, 8, ""),
        host("cuda_runtime", "cudaLaunchKernel", 4, 5, ""),
        host("cpu_op", "aten::to", 18, 28, ""),
        host("cpu_op", "aten::copy_", 19, 27, ""),
    ]));
    let paths: Vec<String> = drawn(&outline).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["step", "step/nn.Module: A", "step/aten::to"]);
}
