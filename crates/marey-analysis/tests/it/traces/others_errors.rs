//! Errors that other tools make on ordinary traces, one test each. HTA is `HolisticTraceAnalysis` 0.5.0.

use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::{
    GapCause, HostRows, WorkKind, device_timelines, idle_gaps, is_communication, kernels, overlap,
    suspicious_durations, trace_answers, utilization,
};

use super::{complete, events, kernel, only_device};

fn fixture(name: &str) -> Trace {
    let folder = format!("{}/tests/data/traces", env!("CARGO_MANIFEST_DIR"));
    let path = format!("{folder}/{name}.json.gz");
    read(std::fs::File::open(path).unwrap(), Limits::default()).unwrap()
}

/// An event with times as they are written.
fn written(category: &str, name: &str, pid: u32, start: &str, length: &str, args: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": 7, "ts": {start}, "dur": {length}, "args": {{{args}}}}}"#
    )
}

#[test]
fn marey_does_not_show_the_sum_of_a_kernel_as_its_mean() {
    // Eleven names and more: HTA aggregates the sums again, and shows mean = max = min = sum.
    // µs       0          10 12  20       29
    // gemm     |----------|--|   |--------|       9 mean of 7, sum of 21, longest 10, shortest 2
    let mut all: Vec<String> = (0..10)
        .map(|n| kernel(&format!("k{n}"), 100 + n, 101 + n))
        .collect();
    all.extend([
        kernel("gemm", 0, 10),
        kernel("gemm", 10, 12),
        kernel("gemm", 20, 29),
    ]);
    let trace = events(&all.join(","));
    let gemm = &kernels(&trace, &only_device(&trace)).rows[0];
    assert_eq!(
        (gemm.name.as_str(), gemm.count, gemm.total_ns),
        ("gemm", 3, 21_000)
    );
    assert!((gemm.mean_ns - 7_000.0).abs() < 1e-9);
    assert_eq!((gemm.min_ns, gemm.max_ns), (2_000, 10_000));
}

