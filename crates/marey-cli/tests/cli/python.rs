//! The way into a Python program. A stand-in for the package `marey` shows what was called.

use std::path::Path;
use std::process::Output;

use crate::program::{Place, err, unsampled};

/// Says that it was started, and records through nothing.
const STAND_IN: &str = "import sys\ndef _autostart():\n    print('autostart', file=sys.stderr)\n";

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A package that has what ours has, and does that.
fn stand_in(place: &Place, text: &str) {
    write(&place.path("site/marey/__init__.py"), text);
    write(&place.path("site/marey/_core.so"), "");
}

/// `marey run -- python3 -c CODE` with a stand-in on the user's PYTHONPATH, not sampled.
fn run_python(place: &Place, flags: &[&str], code: &str) -> Output {
    let mut command = unsampled(place.command(&["run", "--full", "--", "python3"]));
    command.args(flags).args(["-c", code]).env("PYTHONPATH", place.path("site"));
    command.output().unwrap()
}

#[test]
fn marey_is_started_before_the_program_whose_path_stays_its_own() {
    let place = Place::new();
    stand_in(&place, STAND_IN);
    let code = "import sys; print(sys.path[1], any('marey-run-' in p for p in sys.path), 'sitecustomize' in sys.modules)";
    let output = run_python(&place, &[], code);
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(place.plain(&shown), "[place]/site False False\n");
    assert!(err(&output).starts_with("autostart\n"), "{}", err(&output));
}

#[test]
fn a_sitecustomize_that_fails_fails_as_it_would_without_marey() {
    let place = Place::new();
    stand_in(&place, STAND_IN);
    write(&place.path("site/sitecustomize.py"), "raise RuntimeError('theirs')\n");
    let output = run_python(&place, &[], "print('goes on')");
    assert_eq!(output.stdout, b"goes on\n");
    let said = err(&output);
    assert!(said.contains("autostart") && said.contains("RuntimeError: theirs"), "{said}");
}

#[test]
fn whatever_goes_wrong_with_marey_is_said_once_and_changes_nothing() {
    for (text, reason) in [
        ("raise RuntimeError('broken\\nin two lines')\n", "broken in two lines"),
        ("class Panic(BaseException): pass\nraise Panic('panic')\n", "panic"),
        ("", "module 'marey' has no attribute '_autostart'"),
        (
            "import no_such_thing\n",
            "No module named 'no_such_thing'; install marey for this interpreter",
        ),
    ] {
        let place = Place::new();
        stand_in(&place, text);
        // A child interpreter inherits the environment and stays silent.
        let code = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', 'print(1)']).returncode + 3)";
        let output = run_python(&place, &[], code);
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(output.stdout, b"1\n");
        let said = err(&output);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 4, "{said}");
        assert!(lines[0].starts_with("marey: ") && lines[0].contains(reason), "{said}");
        assert_eq!(lines[1], "marey: the program ended with exit code 3");
        assert!(
            lines[2].starts_with("marey: nothing was recorded: ") && lines[2].contains(reason),
            "{said}"
        );
    }
}

#[test]
fn flags_that_close_the_way_in_are_named() {
    let place = Place::new();
    stand_in(&place, STAND_IN);
    for flag in ["-I", "-E", "-S"] {
        let output = run_python(&place, &[flag], "print(1)");
        assert_eq!(output.stdout, b"1\n");
        let said = err(&output);
        assert!(
            said.starts_with(&format!("marey: Python itself is not recorded: its option {flag} ")),
            "{said}"
        );
        assert!(!said.contains("autostart"), "{said}");
    }
}

#[test]
fn a_python_that_recorded_nothing_is_told_how_to() {
    let place = Place::new();
    stand_in(&place, STAND_IN);
    let output = run_python(&place, &[], "pass");
    assert!(
        err(&output).contains("nothing was recorded: the program opened no section"),
        "{}",
        err(&output)
    );
}
