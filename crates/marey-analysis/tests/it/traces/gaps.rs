//! Why devices wait and how far they run behind, on timelines that are drawn.

use marey_analysis::import::chrome::Trace;
use marey_analysis::{
    GapCause, GapReason, IdleGaps, Launches, Scope, TraceContext, idle_gaps, launches,
    trace_answers,
};

use super::{complete, events, only_device};

fn call(id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""correlation": {id}"#);
    complete("cuda_runtime", "cudaLaunchKernel", 9, start, end, &args)
}

fn on_stream(stream: u32, id: u32, start: u64, end: u64) -> String {
    let args = format!(r#""stream": {stream}, "correlation": {id}"#);
    complete("kernel", &format!("k{id}"), 0, start, end, &args)
}

fn launched(id: u32, start: u64, end: u64) -> String {
    on_stream(7, id, start, end)
}

fn host(category: &str, name: &str, start: u64, end: u64) -> String {
    complete(category, name, 9, start, end, "")
}

fn gaps(trace: &Trace) -> IdleGaps {
    idle_gaps(&TraceContext::new(trace, None), &only_device(trace))
}

/// Reasons with their times in microseconds.
fn reasons(trace: &Trace) -> Vec<(GapReason, u64)> {
    let reasons = gaps(trace).reasons.into_iter();
    reasons.map(|r| (r.reason, r.total_ns / 1_000)).collect()
}

/// A gap from 10 to 110 µs, in which the host was late until 105, and what the host did in it.
fn late(in_gap: &[String]) -> Trace {
    let mut all = vec![call(1, 0, 1), launched(1, 5, 10), call(2, 105, 106), launched(2, 110, 120)];
    all.extend_from_slice(in_gap);
    events(&all.join(","))
}

#[test]
fn a_late_host_is_told_apart_by_what_it_did_until_the_launch() {
    // device  |1|                                     |2|
    //         5 10                         105       110
    // host       |------------- here ----------| [launch]
    let in_operators = [host("cpu_op", "aten::add", 12, 100)];
    let in_a_wait = [
        host("cpu_op", "aten::item", 11, 104),
        host("cuda_runtime", "cudaStreamSynchronize", 12, 100),
    ];
    let in_data = [
        host("user_annotation", "enumerate(DataLoader)#_Next", 11, 100),
        host("cpu_op", "aten::stack", 12, 90),
    ];
    let in_python = [host("python_function", "train.py(3): main", 0, 200)];
    let cases = [
        (late(&in_operators), GapReason::LaunchBound),
        (late(&in_a_wait), GapReason::Synchronising),
        (late(&in_data), GapReason::Data),
        (late(&in_python), GapReason::Python),
        (late(&[]), GapReason::Python),
    ];
    for (trace, expected) in cases {
        assert_eq!(reasons(&trace), [(expected, 95), (GapReason::LaunchLatency, 5)]);
    }
}

#[test]
fn the_innermost_row_counts_for_each_moment() {
    // host 10          40        75          105 [launch]
    //      |-- aten::a ----------------------|
    //                  |- sync --|                        35 of 95 µs waited, 60 in the operator
    let trace = late(&[
        host("cpu_op", "aten::a", 10, 105),
        host("cuda_runtime", "cudaDeviceSynchronize", 40, 75),
    ]);
    let gaps = gaps(&trace);
    assert_eq!(gaps.reasons[0].reason, GapReason::LaunchBound);
    assert_eq!(gaps.reasons[0].total_ns, 95_000);
    let gap = &gaps.longest[0];
    assert_eq!(gap.host_at_start.as_deref(), Some("aten::a"));
    assert_eq!(gap.host_during.as_deref(), Some("aten::a"));
    assert_eq!(gaps.host_operations[0].name.as_deref(), Some("aten::a"));
    assert_eq!(gaps.host_operations[0].total_ns, 95_000);
}

#[test]
fn a_gap_is_the_hosts_until_the_launch_and_no_longer() {
    // host     |-- synchronise ---------------------------------------------|
    //                [2] on another thread
    // µs      90    138                                                    590
    // device  |--1--|╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌|--2--|
    //         1     100                                             600   1 000
    let on_thread = |thread: u32, id: u32, start: u64| {
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": {thread}, "ts": {start}, "dur": 2, "args": {{"correlation": {id}}}}}"#
        )
    };
    let all = [
        call(1, 0, 1),
        launched(1, 1, 100),
        host("cuda_runtime", "cudaStreamSynchronize", 90, 590),
        on_thread(8, 2, 138),
        launched(2, 600, 1_000),
    ];
    let gaps = gaps(&events(&all.join(",")));
    let causes: Vec<_> = gaps.causes.iter().map(|c| (c.cause, c.n_gaps, c.total_ns)).collect();
    let expected = [(GapCause::LaunchLate, 1, 38_000), (GapCause::LaunchedBefore, 1, 462_000)];
    assert_eq!(causes, expected);
    let reasons: Vec<_> = gaps.reasons.iter().map(|r| (r.reason, r.total_ns)).collect();
    let expected = [(GapReason::Python, 38_000), (GapReason::Dependency, 462_000)];
    assert_eq!(reasons, expected);
    let gap = &gaps.longest[0];
    assert_eq!((gap.late_ns, gap.reason), (Some(38_000), GapReason::Dependency));
    assert_eq!(gap.synchronising_ns, Some(490_000));
}

