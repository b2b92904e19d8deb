//! What the end of a trace waited for, on timelines that are drawn: every path is worked out by hand.

use std::fs::File;
use std::path::{Path, PathBuf};

use marey_analysis::import::chrome::{DeviceWait, Limits, Trace, read};
use marey_analysis::{
    CriticalPath, Interval, PathKind, PathSegment, Scope, TraceContext, critical_path,
    critical_path_segments,
};

use super::{complete, events};
use PathKind::{
    Annotation, Call, Communication, Compute, Copy, LaunchDelay, Operator, Python, Synchronisation,
    Untraced, Waiting,
};

/// Something that thread `tid` did, in microseconds.
fn on_thread(tid: u32, category: &str, name: &str, start: u64, end: u64, args: &str) -> String {
    let duration = end - start;
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 9, "tid": {tid}, "ts": {start}, "dur": {duration}, "args": {{{args}}}}}"#
    )
}

fn operator(name: &str, start: u64, end: u64) -> String {
    on_thread(1, "cpu_op", name, start, end, "")
}

fn call(name: &str, id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""correlation": {id}"#);
    on_thread(1, "cuda_runtime", name, start, end, &args)
}

fn launch(id: u32, start: u64, end: u64) -> String {
    call("cudaLaunchKernel", id, start, end)
}

/// Work of a device that call `id` launched.
fn work(name: &str, stream: u32, id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""stream": {stream}, "correlation": {id}"#);
    complete("kernel", name, 0, start, end, &args)
}

fn trace(all: &[String]) -> Trace {
    events(&all.join(","))
}

fn segments(trace: &Trace, scope: Option<Scope>) -> Vec<PathSegment> {
    critical_path_segments(&TraceContext::new(trace, scope), 0)
}

/// The path as kind, name, and from where to where in microseconds. What is next to each other is one.
fn path(trace: &Trace) -> Vec<(PathKind, String, u64, u64)> {
    let segments = segments(trace, None);
    check(trace, &segments);
    let shown = segments.iter().map(|segment| {
        let name = trace.names.get(segment.name).to_owned();
        (
            segment.kind,
            name,
            segment.start_ns / 1_000,
            segment.end_ns / 1_000,
        )
    });
    shown.collect()
}

/// The segments leave nothing out, do not overlap, and are the sums.
fn check(trace: &Trace, segments: &[PathSegment]) {
    let paths = critical_path(&TraceContext::new(trace, None));
    let Some(first) = paths.first() else {
        assert_eq!(segments, []);
        return;
    };
    check_sums(first);
    let mut at_ns = first.start_ns;
    for segment in segments {
        assert_eq!(segment.start_ns, at_ns);
        assert!(segment.end_ns > at_ns);
        at_ns = segment.end_ns;
    }
    assert_eq!(at_ns, first.start_ns + first.length_ns);
    assert_eq!(segments.len() as u64, first.n_segments);
}

pub(super) fn check_sums(path: &CriticalPath) {
    let kinds: u64 = path.kinds.iter().map(|row| row.total_ns).sum();
    let names: u64 = path.names.iter().map(|row| row.total_ns).sum();
    let places: u64 = path.places.iter().map(|row| row.total_ns).sum();
    assert_eq!([kinds, names, places], [path.length_ns; 3]);
}

fn expected(path: &[(PathKind, &str, u64, u64)]) -> Vec<(PathKind, String, u64, u64)> {
    let each = path.iter();
    each.map(|(kind, name, start, end)| (*kind, (*name).to_owned(), *start, *end))
        .collect()
}

