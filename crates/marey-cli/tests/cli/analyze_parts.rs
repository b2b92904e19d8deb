//! `marey analyze` with parts of traces, with recordings of graphs, and with files of several ranks.

use crate::program::{Place, Said, marey};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/traces");
/// Two of eight ranks of one job: NCCL on V100.
const RANKS: [&str; 2] = [
    "rank0.step_12.1694128201545.pt.trace.json.gz",
    "rank1.step_12.1694128201556.pt.trace.json.gz",
];

fn analyze(arguments: &[&str]) -> Said {
    marey(&[&["analyze"], arguments].concat())
}

fn json(said: &Said) -> serde_json::Value {
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let schema = include_str!("../../../../docs/schema/trace.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let document = serde_json::from_str(&said.out).unwrap();
    let errors = validator.iter_errors(&document);
    let errors: Vec<String> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    document
}

/// Two profiler steps with a kernel each, which runs while the next step is open on the host.
///
/// ```text
/// host    |- ProfilerStep#5 -||- ProfilerStep#6 -|
///            ↓a                  ↓b
/// device                       |--a--| |-b-|
/// ```
fn steps(place: &Place) -> String {
    let mut events = Vec::new();
    for (n, (kernel, at, dur)) in [("a", 150, 40), ("b", 200, 30)].into_iter().enumerate() {
        let (begin, step) = (n * 100, n + 5);
        events.push(serde_json::json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{step}"), "pid": 9, "tid": 9, "ts": begin, "dur": 100}));
        events.push(serde_json::json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": begin + 10, "dur": 2, "args": {"correlation": step}}));
        events.push(serde_json::json!({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": at, "dur": dur, "args": {"correlation": step, "stream": 7, "device": 0}}));
    }
    let path = place.path("steps.json");
    std::fs::write(&path, serde_json::json!({ "traceEvents": events }).to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_step_has_the_work_that_it_launched_and_the_headline_says_so() {
    let place = Place::new();
    let path = steps(&place);
    let document = json(&analyze(&[&path, "--profiler-step", "5", "--format", "json"]));
    let answers = &document["files"][0]["answers"];
    assert_eq!(answers["scope"]["name"], "profiler step 5");
    let kernels = answers["devices"][0]["kernels"]["rows"].as_array().unwrap();
    let names: Vec<_> = kernels.iter().map(|row| (&row["name"], &row["total_s"])).collect();
    assert_eq!(names, [(&"a".into(), &40e-6.into())]);
    let said = analyze(&[&path, "--profiler-step", "6"]);
    assert!(said.out.contains("Only     profiler step 6"), "{}", said.out);
    let page = place.path("page.html");
    let page = page.to_str().unwrap();
    let said = analyze(&[&path, "--profiler-step", "6", "--format", "html", "--output", page]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(std::fs::metadata(page).unwrap().len() > 50_000);
}

/// A file with these events, each `(category, name, start, duration, arguments)`.
fn trace(
    place: &Place,
    name: &str,
    events: &[(&str, &str, u64, u64, serde_json::Value)],
) -> String {
    let events = events.iter().map(|(cat, name, at, dur, args)| {
        let pid = if *cat == "kernel" { 0 } else { 9 };
        serde_json::json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 7, "ts": at, "dur": dur, "args": args})
    });
    let events: Vec<_> = events.collect();
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, serde_json::json!({ "traceEvents": events }).to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_replay_has_the_operators_of_its_recording_in_another_file() {
    use serde_json::json as args;
    let place = Place::new();
    // host    [begin] |- aten::mm -| [end]             [graph launch]
    // launch              |gemm|              device          |gemm|     5 µs
    let mm = args!({"Input Dims": [[2, 3], [3, 5]], "Input type": ["float", "float"]});
    trace(
        &place,
        "capture_traces/rank0.json",
        &[
            ("cuda_runtime", "hipStreamBeginCapture", 0, 1, args!({"correlation": 1})),
            ("cpu_op", "aten::mm", 2, 5, mm),
            ("cuda_runtime", "hipLaunchKernel", 3, 1, args!({"correlation": 2, "kernel": "gemm"})),
            ("cuda_runtime", "hipStreamEndCapture", 9, 1, args!({"correlation": 3})),
        ],
    );
    let replay = trace(
        &place,
        "replay.json",
        &[
            ("cuda_runtime", "hipGraphLaunch", 0, 1, args!({"correlation": 7})),
            ("kernel", "gemm", 3, 5, args!({"correlation": 7, "stream": 0})),
        ],
    );
    let device = |options: &[&str]| {
        let document = json(&analyze(&[&[&replay, "--format", "json"], options].concat()));
        document["files"][0]["answers"]["devices"][0].clone()
    };
    let owned = |device: &serde_json::Value| {
        let row = &device["owned_kernels"]["by_operator"][0];
        (row["owner"].clone(), row["n_captured"].clone())
    };
    let alone = device(&[]);
    assert_eq!((owned(&alone), &alone["work"]), ((args!(null), args!(0)), &args!(null)));
    let folder = place.path("capture_traces");
    let beside = device(&["--graph-capture", folder.to_str().unwrap()]);
    assert_eq!(owned(&beside), (args!("aten::mm"), args!(1)));
    assert_eq!(beside["work"]["rows"][0]["call_flops"], args!(60));
    let said = analyze(&[&replay, "--table", "kernels_by_operator"]);
    assert!(said.out.contains("Of 1 kernel of replayed graphs 0 are matched"), "{}", said.out);
    let said = analyze(&[&replay, "--graph-capture", &format!("{replay}.none")]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("cannot read"), "{}", said.err);
}

#[test]
fn a_part_that_is_not_there_is_answered_with_those_that_are() {
    let place = Place::new();
    let path = steps(&place);
    let said = analyze(&[&path, "--profiler-step", "9"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    let problem = "has no profiler step 9; there is profiler step 5, profiler step 6";
    assert!(said.err.contains(problem), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1);
    let said = analyze(&[&path, "--phase", "vae\u{1b}[31m"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(!said.err.contains('\u{1b}'), "{}", said.err);
    let said = analyze(&[&path, "--phase", "vae", "--step", "1"]);
    assert_eq!(said.code, 2);
}

#[test]
fn files_of_two_ranks_say_who_waits_for_whom() {
    let paths = RANKS.map(|name| format!("{TRACES}/{name}"));
    // In any order: the traces say their ranks.
    let [one, two] = [[&paths[0], &paths[1]], [&paths[1], &paths[0]]]
        .map(|[a, b]| json(&analyze(&[a, b, "--format", "json"]))["ranks"].clone());
    assert_eq!(one, two);
    let ranks = one["communication"]["ranks"].as_array().unwrap();
    let numbers: Vec<_> = ranks.iter().map(|rank| rank["rank"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [0, 1]);
    for rank in ranks {
        let seconds = |key: &str| rank[key].as_f64().unwrap();
        assert!(rank["n_matched"].as_u64().unwrap() > 0);
        let both_s = seconds("transfer_s") + seconds("waiting_s");
        assert!((both_s - seconds("total_s")).abs() < 1e-9, "{rank}");
    }
    // What the fastest of both took is the same on both.
    assert_eq!(ranks[0]["transfer_s"], ranks[1]["transfer_s"]);
    let [a, b] = &paths;
    let said = analyze(&[a, b, "--format", "csv", "--table", "ranks_communication"]);
    assert_eq!(said.out.lines().count(), 3, "{}", said.out);
    let place = Place::new();
    let page = place.path("page.html");
    let page = page.to_str().unwrap();
    let said = analyze(&[a, b, "--format", "html", "--output", page]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(std::fs::metadata(page).unwrap().len() > 50_000);
}

#[test]
fn one_rank_alone_and_a_rank_twice_are_no_job() {
    let place = Place::new();
    let path = format!("{TRACES}/{}", RANKS[0]);
    let copy = place.path("rank0-again.json.gz");
    std::fs::copy(&path, &copy).unwrap();
    let copy = copy.to_str().unwrap();
    for paths in [&[&*path][..], &[&path, copy]] {
        let said = analyze(&[paths, &["--format", "json"]].concat());
        assert_eq!(json(&said)["ranks"], serde_json::Value::Null);
    }
}

#[test]
fn a_change_is_answered_alone_and_what_it_is_not_known_of_is_said() {
    let place = Place::new();
    let path = steps(&place);
    // From the first step's beginning at 0 to the end of b at 230. With kernels of `a`'s class at twice the speed both are: a from 150 to
    // 170, b 10 after that, to 195; the host is done at 200.
    let said = analyze(&[&path, "--what-if", "other=2x"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(said.out.contains("It would take 200 µs instead of 230 µs"), "{}", said.out);
    assert!(said.out.contains("Assumed: the host is as fast as recorded"), "{}", said.out);
    assert!(!said.out.contains("KERNELS"), "{}", said.out);
    let document = json(&analyze(&[&path, "--what-if", "other=2x", "--format", "json"]));
    let wall = &document["files"][0]["answers"]["what_if"]["wall"];
    assert_eq!((&wall["recorded_s"], &wall["then_s"]), (&230e-6.into(), &200e-6.into()));
    let table = analyze(&[&path, "--what-if", "other=2x", "--table", "what_if", "--format", "csv"]);
    assert!(table.out.contains("wall,,230000,200000"), "{}", table.out);
    let trace = format!("{TRACES}/flux_tiny_cpu.trace.json.gz");
    for (change, why) in [
        ("gemms=2x", "there is no class `gemms`, there are `communication`"),
        ("gemm=fast", "is none of attention=sage, gemm=fp8, no-sync, overlap-copies, CLASS=2x"),
        ("gemm=0x", "is a number from 0.001 to 1000"),
        ("gemm=fp8", "flux_tiny_cpu.trace.json.gz: it has no work of a device"),
    ] {
        let said = analyze(&[&trace, "--what-if", change]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{change}");
        assert!(said.err.contains(why), "{}", said.err);
    }
}
