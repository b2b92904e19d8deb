//! Samplers: what they read survives, and one that hangs holds nobody up.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use marey::{Run, Series, SeriesKind, Status, Unit};

use crate::program::{PATIENT, captures, only_run, printed, recorded, rings};

/// The program after it has said what it is to say; its input is open.
fn until(command: &mut Command, said: &str) -> Child {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("examples are built");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), said);
    child
}

fn series<'a>(run: &'a Run, name: &str) -> &'a Series {
    let found = run.series.iter().find(|s| s.info.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", run.series))
}

/// The rounds that the led source was let to read: 0, 1, … n-1, each once.
fn assert_rounds(run: &Run, n: u32) {
    let rounds = series(run, "test.round");
    assert_eq!(rounds.info.unit, Unit::Count);
    assert_eq!(rounds.info.kind, SeriesKind::Gauge);
    assert_eq!(rounds.info.subject, "here");
    let points = &rounds.points;
    assert_eq!(points.iter().map(|p| p.count).sum::<u32>(), n);
    let sum: f64 = points.iter().map(|p| p.sum).sum();
    assert!((sum - f64::from(n * (n - 1) / 2)).abs() < 1e-9, "{points:?}");
    assert_eq!(points[0].min.to_bits(), 0f64.to_bits());
    assert_eq!(points[points.len() - 1].max.to_bits(), f64::from(n - 1).to_bits());
    assert!(points.is_sorted_by(|a, b| a.last_ns < b.first_ns), "{points:?}");
    assert!(points.iter().all(|p| p.first_ns <= p.last_ns && p.last_ns <= run.wall_ns));
}

/// The program without a sampler of its host.
fn in_folder(how: &str, folder: &Path) -> Command {
    let mut command = recorded("sampled", folder);
    command.env("MAREY_MONITOR_CPU_USAGE", "0");
    command.env("MAREY_MONITOR_SYSTEM_MEMORY", "0").arg(how);
    command
}

/// As [`in_folder`], for a source that answers: what it is to do it has done when the program goes on.
fn patient(how: &str, folder: &Path) -> Command {
    let mut command = in_folder(how, folder);
    command.env(PATIENT.0, PATIENT.1);
    command
}

/// How many rounds the led source read, each once.
fn rounds(run: &Run) -> u32 {
    let points = &series(run, "test.round").points;
    let n = points.iter().map(|p| p.count).sum();
    assert_rounds(run, n);
    n
}

#[test]
fn a_kill_loses_no_round_not_even_of_a_bucket_that_was_being_filled() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = until(&mut in_folder("wait", folder.path()), "11 rounds");
    let live = marey::load(&captures(folder.path())[0]).unwrap();
    assert_eq!(live.status, Status::Running);
    assert_rounds(&live, 11);
    child.kill().unwrap();
    child.wait().unwrap();
    let run = only_run(folder.path());
    assert_eq!(run.status, Status::EndedWithoutClosing);
    assert_rounds(&run, 11);
    // 0 1 2 3 | 4 5 | 6 7 | 8 9 10; rounds that come late make more.
    assert!(series(&run, "test.round").points.len() < 11);
    let unavailable = &run.unavailable[0];
    assert_eq!(
        (unavailable.what.as_str(), unavailable.why.as_str()),
        ("test.nothing", "a test has none")
    );
    assert!(run.info.facts.contains(&("test.fact".into(), "known".into())));
    let closed = marey::close_leftovers(&rings(folder.path()), |_| Status::EndedWithoutClosing);
    assert_eq!(closed.len(), 1);
    let closed = only_run(folder.path());
    assert_eq!(closed.series, run.series);
}

#[test]
fn a_source_that_hangs_delays_no_end_and_its_earlier_rounds_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = until(&mut in_folder("hang", folder.path()), "stopped");
    let run = only_run(folder.path());
    assert_eq!(run.status, Status::Finished);
    assert_rounds(&run, 11);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_source_that_is_never_made_delays_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = until(&mut in_folder("unmade", folder.path()), "stopped");
    assert_eq!(only_run(folder.path()).series, []);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_end_reads_once_more_and_says_what_sampling_cost() {
    let folder = tempfile::tempdir().unwrap();
    printed(&mut patient("finish", folder.path()));
    let run = only_run(folder.path());
    let n = rounds(&run);
    assert!(n >= 12, "{n}");
    for own in ["sampler.late", "sampler.missed", "sampler.cpu"] {
        let series = series(&run, own);
        assert_eq!(series.info.subject, "led");
        assert_eq!(series.points.iter().map(|p| p.count).sum::<u32>(), n);
    }
    assert!(series(&run, "sampler.cpu").points[0].last > 0.0);
    // A sampler is none of the program's threads.
    assert!(run.threads.iter().all(|t| !t.name.starts_with("marey-")), "{:?}", run.threads);
}

#[test]
fn a_round_that_outlives_its_recording_writes_nothing_into_the_next() {
    let folder = tempfile::tempdir().unwrap();
    printed(&mut in_folder("again", folder.path()));
    let paths = captures(folder.path());
    assert_eq!(paths.len(), 2, "{paths:?}");
    let mut n_rounds: Vec<u32> = Vec::new();
    for path in &paths {
        let run = marey::load(path).unwrap();
        assert_eq!(run.warnings, []);
        n_rounds.push(rounds(&run));
    }
    assert!(n_rounds.contains(&3), "{n_rounds:?}");
}

#[test]
fn samplers_end_for_a_fork_and_go_on_where_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let said = printed(&mut patient("pause", folder.path()));
    assert_eq!(said.trim(), "1 threads");
    let n = rounds(&only_run(folder.path()));
    assert!(n >= 12, "{n}");
}

#[test]
fn a_source_that_hangs_during_a_fork_reads_on_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    printed(&mut in_folder("hang in a pause", folder.path()));
    let n = rounds(&only_run(folder.path()));
    assert!(n >= 11, "{n}");
}

#[test]
fn a_sampler_that_takes_over_goes_on_with_the_series_however_often() {
    let folder = tempfile::tempdir().unwrap();
    printed(&mut patient("restart", folder.path()));
    let run = only_run(folder.path());
    let named = run.series.iter().filter(|s| s.info.name == "test.round");
    assert_eq!(named.count(), 1);
    let points = &series(&run, "test.round").points;
    // Each of the forty began at round 0 and was let to read at least three.
    let beginnings = points.iter().filter(|p| p.last == 0.0).count();
    assert_eq!(beginnings, 40);
    assert!(points.len() >= 120, "{}", points.len());
    assert!(points.is_sorted_by(|a, b| a.last_ns < b.first_ns));
}
