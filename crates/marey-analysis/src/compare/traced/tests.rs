//! Traces that are written here, against each other.

use super::super::{Comparison, Verdict, compare_traces};
use super::*;
use crate::CompareOptions;
use crate::import::chrome::{Limits, read};

/// Kernels one after the other, each 10 µs after the one before: names with the duration of each, in microseconds.
fn side(kernels: &[(&str, &[u64])]) -> TracedSide {
    let each = kernels.iter().flat_map(|(name, lasts)| lasts.iter().map(move |us| (*name, *us)));
    let mut at = 0;
    let events: Vec<String> = each
        .map(|(name, us)| {
            let event = format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {at}, "dur": {us}, "args": {{"stream": 7}}}}"#
            );
            at += us + 10;
            event
        })
        .collect();
    let json = format!(r#"{{"traceEvents": [{}]}}"#, events.join(","));
    let mut side = TracedSide::default();
    side.push(&read(json.as_bytes(), Limits::default()).unwrap());
    side
}

fn compared(baseline: &[(&str, &[u64])], candidate: &[(&str, &[u64])]) -> Comparison {
    compare_traces(&side(baseline), &side(candidate), &CompareOptions::default())
}

/// Baseline, candidate in nanoseconds, and the verdict.
fn of(found: &Comparison, kind: MeasureKind, of: &Subject) -> (Option<f64>, Option<f64>, Verdict) {
    let measure = found.measures.iter().find(|m| m.kind == kind && m.subject == *of);
    let measure = measure.unwrap();
    let value = |observed: Option<super::super::Observed>| observed.map(|o| o.value);
    (value(measure.baseline), value(measure.candidate), measure.verdict)
}

#[test]
fn a_trace_against_itself_has_no_difference() {
    let kernels: [(&str, &[u64]); 2] = [("gemm", &[50, 52, 51]), ("softmax", &[20])];
    let found = compared(&kernels, &kernels);
    assert_eq!(found.differences().count(), 0);
    assert_eq!(found.verdict, Verdict::Same);
}

#[test]
fn without_phases_the_account_is_of_what_the_device_did() {
    // 0–50 and 60–110 µs; 0–80 and 90–140: 10 µs of nothing in between.
    let found = compared(&[("gemm", &[50, 50])], &[("gemm", &[80, 50])]);
    let account = found.account.unwrap();
    assert_eq!(account.wall_ns, [110_000, 140_000]);
    let held = |name: &str| {
        let row = account.rows.iter().find(|row| row.name == name);
        row.map(|row| row.self_ns.clone())
    };
    assert_eq!(held("GPU compute"), Some(vec![100_000, 130_000]));
    assert_eq!(held("GPU idle"), Some(vec![10_000, 10_000]));
}

#[test]
fn kernels_that_take_longer_and_those_of_one_side_are_told() {
    // gemm      8 × about 100 µs ─► 8 × about 150 µs
    // flash     one, gone          sage: one, new
    // busy      800 + 300 µs       1 200 + 100 µs
    let before = [100, 101, 99, 100, 102, 98, 100, 100];
    let after = before.map(|us| us + 50);
    let found =
        compared(&[("gemm", &before), ("flash", &[300])], &[("gemm", &after), ("sage", &[100])]);
    let kernel = |name: &str| Subject::Kernel(name.into());
    assert_eq!(
        of(&found, MeasureKind::KernelTotal, &kernel("gemm")),
        (Some(800e3), Some(1_200e3), Verdict::Worse)
    );
    assert_eq!(
        of(&found, MeasureKind::KernelPerCall, &kernel("gemm")),
        (Some(100e3), Some(150e3), Verdict::Worse)
    );
    assert_eq!(
        of(&found, MeasureKind::KernelTotal, &kernel("flash")),
        (Some(300e3), None, Verdict::Gone)
    );
    assert_eq!(of(&found, MeasureKind::KernelTotal, &kernel("sage")).2, Verdict::New);
    assert_eq!(
        of(&found, MeasureKind::DeviceBusy, &Subject::Run),
        (Some(1_100e3), Some(1_300e3), Verdict::Worse)
    );
}