#[test]
fn a_copy_that_waits_for_its_memory_is_no_launch_that_takes_so_long() {
    // host           [-------- cudaMemcpy: 138 to 605 --------]
    // device  |--1--|                               |--copy--|      to 100, 600 to 604
    let args = r#""correlation": 2"#;
    let all = [
        call(1, 0, 1),
        launched(1, 1, 100),
        complete("cuda_runtime", "cudaMemcpy", 9, 138, 605, args),
        complete("gpu_memcpy", "Memcpy HtoD", 0, 600, 604, r#""stream": 7, "correlation": 2"#),
    ];
    let gaps = gaps(&events(&all.join(",")));
    let reasons: Vec<_> = gaps.reasons.iter().map(|r| (r.reason, r.total_ns)).collect();
    let expected = [(GapReason::Python, 38_000), (GapReason::Dependency, 462_000)];
    assert_eq!(reasons, expected);
    // All that the table of calls that wait has of it.
    assert_eq!(gaps.longest[0].synchronising_ns, Some(462_000));
}

#[test]
fn where_clocks_differ_short_gaps_and_work_before_its_launch_are_not_known() {
    // host          [1]       [2]             [3]        100, 200, 300
    // device      |--1--|╌╌╌|--2--|╌╌╌╌╌╌╌╌╌╌╌╌╌╌|--3--||╌|--4--|
    //             90   140 180   230            320   370 385      4: launched at 10
    // 1 and 2 begin 10 and 20 µs before their launch: gaps up to 20 µs may be of either.
    let all = [
        call(4, 10, 15),
        call(1, 100, 105),
        call(2, 200, 205),
        call(3, 300, 305),
        launched(1, 90, 140),
        launched(2, 180, 230),
        launched(3, 320, 370),
        launched(4, 385, 400),
    ];
    let gaps = gaps(&events(&all.join(",")));
    let causes: Vec<_> = gaps.causes.iter().map(|c| (c.cause, c.n_gaps, c.total_ns)).collect();
    let expected = [
        (GapCause::LaunchLate, 1, 70_000),
        (GapCause::LaunchedBefore, 1, 20_000),
        (GapCause::NotKnown, 2, 55_000),
    ];
    assert_eq!(causes, expected);
}

#[test]
fn gaps_within_one_launch_of_a_graph_are_nobodys_late_launch() {
    // host     [graph]       0 to 20
    // device        |1||1|…|1|      100 kernels of 8 µs from 100 on, 2 µs apart
    let mut all = vec![call(1, 0, 20)];
    all.extend((0..100).map(|n| launched(1, 100 + n * 10, 108 + n * 10)));
    let gaps = gaps(&events(&all.join(",")));
    assert_eq!((gaps.n_gaps, gaps.total_ns), (99, 198_000));
    let causes: Vec<_> = gaps.causes.iter().map(|c| (c.cause, c.total_ns)).collect();
    assert_eq!(causes, [(GapCause::LaunchedBefore, 198_000)]);
}

#[test]
fn what_was_launched_before_waited_for_the_launch_a_stream_or_something_else() {
    // launches      1 2 3 4   at 0, 1, 2, 3                            5 at 148
    // stream 7     |1|   |2|           |3|                    |5|
    //              5 10  12 20        50 60                   150 160   (5: 2 µs after its call)
    // stream 9                                 |4|
    //                                         100 145
    // gaps          short   long wait      other stream   other stream
    let trace = events(
        &[
            call(1, 0, 1),
            call(2, 1, 2),
            call(3, 2, 3),
            call(4, 3, 4),
            call(5, 144, 145),
            launched(1, 30, 40),
            launched(2, 42, 50),
            launched(3, 80, 90),
            on_stream(9, 4, 100, 147),
            on_stream(9, 5, 150, 160),
        ]
        .join(","),
    );
    let expected = [
        (GapReason::LaunchLatency, 3),
        (GapReason::OtherStream, 10),
        (GapReason::ShortPause, 2),
        (GapReason::Dependency, 30),
    ];
    assert_eq!(reasons(&trace), expected);
    for reason in gaps(&trace).reasons {
        assert_eq!(reason.cause, reason.reason.cause());
    }
}

#[test]
fn rows_with_equal_times_are_in_order_of_their_names() {
    // device   |1|         |2|           |3|
    //          5 10        60 61         111
    // host         |wait |[2]   |wait  |[3]
    //              10   58     61    109
    // Written in the order of time and backwards: which name the file has first says nothing.
    let waits = [
        host("cuda_runtime", "cudaStreamSynchronize", 10, 58),
        host("cuda_runtime", "cudaDeviceSynchronize", 61, 109),
    ];
    let work = [
        call(1, 0, 1),
        launched(1, 5, 10),
        call(2, 58, 59),
        launched(2, 60, 61),
        call(3, 109, 110),
        launched(3, 111, 120),
    ];
    let mut all = [&waits[..], &work[..]].concat();
    for _ in 0..2 {
        let trace = events(&all.join(","));
        let operations = gaps(&trace).host_operations;
        let operations: Vec<_> =
            operations.iter().map(|row| (row.name.as_deref(), row.total_ns)).collect();
        let expected =
            [(Some("cudaDeviceSynchronize"), 48_000), (Some("cudaStreamSynchronize"), 48_000)];
        assert_eq!(operations, expected);
        let places = trace_answers(&trace, None).synchronisation.places;
        let places: Vec<_> = places.iter().map(|row| (&*row.name, row.total_ns)).collect();
        let expected = [("cudaDeviceSynchronize", 48_000), ("cudaStreamSynchronize", 48_000)];
        assert_eq!(places, expected);
        all.reverse();
    }
}

fn of_launches(trace: &Trace) -> Launches {
    launches(trace, &only_device(trace), &gaps(trace))
}

#[test]
fn the_queue_is_what_was_launched_and_has_not_begun() {
    // calls    1 at 0, 2 at 10                  3 at 90
    // device     |1: 5 - 40   ||2: 40 - 60|              |3: 100 - 110
    // queue    1   0   1        0                   1
    //          0   5   10       40                  90   100
    let trace = events(
        &[
            call(1, 0, 2),
            call(2, 10, 12),
            call(3, 90, 92),
            launched(1, 5, 40),
            launched(2, 40, 60),
            launched(3, 100, 110),
        ]
        .join(","),
    );
    let found = of_launches(&trace);
    let queue = found.queue.unwrap();
    // 5 + 30 + 10 of 100 µs with one, the rest with none.
    assert!((queue.mean - 0.45).abs() < 1e-12, "{queue:?}");
    assert!((queue.empty_ratio - 0.55).abs() < 1e-12);
    assert_eq!((queue.median, queue.p95, queue.max), (0, 1, 1));
    let delay = found.delay.unwrap();
    assert_eq!((delay.count, delay.spread.min_ns, delay.spread.max_ns), (3, 5_000, 30_000));
    assert_eq!(found.delay_after_call.unwrap().spread.min_ns, 3_000);
    assert_eq!(found.calls.len(), 1);
    assert_eq!((found.calls[0].count, found.calls[0].host_ns, found.calls[0].n_ops), (3, 6_000, 3));
}

#[test]
fn a_graph_is_one_call_with_all_its_kernels_and_a_clock_that_differs_is_counted() {
    let trace = events(
        &[
            complete("cuda_runtime", "cudaGraphLaunch", 9, 0, 2, r#""correlation": 1"#),
            launched(1, 10, 20),
            launched(1, 20, 30),
            launched(1, 30, 40),
            call(2, 60, 61),
            launched(2, 50, 55),
        ]
        .join(","),
    );
    let found = of_launches(&trace);
    assert_eq!(found.calls[0].name, "cudaGraphLaunch");
    assert_eq!((found.calls[0].count, found.calls[0].n_ops), (1, 3));
    assert_eq!((found.n_before_launch, found.n_without_launch), (1, 0));
    let delay = found.delay.unwrap();
    assert_eq!((delay.count, delay.spread.max_ns), (1, 10_000));
    // 3 for 10 µs, 2 for 10, 1 for 10, 0 for 20.
    assert!((found.queue.unwrap().mean - 1.2).abs() < 1e-12);
}

#[test]
fn without_launches_nothing_is_known_of_delays() {
    let trace = events(&super::kernel("a", 0, 10));
    let found = of_launches(&trace);
    assert_eq!((found.delay, found.queue), (None, None));
    assert_eq!(found.launch_bound_ratio, None);
    assert_eq!(found.n_without_launch, 1);
}

#[test]
fn work_of_steps_and_of_no_step_comes_to_all_work() {
    // host     ↓x |- step -| ↓y |- step -| ↓z           w: without a launch
    let step = |start, end| host("user_annotation", "denoising_step", start, end);
    let trace = events(
        &[
            call(1, 0, 1),
            step(10, 20),
            call(2, 11, 12),
            call(3, 25, 26),
            step(30, 40),
            call(4, 31, 32),
            call(5, 32, 33),
            call(6, 45, 46),
            launched(1, 100, 110),
            launched(2, 110, 130),
            launched(3, 130, 140),
            launched(4, 150, 160),
            on_stream(9, 5, 155, 185),
            launched(6, 190, 195),
            launched(99, 200, 201),
        ]
        .join(","),
    );
    let answers = trace_answers(&trace, None);
    let list = &answers.parts.steps[0];
    let works: Vec<_> = list.parts.iter().map(|part| part.work.unwrap()).collect();
    let figures: Vec<_> =
        works.iter().map(|w| (w.n_ops, w.work_ns, w.busy_ns, w.span_ns)).collect();
    assert_eq!(figures, [(1, 20_000, 20_000, 20_000), (2, 40_000, 35_000, 35_000)]);
    assert_eq!(works[0].opening_gap_ns, Some(0));
    assert_eq!(works[1].opening_gap_ns, Some(10_000));
    assert_eq!(works[1].delay_ns, Some(119_000));
    let rest: Vec<_> = list.rest.iter().map(|rest| (rest.n_ops, rest.work_ns)).collect();
    assert_eq!(rest, [(1, 10_000), (1, 10_000), (1, 5_000), (1, 1_000)]);
    let sum: u64 = works.iter().map(|w| w.own_work_ns).sum();
    let rest: u64 = rest.iter().map(|rest| rest.1).sum();
    assert_eq!(sum + rest, answers.devices[0].kernels.total_ns);
}

#[test]
fn a_slower_first_step_is_a_warm_up_and_not_in_the_figures() {
    let step = |n: u64, took: u64| {
        let at = 100 * n;
        host("user_annotation", "denoising_step", at, at + took)
    };
    let trace = events(&[step(0, 90), step(1, 50), step(2, 52), step(3, 48)].join(","));
    let answers = trace_answers(&trace, None);
    let list = &answers.parts.steps[0];
    let warm: Vec<bool> = list.parts.iter().map(|part| part.is_warm_up).collect();
    assert_eq!(warm, [true, false, false, false]);
    let host = list.figures.unwrap().host;
    assert_eq!(
        (host.mean_ns, host.median_ns, host.std_dev_ns),
        (50_000.0, 50_000.0, Some(2_000.0))
    );
    assert_eq!(list.parts[0].work, None);
}

#[test]
fn asked_about_a_step_there_is_that_step() {
    let step = |start, end| host("user_annotation", "denoising_step", start, end);
    let all = [step(10, 20), step(30, 40), call(1, 12, 13), launched(1, 14, 15)];
    let trace = events(&all.join(","));
    let scope: Scope = marey_analysis::find_scope(&trace, "step 0").unwrap();
    let answers = trace_answers(&trace, Some(scope));
    assert_eq!(answers.parts.steps[0].parts.len(), 1);
    assert_eq!(answers.parts.steps[0].parts[0].name, "0");
}

#[test]
fn a_graph_counts_once_with_the_first_work_that_it_launched() {
    // host    [graph]                     at 0          delay 10: to the first of three
    //            [a]                      at 5          delay 95: behind all of the graph
    // device       |-g-||-g-||-g-||-a-|
    //             10   40   70  100  110
    let trace = events(
        &[
            call(1, 0, 1),
            call(2, 5, 6),
            launched(1, 10, 40),
            launched(1, 40, 70),
            launched(1, 70, 100),
            launched(2, 100, 110),
        ]
        .join(","),
    );
    let timeline = only_device(&trace);
    let delay = launches(&trace, &timeline, &gaps(&trace)).delay.unwrap();
    assert_eq!(delay.count, 2);
    assert_eq!((delay.spread.min_ns, delay.spread.max_ns), (10_000, 95_000));
}

#[test]
fn copies_that_wait_count_in_steps_as_they_do_among_all_calls_that_wait() {
    // step     |------------------- 0 ------------------|
    // calls       [hipMemcpyWithStream]  [Synchronize]  [cudaMemcpyAsync]: of memory that is pinned, ends before its copy
    //             10                 40  50         60  70 72
    let copy = |id: u32, name: &str, start: u64, end: u64| {
        let args = format!(r#""correlation": {id}"#);
        complete("cuda_runtime", name, 9, start, end, &args)
    };
    let copied = |id: u32, start: u64, end: u64| {
        let args = format!(r#""stream": 7, "correlation": {id}"#);
        let name = "Memcpy DtoH (Device -> Pinned)";
        complete("gpu_memcpy", name, 0, start, end, &args)
    };
    let trace = events(
        &[
            host("user_annotation", "denoising_step", 0, 80),
            host("user_annotation", "denoising_step", 80, 90),
            copy(1, "hipMemcpyWithStream", 10, 40),
            copied(1, 20, 38),
            copy(2, "hipStreamSynchronize", 50, 60),
            copy(3, "hipMemcpyAsync", 70, 72),
            copied(3, 75, 78),
        ]
        .join(","),
    );
    let answers = trace_answers(&trace, None);
    assert_eq!(answers.synchronisation.total_ns, 40_000);
    let steps = &answers.parts.steps[0].parts;
    let waited: Vec<u64> = steps.iter().map(|part| part.synchronising_ns).collect();
    assert_eq!(waited, [40_000, 0]);
    let phases = &answers.parts.phases[0].parts;
    assert_eq!(phases[0].synchronising_ns, 40_000);
    let scope: Scope = marey_analysis::find_scope(&trace, "step 0").unwrap();
    let of_step = trace_answers(&trace, Some(scope));
    assert_eq!(of_step.parts.steps[0].parts[0].synchronising_ns, 40_000);
}

#[test]
fn the_phase_denoising_has_the_gaps_between_steps_in_it_but_no_vae() {
    // host     |step 0|    |step 1|          kernels of 10 µs, launched in each
    //          0     20   40     60
    // device       |-|         |-|           idle from 15 to 45
    //              5 15       45 55
    let step = |start, end| host("user_annotation", "denoising_step", start, end);
    let all = [
        step(0, 20),
        step(40, 60),
        call(1, 1, 2),
        launched(1, 5, 15),
        call(2, 41, 42),
        launched(2, 45, 55),
    ];
    let loop_of = |all: &[String]| {
        let answers = trace_answers(&events(&all.join(",")), None);
        let phases = answers.parts.phases.first().unwrap().parts.iter();
        let found = phases.clone().find(|part| part.name == "denoising");
        let found = found.unwrap();
        (found.count, found.host_ns, found.work.unwrap().idle_ns)
    };
    assert_eq!(loop_of(&all), (1, 60_000, 30_000));
    // A picture is decoded between them: two loops, each without a gap.
    let mut with_vae = all.to_vec();
    with_vae.push(host("user_annotation", "vae_decode", 25, 35));
    assert_eq!(loop_of(&with_vae), (2, 40_000, 0));
}
