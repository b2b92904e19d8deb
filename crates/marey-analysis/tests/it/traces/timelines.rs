//! The questions to devices, on timelines that are drawn.

use marey_analysis::{
    CauseTime, GapCause, KernelClass, TraceContext, WorkKind, idle_gaps, kernels, overlap,
    utilization,
};

use super::{complete, events, kernel, only_device};

#[test]
fn each_moment_of_a_device_counts_once() {
    // µs       0         10        20        30
    // stream 7 |---gemm---|              |-b-|
    // stream 9      |-----nccl----|
    // copies                   |----|            (20 - 25)
    let trace = events(
        &[
            kernel("gemm", 0, 10),
            complete("kernel", "ncclKernel_AllReduce", 0, 5, 18, r#""stream": 9"#),
            complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 15, 20, r#""stream": 9"#),
            kernel("b", 25, 30),
        ]
        .join(","),
    );
    let timeline = only_device(&trace);
    let used = utilization(&trace, &timeline);
    let parts = [
        used.span_ns,
        used.busy_ns,
        used.idle_ns,
        used.compute_ns,
        used.communication_ns,
        used.memory_ns,
        used.exposed_communication_ns,
        used.exposed_memory_ns,
    ];
    assert_eq!(parts, [30, 25, 5, 15, 13, 5, 8, 2].map(|us| us * 1_000));
    let overlap = overlap(&timeline);
    assert_eq!(overlap.overlapped_communication_ns, 5_000);
    assert_eq!(overlap.hidden_memory_ns, 3_000);
    assert_eq!(overlap.communication_overlap_ratio, Some(5.0 / 13.0));
    let of_streams: Vec<_> = used
        .streams
        .iter()
        .map(|s| (s.stream.as_str(), s.n_ops, s.busy_ns, s.span_ns, s.self_overlap_ns))
        .collect();
    // On stream 9 the copy begins before the kernel ends.
    let nine = ("9", 2, 15_000, 15_000, 3_000);
    assert_eq!(of_streams, [("7", 2, 15_000, 30_000, 0), nine]);
}

#[test]
fn a_gap_is_blamed_on_the_launch_of_what_follows() {
    // host     [1]   [2]                     [sync   ]  [3]
    // µs       0  2  4  6                    40      46 48 50
    // device     |-1-----|  |---2---|                        |3|      |4|
    //            2       10 12      20                       50 52    60 62
    let launch = |id: u32, start, end| {
        let args = format!(r#""correlation": {id}"#);
        complete("cuda_runtime", "cudaLaunchKernel", 9, start, end, &args)
    };
    let launched = |id: u32, start, end| {
        let args = format!(r#""stream": 7, "correlation": {id}"#);
        complete("kernel", &format!("k{id}"), 0, start, end, &args)
    };
    let trace = events(
        &[
            launch(1, 0, 2),
            launch(2, 4, 6),
            complete("cuda_runtime", "cudaDeviceSynchronize", 9, 10, 46, ""),
            launch(3, 48, 50),
            launched(1, 2, 10),
            launched(2, 12, 20),
            launched(3, 50, 52),
            launched(4, 60, 62),
        ]
        .join(","),
    );
    let gaps = idle_gaps(&TraceContext::new(&trace, None), &only_device(&trace));
    let cause = |cause, n_gaps, total_us: u64, ratio| CauseTime {
        cause,
        n_gaps,
        total_ns: total_us * 1_000,
        ratio: Some(ratio),
    };
    let expected = vec![
        cause(GapCause::LaunchLate, 1, 28, 0.7),
        cause(GapCause::LaunchedBefore, 2, 4, 0.1),
        cause(GapCause::NotKnown, 1, 8, 0.2),
    ];
    assert_eq!(gaps.causes, expected);
    assert_eq!((gaps.n_gaps, gaps.total_ns, gaps.n_over_10us), (3, 40_000, 1));
    let longest = &gaps.longest[0];
    assert_eq!((longest.start_ns, longest.length_ns), (20_000, 30_000));
    assert_eq!(longest.next, "k3");
    // It waits from 8 to 46: in the gaps from 20, from 52 and from 10 on.
    let waited: Vec<_> = gaps.longest.iter().map(|gap| gap.synchronising_ns).collect();
    assert_eq!(waited, [Some(26_000), Some(0), Some(2_000)]);
}

#[test]
fn waiting_in_a_gap_is_known_however_short_it_is_and_not_without_calls() {
    // µs       0   2      10  12      20
    // device   |k1|       |k2|
    // host       |-synchronise-|           8 µs of it in the gap
    let wait = complete("cuda_runtime", "cudaDeviceSynchronize", 9, 1, 11, "");
    let kernels = [kernel("k1", 0, 2), kernel("k2", 10, 12)].join(",");
    let waited = |all: &str| {
        let trace = events(all);
        idle_gaps(&TraceContext::new(&trace, None), &only_device(&trace)).longest[0]
            .synchronising_ns
    };
    assert_eq!(waited(&format!("{kernels},{wait}")), Some(8_000));
    assert_eq!(waited(&kernels), None);
}

#[test]
fn kernels_have_true_means_however_many_there_are() {
    // Twelve names, so that none of them is left out or taken together with others.
    let mut all: Vec<String> =
        (0..11).map(|n| kernel(&format!("k{n}"), 100 + n, 101 + n)).collect();
    all.extend([kernel("gemm", 0, 10), kernel("gemm", 10, 12), kernel("gemm", 20, 29)]);
    let trace = events(&all.join(","));
    let found = kernels(&TraceContext::new(&trace, None), &only_device(&trace));
    assert_eq!(found.rows.len(), 12);
    let gemm = &found.rows[0];
    assert_eq!((gemm.name.as_str(), gemm.kind, gemm.count), ("gemm", WorkKind::Compute, 3));
    assert_eq!((gemm.total_ns, gemm.min_ns, gemm.max_ns), (21_000, 2_000, 10_000));
    assert_eq!((gemm.p50_ns, gemm.p95_ns, gemm.bytes), (9_000, 10_000, None));
    let is_near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(is_near(gemm.mean_ns, 7_000.0));
    assert!(is_near(gemm.ratio.unwrap(), 21.0 / 32.0));
    assert_eq!((found.classes[0].class, found.classes[0].count), (KernelClass::Gemm, 3));
    assert_eq!((found.classes[1].class, found.classes[1].n_names), (KernelClass::Other, 11));
}

#[test]
fn extremes_do_not_overflow() {
    let trace = events(
        r#"{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": -9223372036854775, "dur": 31536000000000},
           {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": 9223372036854774, "dur": 1},
           {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 0, "ts": 9223372036854774, "dur": 1.807},
           {"ph": "X", "cat": "gpu_memset", "name": "Memset", "pid": 0, "tid": 0, "ts": 0, "dur": 0,
            "args": {"bytes": 9223372036854775807}}"#,
    );
    let timeline = only_device(&trace);
    let used = utilization(&trace, &timeline);
    // From -9_223_372_036_854_775_000 to the last nanosecond that there is.
    assert_eq!(used.span_ns, 18_446_744_073_709_550_807);
    assert_eq!(used.busy_ns + used.idle_ns, used.span_ns);
    assert_eq!(kernels(&TraceContext::new(&trace, None), &timeline).rows[0].count, 3);
}
