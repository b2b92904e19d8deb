//! Where rings and captures go when they cannot go where they should.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use marey::Status;

use crate::program::{assert_adds_up, calls, captures, only_run, printed, recorded};

/// As long as nobody names another place, which all other tests do.
#[test]
fn rings_lie_in_shared_memory_and_nothing_of_them_stays() {
    let folder = tempfile::tempdir().unwrap();
    let in_default_place = |how: &str| {
        let mut command = recorded("endings", folder.path());
        command.env_remove("MAREY_RING_DIR").arg(how);
        command.output().unwrap().status
    };
    let user = fs::metadata("/proc/self").unwrap().uid();
    let root = PathBuf::from(format!("/dev/shm/marey-{user}"));
    assert_eq!(marey::ring_root(), Some(root.clone()));
    in_default_place("_exit");
    let [capture] = &captures(folder.path())[..] else {
        panic!("one capture");
    };
    let mut left = marey::leftovers(&root);
    left.retain(|left| left.capture.as_ref() == Some(capture));
    let process = left[0].identity;
    let own = root.join(format!("{}-{}", process.pid, process.start_time));
    assert_eq!(left[0].folder, own);
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);
    left[0].close(&Status::EndedWithoutClosing).unwrap();
    assert!(!own.exists());

    assert!(in_default_place("return").success());
    let mut runs = captures(folder.path()).into_iter().map(|path| marey::load(&path).unwrap());
    let run = runs.find(|run| run.status == Status::Finished).unwrap();
    let rings = run.info.facts.iter().find(|(key, _)| key == "ring_folder").unwrap();
    assert!(Path::new(&rings.1).starts_with(&root), "{rings:?}");
    assert!(!Path::new(&rings.1).exists());
}

#[test]
fn rings_go_to_the_output_folder_when_their_place_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    for place in [file.clone(), file.join("below"), "/proc/nowhere".into()] {
        fs::remove_dir_all(folder.path().join("out")).ok();
        printed(recorded("endings", folder.path()).env("MAREY_RING_DIR", place).arg("return"));
        let run = only_run(folder.path());
        assert_adds_up(&run);
        assert_eq!(calls(&run, "step"), 100);
        let rings = run.info.facts.iter().find(|(key, _)| key == "ring_folder");
        assert!(rings.unwrap().1.contains("out/.marey-rings/"), "{rings:?}");
        assert_eq!(run.losses.threads_in_private_memory, 0);
        assert!(!folder.path().join("out/.marey-rings").exists());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_kill_with_rings_in_the_output_folder_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = recorded("endings", folder.path());
    let status =
        command.env("MAREY_RING_DIR", "/proc/nowhere").arg("abort").output().unwrap().status;
    assert!(!status.success());
    let run = only_run(folder.path());
    assert_adds_up(&run);
    assert_eq!((calls(&run, "step"), run.open.len()), (100, 1));
    let rings = folder.path().join("out/.marey-rings");
    assert_eq!(marey::close_leftovers(&rings, |_| Status::Killed(6)).len(), 1);
    assert_eq!(only_run(folder.path()).status, Status::Killed(6));
}

#[test]
fn without_shared_memory_threads_record_in_private_memory_and_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = recorded("loads", folder.path());
    printed(command.env("MAREY_SHARED_BYTES", "0").args(["threads", "8"]));
    let run = only_run(folder.path());
    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), 8 * 20_000);
    assert!(run.losses.threads_in_private_memory >= 1, "{:?}", run.losses);
}

#[test]
fn an_output_folder_that_cannot_be_made_is_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let mut command = recorded("loads", folder.path());
    let output = command.env("MAREY_OUTPUT_DIR", &file).args(["steps", "1000"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"done\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("marey: ") && said.contains("in memory"), "{said}");
    assert!(captures(folder.path()).is_empty());
}

#[test]
fn an_output_folder_that_does_not_exist_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b/c");
    printed(recorded("endings", folder.path()).env("MAREY_OUTPUT_DIR", &deep).arg("return"));
    let latest = fs::read_dir(deep.join("latest")).unwrap().count();
    assert_eq!(latest, 1);
}

#[test]
fn what_a_dead_recording_in_memory_left_is_removed_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("rings");
    let leftovers = || fs::read_dir(&root).map_or(0, Iterator::count);
    let mut in_memory = recorded("endings", folder.path());
    in_memory.env("MAREY_OUTPUT_DIR", "/proc/nowhere").arg("_exit");
    in_memory.output().unwrap();
    assert_eq!(leftovers(), 1);
    // With a capture, what is left belongs to it, and the next one puts it there.
    recorded("endings", folder.path()).arg("_exit").output().unwrap();
    assert_eq!(leftovers(), 1);
    printed(recorded("endings", folder.path()).arg("return"));
    assert_eq!(leftovers(), 0);
}

#[test]
fn rings_that_name_somebody_elses_file_do_not_touch_it() {
    let folder = tempfile::tempdir().unwrap();
    recorded("endings", folder.path()).arg("_exit").output().unwrap();
    let rings = folder.path().join("rings");
    let left = &marey::leftovers(&rings)[0];
    let capture = left.capture.clone().unwrap();
    // In place of the capture: a file of another kind, then a capture of another process.
    fs::rename(&capture, folder.path().join("kept")).unwrap();
    fs::write(&capture, "precious and longer than the header of a capture").unwrap();
    assert!(left.close(&Status::Killed(9)).is_err());
    assert_eq!(
        fs::read_to_string(&capture).unwrap(),
        "precious and longer than the header of a capture"
    );
    let other = tempfile::tempdir().unwrap();
    printed(recorded("endings", other.path()).arg("return"));
    fs::copy(&captures(other.path())[0], &capture).unwrap();
    let before = fs::read(&capture).unwrap();
    assert!(left.close(&Status::Killed(9)).is_err());
    assert_eq!(fs::read(&capture).unwrap(), before);
    // With its own capture back, it is completed.
    fs::rename(folder.path().join("kept"), &capture).unwrap();
    assert_eq!(left.close(&Status::Killed(9)).unwrap(), Some(capture.clone()));
    assert_eq!(marey::load(&capture).unwrap().status, Status::Killed(9));
}
