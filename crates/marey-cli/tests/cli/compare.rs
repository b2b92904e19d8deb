//! `marey compare`: the regression that documents tell of, repeats, what cannot be compared, and how the command ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{Place, Said, example, marey, wait_for};

/// Records an example into `<place>/<folder>/<job>` and returns the job's folder.
fn record(place: &Place, program: &Path, arguments: &[&str], folder: &str, job: &str) -> PathBuf {
    let mut command = recording(place, program, arguments, folder, job);
    let output = command.output().expect("examples are built");
    assert!(output.status.success(), "{output:?}");
    place.path(folder).join(job)
}

/// The same, not started.
fn recording(
    place: &Place,
    program: &Path,
    arguments: &[&str],
    folder: &str,
    job: &str,
) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("MAREY_ENABLED", "1")
        .env("MAREY_OUTPUT_DIR", place.path(folder))
        .env("MAREY_JOB_ID", job)
        .env("MAREY_RING_DIR", place.path("rings"))
        // The machine is read once more at the end, however busy it is.
        .env("MAREY_PATIENCE_MS", "60000")
        // What the machine does meanwhile is made up, or none of the test's business.
        .env("MAREY_MONITOR_CPU_USAGE", "0")
        .env("MAREY_MONITOR_SYSTEM_MEMORY", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The pipeline of the regression, `before` or `after` it.
fn better_transformer(place: &Place, which: &str) -> PathBuf {
    let program = example().with_file_name("better_transformer");
    record(place, &program, &[which], which, "job")
}

/// With everything that text has.
fn compare(arguments: &[&str], paths: &[&Path]) -> Said {
    compare_first(&[&["--full"], arguments].concat(), paths)
}

/// What is shown by itself.
fn compare_first(arguments: &[&str], paths: &[&Path]) -> Said {
    let paths = paths.iter().map(|path| path.to_str().unwrap());
    let all: Vec<&str> =
        ["compare"].into_iter().chain(arguments.iter().copied()).chain(paths).collect();
    marey(&all)
}

/// The text without its line breaks and columns.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_regression_of_a_faster_attention_is_named_in_the_first_lines() {
    let place = Place::new();
    let (before, after) =
        (better_transformer(&place, "before"), better_transformer(&place, "after"));

    let found = compare(&[], &[&before, &after]);
    let (first, _) = found.out.split_once("\n\n").unwrap();
    let (slower, rest) = ("slower: vae_decode", &found.out);
    assert!(first.starts_with("WORSE  "), "{rest}");
    assert!(first.contains(slower), "{rest}");
    assert!(first.contains("8.2 GiB → 23.8 GiB"), "{rest}");
    assert!(rest.contains("vae_decode / sdpa"), "{rest}");
    assert_eq!((found.code, found.err.as_str()), (1, ""), "{rest}");

    let same = compare(&[], &[&before, &before]);
    assert!(same.out.starts_with("SAME  "), "{}", same.out);
    assert_eq!(same.code, 0);

    let swapped = compare(&[], &[&after, &before]);
    assert!(swapped.out.starts_with("BETTER  "), "{}", swapped.out);
    assert_eq!(swapped.code, 0, "{}", swapped.out);

    let first = compare_first(&[], &[&before, &after]);
    assert!(first.out.starts_with("marey: slower by "), "{}", first.out);
    let n_lines = first.out.lines().count();
    assert!(n_lines <= 25, "{}", first.out);
    assert!(first.out.contains("exit code 1 (--fail-on worse)"), "{}", first.out);
    assert_eq!(first.code, 1);

    let list = compare_first(&["--table", "list", "--format", "csv"], &[&before, &after]).out;
    assert!(list.starts_with("name,title,n_rows\r\ntime,"), "{list}");
    let time = compare_first(&["--table", "time", "--format", "csv"], &[&before, &after]).out;
    assert!(time.contains("\r\ntotal,"), "{time}");
    let refused = compare_first(&["--table", "tim"], &[&before, &after]);
    assert!(refused.err.contains("the nearest are time"), "{}", refused.err);

    // The memory is made up, a time only longer than it was to be.
    let limits = |limit: &str| compare(&["--fail-on", limit], &[&before, &after]).code;
    assert_eq!(limits("section:vae_decode>1%"), 1);
    assert_eq!(limits("section:vae_decode>100000%"), 0);
    assert_eq!(limits("memory>100%"), 1);
    assert_eq!(limits("memory>200%"), 0);
    assert_eq!(limits("time>1%"), 1);
    assert_eq!(limits("never"), 0);
    assert_eq!(limits("section:vae_encode>1%"), 2);
}

