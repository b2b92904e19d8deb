//! Steps of traces: what tells them, and what belongs to each.

use marey_analysis::import::chrome::Trace;
use marey_analysis::{
    Scope, StepRule, TraceSteps, device_timelines, find_scope, trace_phases, trace_steps,
};

use super::{complete, events};

/// A range that the program named.
fn range(name: &str, start: u64, end: u64) -> String {
    complete("user_annotation", name, 9, start, end, "")
}

/// A call that launches kernels of the names, the times of which follow.
fn launch(id: u64, call: &str, start: u64, kernels: &[(&str, u64, u64)]) -> String {
    let args = format!(r#""correlation": {id}"#);
    let mut all = vec![complete("cuda_runtime", call, 9, start, start + 1, &args)];
    for (name, start, end) in kernels {
        let args = format!(r#""stream": 7, "correlation": {id}"#);
        all.push(complete("kernel", name, 0, *start, *end, &args));
    }
    all.join(",")
}

/// A call that launches one kernel.
fn one(id: u64, start: u64, name: &str, from: u64, to: u64) -> String {
    launch(id, "cudaLaunchKernel", start, &[(name, from, to)])
}

fn found(trace: &Trace) -> Vec<TraceSteps> {
    trace_steps(trace, &device_timelines(trace))
}

/// The rule, the name and the beginnings and ends in microseconds of the only document's steps.
fn only(trace: &Trace) -> (StepRule, String, Vec<(u64, u64)>) {
    let mut found = found(trace);
    assert_eq!(found.len(), 1, "{found:?}");
    let found = found.remove(0);
    let times = found.ranges.iter().map(|time| (time.start_ns / 1_000, time.end_ns / 1_000));
    (found.rule, found.source.clone(), times.collect())
}

#[test]
fn numbered_ranges_of_one_name_are_steps() {
    // host    |-- denoise ------------------------|
    //          |step_0 |  |step_1 |  |step_2 |
    //           ↓a         ↓b         ↓c
    let trace = events(
        &[
            range("denoise", 0, 40),
            range("step_0", 1, 10),
            range("step_1", 12, 20),
            range("step_2", 22, 30),
            one(1, 2, "a", 3, 40),
            one(2, 13, "b", 40, 80),
            one(3, 23, "c", 80, 120),
        ]
        .join(","),
    );
    let expected = vec![(1, 10), (12, 20), (22, 30)];
    assert_eq!(only(&trace), (StepRule::Annotations, "step".into(), expected));
}

#[test]
fn the_profilers_own_steps_and_those_of_training_are_no_denoising_steps() {
    let trace = events(
        &[
            range("ProfilerStep#1", 0, 10),
            range("ProfilerStep#2", 10, 20),
            range("Optimizer.step#SGD.step", 2, 4),
            range("Optimizer.step#SGD.step", 12, 14),
            one(1, 3, "a", 3, 9),
            one(2, 13, "a", 13, 19),
        ]
        .join(","),
    );
    assert_eq!(found(&trace), []);
    let names = find_scope(&trace, "no such part").unwrap_err();
    let expected = ["profiler step 1", "profiler step 2", "phase Optimizer.step#SGD.step"];
    assert_eq!(names, expected);
}

#[test]
fn of_several_names_the_one_that_launched_most_stands_however_often_others_occur() {
    // "iteration" occurs five times and launches 1 µs each, "denoise_step" twice and launches 50 µs each.
    let mut all: Vec<String> = (0..5)
        .flat_map(|n| {
            let at = 10 * n;
            [range("iteration", at, at + 5), one(n, at + 1, "small", at + 2, at + 3)]
        })
        .collect();
    all.extend([
        range("denoise_step_0", 60, 65),
        range("denoise_step_1", 70, 75),
        one(11, 61, "big", 100, 150),
        one(12, 71, "big", 150, 200),
    ]);
    let trace = events(&all.join(","));
    let expected = vec![(60, 65), (70, 75)];
    assert_eq!(only(&trace), (StepRule::Annotations, "denoise_step".into(), expected));
}

#[test]
fn ranges_that_launched_nothing_are_no_steps_where_a_device_worked() {
    let trace =
        events(&[range("step", 0, 5), range("step", 10, 15), one(1, 20, "a", 21, 29)].join(","));
    assert_eq!(found(&trace), []);
}

#[test]
fn a_step_ends_with_the_scheduler_and_begins_with_the_first_call_of_the_denoiser() {
    // denoiser     |--| |--|         |--|                 twice with guidance, then once, then from a cache
    // scheduler              |-|          |-|    |-|
    // µs           0  4 6  9 10 12   20 24 25 27  30 32
    let trace = events(
        &[
            range("transformer_forward", 0, 4),
            range("transformer_forward", 6, 9),
            range("scheduler_step", 10, 12),
            range("transformer_forward", 20, 24),
            range("scheduler_step", 25, 27),
            range("scheduler_step", 30, 32),
        ]
        .join(","),
    );
    let expected = vec![(0, 12), (20, 27), (30, 32)];
    let rule = StepRule::SchedulerAnnotations;
    assert_eq!(only(&trace), (rule, "scheduler_step".into(), expected));
}

#[test]
fn of_compiled_graphs_the_denoisers_takes_most_time() {
    // The text encoder is compiled, too, and called three times; the VAE once, and takes longest at once.
    let call = |name: &str, at| range(&format!("## Call CompiledFxGraph {name} ##"), at, at + 5);
    let trace = events(
        &[
            call("text", 0),
            call("text", 10),
            call("text", 20),
            one(1, 1, "t", 2, 4),
            one(2, 11, "t", 12, 14),
            one(3, 21, "t", 22, 24),
            call("denoiser", 30),
            call("denoiser", 40),
            one(4, 31, "d", 50, 80),
            one(5, 41, "d", 80, 110),
            call("vae", 50),
            one(6, 51, "v", 110, 300),
        ]
        .join(","),
    );
    let source = "## Call CompiledFxGraph denoiser ##".to_owned();
    let expected = vec![(30, 35), (40, 45)];
    assert_eq!(only(&trace), (StepRule::CompiledGraph, source, expected));
    assert!(!StepRule::CompiledGraph.finds_steps());
}

#[test]
fn a_compiled_vae_that_decodes_tile_by_tile_is_not_the_denoiser() {
    let call = |name: &str, at| range(&format!("## Call CompiledFxGraph {name} ##"), at, at + 5);
    let trace = events(
        &[
            call("denoiser", 0),
            call("denoiser", 10),
            one(1, 1, "d", 1, 10),
            one(2, 11, "d", 11, 20),
            range("vae_decode", 30, 60),
            call("tile", 31),
            call("tile", 41),
            one(3, 32, "v", 100, 200),
            one(4, 42, "v", 200, 300),
        ]
        .join(","),
    );
    assert_eq!(only(&trace).2, vec![(0, 5), (10, 15)]);
}

#[test]
fn launches_of_graphs_of_one_size_are_calls_of_the_denoiser() {
    let graph = |id, at, from: u64| {
        launch(id, "hipGraphLaunch", at, &[("p", from, from + 5), ("q", from + 5, from + 10)])
    };
    let trace = events(&[graph(1, 0, 5), graph(2, 2, 15), one(3, 4, "r", 30, 31)].join(","));
    let rule = StepRule::GraphLaunches;
    let expected = vec![(0, 1), (2, 3)];
    assert_eq!(only(&trace), (rule, "hipGraphLaunch".into(), expected));
}

#[test]
fn recorded_graphs_that_launched_hardly_anything_of_the_whole_are_no_calls_of_the_denoiser() {
    // launches   graph  big  graph  other          graphs of two kernels of 1 µs, kernels of 500 µs and 400 µs
    let trace = events(
        &[
            launch(1, "cudaGraphLaunch", 0, &[("a", 10, 11), ("b", 11, 12)]),
            one(2, 2, "big", 12, 512),
            launch(3, "cudaGraphLaunch", 4, &[("a", 512, 513), ("b", 513, 514)]),
            one(4, 6, "other", 514, 914),
        ]
        .join(","),
    );
    assert_eq!(found(&trace), []);
}

#[test]
fn layers_of_one_recorded_graph_are_no_parts() {
    // launch     graph
    // device         abcde abcde abcde
    let names = ["a", "b", "c", "d", "e"].into_iter().cycle().take(15);
    let kernels: Vec<(&str, u64, u64)> =
        (10_u64..).zip(names).map(|(at, name)| (name, at, at + 1)).collect();
    let trace = events(&launch(1, "cudaGraphLaunch", 0, &kernels));
    assert_eq!(found(&trace), []);
}

#[test]
fn modules_are_calls_of_the_denoiser_when_nothing_else_says_more() {
    let module = |name: &str, start, end| {
        let name = format!("nn.Module: {name}");
        complete("python_function", &name, 9, start, end, "")
    };
    let trace = events(
        &[
            module("UNet2DConditionModel_0", 0, 9),
            module("Transformer2DModel_0", 2, 8),
            one(1, 3, "a", 3, 6),
            one(2, 8, "b", 8, 9),
            module("UNet2DConditionModel_0", 10, 19),
            module("Transformer2DModel_0", 12, 18),
            one(3, 13, "a", 13, 16),
            one(4, 18, "b", 18, 19),
        ]
        .join(","),
    );
    let (rule, source, times) = only(&trace);
    assert_eq!(rule, StepRule::Modules);
    assert_eq!(source, "nn.Module: UNet2DConditionModel");
    assert_eq!(times, vec![(0, 9), (10, 19)]);
}

#[test]
fn kernels_that_repeat_are_parts_from_launch_to_launch_and_no_denoising_phase() {
    // launches   p  a b c d e  a b c d e  a b c d e  r        one each 10 µs, and what they launched 1000 µs later
    let names = "pabcdeabcdeabcder";
    let all: Vec<String> = (0_u64..)
        .zip(names.chars())
        .map(|(n, name)| {
            let at = 10 * n;
            one(n, at, &name.to_string(), 1_000 + at, 1_009 + at)
        })
        .collect();
    let trace = events(&all.join(","));
    let expected = vec![(10, 60), (60, 110), (110, 151)];
    assert_eq!(only(&trace), (StepRule::KernelPeriod, "a".into(), expected));
    // Nobody says that this is a denoiser: layers of any model look like it.
    assert_eq!(trace_phases(&trace, &found(&trace)), []);
}

#[test]
fn a_part_is_found_by_its_name_its_number_and_what_it_does() {
    let trace = events(
        &[
            range("ProfilerStep#3", 0, 100),
            range("encode_prompt", 1, 9),
            range("denoising_step", 10, 20),
            range("denoising_step", 20, 30),
            range("vae_decode", 40, 50),
            one(1, 11, "a", 11, 13),
            one(2, 21, "a", 21, 23),
        ]
        .join(","),
    );
    let times = |wanted: &str| {
        let scope: Scope = find_scope(&trace, wanted).unwrap();
        let ranges = scope.ranges.iter();
        let times = ranges.map(|range| (range.start_ns / 1_000, range.end_ns / 1_000));
        times.collect::<Vec<_>>()
    };
    assert_eq!(times("step 1"), [(20, 30)]);
    assert_eq!(times("Profiler Step 3"), [(0, 100)]);
    assert_eq!(times("phase vae_decode"), [(40, 50)]);
    assert_eq!(times("phase VAE"), [(40, 50)]);
    assert_eq!(times("phase text encoder"), [(1, 9)]);
    assert_eq!(times("phase denoising"), [(10, 30)]);
    let there = find_scope(&trace, "step 2").unwrap_err();
    let expected = [
        "step 0",
        "step 1",
        "profiler step 3",
        "phase encode_prompt",
        "phase denoising",
        "phase vae_decode",
    ];
    assert_eq!(there, expected);
}

#[test]
fn a_trace_without_events_has_no_parts() {
    let trace = events("");
    assert_eq!(found(&trace), []);
    assert_eq!(trace_phases(&trace, &[]), []);
    assert_eq!(find_scope(&trace, "step 0"), Err(Vec::new()));
}
