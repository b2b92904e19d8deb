//! What a trace holds of what was launched, and what it lacks: that is not known, and no idleness.

use marey_analysis::compare::Verdict;
use marey_analysis::import::chrome::Trace;
use marey_analysis::{
    CompareOptions, GapCause, Thresholds, TraceAnswers, TracedSide, compare_traces, trace_answers,
    trace_findings,
};

use super::{complete, events, try_read};

fn call(name: &str, id: u64, start: u64, end: u64) -> String {
    complete("cuda_runtime", name, 9, start, end, &format!(r#""correlation": {id}"#))
}

fn work(name: &str, id: u64, start: u64, end: u64) -> String {
    let args = format!(r#""stream": 7, "correlation": {id}"#);
    complete("kernel", name, 0, start, end, &args)
}

/// Ten launches of a graph of a kernel of 900 µs, a millisecond apart, of which the trace has the work of some.
///
/// ```text
/// host     [g] at 0  [g] at 1 000     …       [g] at 9 000
/// device    |-- 50 to 950 --|  ?????????????   |-- 9 050 to 9 950 --|
/// ```
fn graphs(recorded: &[u64]) -> Trace {
    let calls = (0..10).map(|n| call("cudaGraphLaunch", n + 1, n * 1_000, n * 1_000 + 15));
    let kernels = recorded.iter().map(|n| work("gemm", n + 1, n * 1_000 + 50, n * 1_000 + 950));
    let all: Vec<String> = calls.chain(kernels).collect();
    events(&all.join(","))
}

/// Why a rule could not tell, or what it found or passed.
fn said(answers: &TraceAnswers, rule: &str) -> String {
    let all = trace_findings(answers, &Thresholds::default());
    let found = all.found.iter().find(|one| one.rule == rule);
    let found = found.map(|one| format!("found: {}", one.issue));
    let passed = all.passed.iter().find(|one| one.rule == rule);
    let passed = passed.map(|one| format!("passed: {}", one.what));
    let unchecked = all.unchecked.iter().find(|one| one.rule == rule);
    let unchecked = unchecked.map(|one| format!("not known: {}", one.why));
    found.or(passed).or(unchecked).unwrap()
}

#[test]
fn replays_of_a_graph_that_were_not_recorded_are_no_idleness() {
    let answers = trace_answers(&graphs(&[0, 9]), None);
    let calls = &answers.coverage.calls;
    assert_eq!((calls[0].count, calls[0].n_without_work), (10, 8));
    let device = &answers.devices[0];
    let used = &device.utilization;
    // Until the second launch at 1 000 nothing was to be done, from then on to 9 050 nobody knows.
    let times = (used.span_ns, used.busy_ns, used.idle_ns, used.unknown_ns);
    assert_eq!(times, (9_900_000, 1_800_000, 50_000, 8_050_000));
    let causes = device.idle_gaps.causes.iter();
    let causes: Vec<_> = causes.map(|one| (one.cause, one.total_ns)).collect();
    let expected = [(GapCause::LaunchLate, 50_000), (GapCause::NotKnown, 8_050_000)];
    assert_eq!(causes, expected);
    let why = "not known: 8 of 10 graph launches have no work in the trace";
    assert_eq!(said(&answers, "low-gpu-utilization"), why);
    assert_eq!(said(&answers, "launch-bound"), why);
}

#[test]
fn what_was_queued_behind_the_work_of_others_is_not_known_from_the_end_of_that() {
    // host    [1][2][3]            2 has no work in the trace, and ran between 1 and 3
    // device      |--1--|?????|--3--|
    //             10   20    40    50
    let all = [
        call("cudaLaunchKernel", 1, 0, 1),
        call("cudaLaunchKernel", 2, 2, 3),
        call("cudaLaunchKernel", 3, 4, 5),
        work("a", 1, 10, 20),
        work("a", 3, 40, 50),
    ];
    let answers = trace_answers(&events(&all.join(",")), None);
    let used = &answers.devices[0].utilization;
    assert_eq!((used.idle_ns, used.unknown_ns), (0, 20_000));
}

#[test]
fn launches_into_a_graph_that_is_recorded_are_not_expected_to_run() {
    let all = [
        call("hipStreamBeginCapture", 1, 0, 1),
        call("hipLaunchKernel", 2, 2, 3),
        call("hipStreamEndCapture", 3, 4, 5),
        call("hipLaunchKernel", 4, 6, 7),
        work("a", 4, 10, 20),
    ];
    let answers = trace_answers(&events(&all.join(",")), None);
    let calls = &answers.coverage.calls;
    assert_eq!((calls[0].count, calls[0].n_without_work), (1, 0));
    assert_eq!(answers.coverage.lack(), None);
}

#[test]
fn launches_without_any_work_are_no_program_of_the_host() {
    let calls: Vec<String> =
        (0..50).map(|n| call("cudaLaunchKernel", n + 1, n * 20, n * 20 + 5)).collect();
    let answers = trace_answers(&events(&calls.join(",")), None);
    let why = "not known: 50 of 50 launches have no work in the trace";
    assert_eq!(said(&answers, "launch-bound"), why);
    assert_eq!(said(&answers, "exposed-transfers"), why);
}

#[test]
fn what_is_missing_before_the_first_work_and_after_the_last_is_not_known_either() {
    // us       0       1 000   1 050  1 950  2 000           9 015
    // host     [g]     [g]                   [g]    …  [g] at 9 000
    // device   ????????????????|-gemm-| known |????????????????|       the second of ten is recorded
    let answers = trace_answers(&graphs(&[1]), None);
    let used = &answers.devices[0].utilization;
    let times = (used.span_ns, used.busy_ns, used.idle_ns, used.unknown_ns);
    assert_eq!(times, (900_000, 900_000, 0, 0));
    assert_eq!(used.unknown_around_ns, 1_050_000 + 7_015_000);
    let parts = used.parts_of(answers.span_ns);
    let expected =
        [("GPU compute", 900_000), ("GPU idle", 50_000), ("GPU work not recorded", 8_065_000)];
    assert_eq!(parts, expected);
}

/// ```text
/// µs       0              100    400    600       900 1 000    after FROM_US, in 2026
/// host     |launches|
/// device                  |--a--||--b--|          |--c--|     and others, at times that cannot be
/// ```
fn three_kernels_and(others: [String; 2]) -> Trace {
    let mut all: Vec<String> = (0..5)
        .map(|n| call("cudaLaunchKernel", n + 1, FROM_US + n * 10, FROM_US + n * 10 + 5))
        .collect();
    for (name, number, start, end) in [("a", 1, 100, 400), ("b", 2, 400, 600), ("c", 3, 900, 1_000)]
    {
        all.push(work(name, number, FROM_US + start, FROM_US + end));
    }
    all.extend(others);
    let trace = events(&all.join(","));
    let answers = trace_answers(&trace, None);
    assert_eq!(answers.span_ns, 1_000_000);
    let used = &answers.devices[0].utilization;
    let times = (used.n_ops, used.span_ns, used.busy_ns, used.idle_ns);
    assert_eq!(times, (3, 900_000, 600_000, 300_000));
    trace
}

const FROM_US: u64 = 1_769_000_000_000_000;

#[test]
fn kernels_at_time_zero_beside_absolute_times_are_counted_and_in_no_span() {
    let trace = three_kernels_and([work("lost", 4, 0, 0), work("lost", 5, 0, 0)]);
    assert_eq!(trace.quality.n_without_time, 2);
    // c was launched at 20: the gap is not the host's.
    let causes = &trace_answers(&trace, None).devices[0].idle_gaps.causes;
    assert_eq!((causes.len(), causes[0].cause), (1, GapCause::LaunchedBefore));
}

#[test]
fn work_of_an_impossible_year_is_counted_and_in_no_share() {
    // In 2099 and in 1980.
    let trace = three_kernels_and([
        work("late", 4, 4_100_000_000_000_000, 4_100_000_000_000_300),
        work("early", 5, 330_000_000_000_000, 330_000_000_000_300),
    ]);
    assert_eq!((trace.quality.n_out_of_range, trace.quality.n_without_time), (2, 0));
    // Where the years of most are not known, all are kept.
    let two = [
        work("a", 1, FROM_US, FROM_US + 10),
        work("b", 2, 4_100_000_000_000_000, 4_100_000_000_000_010),
    ];
    assert_eq!(events(&two.join(",")).quality.n_out_of_range, 0);
}

#[test]
fn a_finding_by_clocks_that_differ_is_doubtful_and_says_by_how_much() {
    // host          [1]       [2]             [3]        100, 200, 300
    // device      |--1--|   |--2--|              |--3--|     90 to 140, 180 to 230, 320 to 370
    let all = [
        call("cudaLaunchKernel", 1, 100, 105),
        call("cudaLaunchKernel", 2, 200, 205),
        call("cudaLaunchKernel", 3, 300, 305),
        work("gemm", 1, 90, 140),
        work("gemm", 2, 180, 230),
        work("gemm", 3, 320, 370),
    ];
    let answers = trace_answers(&events(&all.join(",")), None);
    let launches = &answers.devices[0].launches;
    assert_eq!(launches.n_before_launch, 2);
    assert_eq!(launches.before_launch_ns, Some(20_000));
    let all = trace_findings(&answers, &Thresholds::default());
    let found = all.found.iter().find(|one| one.rule == "launch-bound").unwrap();
    assert_eq!(format!("{:?}", found.confidence), "Low");
    // At most 70 of 280 µs.
    assert_eq!(found.saving.as_ref().unwrap().at_most_ns, Some(70_000));
}

#[test]
fn ranks_in_one_file_have_their_own_numbers_of_launches() {
    let event = |category: &str, name: &str, pid: &str, start: u64, lasts: u64, args: &str| {
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": "{pid}", "tid": 7, "ts": {start}, "dur": {lasts}, "args": {{{args}}}}}"#
        )
    };
    let launch = r#""correlation": 7"#;
    let on_device = r#""stream": 7, "correlation": 7"#;
    let all = [
        event("cpu_op", "aten::mm", "[TP00] 42", 95, 20, ""),
        event("cuda_runtime", "cudaLaunchKernel", "[TP00] 42", 100, 5, launch),
        event("kernel", "gemm", "[TP00] 0", 200, 1_000, on_device),
        event("cpu_op", "aten::conv2d", "[TP01] 42", 145, 20, ""),
        event("cuda_runtime", "cudaLaunchKernel", "[TP01] 42", 150, 5, launch),
        event("kernel", "conv", "[TP01] 0", 260, 500, on_device),
    ];
    let answers = trace_answers(&events(&all.join(",")), None);
    let of = |name: &str| {
        let mut rows = answers.operators.rows.iter();
        rows.find(|row| row.name == name).unwrap().device_total_ns
    };
    let of = (of("aten::mm"), of("aten::conv2d"));
    assert_eq!(of, (Some(1_000_000), Some(500_000)));
    let delays = answers.devices.iter().map(|one| one.launches.delay.unwrap());
    let delays: Vec<u64> = delays.map(|delay| delay.spread.max_ns).collect();
    assert_eq!(delays, [100_000, 110_000]);
    assert_eq!(answers.coverage.lack(), None);
}

#[test]
fn what_lies_behind_the_end_of_a_trace_is_said_with_its_length() {
    let document = format!(r#"{{"traceEvents": [{}]}}"#, work("a", 1, 0, 1));
    let rest = format!(", {}]}}", work("b", 2, 3, 4));
    let trace = try_read(format!("{document}{rest}")).unwrap();
    assert_eq!(trace.work.len(), 1);
    assert_eq!(trace.quality.n_bytes_broken, rest.len() as u64);
    let why = &trace.quality.broken[0].reason;
    assert!(why.contains("two programs wrote it?"), "{why}");
}

#[test]
fn a_trace_that_lacks_work_is_not_compared_with_a_whole_one() {
    let side = |recorded: &[u64]| {
        let mut side = TracedSide::default();
        side.push(&graphs(recorded));
        side
    };
    let whole = side(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let half = side(&[0, 9]);
    let options = CompareOptions::default();
    for (baseline, candidate, name) in [(&whole, &half, "candidate"), (&half, &whole, "baseline")] {
        let found = compare_traces(baseline, candidate, &options);
        assert_eq!(found.verdict, Verdict::CannotTell);
        let expected = format!("in the {name} 8 of 10 graph launches have no work in the trace");
        assert_eq!(found.obstacles[0].text, expected);
    }
    // With itself there is nothing to find.
    assert!(compare_traces(&half, &half, &options).obstacles.is_empty());
}

#[test]
fn nothing_passes_on_a_trace_of_the_profilers_own_rows() {
    let own = complete("Trace", "PyTorch Profiler (0)", 9, 100, 5_100, "");
    let answers = trace_answers(&events(&own), None);
    assert_eq!(trace_findings(&answers, &Thresholds::default()).passed, []);
}

#[test]
fn copies_without_work_are_missing_as_kernels_are_and_fills_are_not() {
    // host    [launch 1][copy 2][fill 3]        [launch 4]
    // device      |--1--|???????????????????????????|--4--|
    //             10   20                          40    50
    let all = [
        call("cudaLaunchKernel", 1, 0, 1),
        call("cudaMemcpyAsync", 2, 2, 3),
        call("cudaMemsetAsync", 3, 4, 5),
        call("cudaLaunchKernel", 4, 30, 31),
        work("a", 1, 10, 20),
        work("a", 4, 40, 50),
    ];
    let answers = trace_answers(&events(&all.join(",")), None);
    assert_eq!(answers.coverage.lack().as_deref(), Some("1 of 1 copies have no work in the trace"));
    assert_eq!(answers.devices[0].utilization.unknown_ns, 20_000);
    // A copy whose work is there needs no row of its own.
    let copied = [call("cudaMemcpyAsync", 2, 2, 3), work("Memcpy HtoD", 2, 4, 6)];
    let answers = trace_answers(&events(&copied.join(",")), None);
    assert!(answers.coverage.calls.is_empty());
}

#[test]
fn ranks_that_a_tool_put_into_one_file_are_counted() {
    let launch = |pid: &str| {
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": "{pid}", "tid": 1, "ts": 1, "dur": 1}}"#
        )
    };
    let n_ranks = |pids: &[&str]| {
        let all: Vec<String> = pids.iter().map(|pid| launch(pid)).collect();
        trace_answers(&events(&all.join(",")), None).n_merged_ranks
    };
    assert_eq!(n_ranks(&["[TP00] 7", "[TP00] 0", "[TP01] 7", "[TP01] 0"]), 2);
    assert_eq!(n_ranks(&["7", "0"]), 0);
    let name = |pid: u32, name: &str| {
        format!(
            r#"{{"ph": "M", "name": "process_name", "pid": {pid}, "args": {{"name": "{name}"}}}}"#
        )
    };
    // As `marey export` names them.
    let all = [name(1, "rank 0: python"), name(2, "rank 0: process 0"), name(3, "rank 1: python")];
    assert_eq!(trace_answers(&events(&all.join(",")), None).n_merged_ranks, 2);
}

#[test]
fn each_rank_that_was_put_into_one_file_has_its_own_steps() {
    // rank 0   |--10--|--10--|--10--|
    // rank 1      |----15----|----15----|----15----|
    let name = |rank: u32| {
        format!(
            r#"{{"ph": "M", "name": "process_name", "pid": 4{rank}, "args": {{"name": "rank {rank}: python"}}}}"#
        )
    };
    let step = |rank: u32, start: u32, lasts: u32| {
        format!(
            r#"{{"ph": "X", "cat": "user_annotation", "name": "denoising_step", "pid": 4{rank}, "tid": 1, "ts": {start}, "dur": {lasts}}}"#
        )
    };
    let of_rank = |rank, first, lasts| (0..3).map(move |n| step(rank, first + n * lasts, lasts));
    let all: Vec<String> =
        [name(0), name(1)].into_iter().chain(of_rank(0, 0, 10)).chain(of_rank(1, 5, 15)).collect();
    let answers = trace_answers(&events(&all.join(",")), None);
    assert_eq!(answers.n_merged_ranks, 2);
    let ranks: Vec<Option<i64>> = answers.documents.iter().map(|one| one.rank).collect();
    assert_eq!(ranks, [Some(0), Some(1)]);
    let steps = answers.parts.steps.iter();
    let host_ns = steps.map(|list| list.parts.iter().map(|step| step.host_ns).collect());
    let host_ns: Vec<Vec<u64>> = host_ns.collect();
    assert_eq!(host_ns, [vec![10_000; 3], vec![15_000; 3]]);
    // What held a moment up is not known of ranks together.
    assert!(answers.account.is_some_and(|account| account.phases().is_empty()));
}
