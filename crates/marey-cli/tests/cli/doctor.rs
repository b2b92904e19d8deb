//! `marey doctor`: honest about any machine, so what it finds differs; its shape does not.

use std::process::Stdio;

use crate::program::{Place, err, wait_for};

#[test]
fn every_check_has_a_state_and_a_text() {
    let place = Place::new();
    let output = place.command(&["doctor", "--json"]).output().unwrap();
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = found["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in
        ["clock", "shared memory", "output folder", "memory limit", "pressure", "python", "gpu"]
    {
        assert!(names.contains(&name), "{names:?}");
    }
    for check in checks {
        assert!(
            ["available", "limited", "not_available"].contains(&check["state"].as_str().unwrap())
        );
        assert!(!check["text"].as_str().unwrap().is_empty());
    }
}

#[test]
fn without_a_python_it_says_so() {
    let place = Place::new();
    let output = place.command(&["doctor"]).env("PATH", "/nowhere").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("neither python nor python3 is on PATH"), "{said}");
}

#[test]
fn a_python_that_never_answers_well_is_no_error() {
    let place = Place::new();
    let bin = place.path("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/true", bin.join("python")).unwrap();
    let output = place.command(&["doctor"]).env("PATH", &bin).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("ended without an answer"), "{said}");
}

#[test]
fn what_dead_processes_left_is_shown_and_freed_when_asked() {
    let place = Place::new();
    let ready = place.path("ready");
    let mut command = std::process::Command::new(crate::program::example());
    for (name, value) in place.command(&[]).get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.args(["section=a", &format!("ready={}", ready.display()), "wait"]);
    let mut program = command.env("MAREY_ENABLED", "1").stdout(Stdio::null()).spawn().unwrap();
    wait_for(&ready, &mut program);
    let doctor = |option: &[&str]| {
        let output = place.command(&[&["doctor"], option].concat()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let pid = program.id();
    assert!(doctor(&[]).contains("Recording at this moment: process"), "{}", doctor(&[]));
    program.kill().unwrap();
    program.wait().unwrap();
    let left = doctor(&[]);
    assert!(left.contains(&format!("process {pid}, ")), "{left}");
    assert!(left.contains("--clean"), "{left}");
    assert!(place.path("rings").exists());
    let cleaned = doctor(&["--clean"]);
    assert!(cleaned.contains("; freed\n"), "{cleaned}");
    assert!(!place.path("rings").exists());
    let status = marey::load(&place.captures()[0]).unwrap().status;
    assert_eq!(status, marey::Status::EndedWithoutClosing);
    assert!(!doctor(&[]).contains(&format!("process {pid}, ")));
}
