//! What real traces have that no specification mentions, and what other tools make of it.

use marey_analysis::import::chrome::Class;
use marey_analysis::{
    TraceContext, device_timelines, idle_gaps, kernels, suspicious_durations, trace_answers,
    utilization,
};

use super::{complete, events, kernel, only_device, try_read};

#[test]
fn synchronisations_and_annotations_on_device_rows_are_no_work() {
    // device   |-gemm-|        |-gemm-|
    // rows     |----annotation----------------|
    //                     |-- Stream Sync --|
    let trace = events(
        &[
            kernel("gemm", 0, 10),
            kernel("gemm", 20, 30),
            complete("gpu_user_annotation", "step", 0, 0, 60, r#""stream": 7"#),
            complete("cuda_sync", "Stream Sync", 0, 15, 50, r#""stream": 7"#),
            complete("cuda_sync", "Stream Wait Event", 0, 12, 13, r#""stream": -1"#),
            complete("overhead", "CUPTI overhead", 0, 70, 80, ""),
        ]
        .join(","),
    );
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!((used.n_ops, used.span_ns, used.idle_ns), (2, 30_000, 10_000));
}

#[test]
fn streams_and_devices_may_be_zero_or_texts() {
    let trace = events(
        r#"{"ph": "X", "cat": "Kernel", "name": "a", "pid": "GPU 0", "tid": "stream 7", "ts": "1", "dur": "2"},
           {"ph": "X", "cat": "Memcpy", "name": "Memcpy DtoH", "pid": "GPU 0", "tid": "stream 7", "ts": 4, "dur": 2,
            "args": {"stream": "8", "bytes": "64"}},
           {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": 1, "dur": 1, "args": {"stream": 0}}"#,
    );
    let labels: Vec<_> = device_timelines(&trace)
        .iter()
        .map(|timeline| {
            let used = utilization(&trace, timeline);
            let streams: Vec<String> = used.streams.into_iter().map(|s| s.stream).collect();
            (used.device, streams)
        })
        .collect();
    let texts = ("GPU 0".to_owned(), vec!["8".to_owned(), "stream 7".to_owned()]);
    assert_eq!(labels, [("0".to_owned(), vec!["0".to_owned()]), texts]);
    assert_eq!(trace.quality.n_unusual, 1);
    assert_eq!(trace.work[1].bytes, Some(64));
}

#[test]
fn keys_may_come_in_any_order_and_metadata_behind_the_events() {
    let trace = try_read(
        r#"{"traceEvents": [
            {"args": {"correlation": 3, "stream": 1}, "cat": "kernel", "dur": 2, "name": "a", "ph": "X", "pid": 0, "tid": 1, "ts": 5},
            {"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "ts": 0, "args": {"name": "python"}},
            {"name": "thread_name", "ph": "M", "pid": 0, "tid": 1, "args": {"name": "stream 1"}}],
           "INFO": ["a } text", "another ]"], "displayTimeUnit": "ms",
           "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": [0]}]},
           "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
           "baseTimeNanoseconds": 1711964646000000000}"#,
    )
    .unwrap();
    let metadata = &trace.metadata[0];
    assert_eq!((metadata.rank, metadata.world_size), (Some(3), Some(8)));
    assert_eq!(metadata.base_unix_ns, Some(1_711_964_646_000_000_000));
    assert_eq!(metadata.devices[0].name.as_deref(), Some("NVIDIA H100"));
    assert_eq!(metadata.others["displayTimeUnit"], "ms");
    assert_eq!(trace.work[0].correlation, Some(3));
    assert_eq!(trace.work[0].class, Class::Kernel);
    let process = &trace.tracks.processes[0];
    assert_eq!(process.name.as_deref(), Some("python"));
    assert_eq!(trace.tracks.each[0].name.as_deref(), Some("stream 1"));
}

