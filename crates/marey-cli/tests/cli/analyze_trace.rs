//! `marey analyze` with traces of torch.profiler: formats, several files, files of other tools, names that mean harm.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::program::{Place, Said, marey};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/traces");
const SNAPSHOT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/basic_oom.pickle");
const NCCL: &str = "nccl_parser_config__nccl_data.json.gz";
const HOST_ALONE: &str = "flux_tiny_cpu.trace.json.gz";

fn fixture(name: &str) -> String {
    format!("{TRACES}/{name}")
}

/// Two kernels on one device, the second of this name, with their launches.
fn made(name: &str) -> String {
    let name = serde_json::to_string(name).unwrap();
    format!(
        r#"{{"traceEvents": [
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1,"args":{{"correlation":1}}}},
{{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":60,"args":{{"correlation":1,"stream":7,"device":0}}}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":3,"dur":1,"args":{{"correlation":2}}}},
{{"ph":"X","cat":"kernel","name":{name},"pid":0,"tid":7,"ts":70,"dur":40,"args":{{"correlation":2,"stream":7,"device":0}}}}
]}}"#
    )
}

/// A file in the place.
fn written(place: &Place, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = place.path(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn analyze(arguments: &[&str]) -> Said {
    marey(&[&["analyze"], arguments].concat())
}

fn validator() -> jsonschema::Validator {
    let schema = include_str!("../../../../docs/schema/trace.schema.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn a_trace_is_told_from_what_it_is_to_what_it_ran() {
    let said = analyze(&["--full", &fixture(NCCL)]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let places = [
        "Trace ",
        "busy 23.8 % of 661 ms",
        "FINDINGS",
        "Late launches: GPU idle for 472 ms of 661 ms",
        "\nDEVICES\n",
        "\nKERNELS BY NAME\n",
    ];
    let at = places.map(|part| said.out.find(part).unwrap_or_else(|| panic!("{part}")));
    assert!(at.is_sorted(), "{at:?}");
}

#[test]
fn what_the_profiler_was_not_told_to_record_is_said_once_with_its_options() {
    let said = analyze(&["--full", &fixture(HOST_ALONE)]);
    let options = ["record_shapes=True", "with_stack=True", "profile_memory=True"];
    for option in options {
        assert_eq!(said.out.matches(option).count(), 1, "{option}");
    }
    // Traces of other tools have no operators, and nobody asked torch's profiler for anything.
    let place = Place::new();
    let other = written(&place, "other.json", made("gemm"));
    let said = analyze(&["--full", other.to_str().unwrap()]);
    assert!(!said.out.contains("Missing"), "{}", said.out);
}

#[test]
fn json_of_every_trace_follows_its_schema() {
    let said = analyze(&["--format", "json", TRACES]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let errors = validator();
    let errors = errors.iter_errors(&document);
    let errors: Vec<String> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let files = document["files"].as_array().unwrap();
    assert!(files.len() > 15, "{}", files.len());
}

#[test]
fn a_snapshot_beside_traces_is_in_the_same_document() {
    let host = fixture(HOST_ALONE);
    let said = analyze(&["--format", "json", SNAPSHOT, &host]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(validator().is_valid(&document));
    assert_eq!(document["files"][0]["answers"]["devices"], serde_json::json!([]));
    assert_eq!(document["memory_snapshot_files"][0]["problem"], serde_json::Value::Null);
    let said = analyze(&["--full", SNAPSHOT, &host]);
    let snapshot = said.out.find("\nMemory snapshot ").unwrap();
    assert!(snapshot < said.out.find("\nTrace ").unwrap());
}

#[test]
fn files_are_told_in_the_order_in_which_they_are_named_and_once_each() {
    let place = Place::new();
    let a = written(&place, "a.json", made("first"));
    let b = written(&place, "b.json", made("second"));
    let (a, b) = (text(&a), text(&b));
    for [one, two] in [[a, b], [b, a]] {
        let said = analyze(&["--full", one, two, one]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let found = [one, two].map(|path| said.out.find(&format!("Trace {path}\n")).unwrap());
        assert!(found[0] < found[1]);
        assert_eq!(said.out.matches("\nTrace ").count(), 2);
    }
}

#[test]
fn a_file_that_cannot_be_read_says_so_and_the_others_go_on() {
    let place = Place::new();
    let good = written(&place, "good.json", made("k"));
    let bad = written(&place, "bad.json", "{\"nodes\": [], \"schema\": \"1.1.0\"}");
    let missing = place.path("missing.json");
    let said = analyze(&["--full", text(&bad), text(&missing), text(&good)]);
    assert_eq!(said.code, 1);
    assert_eq!(said.err.lines().count(), 2, "{}", said.err);
    assert!(said.err.contains("an execution trace of PyTorch"), "{}", said.err);
    assert!(said.err.contains("missing.json: No such file"), "{}", said.err);
    assert!(said.out.contains("KERNELS BY NAME"), "{}", said.out);
    let said = analyze(&[text(&bad)]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
}

#[test]
fn files_of_other_tools_are_named() {
    let place = Place::new();
    let packed = |text: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let (timeline, pickle, nothing) = (packed(b"[[1, 2]]"), packed(b"\x80\x04}."), packed(b""));
    let cases: [(&str, &[u8], &str); 20] = [
        ("host.xplane.pb", b"\x0a\x1e", "XPlane"),
        ("mem.json", b"[[1, 2], [[0, 512]]]", "memory timeline"),
        ("mem.raw.json.gz", &timeline, "memory timeline"),
        ("memory.pickle.gz", &pickle, "gunzip"),
        ("nothing.json.gz", &nothing, "is empty (0 bytes)"),
        ("stacks.txt", b"aten::mm;main 1234\n", "export_stacks"),
        ("pointer.json", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("segments.json", b"[{\"device\": 0, \"total_size\": 8}]", "_dump_snapshot"),
        ("perf.json", b"{\"total_duration_ms\": 1.0, \"steps\": []}", "sglang"),
        ("a.sqlite", b"SQLite format 3\0", "SQLite"),
        ("a.nsys-rep", b"\x01\x02", "Nsight Systems"),
        ("a.pftrace", b"\x0a\x10", "Perfetto"),
        ("trace.bin", b"\x0a\x94\x01\x08", "Perfetto"),
        ("empty.json", b"", "empty"),
        ("a.txt", b"hello", "no kind of file"),
        ("a.html", b"<!doctype html>", "a page"),
        ("report.json", b"{\"schema_version\": \"1.0\"}", "marey report"),
        ("a.json", b"{\"shared\": {}, \"profiles\": []}", "speedscope"),
        ("b.json", b"{\"a\": 1}", "has no traceEvents; it has a"),
        ("rocm.json", b"{\"rocprofiler-sdk-tool\": []}", "rocprofiler-sdk"),
    ];
    for (name, content, problem) in cases {
        let path = written(&place, name, content);
        let said = analyze(&[text(&path)]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{name}");
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        assert!(said.err.contains(problem), "{}", said.err);
    }
}

#[test]
fn a_trace_that_was_cut_says_what_is_missing() {
    let place = Place::new();
    let whole = made("k");
    let half = &whole[..whole.rfind("{\"ph\"").unwrap() + 40];
    let path = written(&place, "cut.json", half);
    let said = analyze(&[text(&path)]);
    assert_eq!(said.code, 0);
    let data = "\n  Data  the file ends within its events: it was cut, or its writer was killed";
    assert!(said.out.contains(data), "{}", said.out);
    let said = analyze(&["--full", text(&path)]);
    assert!(said.out.contains("READ WITH RESERVATIONS"), "{}", said.out);
}

#[test]
fn names_that_mean_harm_are_shown_and_do_none() {
    let place = Place::new();
    let name = "</script><b>\x1b[31m../../etc|`x`\u{202e}";
    let path = written(&place, "a.json", made(name));
    for format in ["text", "markdown", "json"] {
        let said = analyze(&["--format", format, text(&path)]);
        assert_eq!(said.code, 0);
        assert!(!said.out.contains(['\x1b', '\u{202e}']), "{}", said.out);
    }
    let markdown = analyze(&["--format", "markdown", text(&path)]).out;
    assert!(!markdown.contains("</script>"), "{markdown}");
    let json = analyze(&["--format", "json", text(&path)]).out;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let kernels = &document["files"][0]["answers"]["devices"][0]["kernels"]["rows"];
    assert_eq!(kernels[1]["name"], name);
    let csv = analyze(&["--format", "csv", "--table", "kernels", text(&path)]).out;
    assert!(csv.contains("\\x1b[31m"), "{csv}");
    assert!(!csv.contains('\x1b'), "{csv}");
}

#[test]
fn csv_is_a_file_a_table_or_one_table() {
    let place = Place::new();
    let a = written(&place, "a.json", made("gemm<2, 3>"));
    let b = written(&place, "b.json", made("k"));
    let folder = place.path("tables");
    let said = analyze(&["--format", "csv", "--output", text(&folder), text(&a), text(&b)]);
    assert_eq!(said.code, 0, "{}", said.err);
    let kernels = place.read("tables/kernels.csv");
    let lines: Vec<&str> = kernels.split("\r\n").collect();
    assert!(lines[0].starts_with("file,device,name,"), "{kernels}");
    // Two kernels of each file.
    assert_eq!(lines.len(), 1 + 4 + 1);
    assert!(lines[2].contains(",GPU 0,\"gemm<2, 3>\","), "{kernels}");
    // What rules came to is always there, also where nothing was found.
    let findings = place.read("tables/findings.csv");
    let head = "file,rule,outcome,severity,issue,";
    assert!(findings.starts_with(head), "{findings}");
    for outcome in [",passed,,", ",unchecked,,"] {
        assert!(findings.contains(outcome), "{findings}");
    }
    let one = analyze(&["--format", "csv", "--table", "kernels", text(&a), text(&b)]);
    assert_eq!(one.out, kernels);
    let unknown = analyze(&["--format", "csv", "--table", "kernel", text(&a)]);
    assert_eq!(unknown.code, 2);
    let nearest =
        "there is no table `kernel`, or nothing was recorded for it; the nearest are kernels, ";
    assert!(unknown.err.contains(nearest), "{}", unknown.err);
    let nowhere = analyze(&["--format", "csv", text(&a)]);
    assert!(nowhere.err.contains("--output"), "{}", nowhere.err);
    let mixed = analyze(&["--format", "html", "--table", "kernels", text(&a)]);
    assert!(mixed.err.contains("--table goes with"), "{}", mixed.err);
    let shown = analyze(&["--table", "kernels", text(&a)]).out;
    assert!(shown.starts_with("KERNELS BY NAME"), "{shown}");
    assert!(!shown.contains("DEVICES"), "{shown}");
}

#[test]
fn limits_and_rows_are_those_of_the_command_line() {
    let nccl = fixture(NCCL);
    let said = analyze(&["--full", "--threshold", "gpu_utilization_ratio=0.2", &nccl]);
    assert!(!said.out.contains("GPU idle: "), "{}", said.out);
    let said = analyze(&["--threshold", "gpu_utilisation_ratio=0.2", &nccl]);
    assert_eq!(said.code, 2);
    let short = analyze(&["--full", "--rows", "3", &nccl]).out;
    let long = analyze(&["--full", "--rows", "30", &nccl]).out;
    assert!(short.lines().count() < long.lines().count());
    let all = analyze(&["--full", "--rows", "0", &nccl]).out;
    assert!(long.lines().count() < all.lines().count());
    assert!(!all.contains("more row"), "{all}");
}

#[test]
fn an_output_is_written_and_named() {
    let place = Place::new();
    let trace = written(&place, "a.json", made("k"));
    let output = place.path("said.md");
    let said = analyze(&["--format", "markdown", "--output", text(&output), text(&trace)]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("said.md"), "{}", said.out);
    assert!(place.read("said.md").starts_with("## Trace "));
}

#[test]
fn what_is_read_is_not_written_over() {
    let place = Place::new();
    let trace = written(&place, "a.json", made("k"));
    let said = analyze(&["--format", "json", "--output", text(&trace), text(&trace)]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("one of the files to read"), "{}", said.err);
    assert_eq!(place.read("a.json"), made("k"));
}

#[test]
fn a_link_stays_a_link_and_a_pipe_a_pipe() {
    let place = Place::new();
    let trace = written(&place, "a.json", made("k"));
    let (real, link, pipe) = (place.path("real.md"), place.path("link.md"), place.path("pipe"));
    std::fs::write(&real, "before").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let asked = |output| analyze(&["--format", "markdown", "--output", text(output), text(&trace)]);
    assert_eq!(asked(&link).code, 0);
    assert!(link.is_symlink());
    assert!(place.read("real.md").starts_with("## Trace "));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let read = {
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    };
    let reader = std::thread::Builder::new().name("reader".into());
    let reader = reader.spawn(read).unwrap();
    assert_eq!(asked(&pipe).code, 0);
    assert_eq!(reader.join().unwrap(), place.read("real.md"));
}

#[test]
fn a_recording_without_windows_says_what_is_missing() {
    let place = Place::new();
    place.recorded(&["section=a"]).output().unwrap();
    let job = place.job();
    let capture = place.captures().remove(0);
    for path in [text(&job), text(&capture)] {
        let said = analyze(&[path]);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(said.err.contains("kernels are recorded by a window"), "{}", said.err);
        assert!(said.err.contains("marey report"), "{}", said.err);
    }
    // A trace that lies in the folder is found.
    written(&place, "out/job/flux.trace.json", made("k"));
    let said = analyze(&[text(&job)]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(said.out.contains("flux.trace.json"), "{}", said.out);
}
