//! `marey window`: which processes it refuses, and how. What opens is tested from Python.

use rustix::process::{Pid, Signal};

use crate::program::{Place, Said, example, wait_for};

fn window(place: &Place, arguments: &[&str]) -> Said {
    let output = place.command(&[&["window"], arguments].concat()).output().unwrap();
    Said {
        code: output.status.code().unwrap().try_into().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn refusal(place: &Place, arguments: &[&str]) -> String {
    let said = window(place, arguments);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    said.err
}

#[test]
fn a_process_that_is_not_there_or_does_not_record_is_named() {
    let place = Place::new();
    assert_eq!(refusal(&place, &["4194305"]), "marey: there is no process 4194305\n");
    // Longer than any process id: nothing was asked for that could be there.
    let longer = window(&place, &["99999999999"]);
    assert_eq!(longer.code, 2);
    assert_eq!(
        longer.err,
        "marey: there is no process 99999999999; `marey top` shows those that record\n"
    );
    let pid = std::process::id().to_string();
    let said = format!("marey: process {pid} does not record; `marey top` shows those that do\n");
    assert_eq!(refusal(&place, &[&pid]), said);
}

#[test]
fn a_program_without_torch_opens_no_window() {
    let place = Place::new();
    let ready = place.path("ready");
    let mut command = place.command(&["run", "--quiet", "--"]);
    command.arg(example()).arg(format!("ready={}", ready.display())).arg("wait");
    let mut run = command.spawn().unwrap();
    wait_for(&ready, &mut run);
    // Named by the `marey run` around it, and by its job.
    let by_run = refusal(&place, &[&run.id().to_string()]);
    let by_job = refusal(&place, &["out", "--seconds", "1", "--rank", "all"]);
    let pid = Pid::from_raw(run.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    run.wait().unwrap();
    assert!(by_run.ends_with(" opens no windows: it is no Python program\n"), "{by_run}");
    assert_eq!(by_run, by_job);
}

#[test]
fn steps_and_seconds_are_not_asked_for_together() {
    let place = Place::new();
    for wrong in [&["1", "--steps", "1", "--seconds", "1"][..], &["1", "--steps", "0"], &[]] {
        assert_eq!(window(&place, wrong).code, 2, "{wrong:?}");
    }
}