#[test]
fn a_folder_of_jobs_is_repeats_and_is_left_as_it_is() {
    let place = Place::new();
    for job in ["mon", "tue", "wed"] {
        record(&place, &example(), &["section=a"], "base", job);
    }
    // Copied together, as from an archive.
    let archive = place.path("archive");
    std::fs::create_dir(&archive).unwrap();
    for index in 0..2 {
        let job = record(&place, &example(), &["section=a"], "single", &format!("{index}"));
        let capture = marey_folder::run_folder::captures(&job).unwrap().remove(0);
        std::fs::copy(capture, archive.join(format!("{index}.marey"))).unwrap();
    }
    let files = place.files();
    let said = compare(&["--fail-on", "never"], &[&place.path("base"), &archive]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let out = in_one_line(&place.plain(&said.out));
    for said in [
        "Baseline [place]/base: 3 repeated runs, ",
        "Candidate [place]/archive: 2 repeated runs, ",
        "Decided by 3 against 2 runs",
    ] {
        assert!(out.contains(said), "{said}: {out}");
    }
    assert_eq!(place.files(), files);
}

#[test]
fn one_folder_for_several_runs_of_a_command_is_repeats_and_ranks_are_one_run() {
    let place = Place::new();
    for _ in 0..3 {
        record(&place, &example(), &["section=a"], "again", "job");
    }
    // Two ranks at the same time: each ends when the other has begun.
    let (first, second) = (place.path("first"), place.path("second"));
    let mut ranks: Vec<std::process::Child> = [(0, &first), (1, &second)]
        .map(|(rank, ready)| {
            let ready = format!("ready={}", ready.display());
            let arguments = ["section=a", &ready, "echo"];
            let mut command = recording(&place, &example(), &arguments, "ranks", "job");
            command.env("RANK", format!("{rank}")).env("WORLD_SIZE", "2");
            command.stdin(Stdio::piped()).spawn().unwrap()
        })
        .into();
    for (rank, ready) in ranks.iter_mut().zip([&first, &second]) {
        wait_for(ready, rank);
    }
    for mut rank in ranks {
        drop(rank.stdin.take());
        assert!(rank.wait().unwrap().success());
    }
    let said = compare(&["--fail-on", "never"], &[&place.path("again"), &place.path("ranks")]);
    let out = in_one_line(&place.plain(&said.out));
    assert!(out.contains("[place]/again: 3 repeated runs, "), "{out}");
    assert!(out.contains("[place]/ranks: 1 run, "), "{out}");
    assert!(out.contains("1 other process of the same jobs left out"), "{out}");
}

#[test]
fn a_killed_run_is_compared_as_far_as_it_went_and_is_not_completed() {
    let place = Place::new();
    let whole = record(&place, &example(), &["section=a"], "base", "job");
    let ready = place.path("ready");
    let ready_argument = format!("ready={}", ready.display());
    let arguments = ["section=a", "open=under_way", &ready_argument, "wait"];
    let mut program = recording(&place, &example(), &arguments, "killed", "job").spawn().unwrap();
    wait_for(&ready, &mut program);
    program.kill().unwrap();
    program.wait().unwrap();
    let files = place.files();
    let said = compare(&["--fail-on", "never"], &[&whole, &place.path("killed")]);
    assert_eq!(said.code, 0, "{}", said.err);
    let out = in_one_line(&place.plain(&said.out));
    assert!(out.contains("1 not finished"), "{out}");
    assert!(out.contains("Incomplete candidate job: ended without closing its capture"), "{out}");
    for limit in ["worse", "time>500%"] {
        let said = compare(&["--fail-on", limit], &[&whole, &place.path("killed")]);
        let said_first = in_one_line(&said.out);
        let start = "WORSE the candidate died without closing its capture after ";
        assert!(said_first.starts_with(start), "{said_first}");
        let end = said_first.split("s, the baseline finished").next().unwrap();
        assert!(end.len() < start.len() + 10, "{said_first}");
        assert_eq!(said.code, 1, "{limit}");
    }
    assert_eq!(place.files(), files);
}

#[test]
fn formats_go_to_standard_output_or_a_file() {
    let place = Place::new();
    let job = record(&place, &example(), &["section=a"], "base", "job");
    let json = compare(&["--format", "json"], &[&job, &job]);
    assert!(json.out.starts_with("{\n  \"schema_version\": \"2.0\""), "{}", json.out);
    let brief = compare_first(&["--brief", "--format", "json"], &[&job, &job]).out;
    assert!(brief.starts_with("{\"v\":1,\"kind\":\"comparison\""), "{brief}");
    assert_eq!(brief.lines().count(), 1);
    let file = place.path("comparison.md");
    let to_file = ["--format", "markdown", "--output", file.to_str().unwrap()];
    let said = compare(&to_file, &[&job, &job]);
    let path = format!("{}\n", file.display());
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, path.as_str(), ""));
    assert!(place.read("comparison.md").starts_with("- SAME: "));
    let page = place.path("comparison.html");
    let to_file = ["--output", page.to_str().unwrap()];
    assert_eq!(compare(&to_file, &[&job, &job]).code, 0);
    assert!(place.read("comparison.html").starts_with("<!"));
}

