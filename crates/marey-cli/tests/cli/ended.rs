//! How a command ended, of any command: what `marey run` sees, and what readers make of it later.

use serde_json::Value;

use crate::program::{Place, err, example, marey, unsampled};

/// `marey run -- COMMAND…` in this place, not sampled, and its exit code.
fn run(place: &Place, command: &[&str]) -> Option<i32> {
    let mut run = unsampled(place.command(&["run", "--quiet", "--"]));
    run.args(command).output().unwrap().status.code()
}

fn list(place: &Place) -> Value {
    serde_json::from_str(&place.read("out/job/run.json")).unwrap()
}

/// A folder with one job of this command.
fn recorded(command: &[&str]) -> Place {
    let place = Place::new();
    run(&place, command);
    place
}

#[test]
fn a_command_of_a_millisecond_leaves_how_it_ended_and_what_it_used() {
    let place = Place::new();
    assert_eq!(run(&place, &["/bin/sh", "-c", "exit 5", "--token", "abc"]), Some(5));
    let list = list(&place);
    assert_eq!(list["status"]["kind"], "failed");
    assert_eq!(list["status"]["reason"], "exit code 5");
    let launch = &list["launch"];
    assert_eq!(launch["exit_code"], 5);
    assert_eq!(launch["signal"], Value::Null);
    assert_eq!(launch["command"][4], "<redacted>");
    for figure in ["wall_s", "cpu_s", "peak_memory_bytes"] {
        assert!(launch[figure].as_f64().unwrap() > 0.0, "{figure}: {launch}");
    }
    let cpu_s = ["cpu_s", "cpu_user_s", "cpu_system_s"].map(|of| launch[of].as_f64().unwrap());
    assert!((cpu_s[0] - cpu_s[1] - cpu_s[2]).abs() < 1e-9, "{launch}");
    assert_eq!(list["processes"], Value::Array(vec![]));
    let document: Value = serde_json::from_str(&place.read("out/profiling_report.json")).unwrap();
    assert_eq!(document["launch"]["exit_code"], 5);
    assert_eq!(document["status"]["text"], "failed: exit code 5");
}

#[test]
fn the_same_is_made_again_from_captures_alone() {
    let place = recorded(&["/bin/sh", "-c", "exit 5"]);
    let before = list(&place);
    std::fs::remove_file(place.job().join("run.json")).unwrap();
    place.command(&["report", "out/job"]).output().unwrap();
    assert_eq!(list(&place), before);
}

#[test]
fn a_launcher_that_fails_fails_the_job_and_not_its_processes() {
    let place = Place::new();
    let script = r#""$0" section=a; exit 5"#;
    let program = example();
    let code = run(&place, &["/bin/sh", "-c", script, program.to_str().unwrap()]);
    assert_eq!(code, Some(5));
    let list = list(&place);
    assert_eq!(list["status"]["text"], "failed: exit code 5");
    assert_eq!(list["processes"][0]["status"]["kind"], "finished");
}

#[test]
fn a_launcher_that_gets_over_a_failure_has_finished() {
    let place = Place::new();
    let script = r#""$0" run --quiet -- "$1" section=a exit=6; exit 0"#;
    let program = example();
    let words = [env!("CARGO_BIN_EXE_marey"), program.to_str().unwrap()];
    let code = run(&place, &["/bin/sh", "-c", script, words[0], words[1]]);
    assert_eq!(code, Some(0));
    let list = list(&place);
    assert_eq!(list["status"]["kind"], "finished");
    assert_eq!(list["launch"]["exit_code"], 0);
    assert_eq!(list["processes"][0]["status"]["text"], "failed: exit code 6");
    let report: Value = serde_json::from_str(&place.read("out/profiling_report.json")).unwrap();
    assert_eq!(report["status"], list["status"]);
}

#[test]
fn a_signal_is_told_from_an_exit_code() {
    let place = recorded(&["/bin/sh", "-c", "kill -SEGV $$"]);
    let list = list(&place);
    assert_eq!(list["status"]["kind"], "killed");
    assert_eq!(list["launch"]["signal"], 11);
    assert_eq!(list["launch"]["exit_code"], Value::Null);
}

#[test]
fn a_candidate_that_failed_where_the_baseline_finished_is_worse() {
    let program = example();
    let program = program.to_str().unwrap();
    let fine = recorded(&[program, "section=a"]);
    let failed = recorded(&[program, "section=a", "exit=3"]);
    let (fine_out, failed_out) = (fine.out(), failed.out());
    let paths = [fine_out.to_str().unwrap(), failed_out.to_str().unwrap()];
    let said = marey(&["compare", paths[0], paths[1]]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("the candidate failed (exit code 3) after"), "{}", said.out);
    let said = marey(&["compare", paths[1], paths[1]]);
    assert!(said.out.contains("failed: exit code 3"), "{}", said.out);
    let said = marey(&["compare", "--full", paths[1], paths[1]]);
    assert!(said.out.contains("1 of 1 runs of the baseline failed"), "{}", said.out);
    let document = marey(&["compare", "--format", "json", paths[0], paths[1]]).out;
    assert!(document.contains("\"status\": \"failed\""), "{document}");
    assert!(!document.contains("launch."), "no fact of a launcher is one of the environment");
}

#[test]
fn commands_that_record_nothing_are_compared_by_how_they_ended() {
    let (fine, failed) = (recorded(&["/bin/true"]), recorded(&["/bin/false"]));
    let (fine, failed) = (fine.out(), failed.out());
    let said = marey(&["compare", fine.to_str().unwrap(), failed.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("exit code 1"), "{}", said.out);
}

#[test]
fn the_newest_job_is_one_that_recorded_nothing_too() {
    let place = recorded(&[example().to_str().unwrap(), "section=a"]);
    let mut command =
        unsampled(place.command(&["run", "--full", "--job-id", "second", "--", "/bin/false"]));
    let said = err(&command.output().unwrap());
    assert!(said.contains(": out/second/run.json\n"), "{said}");
    let latest = std::fs::read_link(place.out().join("latest")).unwrap();
    assert_eq!(latest.to_str(), Some("second"));
    let summary = place.read("out/timing_summary.txt");
    assert!(summary.contains("failed: exit code 1"), "{summary}");
}