#[test]
fn a_small_difference_of_what_is_there_once_cannot_be_told() {
    // 5 %: above what is the same, below what two single traces can tell.
    let found = compared(&[("a", &[1000])], &[("a", &[1050])]);
    let busy = of(&found, MeasureKind::DeviceBusy, &Subject::Run);
    assert_eq!(busy.2, Verdict::CannotTell);
}

/// A row of the host with the kernel that it launches, in microseconds; rank and ranges are those of the caller.
fn of_events(head: &str, events: &[String]) -> TracedSide {
    let json = format!(r#"{{{head}"traceEvents": [{}]}}"#, events.join(","));
    let mut side = TracedSide::default();
    side.push(&read(json.as_bytes(), Limits::default()).unwrap());
    side
}

fn host(category: &str, name: &str, start: u64, end: u64) -> String {
    let lasts = end - start;
    format!(
        r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 1, "tid": 1, "ts": {start}, "dur": {lasts}}}"#
    )
}

/// A launch and its kernel.
fn launch(name: &str, at: u64, start: u64, lasts: u64, id: u64) -> [String; 2] {
    [
        format!(
            r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {at}, "dur": 1, "args": {{"correlation": {id}}}}}"#
        ),
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {start}, "dur": {lasts}, "args": {{"stream": 7, "correlation": {id}}}}}"#
        ),
    ]
}

/// Steps that begin every 1 000 µs, each with a kernel of so many microseconds.
fn steps(kernel: &str, lasts: &[u64]) -> TracedSide {
    let mut events = Vec::new();
    for (n, us) in (0_u64..).zip(lasts) {
        let at = n * 1_000;
        events.push(host("user_annotation", &format!("denoise_step_{n}"), at, at + 900));
        events.extend(launch(kernel, at + 10, at + 20, *us, n + 1));
    }
    of_events("", &events)
}

#[test]
fn steps_that_take_the_device_longer_are_the_first_line() {
    // µs       0       1000      2000      3000
    // step     |--0--| |--1--|   |--2--|   |--3--|
    // kernel    |350|   |351|     |352|     |353|    ─►  430 … 433: +22.8 %
    let found = compare_traces(
        &steps("flash_fwd_kernel", &[350, 351, 352, 353]),
        &steps("sage_fwd_kernel", &[430, 431, 432, 433]),
        &CompareOptions::default(),
    );
    assert_eq!(
        of(&found, MeasureKind::StepBusy, &Subject::Run),
        (Some(351_500.0), Some(431_500.0), Verdict::Worse)
    );
    let host = of(&found, MeasureKind::StepHost, &Subject::Run);
    assert_eq!(host, (Some(900_000.0), Some(900_000.0), Verdict::Same));
    let n = of(&found, MeasureKind::TracedSteps, &Subject::Run);
    assert_eq!(n, (Some(4.0), Some(4.0), Verdict::Same));
    assert_eq!(found.measures[found.headline[0].measure].kind, MeasureKind::StepBusy);
    let path = |name: &str| Subject::Attention(name.into());
    let flash = of(&found, MeasureKind::AttentionTime, &path("flash"));
    assert_eq!(flash, (Some(1_406_000.0), None, Verdict::Gone));
    let sage = of(&found, MeasureKind::AttentionTime, &path("sage"));
    assert_eq!(sage.2, Verdict::New);
    assert!(found.headline.iter().any(|line| found.measures[line.measure].subject == path("sage")));
    // Three gaps of 1 000 less a kernel, each but for the 10 µs after its launch.
    let idle = Subject::IdleCause("the host was late".into());
    let idle = of(&found, MeasureKind::IdleOfCause, &idle);
    assert_eq!(idle.0, Some(1_917_000.0));
}

