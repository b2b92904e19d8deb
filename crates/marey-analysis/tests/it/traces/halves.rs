//! Beginnings and ends (`B`, `E`) of what other traces write as one event (`X`): they say the same.

use marey_analysis::import::chrome::{Class, Identifier, Trace, Work};
use marey_analysis::trace_answers;
use serde_json::Value;

use super::{events, try_read};

/// Category, name, process, thread, beginning and end in microseconds, arguments.
type Event = (&'static str, &'static str, u32, u32, u32, u32, &'static str);

/// ```text
/// µs        0    10   20   26  30                             80   90
/// thread 1  |------------------- ProfilerStep#1 -------------------|
///           |------------------- aten::mm -------------------|
///                |-1-|  |-2-||3| |--- cudaStreamSynchronize ---|
/// stream 7                       |---- gemm (1) ----||copy 2||3|
/// stream 9                       |-- allreduce --|
/// ```
const EVENTS: [Event; 12] = [
    ("user_annotation", "ProfilerStep#1", 9, 1, 0, 90, r#""External id": 1"#),
    (
        "cpu_op",
        "aten::mm",
        9,
        1,
        1,
        80,
        r#""External id": 2, "Input Dims": [[4, 4], [4, 4]], "Input type": ["float", "float"]"#,
    ),
    ("cuda_runtime", "cudaLaunchKernel", 9, 1, 10, 15, r#""External id": 2, "correlation": 1"#),
    ("cuda_runtime", "cudaLaunchKernel", 9, 1, 16, 18, r#""correlation": 4"#),
    ("cuda_runtime", "cudaMemcpyAsync", 9, 1, 20, 25, r#""correlation": 2"#),
    ("cuda_runtime", "cudaMemsetAsync", 9, 1, 26, 28, r#""correlation": 3"#),
    ("cuda_runtime", "cudaStreamSynchronize", 9, 1, 30, 70, r#""correlation": 5"#),
    ("kernel", "gemm", 0, 7, 30, 50, r#""stream": 7, "correlation": 1, "External id": 2"#),
    (
        "gpu_memcpy",
        "Memcpy DtoH (Device -> Pinned)",
        0,
        7,
        52,
        60,
        r#""stream": 7, "correlation": 2, "bytes": 4096"#,
    ),
    (
        "gpu_memset",
        "Memset (Device)",
        0,
        7,
        61,
        62,
        r#""stream": 7, "correlation": 3, "bytes": 64"#,
    ),
    (
        "kernel",
        "ncclDevKernel_AllReduce",
        0,
        9,
        31,
        45,
        r#""correlation": 4, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 16, "Out msg nelems": 16, "Group size": 2"#,
    ),
    ("cuda_sync", "Stream Sync", 0, 7, 63, 64, r#""stream": 7, "correlation": 5"#),
];

fn whole((category, name, pid, tid, start, end, args): Event) -> String {
    let duration = end - start;
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}, "ts": {start}, "dur": {duration}, "args": {{{args}}}}}"#
    )
}

fn halves((category, name, pid, tid, start, end, args): Event) -> String {
    let about = format!(r#""cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}"#);
    format!(
        r#"{{"ph": "B", {about}, "ts": {start}, "args": {{{args}}}}}, {{"ph": "E", {about}, "ts": {end}}}"#
    )
}

fn read(write: fn(Event) -> String) -> Trace {
    let written: Vec<String> = EVENTS.into_iter().map(write).collect();
    events(&written.join(",\n"))
}

/// All that can be asked, without how it was written.
fn answers(trace: &Trace) -> Value {
    let mut answers = serde_json::to_value(trace_answers(trace, None)).unwrap();
    let quality = answers.as_object_mut().unwrap().remove("quality");
    assert!(quality.is_some());
    answers
}

#[test]
fn halves_say_what_whole_events_say() {
    let (whole, halves) = (read(whole), read(halves));
    assert_eq!(halves.rows.len(), 12);
    let lengths = |trace: &Trace| {
        [
            trace.work.len(),
            trace.calls.len(),
            trace.operator_numbers.len(),
            trace.inputs.len(),
            trace.collectives.len(),
            trace.waits.len(),
        ]
    };
    assert_eq!(lengths(&whole), [4, 5, 1, 1, 1, 1]);
    assert_eq!(lengths(&halves), lengths(&whole));
    assert_eq!(answers(&halves), answers(&whole));
}

#[test]
fn a_kernel_in_two_halves_is_work_of_its_stream() {
    let trace = try_read(
        r#"[{"ph":"B","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"args":{"stream":7,"correlation":1}},
            {"ph":"E","pid":0,"tid":7,"ts":5},
            {"ph":"B","cat":"gpu_memset","name":"m","pid":0,"tid":8,"ts":6},
            {"ph":"E","pid":0,"tid":8,"ts":7}]"#,
    )
    .unwrap();
    let work = |row, class, correlation, stream| Work {
        row,
        class,
        correlation,
        stream: Identifier::Number(stream),
        bytes: None,
    };
    let expected = [
        work(0, Class::Kernel, Some(1), 7),
        // What has no stream is on that of its track.
        work(1, Class::Memset, None, 8),
    ];
    assert_eq!(trace.work, expected);
    assert_eq!(trace.rows.duration_ns, [4_000, 1_000]);
}