#[test]
fn where_the_host_is_late_the_path_is_on_the_host() {
    // µs       0      10 12     22 24     34 36
    // thread   |--op a--||--op b--||--op c--|
    //                 [1 ]      [2 ]     [3 ]
    // stream              |1|       |2|       |3|
    //                     13 15     25 27     37 40
    let all = [
        operator("a", 0, 12),
        operator("b", 12, 24),
        operator("c", 24, 36),
        launch(1, 10, 12),
        launch(2, 22, 24),
        launch(3, 34, 36),
        work("k1", 7, 1, 13, 15),
        work("k2", 7, 2, 25, 27),
        work("k3", 7, 3, 37, 40),
    ];
    let found = path(&trace(&all));
    let known = [
        (Operator, "a", 0, 10),
        (Call, "cudaLaunchKernel", 10, 12),
        (Operator, "b", 12, 22),
        (Call, "cudaLaunchKernel", 22, 24),
        (Operator, "c", 24, 34),
        (Call, "cudaLaunchKernel", 34, 36),
        (LaunchDelay, "k3", 36, 37),
        (Compute, "k3", 37, 40),
    ];
    assert_eq!(found, expected(&known));
}

#[test]
fn where_the_host_is_ahead_the_path_is_on_the_device() {
    // µs       0  2  4  6
    // thread   [1][2][3]
    // stream      |---1---||----2----|  |-----3----|
    //             3       10        20  21         30
    let all = [
        launch(1, 0, 2),
        launch(2, 2, 4),
        launch(3, 4, 6),
        work("k1", 7, 1, 3, 10),
        complete(
            "gpu_memcpy",
            "Memcpy DtoD",
            0,
            10,
            20,
            r#""stream": 7, "correlation": 2"#,
        ),
        work("ncclKernel", 7, 3, 21, 30),
    ];
    let found = path(&trace(&all));
    let known = [
        (Call, "cudaLaunchKernel", 0, 2),
        (LaunchDelay, "k1", 2, 3),
        (Compute, "k1", 3, 10),
        (Copy, "Memcpy DtoD", 10, 20),
        (Waiting, "ncclKernel", 20, 21),
        (Communication, "ncclKernel", 21, 30),
    ];
    assert_eq!(found, expected(&known));
}

#[test]
fn a_synchronisation_leads_to_the_work_it_waited_for_and_no_further() {
    // µs       0 2                20 24 26               40 44
    // thread   [1][synchronise     ][op][2][synchronise     ]
    // stream      |-----1-------|          |-----2------|
    //             3            18          27          39
    let all = [
        launch(1, 0, 2),
        call("cudaStreamSynchronize", 2, 2, 20),
        operator("between", 20, 24),
        launch(3, 24, 26),
        call("cudaDeviceSynchronize", 4, 26, 44),
        work("k1", 7, 1, 3, 18),
        work("k2", 7, 3, 27, 39),
    ];
    let found = path(&trace(&all));
    let known = [
        (Call, "cudaLaunchKernel", 0, 2),
        (LaunchDelay, "k1", 2, 3),
        (Compute, "k1", 3, 18),
        (Synchronisation, "cudaStreamSynchronize", 18, 20),
        (Operator, "between", 20, 24),
        (Call, "cudaLaunchKernel", 24, 26),
        (LaunchDelay, "k2", 26, 27),
        (Compute, "k2", 27, 39),
        (Synchronisation, "cudaDeviceSynchronize", 39, 44),
    ];
    assert_eq!(found, expected(&known));
}