#[test]
fn a_kernel_that_ran_once_on_one_side_is_not_gone() {
    let found = compared(&[("gemm", &[100, 102])], &[("gemm", &[101])]);
    let kernel = Subject::Kernel("gemm".into());
    let each = of(&found, MeasureKind::KernelPerCall, &kernel);
    assert_eq!((each.0, each.1), (Some(101e3), Some(101e3)));
    assert_ne!(each.2, Verdict::Gone);
    let found = compared(&[("gemm", &[100, 100])], &[("gemm", &[150])]);
    let each = of(&found, MeasureKind::KernelPerCall, &kernel);
    assert_eq!(each, (Some(100e3), Some(150e3), Verdict::CannotTell));
}

#[test]
fn a_range_around_everything_on_one_side_makes_nothing_new_or_gone() {
    // baseline     |---- request ----------------|      candidate    |---- request -----------|
    //               |--- model_inference -------|                     |-- encode --||-- unet -|
    //                |-- encode --||-- unet --|
    let inner = |at: u64| {
        [
            host("user_annotation", "encode", at, at + 100),
            host("user_annotation", "unet", at + 100, at + 400),
        ]
    };
    let mut with = vec![
        host("user_annotation", "request", 0, 1_000),
        host("user_annotation", "model_inference", 5, 900),
    ];
    with.extend(inner(10));
    let mut without = vec![host("user_annotation", "request", 0, 1_000)];
    without.extend(inner(10));
    let (with, without) = (of_events("", &with), of_events("", &without));
    for (baseline, candidate, name) in
        [(&with, &without, "baseline"), (&without, &with, "candidate")]
    {
        let found = compare_traces(baseline, candidate, &CompareOptions::default());
        let paths: Vec<String> = found.sections.iter().map(|s| s.path.join("/")).collect();
        assert_eq!(paths, ["request", "request/encode", "request/unet"]);
        assert!(found.sections.iter().all(|s| s.presence == Verdict::Same));
        assert_eq!(found.obstacles, []);
        let note = format!("Only the {name} has a range around");
        assert!(found.notes.iter().any(|said| said.starts_with(&note)));
    }
}

#[test]
fn modules_that_only_one_side_has_are_left_out() {
    let operator = host("cpu_op", "aten::mm", 20, 30);
    let range = host("user_annotation", "unet", 0, 100);
    let module = host("python_function", "nn.Module: Linear_0", 10, 50);
    let with = of_events("", &[range.clone(), module, operator.clone()]);
    let without = of_events("", &[range, operator]);
    let found = compare_traces(&with, &without, &CompareOptions::default());
    assert!(found.sections.iter().all(|s| s.presence == Verdict::Same));
    let paths: Vec<String> = found.sections.iter().map(|s| s.path.join("/")).collect();
    assert_eq!(paths, ["unet", "unet/aten::mm"]);
    assert!(found.notes.iter().any(|n| n.contains("Only the baseline has modules")));
    let same = compare_traces(&with, &with, &CompareOptions::default());
    assert!(same.sections.iter().any(|s| s.path.last().is_some_and(|n| n.starts_with("nn."))));
}

#[test]
fn ranks_of_one_job_are_no_repeats() {
    let side = |ranks: std::ops::Range<u64>, us: u64| {
        let mut side = TracedSide::default();
        for rank in ranks {
            let kernel = launch("gemm", 0, 10, us + rank, 1).join(",");
            let json = format!(
                r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 8}}, "traceEvents": [{kernel}]}}"#
            );
            side.push(&read(json.as_bytes(), Limits::default()).unwrap());
        }
        side
    };
    let found = compare_traces(&side(0..4, 100), &side(4..8, 100), &CompareOptions::default());
    assert_ne!(found.basis, super::super::Basis::Repeats);
    assert_eq!(found.n_tests, 0);
    let said = |part: &str| found.notes.iter().any(|note| note.contains(part));
    assert!(said("Ranks of one job are not repeats"));
    assert!(said("of rank 0, 1, 2, 3, the candidate of rank 4, 5, 6, 7"));
    // The same rank three times is three repeats.
    let mut repeats = TracedSide::default();
    for _ in 0..3 {
        repeats.runs.extend(side(0..1, 100).runs);
    }
    assert_eq!(repeats.ranks(), None);
}

