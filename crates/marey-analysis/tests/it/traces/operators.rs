//! Who on the host called, launched, waited and allocated, on timelines that are drawn.

use marey_analysis::import::chrome::Trace;
use marey_analysis::{
    HostKind, KernelClass, OperatorRow, TraceContext, kernels, modules, operators, owned_kernels,
    synchronisation, trace_memory,
};

use super::{complete, events, launch, launched};

fn context(trace: &Trace) -> TraceContext<'_> {
    TraceContext::new(trace, None)
}

fn operator(name: &str, start: u64, end: u64) -> String {
    complete("cpu_op", name, 9, start, end, "")
}

fn row<'a>(rows: &'a [OperatorRow], name: &str) -> &'a OperatorRow {
    rows.iter().find(|row| row.name == name).unwrap()
}

#[test]
fn work_belongs_to_what_launched_it_and_not_to_what_was_open() {
    // µs       0    2    4    6    8   10   12   14   16   20   30
    // linear   |-----------------------|
    // addmm         |------------|
    // launch             |--|
    // add                                   |--------|            (12 - 18)
    // device                                  |--k--|             (13 - 17: while add is open)
    let trace = events(
        &[
            operator("aten::linear", 0, 10),
            operator("aten::addmm", 2, 8),
            launch(1, 4, 6),
            operator("aten::add", 12, 18),
            launched("k", 1, 13, 17),
        ]
        .join(","),
    );
    let context = context(&trace);
    let found = operators(&context).rows;
    let figures = |name: &str| {
        let row = row(&found, name);
        let device = (row.n_launched, row.device_self_ns, row.device_total_ns);
        (row.self_ns, row.total_ns, device)
    };
    let device = |n, self_ns, total_ns| (Some(n), Some(self_ns), Some(total_ns));
    assert_eq!(figures("aten::linear"), (4_000, 10_000, device(0, 0, 4_000)));
    assert_eq!(figures("aten::addmm"), (4_000, 6_000, device(1, 4_000, 4_000)));
    assert_eq!(figures("aten::add"), (6_000, 6_000, device(0, 0, 0)));
    assert_eq!(figures("cudaLaunchKernel"), (2_000, 2_000, device(1, 4_000, 4_000)));

    let owned = owned_kernels(&context, &context.timelines[0]);
    assert_eq!(owned.by_operator.len(), 1);
    let owner = &owned.by_operator[0];
    assert_eq!(owner.owner.as_deref(), Some("aten::addmm"));
    assert_eq!(owner.outermost.as_deref(), Some("aten::linear"));
    assert_eq!((owned.by_shape.len(), owned.by_module.len()), (0, 0));
    // The kernel's name says nothing: it multiplies matrices as its operator does.
    let kernels = kernels(&context, &context.timelines[0]);
    assert_eq!(kernels.rows[0].class, Some(KernelClass::Gemm));
    assert_eq!(kernels.classes[0].n_by_operator, 1);
}

#[test]
fn the_time_of_a_call_within_a_call_of_the_same_counts_once() {
    // µs   0    1    3    5    7  8  9   10
    // sum  |------------------------------|
    // sum       |----|                           (1 - 3: mean stands beside it, so that it is a call of its own, as in torch's table)
    // mean                |------------|         (5 - 9)
    // sum                      |--|              (7 - 8, a call of its own, in the time of the outer one)
    let sums = [
        operator("aten::sum", 0, 10),
        operator("aten::sum", 1, 3),
        operator("aten::mean", 5, 9),
        operator("aten::sum", 7, 8),
    ];
    let trace = events(&sums.join(","));
    let found = operators(&context(&trace)).rows;
    let only = row(&found, "aten::sum");
    assert_eq!((only.count, only.self_ns, only.total_ns), (3, 7_000, 10_000));
    // Without a device there is nothing to say of it.
    assert_eq!(only.device_total_ns, None);
}

