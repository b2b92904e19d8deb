//! `marey aggregate`: what ranks did together, whatever they left behind.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::program::{Place, Said, example, marey};

/// Runs the recorded program as a rank of a job.
pub(crate) fn rank(
    place: &Place,
    job: &str,
    rank: u32,
    world_size: u32,
    does: &[&str],
) -> ExitStatus {
    Command::new(example())
        .args(does)
        .env("MAREY_ENABLED", "1")
        .env("MAREY_RING_DIR", place.path("rings"))
        .env("MAREY_OUTPUT_DIR", place.out())
        .env("MAREY_JOB_ID", job)
        .env("MAREY_MONITOR_CPU_USAGE", "0")
        .env("MAREY_MONITOR_SYSTEM_MEMORY", "0")
        .env("RANK", rank.to_string())
        .env("WORLD_SIZE", world_size.to_string())
        .stdin(Stdio::null())
        .status()
        .unwrap()
}

/// With everything that text has.
pub(crate) fn aggregate(arguments: &[&str]) -> Said {
    let all: Vec<&str> = ["aggregate", "--full"].iter().chain(arguments).copied().collect();
    marey(&all)
}

/// The document with all figures, which follows its schema.
pub(crate) fn document(paths: &[&Path]) -> (u8, Value) {
    let mut arguments: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    arguments.extend(["--format", "json"]);
    let said = aggregate(&arguments);
    let document: Value =
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
    let schema = include_str!("../../../../docs/schema/ranks.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    (said.code, document)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A report as document 002 has it.
pub(crate) fn report(memory: [f64; 3], utilization: f64) -> Value {
    let [min, mean, max] = memory;
    json!({
        "session_info": {"id": "s", "start_time": 1000.0, "duration": 2.0, "tags": {}},
        "summary": {"gpu": {"avg_gpu_utilization": utilization}, "cpu": null},
        "gpu_metrics": {
            "memory_analysis": {"min_usage_mb": min, "avg_usage_mb": mean, "peak_usage_mb": max},
            "utilization_analysis": {"min_utilization": utilization, "avg_utilization": utilization, "peak_utilization": utilization}
        }
    })
}

pub(crate) fn put(place: &Place, name: &str, content: &str) {
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[test]
fn all_ranks_of_a_job_come_to_one_summary() {
    let place = Place::new();
    for number in 0..2 {
        rank(&place, "job", number, 2, &["section=denoise", "turn=denoising_step"]);
    }
    let said = aggregate(&[text(&place.job())]);
    assert_eq!(said.code, 0, "{}", said.err);
    let first = "=== Aggregation Summary ===\nTotal reports processed: 2\nRanks: 2\n";
    assert!(said.out.starts_with(first), "{}", said.out);
    assert!(said.out.contains("denoise") && said.out.contains("JOB\n"));
    let screen = marey(&["aggregate", text(&place.job())]);
    assert!(screen.out.starts_with("marey: 2 ranks finished in "), "{}", screen.out);
    assert!(screen.out.lines().count() <= 25, "{}", screen.out);
    let brief = marey(&["aggregate", text(&place.job()), "--brief", "--format", "json"]).out;
    let brief: Value = serde_json::from_str(&brief).unwrap();
    assert_eq!((&brief["kind"], &brief["ranks"]), (&json!("job"), &json!(2)));
    let output = place.path("all.json");
    let said = aggregate(&["--reports_dir", text(&place.out()), "--output", text(&output)]);
    assert_eq!((said.code, said.out.as_str()), (0, first));
    let written: Value = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    assert_eq!((&written["total_reports"], &written["rank_count"]), (&json!(2), &json!(2)));
    assert_eq!(written["reports_summary"][1]["rank"], 1);
    assert_eq!(written["jobs"][0]["world_size"], 2);
    // What it wrote is no report.
    let said = aggregate(&["--reports_dir", text(&place.out()), "--output", text(&output)]);
    assert_eq!((said.code, said.out.as_str()), (0, first));
}

#[test]
fn one_table_is_shown_and_all_of_them_are_files() {
    let place = Place::new();
    for rank in 0..2 {
        let report = report([7200.0, 8400.0, 9000.0], 75.2).to_string();
        put(&place, &format!("rank_{rank}/profiling_report_s_1.json"), &report);
    }
    let folder = place.path("");
    let named = [text(&folder), "--table", "ranks"];
    let shown = aggregate(&named).out;
    assert!(shown.starts_with("RANKS\n"), "{shown}");
    let csv = aggregate(&[&named[..], &["--format", "csv"]].concat()).out;
    assert!(csv.starts_with("job,rank,"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let all = place.path("tables");
    let said = aggregate(&[text(&folder), "--format", "csv", "--output", text(&all)]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(place.read("tables/ranks.csv"), csv);
    let said = aggregate(&[text(&folder), "--table", "rank"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("the nearest are ranks, "), "{}", said.err);
}

#[test]
fn the_summary_of_reports_is_that_of_document_002() {
    let place = Place::new();
    let each = [
        ([7200.0, 8400.0, 9000.0], 75.2),
        ([7300.0, 8440.0, 9800.0], 92.1),
        ([7250.0, 8420.0, 9100.0], 88.3),
    ];
    for (number, (memory, utilization)) in each.into_iter().enumerate() {
        let report = report(memory, utilization).to_string();
        let name = format!("reports/rank_{number}/profiling_report_s_1.json");
        put(&place, &name, &report);
        // Raw data beside it is no report.
        put(
            &place,
            &format!("reports/rank_{number}/raw_profiling_data_s_1.json"),
            r#"{"session_id": "s", "gpu_data": [], "saved_at": 1}"#,
        );
    }
    let said = aggregate(&["--reports-dir", text(&place.path("reports"))]);
    assert_eq!(said.code, 0, "{}", said.err);
    let expected = "\
=== Aggregation Summary ===
Total reports processed: 3
Ranks: 3

=== GPU Metrics (Aggregated) ===
GPU Memory - Min: 7200.0MB, Max: 9800.0MB, Avg: 8420.0MB
GPU Utilization - Min: 75.2%, Max: 92.1%, Avg: 85.2%
";
    assert!(said.out.starts_with(expected), "{}", said.out);
    let (_, written) = document(&[&place.path("reports")]);
    let metrics = &written["aggregated_gpu_metrics"];
    assert_eq!(metrics["avg_memory_usage_mb_sum"], 8400.0 + 8440.0 + 8420.0);
    assert_eq!(metrics["avg_gpu_utilization_max"], 92.1);
    assert_eq!(written["aggregated_cpu_metrics"], json!({}));
    let ranks: Vec<&Value> =
        written["reports_summary"].as_array().unwrap().iter().map(|row| &row["rank"]).collect();
    assert_eq!(ranks, [0, 1, 2]);
    assert_eq!(written["reports_summary"][0]["duration"], 2.0);
    // The report's own name, and where it lies.
    let first = &written["reports_summary"][0];
    assert_eq!(first["session_id"], "s");
    assert!(
        first["file"].as_str().unwrap().ends_with("rank_0/profiling_report_s_1.json"),
        "{first}"
    );
}

#[test]
fn what_is_missing_cut_or_unreadable_is_named_and_the_rest_is_used() {
    let place = Place::new();
    rank(&place, "job", 0, 5, &["section=denoise"]);
    rank(&place, "job", 1, 5, &["section=denoise", "open=vae", "signal=9"]);
    std::fs::write(place.job().join("rank2-7.marey"), b"").unwrap();
    let whole = place.captures().into_iter().next().unwrap();
    let mut damaged = std::fs::read(whole).unwrap();
    damaged.truncate(damaged.len() / 2);
    std::fs::write(place.job().join("rank3-8.marey"), &damaged[..8]).unwrap();
    let (code, written) = document(&[&place.job()]);
    assert_eq!(code, 1);
    let job = &written["jobs"][0];
    // Of ranks 2 and 3 there are files.
    assert_eq!(job["missing"], json!([4]));
    let of_job = job["unread"].as_array().unwrap().iter();
    let of_job: Vec<&Value> = of_job.map(|row| &row["rank"]).collect();
    assert_eq!(of_job, [2, 3]);
    assert_eq!(job["members"][1]["state"], "cut");
    assert_eq!(written["rank_count"], 2);
    let unread: Vec<&Value> =
        written["unread"].as_array().unwrap().iter().map(|row| &row["rank"]).collect();
    assert_eq!(unread, [2, 3]);
    let said = aggregate(&[text(&place.job())]);
    assert!(said.err.contains("rank2-7.marey: is empty"), "{}", said.err);
}

#[test]
fn the_address_of_a_cluster_without_its_engine_is_an_error() {
    let place = Place::new();
    for engine in [&[][..], &["--engine", "local"]] {
        let said =
            aggregate(&[&[text(place.path("").as_path()), "--address", "x:1"], engine].concat());
        assert_eq!(said.code, 2);
        assert!(said.err.contains("needs --engine ray"), "{}", said.err);
    }
}

#[test]
fn a_path_that_names_nothing_is_named_and_the_others_are_read() {
    let place = Place::new();
    rank(&place, "job", 0, 1, &["section=denoise"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    let (good, empty, none) = (place.job(), place.path("empty"), place.path("none"));
    for nothing in [&[][..], &[text(&empty)], &[text(&none)]] {
        assert_eq!(aggregate(nothing).code, 2, "{nothing:?}");
    }
    let (code, written) = document(&[&empty, &good, &none]);
    assert_eq!((code, &written["rank_count"]), (1, &json!(1)));
    let whys: Vec<&str> = written["unread"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["why"].as_str().unwrap())
        .collect();
    assert_eq!(whys.len(), 2, "{whys:?}");
    assert!(whys.iter().any(|why| why.contains("holds no captures")));
    assert!(whys.iter().any(|why| why.contains("No such file")));
    // Each is said once.
    let said = aggregate(&[text(&empty), text(&good), text(&none)]);
    let name = text(&none);
    assert_eq!(said.err.matches(name).count(), 1, "{}", said.err);
    let nowhere = place.path("nowhere/all.json");
    let said = aggregate(&[text(&good), "--output", text(&nowhere)]);
    assert!(said.err.contains("all.json: No such file"), "{}", said.err);
    // One of two folders has the job.
    rank(&place, "other", 0, 1, &["section=denoise"]);
    let other = place.out().join("other");
    let said = aggregate(&[text(&good), text(&other), "--job", "job"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("has no job job; there is other"), "{}", said.err);
    assert!(said.out.contains("Total reports processed: 1"));
}

#[test]
fn a_capture_stands_for_the_documents_made_of_it() {
    let place = Place::new();
    rank(&place, "job", 0, 2, &["section=denoise"]);
    assert_eq!(marey(&["report", text(&place.job()), "--full"]).code, 0);
    assert!(place.out().join("profiling_report.json").exists());
    // The other node has only sent its report.
    put(
        &place,
        "out/node1/rank_1/profiling_report.json",
        &report([1.0, 1.0, 1.0], 1.0).to_string(),
    );
    let (_, written) = document(&[&place.out()]);
    let files: Vec<&str> = written["reports_summary"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["file"].as_str().unwrap())
        .collect();
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().any(|file| file.contains("/rank0-")));
    assert!(files.iter().any(|file| file.ends_with("rank_1/profiling_report.json")));
}

#[test]
fn a_report_is_of_the_process_and_the_job_that_it_says() {
    let place = Place::new();
    let as_report = |job: &str, folder: &str| {
        let capture = capture_of(&place, job);
        let path = place.path(folder).join("profiling_report.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let said = marey(&["report", text(&capture), "--format", "json", "--output", text(&path)]);
        assert_eq!(said.code, 0, "{}", said.err);
    };
    rank(&place, "first", 0, 1, &["section=a"]);
    rank(&place, "second", 0, 1, &["section=b"]);
    let processes = |arguments: &[&str]| {
        let out = place.out();
        let all: Vec<&str> =
            [text(&out), "--format", "json"].iter().chain(arguments).copied().collect();
        let said = aggregate(&all);
        let written: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
        (written["total_reports"].clone(), written["jobs"].as_array().unwrap().len())
    };
    // Copies of a capture that is read, and of one that is not.
    as_report("first", "out/first/rank0");
    as_report("second", "out/second/rank0");
    assert_eq!(processes(&[]), (json!(1), 1));
    assert_eq!(processes(&["--job", "first"]), (json!(1), 1));
    assert_eq!(processes(&["--job", "all"]), (json!(2), 2));
    // Reports alone are of jobs, too.
    for job in ["first", "second"] {
        std::fs::remove_file(capture_of(&place, job)).unwrap();
    }
    assert_eq!(processes(&[]), (json!(1), 1));
    assert_eq!(processes(&["--job", "first"]), (json!(1), 1));
    assert_eq!(processes(&["--job", "all"]), (json!(2), 2));
}

/// The one capture of a job.
fn capture_of(place: &Place, job: &str) -> PathBuf {
    let files = std::fs::read_dir(place.out().join(job)).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let is_capture = |path: &PathBuf| path.extension().is_some_and(|end| end == "marey");
    files.find(is_capture).unwrap()
}

#[test]
fn deep_folders_are_looked_into_and_circles_are_not() {
    let place = Place::new();
    let rank_0 = report([1.0, 2.0, 3.0], 50.0).to_string();
    put(&place, "r/node0/rank_0/deep/profiling_report.json", &rank_0);
    put(&place, "r/node0/rank_0/deep/sessions/a/profiling_report.json", &rank_0);
    put(&place, "r/node1/rank_1/profiling_report.json", "{\"session_info\": ");
    put(&place, "r/node1/rank_2/profiling_report.json", "no json");
    put(&place, "r/node1/.hidden/profiling_report.json", &rank_0);
    symlink(place.path("r"), place.path("r/node0/again")).unwrap();
    let (code, written) = document(&[&place.path("r")]);
    assert_eq!((code, &written["rank_count"]), (1, &json!(1)));
    let unread = written["unread"].as_array().unwrap();
    let ranks: Vec<&Value> = unread.iter().map(|row| &row["rank"]).collect();
    assert_eq!(ranks, [1, 2]);
}

#[test]
fn summaries_of_parts_come_to_the_same_as_all_files() {
    let place = Place::new();
    for number in 0..3 {
        rank(&place, "job", number, 3, &["section=denoise", "turn=denoising_step"]);
    }
    let captures = place.captures();
    let [first, second, third] = &captures[..] else { panic!() };
    let part = |name: &str, files: &[&Path]| {
        let path = place.path(name);
        let mut arguments: Vec<&str> = files.iter().map(|path| text(path)).collect();
        arguments.extend(["--output", text(&path)]);
        // Ranks are missing in each part.
        assert_eq!(aggregate(&arguments).code, 1);
        path
    };
    let parts = [part("a.ranks.json", &[third, first]), part("b.ranks.json", &[second, third])];
    let merged = document(&[&parts[1], &parts[0]]);
    assert_eq!(merged, document(&[&place.job()]));
    assert_eq!(merged.0, 0);
}

#[test]
fn traces_of_torch_are_ranks_by_what_they_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/traces");
    let file = |name: &str| format!("{folder}/{name}");
    let files = [
        file("rank0.step_12.1694128201545.pt.trace.json.gz"),
        file("rank1.step_12.1694128201556.pt.trace.json.gz"),
    ];
    let (_, written) = document(&[Path::new(&files[0]), Path::new(&files[1])]);
    let job = &written["jobs"][0];
    let ranks: Vec<&Value> =
        job["members"].as_array().unwrap().iter().map(|member| &member["rank"]).collect();
    assert_eq!(ranks, [0, 1]);
    assert_eq!(job["members"][0]["source"], "trace");
}

#[test]
fn one_trace_holds_all_ranks_on_one_axis() {
    let place = Place::new();
    for number in 0..2 {
        rank(&place, "job", number, 2, &["section=denoise", "section=all_reduce"]);
    }
    let output = place.path("all.pftrace");
    let said = aggregate(&[text(&place.job()), "--output", text(&output)]);
    assert_eq!(said.code, 0, "{}", said.err);
    let trace = std::fs::read(&output).unwrap();
    let has = |text: &str| trace.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(has("rank 0") && has("rank 1") && has("denoise"));
    // Of the call that both made.
    assert!(has("waiting in collectives") && has("transfer"));
    assert!(!has("not in the trace"));
    assert!(!said.err.contains("not in the trace"), "{}", said.err);
}

#[test]
fn ranks_without_a_capture_are_said_not_to_be_in_the_trace() {
    let place = Place::new();
    for number in 0..6 {
        rank(&place, "job", number, 6, &["section=denoise"]);
    }
    // Ranks 0 to 2 and 4 come as summaries only.
    let captures = place.captures();
    let summaries = place.path("a.ranks.json");
    let parts = [&captures[0], &captures[1], &captures[2], &captures[4]];
    let mut arguments: Vec<&str> = parts.iter().map(|path| text(path)).collect();
    arguments.extend(["--output", text(&summaries)]);
    assert_eq!(aggregate(&arguments).code, 1);
    let output = place.path("all.pftrace");
    let said = aggregate(&[
        text(&captures[3]),
        text(&captures[5]),
        text(&summaries),
        "--output",
        text(&output),
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    let remark = "ranks 0-2, 4 of job have no capture and are not in the trace";
    assert!(said.err.contains(&format!("marey: {remark}\n")), "{}", said.err);
    let trace = std::fs::read(&output).unwrap();
    let mut windows = trace.windows(remark.len());
    assert!(windows.any(|bytes| bytes == remark.as_bytes()));
}

#[test]
fn a_line_as_output_is_standard_output_and_the_summary_stands_beside_it() {
    let place = Place::new();
    rank(&place, "job", 0, 1, &["section=denoise"]);
    let job = place.job();
    let to_stdout = |format: &str| {
        let arguments = ["aggregate", text(&job), "--full", "--format", format, "-o", "-"];
        let said = place.command(&arguments).output().unwrap();
        let err = String::from_utf8(said.stderr).unwrap();
        assert!(!err.contains("the rest is in"), "{err}");
        (said.stdout, err)
    };
    for format in ["json", "summaries", "html", "markdown", "perfetto"] {
        let (out, err) = to_stdout(format);
        assert!(err.starts_with("=== Aggregation Summary ==="), "{err}");
        let is_document = match format {
            "html" => out.starts_with(b"<!doctype html>"),
            "markdown" => out.starts_with(b"````text\n=== Aggregation Summary ==="),
            // The tag of a packet.
            "perfetto" => out.starts_with(b"\x0a"),
            _ => serde_json::from_slice::<Value>(&out).is_ok(),
        };
        assert!(is_document, "{format}: {}", String::from_utf8_lossy(&out));
    }
    let (out, err) = to_stdout("text");
    assert!(String::from_utf8(out).unwrap().contains("JOB\n") && err.is_empty());
    assert!(!place.path("-").exists());
}

#[test]
fn a_format_is_told_by_the_ending_and_inputs_are_kept() {
    let place = Place::new();
    rank(&place, "job", 0, 1, &["section=<b>|x|"]);
    let capture = place.captures().remove(0);
    let to = |name: &str| {
        let path = place.path(name);
        let said = aggregate(&[text(&capture), "--output", text(&path)]);
        (said, std::fs::read_to_string(path).unwrap_or_default())
    };
    let (said, markdown) = to("a.md");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(markdown.contains("## Ranks") && !markdown.contains("<b>|x|"));
    assert!(to("a.txt").1.starts_with("=== Aggregation Summary ==="));
    assert!(to("a.ranks.json").1.starts_with("{\"marey_rank_summaries\":3"));
    let (said, _) = to("a.xyz");
    assert!(said.code == 2 && said.err.contains("--format"), "{}", said.err);
    let said = aggregate(&[text(&capture), "--format", "json", "--output", text(&capture)]);
    assert!(said.code == 2 && said.err.contains("one of the files to read"), "{}", said.err);
}