#[test]
fn a_trend_has_every_run_below_a_folder() {
    let place = Place::new();
    for job in ["mon", "tue", "wed"] {
        record(&place, &example(), &["section=a", "turn=step"], "nightly", job);
    }
    let folder = place.path("nightly");
    let trend =
        |format: &str| marey(&["compare", "--trend", folder.to_str().unwrap(), "--format", format]);
    let text = trend("text");
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    assert!(text.out.contains(": 3 runs, "), "{}", text.out);
    let document: serde_json::Value = serde_json::from_str(&trend("json").out).unwrap();
    let names: Vec<&str> = document["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["mon", "tue", "wed"]);
    assert_eq!(trend("markdown").code, 0);
}

#[test]
fn what_cannot_be_compared_is_said_in_one_line() {
    let place = Place::new();
    let job = record(&place, &example(), &["section=a"], "base", "job");
    let empty = place.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let report = place.path("profiling_report.json");
    std::fs::write(&report, "{}").unwrap();
    let complaint = |said: &Said| {
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        place.plain(&said.err)
    };
    let said = compare(&[], &[&job, &place.path("nowhere")]);
    insta::assert_snapshot!(complaint(&said), @"marey: cannot read [place]/nowhere: No such file or directory (os error 2)");
    let said = compare(&[], &[&empty, &job]);
    insta::assert_snapshot!(complaint(&said), @"marey: [place]/empty holds no captures (*.marey) that can be read; name a capture, a job's folder or a folder of them");
    let said = compare(&[], &[&report, &job]);
    insta::assert_snapshot!(complaint(&said), @"marey: reports cannot be compared, only the captures (*.marey) that they were made from: [place]/profiling_report.json is not a Marey capture");
    let said = compare(&["--fail-on", "never", "--fail-on", "worse"], &[&job, &job]);
    insta::assert_snapshot!(complaint(&said), @"marey: --fail-on never and another --fail-on contradict each other");
    let said = compare(&["--trend"], &[&job]);
    insta::assert_snapshot!(complaint(&said), @"marey: [place]/base/job holds one run; a trend needs several");
    let said = compare(&["--fail-on", "slower"], &[&job, &job]);
    insta::assert_snapshot!(complaint(&said), @r#"
    error: invalid value 'slower' for '--fail-on <WHAT>': it is worse, any-change, cannot-tell, never, or a limit such as "time>5%", "memory>10%" or "section:NAME>3%"
    
    For more information, try '--help'.
    "#);
    let said = compare_first(&[], &[&job]);
    insta::assert_snapshot!(complaint(&said), @r#"
    error: the following required arguments were not provided:
      <CANDIDATE>
    
    Usage: marey compare <BASELINE> <CANDIDATE>
    
    For more information, try '--help'.
    "#);
}

#[test]
fn one_damaged_capture_does_not_hide_the_others() {
    let place = Place::new();
    let job = record(&place, &example(), &["section=a"], "base", "job");
    std::fs::write(job.join("rank1-1.marey"), "no capture").unwrap();
    let said = compare(&["--fail-on", "never"], &[&job, &job]);
    assert_eq!(said.code, 0);
    let out = in_one_line(&place.plain(&said.out));
    assert!(out.contains("1 run, "), "{out}");
    assert!(
        out.contains("Incomplete baseline [place]/base/job/rank1-1.marey is not a Marey capture"),
        "{out}"
    );
}