#[test]
fn marey_does_not_take_a_microsecond_from_each_kernel() {
    // µs       0.5   1.4 1.5   2.4 2.5   3.4
    // stream   |--a--|   |--b--|   |--c--|          2.7 µs of work, 0.2 µs of gaps
    // HTA      each begins at the next whole µs and ends at the last: nothing is left of any of them
    let of = |name, start| written("kernel", name, 0, start, "0.9", r#""stream": 7"#);
    let trace = events(&[of("a", "0.5"), of("b", "1.5"), of("c", "2.5")].join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!(
        (used.busy_ns, used.idle_ns, used.span_ns),
        (2_700, 200, 2_900)
    );
}

#[test]
fn marey_does_not_take_operators_of_the_host_for_kernels() {
    // µs       0                          94
    // host     |--triton_poi_fused (cpu_op, args.stream 0)--|
    // stream 0                             |k|
    let all = [
        complete("cpu_op", "triton_poi_fused", 9, 0, 94, r#""stream": 0"#),
        complete("kernel", "triton_poi_fused", 0, 94, 96, r#""stream": 0"#),
    ];
    let trace = events(&all.join(","));
    assert_eq!(utilization(&trace, &only_device(&trace)).compute_ns, 2_000);
    let trace = fixture("triton_example__triton_example");
    assert_eq!(utilization(&trace, &only_device(&trace)).compute_ns, 1_760);
}

#[test]
fn marey_does_not_drop_work_without_a_launch_nor_the_last_step() {
    // host     |--step 1--||--step 2--|
    // µs       0   [1]    10   [2]    20
    // device   |0| |---1---|   |---2---|          0 was launched before the trace began
    // HTA keeps 1 alone.
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
        launch(1, 4),
        launch(2, 14),
        launched(99, 0, 2),
        launched(1, 5, 13),
        launched(2, 15, 23),
    ];
    let trace = events(&all.join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!(
        (used.n_ops, used.busy_ns, used.span_ns),
        (3, 18_000, 23_000)
    );
    // 660.6 ms; HTA looks at 435.6 ms of it.
    let trace = fixture("nccl_parser_config__nccl_data");
    assert_eq!(
        utilization(&trace, &only_device(&trace)).span_ns,
        660_551_005
    );
}

#[test]
fn marey_does_not_take_synchronisations_for_work() {
    // µs       0        10           40
    // stream   |---k---|
    // on its row       |--Stream Wait Event--|     no work: HTA counts it as computing, and its end as that of the window
    let wait = r#""stream": 7, "correlation": 1, "wait_on_stream": 7"#;
    let all = [
        kernel("k", 0, 10),
        complete("cuda_sync", "Stream Wait Event", 0, 10, 40, wait),
    ];
    let trace = events(&all.join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!(
        (used.span_ns, used.compute_ns, used.idle_ns),
        (10_000, 10_000, 0)
    );
}

#[test]
fn marey_does_not_take_communication_of_other_libraries_for_computing() {
    // µs       0        10      20
    // stream   |--gemm--||-multimem-|         HTA knows `nccl…Kernel` only
    for name in [
        "multimem_all_reduce_kernel",
        "ncclDevKernel_AllGather_RING_LL",
        "void rcclGenericKernel",
        "vllm::cross_device_reduce_1stage",
        "deep_ep::intranode::dispatch",
    ] {
        assert!(is_communication(name), "{name}");
    }
    let all = [
        kernel("gemm", 0, 10),
        kernel("multimem_all_reduce_kernel", 10, 20),
    ];
    let trace = events(&all.join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!((used.compute_ns, used.communication_ns), (10_000, 10_000));
}

#[test]
fn marey_does_not_fail_without_a_device_a_step_or_a_rank() {
    // HTA: IndexError, ValueError, TypeError, AssertionError, by version.
    // Operations of devices, counted in the files.
    for (name, n_ops) in [
        ("cpu_only__rank-34.Jul_15_10_52_41.1074.pt.trace", 0),
        ("rank_non_gpu__rank_non_gpu", 0),
        ("traces__torch_compile_triton__trace", 12),
        ("traces__inference__vllm_decode_full__graph_execution", 434),
        ("nccl_parser_config__nccl_data", 3_774),
    ] {
        let answers = trace_answers(&fixture(name), None);
        let found = answers
            .devices
            .iter()
            .map(|device| device.utilization.n_ops);
        assert_eq!(found.sum::<u64>(), n_ops, "{name}");
    }
}

#[test]
fn marey_does_not_call_a_stream_idle_where_its_device_is_busy() {
    // µs        0          10        20        30
    // stream 7  |----------||--------||---------|
    // stream 40 |-|                           |-|       HTA: 26 µs idle; the device never was
    let on = |name, stream: u32, start, end| {
        complete(
            "kernel",
            name,
            0,
            start,
            end,
            &format!(r#""stream": {stream}"#),
        )
    };
    let all = [on("a", 7, 0, 30), on("b", 40, 0, 2), on("c", 40, 28, 30)];
    let trace = events(&all.join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!((used.idle_ns, used.streams[1].span_ns), (0, 30_000));
    assert_eq!(
        idle_gaps(&trace, &HostRows::new(&trace), &only_device(&trace)).n_gaps,
        0
    );
}

#[test]
fn marey_does_not_leave_out_stream_0() {
    // ROCm's kernels run on stream 0, which HTA's steps leave out.
    let all = [
        complete(
            "cuda_runtime",
            "hipLaunchKernel",
            9,
            0,
            1,
            r#""correlation": 5"#,
        ),
        complete("kernel", "k", 0, 2, 9, r#""stream": 0, "correlation": 5"#),
    ];
    let trace = events(&all.join(","));
    let timeline = only_device(&trace);
    assert_eq!(utilization(&trace, &timeline).streams[0].stream, "0");
    assert!(timeline.work[0].launch.is_some());
    let trace = fixture("amd_trace__mi250_minitoy_train_ROCm6_2_kineto");
    let works = device_timelines(&trace).into_iter().map(|t| t.work.len());
    assert_eq!(works.sum::<usize>(), trace.work.len());
}

#[test]
fn marey_does_not_make_a_number_of_communication_that_is_not_there() {
    let trace = events(&kernel("gemm", 0, 10));
    assert_eq!(
        overlap(&only_device(&trace)).communication_overlap_ratio,
        None
    );
}

#[test]
fn marey_does_not_have_idle_times_below_zero() {
    // µs       0         10 12        20
    // stream   |----a----|
    //                 |-----b-----|            b was prepared and begins at 8: HTA has a gap of -2 µs, and adds up 2 - 2
    //                 8           14 |-c-|
    //                                16  20
    let all = [kernel("a", 0, 10), kernel("b", 8, 14), kernel("c", 16, 20)];
    let trace = events(&all.join(","));
    let gaps = idle_gaps(&trace, &HostRows::new(&trace), &only_device(&trace));
    assert_eq!((gaps.n_gaps, gaps.total_ns), (1, 2_000));
    assert_eq!(gaps.causes[0].cause, GapCause::NotKnown);
}

#[test]
fn marey_does_not_lose_kernels_that_overlap_on_their_stream() {
    // µs       0         10
    // stream   |---gemm--|
    //                  |----gemm----|          Perfetto drops the second, and nothing in a query tells
    //                  9.5          20
    let all = [
        kernel("gemm", 0, 10),
        written("kernel", "gemm", 0, "9.5", "10.5", r#""stream": 7"#),
    ];
    let trace = events(&all.join(","));
    let timeline = only_device(&trace);
    let gemm = &kernels(&trace, &timeline).rows[0];
    assert_eq!((gemm.count, gemm.total_ns), (2, 20_500));
    let used = utilization(&trace, &timeline);
    assert_eq!(
        (used.busy_ns, used.streams[0].self_overlap_ns),
        (20_000, 500)
    );
    let found = suspicious_durations(&trace, &timeline);
    assert_eq!(
        (
            found.n_suspicious,
            found.n_legal_overlaps,
            found.legal_overlap_ns
        ),
        (0, 1, 500)
    );
}

#[test]
fn marey_does_not_take_fills_for_computing() {
    // µs       0       10      14
    // stream   |--gemm--||fill|            TraceLens: 14 µs of computing
    let fill = complete("gpu_memset", "Memset (Device)", 0, 10, 14, r#""stream": 7"#);
    let trace = events(&[kernel("gemm", 0, 10), fill].join(","));
    let used = utilization(&trace, &only_device(&trace));
    assert_eq!((used.compute_ns, used.memory_ns), (10_000, 4_000));
    assert_eq!(
        kernels(&trace, &only_device(&trace)).rows[1].kind,
        WorkKind::Memset
    );
    // By TraceLens 116.047 ms.
    let trace = fixture("nccl_parser_config__nccl_data");
    assert_eq!(
        utilization(&trace, &only_device(&trace)).compute_ns,
        115_655_847
    );
}

#[test]
fn marey_does_not_sum_durations_that_cannot_be_true_in_silence() {
    // ms       0                                        1600
    // stream   |------------------fmha------------------|       an overflow: the next began after 1 ms and was done at 2
    //           |-gemm-|
    //            1    2 |-gemm-|
    //                   2     3
    let all = [
        kernel("fmha", 0, 1_600_000),
        kernel("gemm", 1_000, 2_000),
        kernel("gemm", 2_000, 3_000),
    ];
    let trace = events(&all.join(","));
    let found = suspicious_durations(&trace, &only_device(&trace));
    assert_eq!((found.n_suspicious, found.n_legal_overlaps), (1, 0));
    assert_eq!(
        (found.total_ns, found.excess_ns),
        (1_600_000_000, 1_599_000_000)
    );
    assert!((found.ratio.unwrap() - 1_600.0 / 1_602.0).abs() < 1e-12);
    let first = &found.first[0];
    assert_eq!((first.name.as_str(), first.next.as_str()), ("fmha", "gemm"));
    assert_eq!(first.overrun_ns, 1_598_000_000);
    // It is in the sums as the trace has it.
    assert_eq!(
        kernels(&trace, &only_device(&trace)).total_ns,
        1_602_000_000
    );
}
