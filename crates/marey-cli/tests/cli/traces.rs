//! Traces of torch.profiler: their page, and two of them compared.

use std::path::PathBuf;

use crate::program::{Place, marey};

/// A trace with 8 kernels that take about so many microseconds each, one every millisecond.
fn trace(place: &Place, name: &str, kernel: &str, about_us: u64) -> PathBuf {
    let events: Vec<serde_json::Value> = (0..8)
        .map(|n| {
            serde_json::json!({
                "ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7,
                "ts": n * 1_000, "dur": about_us + n % 3, "args": { "stream": 7 },
            })
        })
        .collect();
    let path = place.path(name);
    let document = serde_json::json!({ "traceEvents": events });
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

#[test]
fn a_trace_has_a_page() {
    let place = Place::new();
    let path = trace(&place, "a.json", "gemm", 100);
    let page = place.path("a.html");
    let [path, written] = [&path, &page].map(|path| path.to_str().unwrap());
    let said = marey(&["analyze", path, "--format", "html", "--output", written]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(said.out.trim_end(), written);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!doctype html>"));
}

#[test]
fn a_trace_whose_kernels_take_longer_is_worse_in_every_format() {
    let place = Place::new();
    let before = trace(&place, "before.json", "gemm", 100);
    let after = trace(&place, "after.json", "gemm", 160);
    let [before, after] = [&before, &after].map(|path| path.to_str().unwrap());
    let first = marey(&["compare", before, after]);
    assert!(first.out.starts_with("marey: slower by 60.0 "), "{}", first.out);
    // 7 and 8 × 100 µs, 7 and 8 × 160 µs.
    for said in ["! device busy: 807 ", " 1.29 ms (+59.5 %)", "exit code 1 (--fail-on worse)"] {
        assert!(first.out.contains(said), "{}", first.out);
    }
    let said = marey(&["compare", "--full", before, after]);
    assert_eq!((said.code, said.err.as_str()), (1, ""), "{}", said.out);
    // 8 of about 100 µs, 7 more in all for the odd ones.
    assert!(said.out.starts_with("WORSE"), "{}", said.out);
    let said = marey(&["compare", before, after, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let schema = include_str!("../../../../docs/schema/comparison.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let said = marey(&["compare", before, after, "--format", "markdown"]);
    assert!(said.out.contains("| gemm "), "{}", said.out);
    let page = place.path("comparison.html");
    let page = page.to_str().unwrap();
    let said = marey(&["compare", before, after, "--format", "html", "--output", page]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(std::fs::metadata(page).unwrap().len() > 50_000);
}

#[test]
fn a_trace_against_itself_has_not_changed() {
    let place = Place::new();
    let path = trace(&place, "a.json", "gemm", 100);
    let path = path.to_str().unwrap();
    let first = marey(&["compare", path, path]);
    assert!(first.out.starts_with("marey: no difference: "), "{}", first.out);
    let said = marey(&["compare", "--full", path, path, "--fail-on", "any-change"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(said.out.starts_with("SAME"), "{}", said.out);
}

#[test]
fn a_folder_of_traces_is_repeats_and_what_is_none_of_them_is_said() {
    let place = Place::new();
    for (folder, us) in [("before", 100), ("after", 160)] {
        std::fs::create_dir(place.path(folder)).unwrap();
        for n in 0..3 {
            trace(&place, &format!("{folder}/{n}.json"), "gemm", us + n);
        }
    }
    std::fs::write(place.path("after/cut.json"), "[1, 2").unwrap();
    let [before, after] = ["before", "after"].map(|folder| place.path(folder));
    let [before, after] = [&before, &after].map(|path| path.to_str().unwrap());
    let said = marey(&["compare", before, after, "--format", "json"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("cut.json"), "{}", said.err);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["decided"]["basis"], "repeats", "{document:#}");
}

#[test]
fn a_trace_is_not_compared_with_a_recording() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let path = trace(&place, "a.json", "gemm", 100);
    let said = marey(&["compare", path.to_str().unwrap(), place.job().to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(
        said.err
            .contains("a trace is compared with a trace, a recording of Marey with a recording"),
        "{}",
        said.err
    );
}