#[test]
fn graphs_belong_to_what_replays_them_and_work_without_a_launch_to_nobody() {
    let replay = r#""correlation": 5"#;
    let trace = events(
        &[
            complete("user_annotation", "denoise", 9, 0, 20, ""),
            complete("cuda_runtime", "cudaGraphLaunch", 9, 2, 4, replay),
            launched("a", 5, 10, 12),
            launched("b", 5, 12, 15),
            launched("lost", 77, 30, 31),
        ]
        .join(","),
    );
    let context = context(&trace);
    let owned = owned_kernels(&context, &context.timelines[0]);
    let rows: Vec<_> = owned
        .by_operator
        .iter()
        .map(|row| (row.owner.as_deref(), row.name.as_str(), row.total_ns))
        .collect();
    let expected =
        [(Some("denoise"), "b", 3_000), (Some("denoise"), "a", 2_000), (None, "lost", 1_000)];
    assert_eq!(rows, expected);
    assert_eq!((owned.n_without_launch, owned.without_launch_ns), (1, 1_000));
    let found = operators(&context).rows;
    let denoise = row(&found, "denoise");
    assert_eq!(denoise.kind, HostKind::Range);
    assert_eq!((denoise.n_launched, denoise.device_self_ns), (Some(2), Some(5_000)));
}

#[test]
fn modules_have_the_time_between_their_parts() {
    // µs        0    1    3    5    7    9   10
    // Block_0   |----------------------------|
    // Linear_0       |----|                        (1 - 3)
    // Linear_1                 |---------|         (5 - 9, written first)
    let python = |name: &str, start, end| complete("python_function", name, 9, start, end, "");
    let trace = events(
        &[
            python("nn.Module: Linear_1", 5, 9),
            python("nn.Module: Block_0", 0, 10),
            python("nn.Module: Linear_0", 1, 3),
            launch(1, 6, 7),
            launched("gemm", 1, 20, 26),
            launch(2, 9, 10),
            launched("add", 2, 26, 27),
        ]
        .join(","),
    );
    let context = context(&trace);
    let found = modules(&context);
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|row| {
            let device = (row.device_self_ns.unwrap(), row.device_total_ns.unwrap());
            (row.name.as_str(), row.depth, row.self_ns, row.total_ns, device)
        })
        .collect();
    let expected = [
        ("Block_0", 0, 4_000, 10_000, (1_000, 7_000)),
        ("Block_0 / Linear_1", 1, 4_000, 4_000, (6_000, 6_000)),
        ("Block_0 / Linear_0", 1, 2_000, 2_000, (0, 0)),
    ];
    assert_eq!(rows, expected);
    let types: Vec<_> = found
        .types
        .iter()
        .map(|row| (row.name.as_str(), row.n_modules, row.count, row.total_ns))
        .collect();
    assert_eq!(types, [("Block", 1, 1, 10_000), ("Linear", 2, 2, 6_000)]);
    let owned = owned_kernels(&context, &context.timelines[0]);
    assert_eq!(owned.by_module[0].owner.as_deref(), Some("nn.Module: Linear_1"));
}

