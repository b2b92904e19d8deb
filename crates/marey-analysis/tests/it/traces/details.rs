//! What only some events say: inputs of operators, collectives, synchronisations of devices, allocations.
//!
//! Figures of real traces were counted by a few lines of Python on their JSON.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use marey_analysis::import::chrome::{Allocation, Collective, Limits, ReadError, Trace, read};

use super::{complete, events, kernel, try_read};

fn real(name: &str) -> Trace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let trace = read(File::open(folder.join(name)).unwrap(), Limits::default()).unwrap();
    assert_eq!(trace.quality.n_broken, 0);
    trace
}

fn shapes_of(trace: &Trace) -> Vec<(u32, &str, Option<&str>)> {
    let written = |inputs: &marey_analysis::import::chrome::Inputs| {
        let types = inputs.types.map(|types| trace.texts.get(types));
        (inputs.row, trace.texts.get(inputs.shapes), types)
    };
    trace.inputs.iter().map(written).collect()
}

#[test]
fn operators_say_their_inputs_and_equal_ones_are_kept_once() {
    let op = |args| complete("cpu_op", "aten::mm", 9, 0, 1, args);
    let trace = events(
        &[
            op(r#""Input Dims": [[2, 77], [], []], "Input type": ["float", "", "Scalar"]"#),
            op(r#""External id": 3"#),
            op(r#""Input type": ["float"], "Input Strides": [[1]], "Input Dims": [[4]]"#),
            op(r#""Input Dims": [[2, 77], [], []]"#),
            // Annotations say their inputs, too, and are no operators.
            complete("user_annotation", "nccl:all_reduce", 9, 0, 1, r#""Input Dims": [[4]]"#),
            complete("Operator", "aten::add", 9, 0, 1, r#""Input dims": [[4]]"#),
        ]
        .join(","),
    );
    let expected = [
        (0, "[[2, 77], [], []]", Some(r#"["float", "", "Scalar"]"#)),
        (2, "[[4]]", Some(r#"["float"]"#)),
        (3, "[[2, 77], [], []]", None),
        (5, "[[4]]", None),
    ];
    assert_eq!(shapes_of(&trace), expected);
    assert_eq!(trace.inputs[0].shapes, trace.inputs[2].shapes);
    assert_eq!(trace.texts.len(), 4);
}

#[test]
fn kernels_of_communication_say_their_collective() {
    let said = r#""Collective name": "all_\u0067ather", "In msg nelems": 4, "Out msg nelems": "32", "Group size": 8, "dtype": "BFloat16""#;
    let nccl = |args: &str| complete("kernel", "ncclDevKernel", 0, 0, 1, args);
    let trace = events(
        &[
            kernel("gemm", 0, 1),
            nccl(&format!(r#"{said}, "Process Group Name": "3", "Process Group Description": "tp""#)),
            nccl(r#""Process Group Name": "3", "Process Group Description": "", "In msg nelems": -1"#),
            nccl(r#""Process Group Name": "", "Process Group Description": "undefined", "Group size": 2"#),
            // The operator that records it is no kernel.
            complete("cpu_op", "record_param_comms", 9, 0, 1, said),
        ]
        .join(","),
    );
    let text = |number: Option<u32>| number.map(|number| trace.texts.get(number));
    let of = |collective: &Collective| {
        let group = text(collective.group);
        (collective.row, text(collective.name), text(collective.element_type), group)
    };
    let texts: Vec<_> = trace.collectives.iter().map(of).collect();
    let first = (1, Some("all_gather"), Some("BFloat16"), Some("tp:3"));
    let others = [(2, None, None, Some("3")), (3, None, None, None)];
    assert_eq!(texts, [first, others[0], others[1]]);
    let [first, second, _] = &trace.collectives[..] else { panic!("{:?}", trace.collectives) };
    let counts = |c: &Collective| (c.n_elements_in, c.n_elements_out, c.group_size);
    assert_eq!(counts(first), (Some(4), Some(32), Some(8)));
    assert_eq!(counts(second), (None, None, None));
}

#[test]
fn collectives_of_a_real_trace_are_all_there() {
    let trace = real("nccl_parser_config__nccl_data.json.gz");
    let elements = |n: &Collective| (n.n_elements_in.unwrap(), n.n_elements_out.unwrap());
    let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
    let total = trace.collectives.iter().map(elements).fold((0, 0), sum);
    assert_eq!((trace.collectives.len(), total), (21, (76_830_615, 76_830_615)));
    let kinds: BTreeSet<_> = trace
        .collectives
        .iter()
        .map(|c| [c.name, c.element_type, c.group].map(|text| trace.texts.get(text.unwrap())))
        .collect();
    let expected = [
        ["allreduce", "Float", "default_pg"],
        ["broadcast", "Float", "default_pg"],
        ["broadcast", "Long", "default_pg"],
    ];
    assert_eq!(kinds, BTreeSet::from(expected));
}

#[test]
fn synchronisations_say_who_waits() {
    // Stream 1 waits for an event; then the host waits for the same event.
    let after = real("kineto_docs_after_fix.json");
    let streams: Vec<Option<i64>> = after.waits.iter().map(|wait| wait.stream).collect();
    assert_eq!(streams, [Some(1), None]);
    assert_eq!(after.name_of(after.waits[0].row), "Stream Wait Event");
    // How many there are; how many say a stream that waits.
    for (name, expected) in [
        ("critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz", [41, 41]),
        ("critical_path__cuda_event_sync__event_sync_trace.json.gz", [4, 1]),
        ("critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz", [5, 1]),
    ] {
        let trace = real(name);
        let n_streams = trace.waits.iter().filter(|wait| wait.stream.is_some()).count();
        let counts = [trace.waits.len(), n_streams];
        assert_eq!(counts, expected, "{name}");
    }
}

fn moment(at: &str, args: &str) -> String {
    format!(
        r#"{{"ph": "i", "name": "[memory]", "pid": 9, "tid": 7, "ts": {at}, "s": "t", "args": {{{args}}}}}"#
    )
}

#[test]
fn allocations_are_kept_in_the_order_of_the_file() {
    let trace = events(
        &[
            moment("4.5", r#""Device Type": 0, "Device Id": -1, "Bytes": 64"#),
            kernel("a", 5, 6),
            moment("7.25", r#""Device Type": 1, "Device Id": 2, "Bytes": -512, "Total Allocated": 1024, "Total Reserved": 4096"#),
            moment("6", r#""Device Type": 1, "Device Id": 2"#),
            moment("\"6\"", r#""Bytes": "32", "Total Allocated": -1"#),
            moment("null", r#""Bytes": 8"#),
            // Another moment.
            r#"{"ph": "i", "name": "step", "pid": 9, "tid": 7, "ts": 7, "args": {"Bytes": 1}}"#.to_owned(),
        ]
        .join(","),
    );
    let track = trace.allocations[0].track;
    let bare = |at_ns, bytes| Allocation {
        at_ns,
        track,
        device_type: None,
        device: None,
        bytes,
        allocated_bytes: None,
        reserved_bytes: None,
    };
    let expected = [
        Allocation {
            device_type: Some(0),
            device: Some(-1),
            // Before the first event with a duration.
            ..bare(None, 64)
        },
        Allocation {
            device_type: Some(1),
            device: Some(2),
            allocated_bytes: Some(1_024),
            reserved_bytes: Some(4_096),
            ..bare(Some(2_250), -512)
        },
        bare(Some(1_000), 32),
    ];
    assert_eq!(trace.allocations, expected);
    assert_eq!((trace.quality.n_without_bytes, trace.quality.n_without_time), (1, 1));
}

#[test]
fn allocations_of_a_real_trace_are_all_there() {
    let trace = real("traces__h100__Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
    let allocations = &trace.allocations;
    assert_eq!(allocations.len(), 2_450);
    assert_eq!(allocations.iter().map(|a| a.bytes).sum::<i64>(), 0);
    let of_device = allocations.iter().filter(|a| a.device_type == Some(1));
    let most = of_device.filter_map(|a| a.allocated_bytes).max();
    assert_eq!(most, Some(2_088_508_416));
    // The last is at 1428625778975.243 µs, the first event at 1428625731456.483.
    assert_eq!(allocations[2_449].at_ns, Some(47_518_760));
}

#[test]
fn details_without_end_are_an_error() {
    let limits = Limits { rows: 1_000, bytes: 1 << 20, name_bytes: 10_000, event_bytes: 100_000 };
    let moments = vec![moment("1", r#""Bytes": 1"#); 1_001].join(",");
    let result = read(format!("[{moments}]").as_bytes(), limits);
    assert!(matches!(result, Err(ReadError::Events(1_000))));
    let op = |n: u32| {
        complete("cpu_op", "a", 9, 0, 1, &format!(r#""Input Dims": [[{n}, 10000000000]]"#))
    };
    let ops: Vec<String> = (0..900).map(op).collect();
    let result = read(format!("[{}]", ops.join(",")).as_bytes(), limits);
    assert!(matches!(result, Err(ReadError::Names(10_000))));
}

#[test]
fn details_that_are_broken_are_left_out() {
    let trace = try_read(
        r#"[{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"Input Dims": N/A}},
            {"ph": "X", "cat": "cuda_sync", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": [1]},
            {"ph": "X", "cat": "cuda_sync", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
            {"ph": "i", "name": "[memory]", "ts": 1, "args": {"Bytes": 99999999999999999999}}]"#,
    )
    .unwrap();
    assert_eq!((trace.rows.len(), trace.waits.len()), (3, 2));
    assert_eq!(trace.waits[1].stream, None);
    // What is written is kept, whatever it is.
    assert_eq!(shapes_of(&trace), [(0, "N/A", None)]);
    assert_eq!(trace.quality.n_without_bytes, 1);
}

#[test]
fn shapes_are_one_whether_they_are_written_on_one_line_or_on_many() {
    let operator = |dims: &str, types: &str| {
        let args = format!(r#""Input Dims": {dims}, "Input type": {types}"#);
        complete("cpu_op", "aten::mm", 9, 0, 1, &args)
    };
    let plain = operator("[[1, 77], []]", r#"["long int", ""]"#);
    let pretty =
        operator("[\n          [\n   1,\r\n\t77\n ],\n [\n]\n]", "[\n \"long int\",\n \"\"\n]");
    let trace = events(&[plain, pretty].join(","));
    let types = Some(r#"["long int", ""]"#);
    let shapes = "[[1, 77], []]";
    assert_eq!(shapes_of(&trace), [(0, shapes, types), (1, shapes, types)]);
    assert_eq!(trace.inputs[0].shapes, trace.inputs[1].shapes);
}

#[test]
fn rows_of_devices_that_are_not_understood_are_counted() {
    let trace = events(
        &[
            complete("mtia_ccp_events", "FC", 0, 0, 1, ""),
            complete("mtia_ccp_events", "FC", 0, 1, 2, ""),
            complete("hpu_op", "gemm", 0, 2, 3, ""),
            complete("overhead", "Lazy load", 0, 2, 3, ""),
        ]
        .join(","),
    );
    assert!(trace.work.is_empty());
    let counted = trace.quality.n_not_analysed.iter();
    let counted: Vec<(&str, u64)> = counted.map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(counted, [("hpu_op", 1), ("mtia_ccp_events", 2)]);
}
