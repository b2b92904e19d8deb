//! Graphs that are replayed, and what they were recorded from, on timelines that are drawn.

use marey_analysis::import::chrome::Trace;
use marey_analysis::{
    GraphCaptures, ModelledWork, OwnedKernel, TraceContext, modelled_work, owned_kernels,
};

use super::{complete, events, launched};

/// An operator of two matrices, 2 x 3 and 3 x `n`, in float: 12 · n FLOPs.
fn mm(n: u32, start: u64, end: u64) -> String {
    let inputs = format!(r#""Input Dims": [[2, 3], [3, {n}]], "Input type": ["float", "float"]"#);
    complete("cpu_op", "aten::mm", 9, start, end, &inputs)
}

fn call(name: &str, id: u32, start: u64) -> String {
    complete("cuda_runtime", name, 9, start, start + 1, &format!(r#""correlation": {id}"#))
}

/// A call that says which kernel it launches, or records into a graph.
fn launch_of(kernel: &str, id: u32, start: u64) -> String {
    let args = format!(r#""correlation": {id}, "kernel": "{kernel}""#);
    complete("cuda_runtime", "hipLaunchKernel", 9, start, start + 1, &args)
}

/// A recording of a graph: products of these sizes, each with one kernel, 10 µs apart.
///
/// ```text
/// host    [begin] |---- mm 5 ----|   |---- mm 7 ----|  [end]
/// launch               |a|                 |b|
/// ```
fn recording(start: u64, of: &[(u32, &str)]) -> Vec<String> {
    let mut all = vec![call("hipStreamBeginCapture", 1, start)];
    let mut at = start;
    for (n, kernel) in of {
        at += 10;
        all.extend([mm(*n, at, at + 6), launch_of(kernel, 2, at + 2)]);
    }
    all.push(call("hipStreamEndCapture", 3, at + 10));
    all
}

/// The launch of a graph, and its kernels of 2 µs each, one after the other from 10 µs after the call on.
fn replay(id: u32, start: u64, kernels: &[&str]) -> Vec<String> {
    let each = (0..).zip(kernels);
    let each = each.map(|(n, name)| launched(name, id, start + 10 + 2 * n, start + 12 + 2 * n));
    std::iter::once(call("hipGraphLaunch", id, start)).chain(each).collect()
}

fn trace(parts: &[Vec<String>]) -> Trace {
    events(&parts.concat().join(","))
}

fn work(trace: &Trace) -> ModelledWork {
    let context = TraceContext::new(trace, None);
    modelled_work(&context, &context.timelines[0]).unwrap()
}

/// Calls and FLOPs of each row, and the time that is known.
fn figures(work: &ModelledWork) -> (Vec<(u64, Option<u64>)>, u64) {
    let rows = work.rows.iter().map(|row| (row.all.count, row.all.flops));
    (rows.collect(), work.modelled_ns)
}

const TWO: [(u32, &str); 2] = [(5, "a"), (7, "b")];

#[test]
fn kernels_of_a_replay_belong_to_the_operators_that_recorded_them() {
    // The first replay is before the recording, in time and in the file.
    let all = [
        replay(11, 0, &["a", "b"]),
        recording(100, &TWO),
        replay(12, 200, &["a", "b"]),
        replay(13, 300, &["a", "b"]),
    ];
    // Three calls each: 3 · 60 and 3 · 84 FLOPs; 6 kernels of 2 µs.
    let expected = (vec![(3, Some(180)), (3, Some(252))], 12_000);
    assert_eq!(figures(&work(&trace(&all))), expected);
}

#[test]
fn a_replay_that_differs_from_the_recording_is_not_known() {
    let recorded = [(5, "a"), (7, "b"), (5, "a")];
    for kernels in [&["a", "b"][..], &["a", "a", "b"], &["a", "b", "c"], &["a", "b", "a", "a"]] {
        let all = [recording(0, &recorded), replay(11, 100, kernels)];
        assert_eq!(figures(&work(&trace(&all))), (vec![], 0), "{kernels:?}");
    }
}

#[test]
fn of_a_long_recording_the_last_kernel_may_be_lost() {
    let names: Vec<String> = (0..40).map(|n| format!("k{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let recorded: Vec<(u32, &str)> = names.iter().map(|name| (5, *name)).collect();
    // 39 and 38 of 40 are there: at most one in 20 is lost. Of 37 nothing is known, nor where one is missing in between.
    for (kept, known_ns) in [(39, 78_000), (38, 76_000), (37, 0)] {
        let all = [recording(0, &recorded), replay(11, 1_000, &names[..kept])];
        assert_eq!(work(&trace(&all)).modelled_ns, known_ns);
    }
    let without = [&names[..20], &names[21..]].concat();
    let all = [recording(0, &recorded), replay(11, 1_000, &without)];
    assert_eq!(work(&trace(&all)).modelled_ns, 0);
}

#[test]
fn where_two_recordings_fit_what_they_say_in_common_is_known() {
    // The first kernel has the same shapes in both, the second has others.
    let all = [
        recording(0, &[(5, "a"), (7, "b")]),
        recording(100, &[(5, "a"), (8, "b")]),
        replay(11, 200, &["a", "b"]),
    ];
    assert_eq!(figures(&work(&trace(&all))), (vec![(1, Some(60))], 2_000));
    // Graphs with other kernels are told apart.
    let all = [
        recording(0, &[(5, "a"), (7, "b")]),
        recording(100, &[(5, "a"), (8, "c")]),
        replay(11, 200, &["a", "b"]),
        replay(12, 300, &["a", "c"]),
    ];
    let expected = (vec![(2, Some(120)), (1, Some(84)), (1, Some(96))], 8_000);
    assert_eq!(figures(&work(&trace(&all))), expected);
}

#[test]
fn the_same_work_without_a_graph_tells_as_much() {
    // Products one by one, each launched by a call that does not say its kernel, as on NVIDIA's devices.
    let one_by_one = |n: u32| {
        let mut all = Vec::new();
        for id in 1..=n {
            let at = u64::from(id) * 10;
            all.extend([mm(id, at, at + 6), call("cudaLaunchKernel", id, at + 2)]);
            all.push(launched(&format!("k{id}"), id, at + 4, at + 5));
        }
        all
    };
    let kernels: Vec<String> = (1..=10).map(|n| format!("k{n}")).collect();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    // The second to the ninth of ten, in a graph: 8 · 2 µs beside 10 · 1 µs.
    let all = [one_by_one(10), replay(99, 1_000, &kernels[1..9])];
    assert_eq!(work(&trace(&all)).modelled_ns, 26_000);
    // Seven of them may follow each other by chance.
    let all = [one_by_one(10), replay(99, 1_000, &kernels[1..8])];
    assert_eq!(work(&trace(&all)).modelled_ns, 10_000);
}

#[test]
fn a_recording_may_be_in_another_file() {
    let mut replayed = trace(&[replay(11, 0, &["a", "b"]), replay(12, 100, &["b", "a"])]);
    let other = trace(&[vec![complete("cpu_op", "other", 9, 0, 1, "")], recording(10, &TWO)]);
    let captures = GraphCaptures::beside(&mut replayed, &[other]);
    let context = TraceContext::with_captures(&replayed, None, captures);
    let work = modelled_work(&context, &context.timelines[0]).unwrap();
    // Of the other graph nothing is known: 4 of 8 µs.
    assert_eq!(figures(&work), (vec![(1, Some(60)), (1, Some(84))], 4_000));
    assert_eq!(work.modelled_ratio, Some(0.5));
    let shapes: Vec<&str> = work.rows.iter().map(|row| &*row.shapes).collect();
    assert_eq!(shapes, ["[[2, 3], [3, 5]]", "[[2, 3], [3, 7]]"]);
}

#[test]
fn a_graph_of_equal_layers_belongs_to_their_operator_and_to_no_layer() {
    // Two layers with the same eight products, one after the other; then a graph of one of them.
    let layer = |number: u32| {
        let start = u64::from(number) * 100;
        let name = format!("nn.Module: Block_{number}");
        let mut all = vec![complete("python_function", &name, 9, start, start + 90, "")];
        for n in 0..8 {
            let at = start + 10 * u64::from(n);
            let id = number * 10 + n + 1;
            all.extend([mm(5, at + 1, at + 7), call("cudaLaunchKernel", id, at + 2)]);
            all.push(launched(&format!("k{n}"), id, at + 4, at + 5));
        }
        all
    };
    let kernels: Vec<String> = (0..8).map(|n| format!("k{n}")).collect();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let trace = trace(&[layer(0), layer(1), replay(99, 1_000, &kernels)]);
    let context = TraceContext::new(&trace, None);
    let owned = owned_kernels(&context, &context.timelines[0]);
    assert_eq!((owned.n_replayed, owned.n_captured), (8, 8));
    let counted = |rows: &[OwnedKernel], name: &str| -> Vec<(Option<String>, u64, u64)> {
        let rows = rows.iter().filter(|row| row.name == name);
        rows.map(|row| (row.owner.clone(), row.count, row.n_captured)).collect()
    };
    // 1 µs in each layer, 2 µs in the graph.
    let product = Some("aten::mm".to_owned());
    assert_eq!(counted(&owned.by_operator, "k3"), [(product, 3, 1)]);
    let block = |number: u32| Some(format!("nn.Module: Block_{number}"));
    let by_module = counted(&owned.by_module, "k3");
    assert_eq!(by_module, [(None, 1, 0), (block(0), 1, 0), (block(1), 1, 0)]);
}

/// A recording whose launches do not say their kernels, as on NVIDIA's devices: of Inductor's kernels by their names, and of products.
///
/// ```text
/// host     [begin] |- triton_poi_fused_add_0 -|  |---- mm 5 ----|  [end]
/// launch                  |?|                        |?|
/// ```
fn silent_recording(of: &[&str]) -> Vec<String> {
    let mut all = vec![call("cudaStreamBeginCapture", 1, 0)];
    let mut at = 0;
    for operator in of {
        at += 10;
        all.push(match *operator {
            "mm" => mm(5, at, at + 6),
            inductors => {
                let inputs =
                    r#""Input Dims": [[6], [6], []], "Input type": ["float", "float", "Scalar"]"#;
                complete("cpu_op", inductors, 9, at, at + 6, inputs)
            }
        });
        all.push(call("cudaLaunchKernel", 2, at + 2));
    }
    all.push(call("cudaStreamEndCapture", 3, at + 10));
    all
}

#[test]
fn kernels_of_inductor_tell_a_recording_whose_launches_are_silent() {
    let (add, mul) = ("triton_poi_fused_add_0", "triton_poi_fused_mul_1");
    let known_ns = |recorded: &[&str], replayed: &[&str]| {
        work(&trace(&[silent_recording(recorded), replay(11, 1_000, replayed)])).modelled_ns
    };
    let recorded = [add, "mm", "mm", mul];
    assert_eq!(known_ns(&recorded, &[add, "a", "b", mul]), 8_000);
    for other in [[add, "a", "b", add], [add, "a", add, mul], ["a", "a", "b", mul]] {
        assert_eq!(known_ns(&recorded, &other), 0, "{other:?}");
    }
    // One of four has a name, which is enough; of five it is not.
    assert_eq!(known_ns(&[add, "mm", "mm", "mm"], &[add, "a", "b", "c"]), 8_000);
    assert_eq!(known_ns(&[add, "mm", "mm", "mm", "mm"], &[add, "a", "b", "c", "d"]), 0);
}

#[test]
fn looking_for_graphs_ends() {
    // 20,000 launches of one kernel and a replay of 10,000 of it fit at 10,001 places: too many to compare, so that nothing is known.
    let launches = (0..20_000).map(|n| launch_of("a", n, u64::from(n) * 2));
    let launches: Vec<String> = std::iter::once(mm(5, 0, 50_000)).chain(launches).collect();
    let all = [launches, replay(30_000, 60_000, &vec!["a"; 10_000])];
    assert_eq!(work(&trace(&all)).modelled_ns, 0);
}