#[test]
fn several_ranks_in_one_file_are_kept_apart() {
    // One document after another: the same processes and correlations mean other things in each.
    let rank = |launch_at, kernel_at| {
        let launch = complete(
            "cuda_runtime",
            "cudaLaunchKernel",
            9,
            launch_at,
            launch_at + 1,
            r#""correlation": 5"#,
        );
        let first = kernel("first", 0, 1);
        let args = r#""stream": 7, "correlation": 5"#;
        let work = complete("kernel", "k", 0, kernel_at, kernel_at + 1, args);
        format!(r#"{{"traceEvents": [{launch}, {first}, {work}]}}"#)
    };
    let trace = try_read([rank(50, 60), rank(0, 60)].join("\n")).unwrap();
    assert_eq!(trace.quality.n_documents, 2);
    let timelines = device_timelines(&trace);
    let causes: Vec<_> = timelines
        .iter()
        .map(|timeline| {
            format!("{:?}", idle_gaps(&TraceContext::new(&trace, None), timeline).causes[0].cause)
        })
        .collect();
    assert_eq!(causes, ["LaunchLate", "LaunchedBefore"]);
}

#[test]
fn of_several_launches_with_one_number_the_last_before_the_work_counts() {
    // launches    [1]           [1]                    [1]
    // µs          0             40                     90
    // device          |-a-|          |---1---|
    //                 5  10          45      50
    let launch =
        |at| complete("cuda_driver", "cuLaunchKernel", 9, at, at + 1, r#""correlation": 1"#);
    let work = complete("kernel", "k", 0, 45, 50, r#""stream": 7, "correlation": 1"#);
    let trace = events(&[launch(40), launch(90), launch(0), kernel("a", 5, 10), work].join(","));
    let gaps = idle_gaps(&TraceContext::new(&trace, None), &only_device(&trace));
    assert_eq!(format!("{:?}", gaps.causes[0].cause), "LaunchLate");
}

#[test]
fn whole_nanoseconds_are_told_from_microseconds() {
    let trace = events(
        r#"{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1694128201545123000, "dur": 1500},
           {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 1694128201545124000, "dur": 7}"#,
    );
    assert_eq!(trace.rows.start_ns, [0, 1_000]);
    assert_eq!(trace.rows.duration_ns, [1_500, 7]);
    assert_eq!(trace.quality.n_in_nanoseconds, 2);
    let microseconds = events(&kernel("a", 1_694_128_201_545_123, 1_694_128_201_545_124));
    assert_eq!(microseconds.quality.n_in_nanoseconds, 0);
}

#[test]
fn what_ends_past_all_nanoseconds_is_counted_and_left_out() {
    let trace = events(
        r#"{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": 9223372036854774, "dur": 2},
           {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": 5, "dur": 9223372036854775},
           {"ph": "B", "cat": "kernel", "name": "b", "pid": 0, "tid": 1, "ts": -9223372036854775},
           {"ph": "E", "cat": "kernel", "name": "b", "pid": 0, "tid": 1, "ts": 9223372036854775},
           {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 0, "ts": 7, "dur": 1}"#,
    );
    assert_eq!((trace.rows.len(), trace.name_of(0)), (1, "c"));
    assert_eq!((trace.work.len(), trace.first_ns), (1, Some(7_000)));
    assert_eq!(trace.quality.n_out_of_range, 3);
}

#[test]
fn what_would_last_for_years_is_counted_and_left_out() {
    // A clock that wrapped around: 2^62 ns, beside a kernel of 10 µs.
    let trace = events(
        r#"{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": 5, "dur": 4611686018427387},
           {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 0, "ts": 7, "dur": 10}"#,
    );
    assert_eq!((trace.rows.len(), trace.rows.duration_of(0)), (1, 10_000));
    assert_eq!(trace.quality.n_out_of_range, 1);
    assert_eq!(only_device(&trace).span().length_ns(), 10_000);
}

#[test]
fn what_has_no_duration_or_a_negative_one_is_counted() {
    let trace = events(
        r#"{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1},
           {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 1, "dur": -5},
           {"ph": "X", "name": "c", "pid": 1, "tid": 1, "dur": 5},
           {"name": "no phase"}, {}"#,
    );
    assert_eq!((trace.rows.len(), trace.rows.duration_ns[0]), (1, 0));
    assert_eq!(trace.quality.n_without_time, 2);
    assert_eq!(trace.quality.n_negative_durations, 1);
    assert_eq!(trace.quality.n_events, 5);
    assert_eq!(trace.quality.n_by_phase[""], 2);
}

#[test]
fn the_only_device_has_the_only_model_whatever_its_number() {
    let models = |properties: &str, devices: &[u32]| {
        let work = |pid: &u32| complete("kernel", "gemm", *pid, 0, 1, r#""stream": 7"#);
        let work: Vec<String> = devices.iter().map(work).collect();
        let text = format!(
            r#"{{"deviceProperties": [{properties}], "traceEvents": [{}]}}"#,
            work.join(",")
        );
        let answers = trace_answers(&try_read(text).unwrap(), None);
        let models = answers.devices.into_iter().map(|device| device.model);
        models.collect::<Vec<_>>()
    };
    let one = r#"{"id": 0, "name": "MI300X"}"#;
    let two = r#"{"id": 0, "name": "MI300X"}, {"id": 1, "name": "MI250"}"#;
    let known = Some("MI300X".to_owned());
    // HIP_VISIBLE_DEVICES=2 and one device.
    assert_eq!(models(one, &[2]), std::slice::from_ref(&known));
    assert_eq!(models(one, &[0]), std::slice::from_ref(&known));
    // Of several it is not known which it is.
    assert_eq!(models(two, &[2]), [None]);
    assert_eq!(models(one, &[0, 2]), [known, None]);
}

#[test]
fn a_call_of_mtia_that_waits_is_one() {
    let trace = events(&complete("mtia_runtime", "synchronizeStream", 9, 2, 9, ""));
    let waiting = trace_answers(&trace, None).synchronisation;
    assert_eq!((waiting.count, waiting.total_ns), (1, 7_000));
}

#[test]
fn kernels_that_overlap_on_their_stream_are_all_there() {
    // µs       0         10
    // stream   |---gemm--|
    //                  |----gemm----|          Perfetto drops the second, and nothing in a query tells
    //                  9.5          20
    let all = [
        kernel("gemm", 0, 10),
        r#"{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 9.5, "dur": 10.5, "args": {"stream": 7}}"#.into(),
    ];
    let trace = events(&all.join(","));
    let timeline = only_device(&trace);
    let gemm = &kernels(&TraceContext::new(&trace, None), &timeline).rows[0];
    assert_eq!((gemm.count, gemm.total_ns), (2, 20_500));
    let used = utilization(&trace, &timeline);
    assert_eq!((used.busy_ns, used.streams[0].self_overlap_ns), (20_000, 500));
    let found = suspicious_durations(&trace, &timeline);
    assert_eq!((found.n_suspicious, found.n_legal_overlaps, found.legal_overlap_ns), (0, 1, 500));
}

#[test]
fn durations_that_cannot_be_true_are_told() {
    // ms       0                                        1600
    // stream   |------------------fmha------------------|       an overflow: the next began after 1 ms and was done at 2
    //           |-gemm-|
    //            1    2 |-gemm-|
    //                   2     3
    let all =
        [kernel("fmha", 0, 1_600_000), kernel("gemm", 1_000, 2_000), kernel("gemm", 2_000, 3_000)];
    let trace = events(&all.join(","));
    let found = suspicious_durations(&trace, &only_device(&trace));
    assert_eq!((found.n_suspicious, found.n_legal_overlaps), (1, 0));
    assert_eq!((found.total_ns, found.excess_ns), (1_600_000_000, 1_599_000_000));
    assert!((found.ratio.unwrap() - 1_600.0 / 1_602.0).abs() < 1e-12);
    let first = &found.first[0];
    assert_eq!((first.name.as_str(), first.next.as_str()), ("fmha", "gemm"));
    assert_eq!(first.overrun_ns, 1_598_000_000);
    // It is in the sums as the trace has it.
    let context = TraceContext::new(&trace, None);
    assert_eq!(kernels(&context, &only_device(&trace)).total_ns, 1_602_000_000);
}

#[test]
fn tasks_of_an_ascend_npu_are_work_and_what_sums_them_up_is_not() {
    // us       300        500 500      900                1200 1300
    // stream 2  |---Mul----|  |-MatMul--|   waits 900 to 1200 |-Add-|
    let row = |process: u32, name: &str, start: u64, duration: u64, task: &str| {
        let args =
            if task.is_empty() { "{}".to_owned() } else { format!(r#"{{"Task Type": "{task}"}}"#) };
        format!(
            r#"{{"ph": "X", "name": "{name}", "pid": {process}, "tid": 2, "ts": "{start}.000", "dur": {duration}, "args": {args}}}"#
        )
    };
    let process = |pid: u32, name: &str| {
        format!(
            r#"{{"ph": "M", "name": "process_name", "pid": {pid}, "args": {{"name": "{name}"}}}}"#
        )
    };
    let all = [
        row(9, "aten::mul", 100, 40, ""),
        row(12, "Mul", 300, 200, "AI_VECTOR_CORE"),
        row(12, "MatMulV2", 500, 400, "AI_CORE"),
        row(12, "EVENT_WAIT", 900, 300, "EVENT_WAIT_SQE"),
        row(12, "Add", 1200, 100, "AI_VECTOR_CORE"),
        row(12, "Unknown", 900, 10, ""),
        row(13, "Computing", 300, 600, ""),
        row(9, "download", 0, 90, "AI_CORE"),
        process(9, "Python"),
        process(12, "Ascend Hardware"),
        process(13, "Overlap Analysis"),
    ];
    let trace = events(&all.join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!((used.n_ops, used.span_ns, used.busy_ns), (3, 1_000_000, 700_000));
    let expected = [("npu_task".to_owned(), 3)];
    assert_eq!(trace.quality.n_not_analysed, expected.into());
    // What says so elsewhere is the program's own.
    let ranges = (0..8).filter(|row| trace.class_of(*row) == Class::Annotation);
    assert_eq!(ranges.map(|row| trace.name_of(row)).collect::<Vec<_>>(), ["aten::mul", "download"]);
}

#[test]
fn work_without_a_stream_is_on_the_one_of_its_row() {
    // us         0      10      20     30      40       queues of an Intel GPU, in place of streams
    // queue 64   |----------- gemm -------------|
    // queue 65          |--add--|      |--add---|
    let work = |name, queue: u32, start, duration| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {queue}, "ts": {start}, "dur": {duration}, "args": {{"sycl queue": {queue}}}}}"#
        )
    };
    let all = [work("gemm", 64, 0, 40), work("add", 65, 10, 10), work("add", 65, 30, 10)];
    let trace = events(&all.join(","));
    let device = only_device(&trace);
    let used = utilization(&trace, &device);
    let streams: Vec<_> = used.streams.iter().map(|s| (&*s.stream, s.n_ops, s.busy_ns)).collect();
    assert_eq!(streams, [("64", 1, 40_000), ("65", 2, 20_000)]);
    assert_eq!((used.busy_ns, used.idle_ns), (40_000, 0));
    assert_eq!(suspicious_durations(&trace, &device).n_suspicious, 0);
}

#[test]
fn paths_with_bare_backslashes_cost_no_more_than_their_own_row() {
    // `\u` begins no code, and the last backslash of the second name swallows the quote behind it.
    let trace = try_read(
        r#"[{"ph": "X", "cat": "python_function", "name": "C:\users\new\x.py(12): forward", "pid": 9, "tid": 9, "ts": 0, "dur": 50},
           {"ph": "X", "cat": "python_function", "name": "D:\models\", "pid": 9, "tid": 9, "ts": 10, "dur": 10},
           {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 30},
           {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50, "dur": 30}]"#,
    )
    .unwrap();
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!((trace.rows.len(), used.busy_ns), (3, 60_000));
    assert!(trace.name_of(0).ends_with("x.py(12): forward"));
    let quality = &trace.quality;
    assert_eq!((quality.n_broken, quality.n_damaged_names), (1, 1));
}

#[test]
fn phases_that_torch_does_not_write_and_odd_arguments_break_nothing() {
    let odd = ["b", "n", "e", "C", "t", "N", "O", "D", "P", "R", "c"];
    let odd = odd.map(|phase| {
        format!(r#"{{"ph": "{phase}", "cat": "request", "name": "generate", "id": "0x31", "pid": 9, "tid": 9, "ts": 5, "args": {{"a": [1, {{"b": "}}"}}]}}}}"#)
    });
    let args = ["[]", "null"].map(|args| {
        format!(r#"{{"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 9, "tid": 9, "ts": 5, "dur": 20, "args": {args}}}"#)
    });
    let trace = events(&[&odd[..], &args].concat().join(","));
    let quality = &trace.quality;
    assert_eq!((quality.n_broken, quality.n_events), (0, 13));
    assert_eq!(quality.n_by_phase["X"], 2);
    assert_eq!(trace.rows.duration_ns, [20_000, 20_000]);
}
