//! What is the program's own stays so: its files, its sockets, its descriptors.

use std::path::Path;
use std::process::Command;

use crate::disk::Tiny;
use crate::program::{
    PATIENT, assert_adds_up, calls, captures, number, only_run, printed, recorded,
    recorded_by_an_ordinary_user, rings,
};

fn guest(case: &str, folder: &Path) -> Command {
    guest_by(&recorded, case, folder)
}

fn guest_by(recorded: &Recorded<'_>, case: &str, folder: &Path) -> Command {
    let own = folder.join("own");
    std::fs::create_dir(&own).unwrap();
    let mut command = recorded("guest", folder);
    command.arg(case).arg(own);
    command
}

/// Makes the command of an example that records.
type Recorded<'a> = dyn Fn(&str, &Path) -> Command + 'a;

/// Nothing came into the program's own files, and everything into the capture. What the program said, and the run.
fn assert_is_apart(case: &str) -> (String, marey::Run) {
    let folder = tempfile::tempdir().unwrap();
    let said = printed(&mut guest(case, folder.path()));
    assert_eq!((number(&said, "in files "), number(&said, "in socket ")), (0, 0));
    let run = only_run(folder.path());
    assert_eq!(run.status, marey::Status::Finished);
    assert_eq!(run.warnings, []);
    assert_adds_up(&run);
    assert_eq!((calls(&run, "step"), run.losses.sections_not_written), (4000, 0));
    (said, run)
}

#[test]
fn a_program_that_closes_every_descriptor_gets_nothing_of_ours_into_its_files() {
    assert_is_apart("closes");
}

#[test]
fn nor_on_a_kernel_that_empties_no_table() {
    assert_is_apart("closes on an old kernel");
}

#[test]
fn nor_where_the_kernel_gives_threads_no_descriptors_of_their_own() {
    let (said, run) = assert_is_apart("closes in a sandbox");
    assert_eq!(number(&said, "threads "), 1, "one that would open files");
    assert_eq!((calls(&run, "many"), run.losses.is_none()), (20_000, true));
    assert_eq!(run.series, []);
    let [missing] = &run.unavailable[..] else {
        panic!("{:?}", run.unavailable);
    };
    assert_eq!(missing.what, "cpu_metrics");
    assert!(missing.why.contains("this sandbox"), "{}", missing.why);
}

#[test]
fn a_daemon_that_closes_everything_records_on_into_its_own_capture() {
    let folder = tempfile::tempdir().unwrap();
    printed(&mut guest("daemon", folder.path()));
    // The daemon is nobody's child by now.
    while !folder.path().join("own/done").exists() {
        std::thread::yield_now();
    }
    let said = std::fs::read_to_string(folder.path().join("own/done")).unwrap();
    assert_eq!(said, "in files 0\n");
    let runs: Vec<_> =
        captures(folder.path()).iter().map(|path| marey::load(path).unwrap()).collect();
    let mut steps: Vec<u64> = runs.iter().map(|run| calls(run, "step")).collect();
    steps.sort_unstable();
    assert_eq!(steps, [1000, 2000]);
}

#[test]
fn a_recording_with_samplers_takes_none_of_the_programs_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let said = printed(&mut guest("descriptors", folder.path()));
    assert_eq!((number(&said, "more "), number(&said, "left ")), (0, 0));
}

#[test]
fn four_hundred_recordings_give_back_what_they_took() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = guest("starts and stops", folder.path());
    let said = printed(command.env(PATIENT.0, PATIENT.1));
    let held = ["rings ", "threads ", "files "].map(|what| number(&said, what));
    assert_eq!(held, [0; 3], "{said}");
    // Of 350 recordings: where one keeps something, it is as many. Allocators and stacks of threads differ by a few mappings from run to run.
    let held = ["allocations ", "mappings "].map(|what| number(&said, what));
    assert!(held.iter().all(|more| *more < 100), "{said}");
    assert!(!rings(folder.path()).exists());
}

#[test]
fn thirty_two_threads_leave_room_for_what_the_program_shares() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tiny) = Tiny::mount(folder.path().join("shm"), "64m") else {
        return;
    };
    let mut command = guest("shares its memory", folder.path());
    let said = printed(command.env("MAREY_RING_DIR", tiny.0.join("rings")));
    // A tenth of 64 MiB is ours at most, and 57.6 MiB are seven items and a piece.
    assert_eq!(number(&said, "items "), 7);
    let run = only_run(folder.path());
    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), (32 + 32 + 8) * 1000);
    assert!(run.losses.threads_in_private_memory > 0);
    assert!(!tiny.0.join("rings").exists());
}

#[test]
fn a_million_names_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let said = printed(&mut guest("has many names", folder.path()));
    // A name of 88 bytes each would be 79 MB more.
    assert!(number(&said, "resident ") < 32 << 20, "{said}");
}

#[test]
fn a_start_completes_what_a_process_left_that_nobody_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    a_start_completes(folder.path(), &recorded);
}

#[test]
fn a_start_completes_what_a_process_of_an_ordinary_user_left() {
    let folder = tempfile::tempdir().unwrap();
    a_start_completes(folder.path(), &recorded_by_an_ordinary_user);
}

fn a_start_completes(folder: &Path, recorded: &Recorded<'_>) {
    recorded("endings", folder).arg("_exit").output().unwrap();
    let [dead] = &captures(folder)[..] else {
        panic!("one capture");
    };
    let before = dead.metadata().unwrap().len();
    printed(&mut guest_by(recorded, "has a dead neighbour", folder));
    assert!(dead.metadata().unwrap().len() > before);
    let run = marey::load(dead).unwrap();
    assert_eq!((run.status, run.warnings), (marey::Status::EndedWithoutClosing, vec![]));
    assert_eq!(run.open.len(), 1);
    assert!(!rings(folder).exists());
}

#[test]
fn a_program_without_a_free_descriptor_runs_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(printed(&mut guest("has none free", folder.path())), "done\n");
}
