//! Jobs that ended in a window of a profiler are named by what comes after them.

use crate::program::{Place, err};

/// The job is killed in its window, or ends well without one; what is said on standard error.
fn job(place: &Place, name: &str, arguments: &[&str]) -> String {
    let output = place.recorded(arguments).env("MAREY_JOB_ID", name).output().unwrap();
    err(&output)
}

fn doctor(place: &Place, arguments: &[&str]) -> Vec<String> {
    let mut command = place.command(&["doctor"]);
    let output = command.args(arguments).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let lines = said.lines().filter(|line| line.starts_with("window "));
    lines.map(|line| place.plain(line)).collect()
}

#[test]
fn the_next_job_says_that_the_one_before_ended_in_a_window_and_the_one_after_it_does_not() {
    let place = Place::new();
    let first = job(&place, "mon", &["window=flux", "signal=9"]);
    assert!(!first.contains("the job before"), "{first}");
    let second = job(&place, "tue", &["section=vae"]);
    let expected = "marey: the job before, mon, ended in the window \"flux\" of torch.profiler: out/mon/rank0-";
    assert_eq!(second.matches("the job before").count(), 1, "{second}");
    assert!(second.contains(expected), "{second}");
    let third = job(&place, "wed", &["section=vae"]);
    assert!(!third.contains("the job before"), "{third}");
}

#[test]
fn a_job_of_the_same_name_says_it_once() {
    let place = Place::new();
    job(&place, "same", &["window=flux", "signal=9"]);
    let second = job(&place, "same", &["section=vae"]);
    assert!(second.contains("the job before, same, ended in"), "{second}");
    let third = job(&place, "same", &["section=vae"]);
    assert!(!third.contains("the job before"), "{third}");
}

#[test]
fn the_doctor_names_a_job_that_ended_in_a_window_after_others_ran() {
    let place = Place::new();
    job(&place, "mon", &["window=flux", "signal=9"]);
    job(&place, "tue", &["section=vae"]);
    for arguments in [vec![], vec!["out"], vec!["out/mon"]] {
        let lines = doctor(&place, &arguments);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let expected = "the job mon ended in the window \"flux\" of torch.profiler (";
        assert!(lines[0].contains(expected), "{lines:?}");
    }
    assert!(doctor(&place, &["out/tue"]).is_empty());
    let nowhere = doctor(&place, &["nowhere"]);
    assert!(nowhere[0].contains("cannot read the folder nowhere"), "{nowhere:?}");
}
