//! `marey run`: the program is what it would be without it, and recorded.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal};

use crate::program::{Place, err, example, unsampled, words};

#[test]
fn a_program_is_recorded_and_reported() {
    let place = Place::new();
    let output = place.recorded(&["section=text_encoder", "section=vae_decode"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    let said = err(&output);
    assert!(said.contains("text_encoder") && words(&said).contains("Status finished"), "{said}");
    assert!(said.ends_with("\nmarey: reports are in out/job\n"), "{said}");
    let mut files: Vec<String> = place.files();
    let is_launchers = |file: &String| file.starts_with("out/job/launcher-");
    assert_eq!(files.iter().filter(|file| is_launchers(file)).count(), 1);
    files.retain(|file| !is_launchers(file));
    let capture = place.captures()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let expected = [
        "out",
        "out/job",
        "out/job/memory_log.json",
        "out/job/profiling_report.json",
        &format!("out/job/{capture}"),
        "out/job/report.html",
        "out/job/run.json",
        "out/job/timing_summary.txt",
        "out/latest",
        "out/memory_log.json",
        "out/profiling_report.json",
        "out/report.html",
        "out/timing_summary.txt",
    ];
    assert_eq!(files, expected);
    assert_eq!(place.read("out/timing_summary.txt"), place.read("out/job/timing_summary.txt"));
}

#[test]
fn options_stand_before_the_command_which_keeps_its_own() {
    let place = Place::new();
    let program = example();
    let mut command = place.command(&["run", "--output", "there", "--job-id", "mine", "--quiet"]);
    let output = command.arg(program).args(["section=a", "exit=5"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(err(&output), "");
    assert!(place.path("there/mine/run.json").exists());
}

#[test]
fn the_exit_code_is_the_programs() {
    for code in [0, 1, 2, 3, 127, 255] {
        let place = Place::new();
        let mut command = place.recorded(&["section=a", &format!("exit={code}")]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        let is_mentioned = words(&err(&output)).contains(&format!("(exit code {code})"));
        assert_eq!(is_mentioned, code != 0);
    }
}

#[test]
fn standard_streams_pass_through_byte_by_byte() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let mut child = place
        .recorded(&["section=a", "echo"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let given = bytes.clone();
    let writer = std::thread::Builder::new().spawn(move || input.write_all(&given).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.unwrap().join().unwrap();
    assert!(output.stdout == bytes);
}

#[test]
fn a_command_that_is_not_there_is_127_and_one_that_is_no_program_126() {
    let place = Place::new();
    let missing = place.command(&["run", "--full", "--", "no-such-program"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
    insta::assert_snapshot!(err(&missing), @"marey: cannot run no-such-program: not found");
    std::fs::write(place.path("plain"), "text").unwrap();
    std::fs::set_permissions(place.path("plain"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let plain = place.command(&["run", "./plain"]).output().unwrap();
    assert_eq!(plain.status.code(), Some(126));
    insta::assert_snapshot!(err(&plain), @"marey: cannot run ./plain: not executable (permission denied)");
    assert_eq!(place.files(), ["plain"], "nothing stays behind");
}

#[test]
fn without_a_usable_output_folder_the_program_runs_unrecorded() {
    let place = Place::new();
    std::fs::write(place.path("file"), []).unwrap();
    let program = example();
    let mut command = place.command(&["run", "--output", "file/below"]);
    let output = command.arg(program).args(["section=a", "exit=4"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(place.plain(&err(&output)), @"marey: recording is off: cannot write to [place]/file/below/job: Not a directory (os error 20); choose another folder with --output");
    assert_eq!(place.files(), ["file"]);
}

#[test]
fn a_program_that_records_nothing_is_told_why() {
    let place = Place::new();
    let command = place.command(&["run", "--full", "--", "/bin/sh", "-c", "exit 3"]);
    let output = unsampled(command).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = err(&output);
    let (why, took) = said.split_once("marey: the command took ").unwrap();
    insta::assert_snapshot!(why, @"
    marey: the program ended with exit code 3
    marey: nothing was recorded: the program is neither a Python that Marey can enter nor one that calls marey::start_from_env(); a launcher must pass on MAREY_ENABLED and PYTHONPATH
    ");
    assert!(took.ends_with(": out/job/run.json\n"), "{took}");
}

#[test]
fn the_process_that_recorded_something_is_the_one_that_is_shown() {
    let place = Place::new();
    let output = place.recorded(&["child=section=in_the_child"]).output().unwrap();
    let said = err(&output);
    let summary = place.read("out/job/timing_summary.txt");
    assert!(summary.contains("in_the_child"), "{summary}");
    assert!(said.contains("\nOther processes of this job:\nrank0-"), "{said}");
    assert!(said.contains("recorded nothing"), "{said}");
    assert_eq!(place.captures().len(), 2);
}

#[test]
fn a_job_id_that_ran_before_is_described_by_its_newest_run() {
    let place = Place::new();
    place.recorded(&["section=first"]).output().unwrap();
    let second = place.recorded(&["section=second"]).output().unwrap();
    assert!(err(&second).contains("Other processes of this job"));
    let summary = place.read("out/timing_summary.txt");
    assert!(summary.contains("second") && !summary.contains("first"), "{summary}");
}

#[test]
fn of_several_ranks_the_first_is_shown_and_the_others_are_listed() {
    let place = Place::new();
    let script = r#"RANK=1 WORLD_SIZE=2 "$0" section=one; RANK=0 WORLD_SIZE=2 "$0" section=zero"#;
    let mut command = place.command(&["run", "--full", "--", "/bin/sh", "-c", script]);
    let output = command.arg(example()).output().unwrap();
    let said = err(&output);
    assert!(place.read("out/timing_summary.txt").contains("zero"), "{said}");
    let others = said.split_once("Other processes of this job:\n").unwrap().1;
    assert!(
        others.starts_with("rank1-") && others.contains(", rank 1, finished, wall time "),
        "{said}"
    );
}

#[test]
fn a_process_that_goes_on_after_the_program_stays_running_in_the_list() {
    let place = Place::new();
    let script = r#""$0" section=a ready=ready wait >/dev/null 2>&1 & echo $!; until [ -e ready ]; do :; done"#;
    let mut command = place.command(&["run", "--full", "--", "/bin/sh", "-c", script]);
    let output = command.arg(example()).output().unwrap();
    let pid: i32 = String::from_utf8(output.stdout.clone()).unwrap().trim().parse().unwrap();
    let list = place.read("out/job/run.json");
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    assert!(list.contains("\"kind\": \"running\""), "{list}");
    assert!(words(&err(&output)).contains("Status running when it was read"), "{}", err(&output));
}

#[test]
fn a_helper_that_recorded_nothing_does_not_keep_the_job_running() {
    let place = Place::new();
    let script = r#""$0" ready=ready wait >/dev/null 2>&1 & echo $!; until [ -e ready ]; do :; done; "$0" section=a"#;
    let mut command = place.command(&["run", "--quiet", "--", "/bin/sh", "-c", script]);
    let output = command.arg(example()).output().unwrap();
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    let pid: i32 = said.lines().next().unwrap().trim().parse().unwrap();
    let list = place.read("out/job/run.json");
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["status"]["kind"], "finished", "{list:#}");
    let running = list["processes"].as_array().unwrap().iter();
    let running = running.filter(|process| process["status"]["kind"] == "running");
    assert_eq!(running.count(), 1, "{list:#}");
}

#[test]
fn marey_run_below_marey_run_records_into_the_same_job_once() {
    let place = Place::new();
    let outer = [env!("CARGO_BIN_EXE_marey"), "run", "--quiet", "--"];
    let mut command = place.command(&["run", "--full", "--"]);
    let output = command.args(outer).arg(example()).args(["section=a", "exit=6"]).output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(place.captures().len(), 1);
    assert!(
        !place.files().iter().any(|file| file.contains("sitecustomize")),
        "{:?}",
        place.files()
    );
}

#[test]
fn names_with_control_codes_reach_no_terminal() {
    let place = Place::new();
    let output = place.recorded(&["section=red\u{1b}[31m\u{202e}"]).output().unwrap();
    let said = err(&output);
    assert!(said.contains("red\\x1b[31m\\u{202e}"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'));
    let missing = place.command(&["run", "--full", "--", "no\u{1b}]0;x\u{7}"]).output().unwrap();
    insta::assert_snapshot!(err(&missing), @r"marey: cannot run no\x1b]0;x\x07: not found");
}

#[test]
fn a_wrong_option_stops_before_the_program_runs() {
    let place = Place::new();
    let output = place.command(&["run", "--ouput", "x", "--", "touch", "ran"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(place.files().is_empty());
}