#[test]
fn what_a_trace_does_not_say_of_its_surroundings_is_listed() {
    let found = compared(&[("a", &[10])], &[("a", &[10])]);
    assert_eq!(found.unknown_environment.len(), 4);
    let note = found.notes.last().unwrap();
    assert!(note.ends_with("command, configuration, machine, versions."), "{note}");
}

#[test]
fn four_steps_against_four_that_are_all_longer_are_worse_however_many_kernels_there_are() {
    // device busy per step   152.6 152.6 152.6 152.6   against   166 160 160 160 ms, after a warm-up each
    let before = steps("gemm", &[170_000, 152_600, 152_600, 152_600, 152_600]);
    let after = steps("gemm", &[180_000, 166_000, 160_000, 160_000, 160_000]);
    let found = compare_traces(&before, &after, &CompareOptions::default());
    assert_eq!(found.verdict, Verdict::Worse, "{:?}", found.headline);
    let step = found.measures.iter().find(|m| {
        matches!(m.kind, MeasureKind::StepBusy | MeasureKind::DeviceStep)
            && m.subject == Subject::Run
    });
    let (low, _) = step.unwrap().change.unwrap().interval.unwrap();
    assert!(low > 1.03);
}

#[test]
fn a_part_that_grew_makes_a_run_no_worse_whose_device_worked_less() {
    // layout     0.1 ms ─► 1.9 ms
    // gemm       10 ms  ─► 6 ms
    let found = compared(
        &[("gemm", &[5_000, 5_000]), ("elementwise_copy", &[100])],
        &[("gemm", &[3_000, 3_000]), ("elementwise_copy", &[1_900])],
    );
    assert_eq!(found.verdict, Verdict::Better);
    assert_eq!(found.headline[0].verdict, Verdict::Better);
}

#[test]
fn kernels_that_triton_numbered_anew_are_the_same() {
    let before: [(&str, &[u64]); 2] =
        [("triton_poi_fused_add_15", &[50, 50, 50]), ("triton_poi_fused_mul_16", &[40, 40])];
    let after: [(&str, &[u64]); 2] =
        [("triton_poi_fused_add_3", &[50, 50, 50]), ("triton_poi_fused_mul_0", &[40, 40])];
    let found = compared(&before, &after);
    assert_eq!(found.differences().count(), 0);
}

#[test]
fn attention_by_another_path_is_replaced_and_not_slower() {
    // sage     10 ms ─► gone
    // flash     1 ms ─► 8 ms      attention of all paths 11 ms ─► 8 ms
    let found = compared(
        &[("gemm", &[5_000, 5_000]), ("sage_fwd", &[10_000]), ("flash_fwd_kernel", &[1_000])],
        &[("gemm", &[5_000, 5_000]), ("flash_fwd_kernel", &[8_000])],
    );
    let flash = of(&found, MeasureKind::AttentionTime, &Subject::Attention("flash".into()));
    assert_eq!(flash, (Some(1e6), Some(8e6), Verdict::Different));
    assert_eq!(found.verdict, Verdict::Better);
}

/// ```text
/// host   |-- cudaMemcpy 30 --| |launch| |-- cudaStreamSynchronize 20 --|      waits 50; with a copy of 60 they are 80
/// ```
#[test]
fn a_copy_that_keeps_the_host_is_a_wait_as_a_synchronisation_is() {
    let side = |copy_us| {
        let copy = host("cuda_runtime", "cudaMemcpy", 0, copy_us);
        let wait = host("cuda_runtime", "cudaStreamSynchronize", 200, 220);
        let launch = launch("gemm", 100, 110, 100, 1);
        of_events("", &[vec![copy, wait], launch.to_vec()].concat())
    };
    let found = compare_traces(&side(30), &side(60), &CompareOptions::default());
    let (before, after, _) = of(&found, MeasureKind::WaitsForDevices, &Subject::Run);
    assert_eq!((before, after), (Some(50e3), Some(80e3)));
}