#[test]
fn waiting_calls_have_a_place_and_know_whether_the_device_worked() {
    // µs       0         10        20        30        40
    // item     |------------------------------|                 (0 - 30)
    // copy       |---------------------|                        (2 - 24)
    // device        |k|      |-DtoH-|                           (5 - 7, 14 - 22)
    // sync                                         |-------|    (34 - 42, nothing to wait for)
    let python = |name: &str, start, end| complete("python_function", name, 9, start, end, "");
    let copied = r#""stream": 7, "correlation": 2"#;
    let trace = events(
        &[
            python("pipeline.py(12): step", 0, 50),
            python("torch/_tensor.py(9): __float__", 0, 32),
            operator("aten::item", 0, 30),
            complete("cuda_runtime", "cudaMemcpyAsync", 9, 2, 24, r#""correlation": 2"#),
            launched("k", 1, 5, 7),
            complete("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 14, 22, copied),
            complete("cuda_runtime", "cudaDeviceSynchronize", 9, 34, 42, ""),
            // On the host alone: nothing waits.
            operator("aten::item", 44, 46),
        ]
        .join(","),
    );
    let found = synchronisation(&context(&trace), &[]);
    assert_eq!((found.count, found.total_ns), (2, 30_000));
    let calls: Vec<_> = found
        .calls
        .iter()
        .map(|row| (row.name.as_str(), row.count, row.total_ns, row.idle_ns))
        .collect();
    let expected = [
        ("aten::item", 1, 30_000, Some(20_000)),
        ("cudaMemcpyAsync", 1, 22_000, Some(12_000)),
        ("cudaDeviceSynchronize", 1, 8_000, Some(8_000)),
    ];
    assert_eq!(calls, expected);
    let place = &found.places[0];
    assert_eq!(place.operator.as_deref(), Some("aten::item"));
    assert_eq!(place.function.as_deref(), Some("pipeline.py(12): step"));
    assert_eq!((place.module.as_deref(), place.range.as_deref()), (None, None));
}

#[test]
fn a_copy_that_ends_after_its_call_makes_nobody_wait() {
    let copied = r#""stream": 7, "correlation": 2"#;
    let trace = events(
        &[
            complete("cuda_runtime", "cudaMemcpyAsync", 9, 2, 4, r#""correlation": 2"#),
            complete("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 3, 22, copied),
        ]
        .join(","),
    );
    assert_eq!(synchronisation(&context(&trace), &[]).count, 0);
}

#[test]
fn memory_goes_to_the_operator_that_was_open_on_its_thread() {
    // µs       0    1         4    5    6
    // empty    |--------------|
    // memory        +64                 -64 outside
    let memory = |at: u64, bytes: i64, all: u64| {
        format!(
            r#"{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": 7, "ts": {at}, "args": {{"Device Type": 1, "Device Id": 0, "Bytes": {bytes}, "Total Allocated": {all}, "Total Reserved": 2048}}}}"#
        )
    };
    let trace = events(
        &[operator("aten::empty", 0, 4), memory(1, 64, 1064), memory(6, -64, 1000)].join(","),
    );
    let found = trace_memory(&context(&trace));
    assert_eq!(found.len(), 1);
    let device = &found[0];
    assert_eq!((device.device_type, device.device), (Some(1), Some(0)));
    assert_eq!((device.peak_bytes, device.peak_at_ns), (Some(1064), Some(1_000)));
    assert_eq!(device.peak_in.as_deref(), Some("aten::empty"));
    assert_eq!(device.peak_reserved_bytes, Some(2048));
    let rows: Vec<_> = device
        .operators
        .iter()
        .map(|row| (row.name.as_deref(), row.allocated_bytes, row.net_bytes))
        .collect();
    assert_eq!(rows, [(Some("aten::empty"), 64, 64), (None, 0, -64)]);
}

#[test]
fn a_trace_of_nothing_has_no_answers() {
    let trace = events("");
    let context = context(&trace);
    assert!(operators(&context).rows.is_empty());
    assert!(modules(&context).rows.is_empty());
    assert_eq!(synchronisation(&context, &[]).count, 0);
    assert!(trace_memory(&context).is_empty());
}

#[test]
fn an_overload_is_part_of_the_call_around_it_unless_something_stands_beside_it() {
    // µs     0    2       10      20   22   24      30
    // add    |-------------|      |-----------------|   arange
    // add       |--------|          |-|             |   empty
    // arange                              |-------|
    let trace = events(
        &[
            operator("aten::add", 0, 10),
            operator("aten::add", 2, 9),
            operator("aten::arange", 20, 30),
            operator("aten::empty", 21, 22),
            operator("aten::arange", 24, 29),
        ]
        .join(","),
    );
    let found = operators(&context(&trace)).rows;
    let figures = |name: &str| {
        let row = row(&found, name);
        (row.count, row.self_ns, row.total_ns)
    };
    assert_eq!(figures("aten::add"), (1, 10_000, 10_000));
    assert_eq!(figures("aten::arange"), (2, 9_000, 10_000));
}

#[test]
fn what_sticks_out_of_a_call_of_the_same_is_time_of_both_once() {
    // µs    0     4    8   10  12   14
    // sync  |---------------|            0 - 10
    // sync        |-------------|        4 - 12
    // sync             |-------------|   8 - 14
    let trace = events(
        &[operator("sync", 0, 10), operator("sync", 4, 12), operator("sync", 8, 14)].join(","),
    );
    let found = operators(&context(&trace)).rows;
    let row = row(&found, "sync");
    assert_eq!((row.self_ns, row.total_ns), (14_000, 14_000));
}

#[test]
fn what_launches_most_stands_before_what_takes_the_host_longest() {
    // host     |----- aten::randn -----|  |replay|            20 and 2
    // device                               |------- k -------|    40
    let trace = events(
        &[operator("aten::randn", 0, 20), launch(1, 22, 24), launched("k", 1, 23, 63)].join(","),
    );
    let context = context(&trace);
    let found = operators(&context).rows;
    let names: Vec<&str> = found.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["cudaLaunchKernel", "aten::randn"]);
}