#[test]
fn a_call_that_found_nothing_to_wait_for_is_time_of_the_host() {
    // µs       0 2             10         14
    // thread   [1]  |--op-------|[synchronise]
    // stream     |1|
    let all = [
        launch(1, 0, 2),
        operator("op", 2, 10),
        call("cudaDeviceSynchronize", 2, 10, 14),
        work("k1", 7, 1, 2, 4),
    ];
    let known = [
        (Call, "cudaLaunchKernel", 0, 2),
        (Operator, "op", 2, 10),
        (Call, "cudaDeviceSynchronize", 10, 14),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn a_copy_that_blocks_waits_for_itself() {
    // µs       0 2         12 14
    // thread   [cudaMemcpy   ]|-op-|
    // copies      |---------|
    let all = [
        call("cudaMemcpy", 1, 0, 14),
        operator("op", 14, 16),
        complete(
            "gpu_memcpy",
            "Memcpy DtoH (Device -> Pageable)",
            0,
            2,
            12,
            r#""stream": 7, "correlation": 1"#,
        ),
    ];
    let known = [
        (Call, "cudaMemcpy", 0, 2),
        (Copy, "Memcpy DtoH (Device -> Pageable)", 2, 12),
        (Synchronisation, "cudaMemcpy", 12, 14),
        (Operator, "op", 14, 16),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

/// A row of the device that is no work, as `cuda_sync` is.
fn device_sync(name: &str, id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""correlation": {id}"#);
    complete("cuda_sync", name, 0, start, end, &args)
}

/// Says what the only row of this name waits for, in place of what the trace says.
fn waiting(mut trace: Trace, name: &str, wait: DeviceWait) -> Trace {
    let mut rows = (0_u32..).take(trace.rows.len());
    let row = rows.find(|row| trace.name_of(*row) == name).unwrap();
    trace.waits = vec![DeviceWait { row, ..wait }];
    trace
}

#[test]
fn a_stream_that_was_told_to_wait_for_an_event_waited_for_what_came_before_the_event() {
    // µs       0  2  4  6  8  10
    // thread   [1][2][r][w][3]          r: the event is recorded after 1 on stream 7, w: stream 20 waits for it
    // stream 7    |--1-----------|
    //             3              16
    //                            |--2--|          2 was launched after r
    // stream 20                    |----3----|
    //                              17        30
    // Nothing else holds 3 back: without the event it would be a launch delay of 7 µs.
    let all = [
        launch(1, 0, 2),
        call("cudaEventRecord", 11, 2, 4),
        launch(2, 4, 6),
        call("cudaStreamWaitEvent", 12, 6, 8),
        launch(3, 8, 10),
        work("k1", 7, 1, 3, 16),
        work("k2", 7, 2, 16, 24),
        work("k3", 20, 3, 17, 30),
        device_sync("Stream Wait Event", 12, 6, 8),
    ];
    let told = DeviceWait {
        row: 0,
        stream: Some(20),
        correlation: Some(12),
        on_stream: Some(7),
        on_correlation: Some(11),
    };
    let known = [
        (Call, "cudaLaunchKernel", 0, 2),
        (LaunchDelay, "k1", 2, 3),
        (Compute, "k1", 3, 16),
        (Waiting, "k3", 16, 17),
        (Compute, "k3", 17, 30),
    ];
    let trace = waiting(trace(&all), "Stream Wait Event", told);
    assert_eq!(path(&trace), expected(&known));
}

#[test]
fn a_synchronisation_with_a_stream_does_not_wait_for_another() {
    // µs        0  2  4              20
    // thread    [1][2][synchronise 7  ]
    // stream 7     |----1----|
    //              3         15
    // stream 20       |----2-----|
    //                 5          19
    let all = [
        launch(1, 0, 2),
        launch(2, 2, 4),
        call("cudaStreamSynchronize", 3, 4, 20),
        work("k1", 7, 1, 3, 15),
        work("k2", 20, 2, 5, 19),
        device_sync("Stream Sync", 3, 4, 20),
    ];
    let of_seven = DeviceWait {
        row: 0,
        stream: Some(7),
        correlation: Some(3),
        on_stream: None,
        on_correlation: None,
    };
    let known = [
        (Call, "cudaLaunchKernel", 0, 2),
        (LaunchDelay, "k1", 2, 3),
        (Compute, "k1", 3, 15),
        (Synchronisation, "cudaStreamSynchronize", 15, 20),
    ];
    let trace = waiting(trace(&all), "Stream Sync", of_seven);
    assert_eq!(path(&trace), expected(&known));
}

#[test]
fn kernels_of_a_graph_follow_each_other_and_not_its_launch() {
    // µs       0             10
    // thread   [graph launch  ]
    // stream     |-a-||-b-||-c-|         b and c begin before the call returns
    //            2   4    6    9
    let all = [
        call("cudaGraphLaunch", 1, 0, 10),
        work("a", 7, 1, 2, 4),
        work("b", 7, 1, 4, 6),
        work("c", 7, 1, 6, 12),
    ];
    let known = [
        (Call, "cudaGraphLaunch", 0, 2),
        (Compute, "a", 2, 4),
        (Compute, "b", 4, 6),
        (Compute, "c", 6, 12),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn a_kernel_that_begins_before_its_predecessor_ends_takes_over_where_it_begins() {
    // µs       0 2
    // thread   [12]
    // stream     |--1------|
    //                    |----2---|
    //            2       8 10     14
    let all = [
        launch(1, 0, 1),
        launch(2, 1, 2),
        work("k1", 7, 1, 2, 10),
        work("k2", 7, 2, 8, 14),
    ];
    let known = [
        (Call, "cudaLaunchKernel", 0, 1),
        (LaunchDelay, "k1", 1, 2),
        (Compute, "k1", 2, 8),
        (Compute, "k2", 8, 14),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn work_without_a_launch_leads_to_what_the_device_did_before() {
    // µs        0     5   8     12
    // stream 7  |--a--|
    // stream 20           |--b--|
    let all = [work("a", 7, 1, 0, 5), work("b", 20, 2, 8, 12)];
    let known = [
        (Compute, "a", 0, 5),
        (Waiting, "b", 5, 8),
        (Compute, "b", 8, 12),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn without_devices_the_path_is_the_thread_that_ends_last() {
    // µs        0        10       20     30      36
    // thread 1  |--range--------------|          |-op-|
    //             |py       |
    //               |--op-|
    // thread 2    |----------------------|
    let all = [
        on_thread(1, "user_annotation", "range", 0, 22, ""),
        on_thread(1, "python_function", "forward", 2, 20, ""),
        operator("op", 4, 10),
        operator("last", 30, 36),
        on_thread(2, "cpu_op", "other", 2, 28, ""),
    ];
    let known = [
        (Annotation, "range", 0, 2),
        (Python, "forward", 2, 4),
        (Operator, "op", 4, 10),
        (Python, "forward", 10, 20),
        (Annotation, "range", 20, 22),
        (Untraced, "last", 22, 30),
        (Operator, "last", 30, 36),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn a_backward_pass_on_its_own_thread_lies_between_what_its_caller_did() {
    // µs        0        10                30       36
    // thread 1  |--loss--|                 |--step--|
    // thread 2               |-backward-|
    //                        12         28
    let engine = "autograd::engine::evaluate_function: MulBackward0";
    let all = [
        operator("loss", 0, 10),
        on_thread(2, "cpu_op", engine, 12, 28, ""),
        operator("step", 30, 36),
    ];
    let known = [
        (Operator, "loss", 0, 10),
        (Untraced, engine, 10, 12),
        (Operator, engine, 12, 28),
        (Untraced, "step", 28, 30),
        (Operator, "step", 30, 36),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn time_between_the_steps_of_a_backward_pass_is_not_that_of_the_thread_that_waits_for_it() {
    // µs        0       10  12                              40   44
    // thread 1  |--loss--|  |------- ## backward ## --------------|
    // thread 2                  |-f-|    |- g -| |nccl| |-h-|          nccl: a range, between which and h nothing is traced
    //                           15 20    25   28 29  31 34 40
    // watchdog                         |query|                         21 - 24: it calls, but for no pass
    let engine = |name: &str, start, end| on_thread(2, "cpu_op", name, start, end, "");
    let all = [
        operator("loss", 0, 10),
        on_thread(1, "user_annotation", "## backward ##", 12, 44, ""),
        engine("autograd::engine::evaluate_function: f", 15, 20),
        on_thread(3, "cuda_runtime", "cudaEventQuery", 21, 24, ""),
        engine("g", 25, 28),
        on_thread(2, "user_annotation", "nccl", 29, 31, ""),
        engine("h", 34, 40),
    ];
    let known = [
        (Operator, "loss", 0, 10),
        (Untraced, "## backward ##", 10, 12),
        (Annotation, "## backward ##", 12, 15),
        (Operator, "autograd::engine::evaluate_function: f", 15, 20),
        (Untraced, "g", 20, 25),
        (Operator, "g", 25, 28),
        (Untraced, "nccl", 28, 29),
        (Annotation, "nccl", 29, 31),
        (Untraced, "h", 31, 34),
        (Operator, "h", 34, 40),
        (Annotation, "## backward ##", 40, 44),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn what_the_caller_did_during_a_backward_pass_can_be_what_the_pass_waited_for() {
    // µs        0                              40
    // thread 1  |-------- ## backward ## ------|
    //                     |-hook-|
    // thread 2     |-f-|            |--g--|
    //              5  10  12    18  20   30
    let all = [
        on_thread(1, "user_annotation", "## backward ##", 0, 40, ""),
        operator("hook", 12, 18),
        on_thread(2, "cpu_op", "autograd::engine: f", 5, 10, ""),
        on_thread(2, "cpu_op", "g", 20, 30, ""),
    ];
    let known = [
        (Annotation, "## backward ##", 0, 5),
        (Operator, "autograd::engine: f", 5, 10),
        (Annotation, "## backward ##", 10, 12),
        (Operator, "hook", 12, 18),
        (Annotation, "## backward ##", 18, 20),
        (Operator, "g", 20, 30),
        (Annotation, "## backward ##", 30, 40),
    ];
    assert_eq!(path(&trace(&all)), expected(&known));
}

#[test]
fn paths_of_real_traces_leave_nothing_out_either() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let files = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_trace = |path: &PathBuf| path.to_str().unwrap().contains(".json");
    let mut n_segments = 0;
    for path in files.filter(is_trace) {
        let trace = read(File::open(path).unwrap(), Limits::default()).unwrap();
        let segments = segments(&trace, None);
        check(&trace, &segments);
        n_segments += segments.len();
    }
    assert!(n_segments > 50_000, "{n_segments}");
}

#[test]
fn each_document_has_a_path_of_its_own() {
    let one = |end| format!(r#"{{"traceEvents": [{}]}}"#, operator("op", 0, end));
    let trace = super::try_read(format!("{}\n{}", one(10), one(30))).unwrap();
    let paths = critical_path(&TraceContext::new(&trace, None));
    let lengths: Vec<_> = paths
        .iter()
        .map(|path| (path.document, path.length_ns))
        .collect();
    assert_eq!(lengths, [(0, 10_000), (1, 30_000)]);
    paths.iter().for_each(check_sums);
}

#[test]
fn a_part_waits_for_what_came_before_it_and_ends_with_what_it_launched() {
    // µs       0  2          10 12
    // thread   [1]            [2]
    // stream     |-----1-----------||---2---|
    //            2                 20       26
    // asked          |---------------|            from 5 to 15 of the host
    let all = [
        launch(1, 0, 2),
        launch(2, 10, 12),
        work("k1", 7, 1, 2, 20),
        work("k2", 7, 2, 20, 26),
    ];
    let trace = trace(&all);
    let part = |start_ns, end_ns| Scope {
        name: "part".into(),
        document: 0,
        ranges: vec![Interval { start_ns, end_ns }],
    };
    let found = segments(&trace, Some(part(5_000, 15_000)));
    let shown: Vec<_> = found
        .iter()
        .map(|s| (s.kind, trace.names.get(s.name), s.start_ns, s.end_ns))
        .collect();
    let known = [
        (Compute, "k1", 10_000, 20_000),
        (Compute, "k2", 20_000, 26_000),
    ];
    assert_eq!(shown, known);
    // A part in which nothing began has no path.
    assert_eq!(segments(&trace, Some(part(40_000, 50_000))), []);
    let context = TraceContext::new(&trace, Some(part(40_000, 50_000)));
    assert_eq!(critical_path(&context), []);
}

#[test]
fn times_that_contradict_each_other_end_all_the_same() {
    // Work of no duration whose launch is within the call that waits for it, and work before its launch.
    let all = [
        call("cudaDeviceSynchronize", 9, 4, 10),
        on_thread(
            2,
            "cuda_runtime",
            "cudaDeviceSynchronize",
            4,
            10,
            r#""correlation": 1"#,
        ),
        work("k", 7, 1, 10, 10),
        launch(2, 20, 22),
        work("early", 7, 2, 15, 18),
    ];
    let trace = trace(&all);
    check(&trace, &segments(&trace, None));
    check(&events(""), &[]);
}
