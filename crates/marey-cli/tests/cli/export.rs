//! `marey export` and `marey view`: a recording as a trace.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::program::{Place, err, marey};

/// A job of two processes: a program and the child that it started.
fn two_processes() -> Place {
    let place = Place::new();
    place
        .recorded(&["section=text_encoder", "turn=denoising_step", "child=section=vae_decode"])
        .output()
        .unwrap();
    assert_eq!(place.captures().len(), 2);
    place
}

fn events(trace: &str, phase: &str) -> Vec<serde_json::Value> {
    let trace: serde_json::Value = serde_json::from_str(trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    events.filter(|event| event["ph"] == phase).cloned().collect()
}

fn names(trace: &str) -> Vec<String> {
    let slices = events(trace, "X");
    slices.iter().map(|event| event["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_format_has_its_name_in_the_jobs_folder_which_is_shown() {
    let place = two_processes();
    let job = place.job();
    for (format, name) in [("perfetto", "trace.pftrace.gz"), ("chrome", "trace.json.gz")] {
        let said = marey(&["export", "--format", format, job.to_str().unwrap()]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{format}");
        assert_eq!(place.plain(&said.out), format!("[place]/out/job/{name}\n"));
        let bytes = std::fs::read(place.job().join(name)).unwrap();
        let begins_as_gzip = bytes.starts_with(&[0x1f, 0x8b]);
        assert_eq!(begins_as_gzip, name.ends_with("gz"));
    }
}

#[test]
fn all_processes_of_a_job_are_in_one_trace_in_which_the_earliest_began_first() {
    let place = two_processes();
    let out = place.path("both.json");
    let said = marey(&[
        "export",
        "--format",
        "chrome",
        "--output",
        out.to_str().unwrap(),
        place.out().to_str().unwrap(),
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    let trace = place.read("both.json");
    assert_eq!(names(&trace), ["text_encoder", "denoising_step", "vae_decode"]);
    let mut pids: Vec<u64> =
        events(&trace, "X").iter().map(|e| e["pid"].as_u64().unwrap()).collect();
    pids.dedup();
    assert_eq!(pids.len(), 2);
    let starts: Vec<f64> = events(&trace, "X").iter().map(|e| e["ts"].as_f64().unwrap()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
}

#[test]
fn one_capture_gives_a_trace_of_its_own_beside_it() {
    let place = two_processes();
    let capture = &place.captures()[0];
    let said = marey(&["export", "--format", "chrome", capture.to_str().unwrap()]);
    let stem = capture.file_stem().unwrap().to_str().unwrap();
    assert_eq!(place.plain(&said.out), format!("[place]/out/job/{stem}-trace.json.gz\n"));
}

#[test]
fn tensorboard_gets_a_file_a_process_with_the_name_that_it_looks_for() {
    let place = two_processes();
    let job = place.job();
    let said = marey(&["export", "--format", "tensorboard", job.to_str().unwrap()]);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    for line in said.out.lines() {
        let file = std::path::Path::new(line).file_name().unwrap().to_str().unwrap();
        let parts: Vec<&str> = file.split('.').collect();
        assert_eq!(parts[2..], ["pt", "trace", "json", "gz"], "{file}");
        assert!(parts[1].parse::<u64>().is_ok());
    }
    let said = marey(&["export", "--format", "tensorboard", "-o", "x.json", job.to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("a file for each of the 2 processes"), "{}", said.err);
}

#[test]
fn standard_output_gets_the_bare_trace() {
    let place = two_processes();
    let output =
        place.command(&["export", "--format", "chrome", "-o", "-", "out"]).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(names(&String::from_utf8(output.stdout).unwrap()).len(), 3);
}

#[test]
fn a_rank_that_nobody_had_and_a_place_without_captures_are_errors() {
    let place = two_processes();
    let job = place.job();
    let said = marey(&["export", "--rank", "3", job.to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("holds nothing of rank 3"), "{}", said.err);
    assert!(!place.job().join("trace.pftrace.gz").exists());
    let said = marey(&["export", place.path("nowhere").to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("cannot read"), "{}", said.err);
}

#[test]
fn a_trace_that_cannot_be_written_leaves_the_old_one() {
    let place = two_processes();
    std::fs::create_dir(place.path("folder.json")).unwrap();
    let job = place.job();
    let out = place.path("folder.json");
    let said = marey(&["export", "-o", out.to_str().unwrap(), job.to_str().unwrap()]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("cannot write"), "{}", said.err);
    assert!(out.is_dir());
}

/// What the folder of a dataset says of itself.
#[cfg(feature = "parquet")]
fn mark(folder: &std::path::Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("_marey.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[cfg(feature = "parquet")]
#[test]
fn tables_tell_of_a_process_that_recorded_nothing_and_traces_leave_it_out() {
    let place = Place::new();
    let arguments = ["section=denoise", "child=echo"];
    place.recorded(&arguments).output().unwrap();
    assert_eq!(place.captures().len(), 2);
    let job = place.job();
    let said = marey(&["export", "--format", "parquet", job.to_str().unwrap()]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let mark = mark(&job.join("parquet"));
    assert_eq!(
        (&mark["processes"], &mark["rows"]["processes"], &mark["unread"]),
        (&2.into(), &2.into(), &serde_json::json!([]))
    );
    let said = marey(&["export", "--format", "tensorboard", job.to_str().unwrap()]);
    assert_eq!((said.code, said.out.lines().count()), (0, 1));
}

/// A capture that is none: the rest is exported, and the exit code says that it is not all.
#[test]
fn an_export_without_a_capture_that_cannot_be_read_fails_and_is_written() {
    let place = two_processes();
    let job = place.job();
    std::fs::write(job.join("zz.marey"), "no capture").unwrap();
    for (format, name) in [
        ("perfetto", "trace.pftrace.gz"),
        ("chrome", "trace.json.gz"),
        ("tensorboard", ""),
        #[cfg(feature = "parquet")]
        ("parquet", "parquet"),
    ] {
        let said = marey(&["export", "--format", format, job.to_str().unwrap()]);
        assert_eq!(said.code, 1, "{format}: {}", said.err);
        assert!(said.err.contains("zz.marey is not a Marey capture"));
        assert!(job.join(name).exists(), "{format}");
    }
    #[cfg(feature = "parquet")]
    assert_eq!(mark(&job.join("parquet"))["unread"], serde_json::json!(["zz.marey"]));
}

#[cfg(feature = "parquet")]
#[test]
fn a_dataset_with_a_file_of_the_user_in_its_folder_is_not_replaced() {
    let place = two_processes();
    let job = place.job();
    let export = || marey(&["export", "--format", "parquet", job.to_str().unwrap()]);
    assert_eq!(export().code, 0);
    assert_eq!(export().code, 0, "a dataset by itself is replaced");
    let notes = job.join("parquet/notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    let said = export();
    assert_eq!(said.code, 2);
    assert!(said.err.contains("holds notes.txt"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
    std::fs::remove_file(&notes).unwrap();
    assert_eq!(export().code, 0);
}

/// The address of the trace in what `marey view` prints.
fn address(link: &str) -> (String, String) {
    let trace = link.trim_end().split("url=http://").nth(1).unwrap();
    let slash = trace.find('/').unwrap();
    (trace[..slash].to_owned(), trace[slash..].to_owned())
}

#[test]
fn a_view_ends_well_when_its_trace_was_read() {
    let place = two_processes();
    let mut view = place
        .command(&["view", "--no-browser", "--port", "0", "out"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    BufReader::new(view.stdout.take().unwrap()).read_line(&mut link).unwrap();
    assert!(link.starts_with("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:"), "{link}");
    let (host, path) = address(&link);
    let mut client = TcpStream::connect(&host).unwrap();
    write!(
        client,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: https://ui.perfetto.dev\r\n\r\n"
    )
    .unwrap();
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    drop(client);
    assert!(view.wait().unwrap().success());
    let body = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(all[body..body + 2], [0x1f, 0x8b]);
}

#[test]
fn a_view_that_nobody_reads_ends_with_a_word() {
    let place = two_processes();
    let view = place
        .command(&["view", "--no-browser", "--port", "0", "--timeout", "1", "out"])
        .output()
        .unwrap();
    assert_eq!(view.status.code(), Some(1));
    assert!(err(&view).contains("nobody read the trace in 1 s"), "{}", err(&view));
}

#[test]
fn ctrl_c_ends_a_view() {
    use std::os::unix::process::ExitStatusExt;
    let place = two_processes();
    let mut view = place
        .command(&["view", "--no-browser", "--port", "0", "out"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    BufReader::new(view.stdout.take().unwrap()).read_line(&mut link).unwrap();
    let pid = rustix::process::Pid::from_child(&view);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(view.wait().unwrap().signal(), Some(2));
}

/// A trace of a rank whose only operator began so many microseconds after 1 s of 1970.
fn torch_trace(place: &Place, rank: u32, name: &str, at_us: u32) -> String {
    let path = place.path(&format!("traces/rank{rank}.json"));
    let trace = serde_json::json!({
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python"}},
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": 500 + at_us, "dur": 3},
        ],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "baseTimeNanoseconds": 999_500_000,
    });
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, trace.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn traces_of_torch_become_one_in_the_order_of_ranks_on_one_time_axis() {
    let place = Place::new();
    let late = torch_trace(&place, 1, "late", 0);
    let early = torch_trace(&place, 0, "early", 250);
    let out = place.path("ranks.json");
    let said = marey(&["export", &late, &early, "-o", out.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("they stand where their machines' clocks say"), "{}", said.err);
    let trace = place.read("ranks.json");
    let titles = events(&trace, "M");
    let titles = titles.iter().filter_map(|event| event["args"]["name"].as_str());
    assert_eq!(titles.collect::<Vec<_>>(), ["rank 0: python", "rank 1: python"]);
    let slices = events(&trace, "X");
    let slices = slices.iter().map(|e| (e["name"].as_str().unwrap(), e["ts"].as_f64().unwrap()));
    assert_eq!(slices.collect::<Vec<_>>(), [("early", 250.0), ("late", 0.0)]);
    let said = marey(&["analyze", out.to_str().unwrap()]);
    assert!(said.out.contains("2 ranks were merged into one file"), "{}", said.out);
    // Whose name the result would have stays as it is.
    let before = std::fs::read(&late).unwrap();
    let said = marey(&["export", &late, &early, "-o", &late]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is one of the traces to read"), "{}", said.err);
    assert_eq!(std::fs::read(&late).unwrap(), before);
    // The folder means the same, and one that cannot be read is named.
    std::fs::write(place.path("traces/rank2.trace.json"), "{}").unwrap();
    let folder = place.path("traces");
    let said = marey(&["export", folder.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("rank2.trace.json: has no traceEvents"), "{}", said.err);
    assert_eq!(place.read("ranks.json"), trace);
}

#[test]
fn a_trace_into_which_ranks_were_merged_is_no_rank_of_its_folder() {
    let place = Place::new();
    torch_trace(&place, 0, "a", 0);
    torch_trace(&place, 1, "b", 0);
    let folder = place.path("traces");
    let (folder, merged) = (folder.to_str().unwrap(), place.path("traces/all.json"));
    let before = marey(&["aggregate", folder, "--format", "json"]);
    assert_eq!(marey(&["export", folder, "-o", merged.to_str().unwrap()]).code, 0);
    let said = "all.json is left out: 2 ranks were merged into it before; `marey analyze ";
    let after = marey(&["aggregate", folder, "--format", "json"]);
    assert!(after.err.contains(said), "{}", after.err);
    assert_eq!((after.code, after.out), (before.code, before.out));
    let again = place.path("again.json");
    let exported = marey(&["export", folder, "-o", again.to_str().unwrap()]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    assert!(exported.err.contains(said), "{}", exported.err);
    assert_eq!(place.read("again.json"), place.read("traces/all.json"));
    // Alone it is no job, and it can be written as it is.
    let alone = marey(&["aggregate", merged.to_str().unwrap()]);
    assert_eq!((alone.code, alone.out.as_str()), (2, ""));
    assert_eq!((alone.err.lines().count(), alone.err.contains(said)), (1, true), "{}", alone.err);
    let alone = marey(&["export", merged.to_str().unwrap(), "-o", again.to_str().unwrap()]);
    assert_eq!((alone.code, alone.err.contains(said)), (0, false), "{}", alone.err);
}

#[test]
fn traces_that_are_no_job_of_a_trace_a_rank_stand_where_clocks_say_and_that_is_said() {
    let place = Place::new();
    let (first, second) = (torch_trace(&place, 0, "a", 0), place.path("traces/other.json"));
    std::fs::copy(&first, &second).unwrap();
    let (second, out) = (second.to_str().unwrap().to_owned(), place.path("both.json"));
    let said = marey(&["export", &first, &second, "-o", out.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("are not those of one job with a trace a rank"), "{}", said.err);
    assert!(!said.err.contains("no clocks differ"), "{}", said.err);
    let alone = marey(&["export", &first, "-o", out.to_str().unwrap()]);
    assert!(alone.err.contains("no clocks differ"), "{}", alone.err);
}

#[test]
fn traces_of_torch_become_chrome_json_and_nothing_else() {
    let place = Place::new();
    let path = torch_trace(&place, 0, "a", 0);
    let folder = place.path("traces");
    for of in [path.as_str(), folder.to_str().unwrap()] {
        for format in [
            "tensorboard",
            #[cfg(feature = "parquet")]
            "parquet",
        ] {
            let said = marey(&["export", "--format", format, of]);
            assert_eq!(said.code, 2);
            assert!(said.err.contains("leave --format out"), "{}", said.err);
        }
    }
}

#[test]
fn recordings_do_not_go_together_into_one_trace() {
    let place = two_processes();
    let job = place.job();
    let job = job.to_str().unwrap();
    let said = marey(&["export", "--format", "tensorboard", job, job]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("name one recording"), "{}", said.err);
    let capture = place.captures()[0].to_str().unwrap().to_owned();
    let said = marey(&["export", &capture, &capture]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is no trace of torch.profiler"), "{}", said.err);
}
