//! `marey analyze` with parts of traces, and with files of several ranks.

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
