//! Programs that end without closing their capture: what was complete is there, what was open has a name.

use std::path::Path;
use std::process::ExitStatus;

use marey::{Run, Status};

use crate::program::{assert_adds_up, calls, captures, only_run, printed, recorded, rings};

fn end(how: &str, folder: &Path) -> ExitStatus {
    let output = recorded("endings", folder).arg(how).output().unwrap();
    output.status
}

fn open_names(run: &Run) -> Vec<&str> {
    let names = run.open.iter();
    names.map(|open| run.nodes[open.node as usize].name.as_str()).collect()
}

/// The run as it lies there, and again after its capture was completed from the rings.
fn ended_without_closing(folder: &Path) -> Run {
    let before = only_run(folder);
    assert_eq!(before.status, Status::EndedWithoutClosing);
    let closed = marey::close_leftovers(&rings(folder), |_| Status::EndedWithoutClosing);
    assert_eq!(closed.len(), 1);
    let after = only_run(folder);
    assert_eq!((&before.sections, &before.totals), (&after.sections, &after.totals));
    assert_eq!(after.warnings, []);
    // These programs end within milliseconds of their start: time has a length from the first section on.
    let sums = after.totals.iter().filter(|t| t.count > 0).map(|t| t.sum_ns);
    assert!(after.wall_ns > 0 && sums.min().is_some_and(|ns| ns > 0), "{:?}", after.totals);
    assert!(!rings(folder).exists());
    after
}

#[test]
fn an_exit_that_runs_no_handlers_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(end("_exit", folder.path()).code(), Some(3));
    let run = ended_without_closing(folder.path());
    assert_adds_up(&run);
    assert_eq!((calls(&run, "step"), calls(&run, "inner")), (100, 100));
    assert_eq!(open_names(&run), ["outer"]);
}

#[test]
fn a_panic_closes_the_capture_and_marks_the_sections_it_went_through() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(end("panic", folder.path()).code(), Some(101));
    let run = only_run(folder.path());
    assert_adds_up(&run);
    assert_eq!(run.status, Status::Failed("panic".into()));
    let failed: Vec<&str> = run
        .sections
        .iter()
        .filter(|section| section.is_failed)
        .map(|section| run.nodes[section.node as usize].name.as_str())
        .collect();
    assert_eq!(failed, ["outer"]);
    assert_eq!(run.totals.iter().map(|t| t.errors).sum::<u64>(), 1);
    assert!(run.open.is_empty());
    assert!(!rings(folder.path()).exists(), "a closed capture needs no rings");
}

#[test]
fn an_exit_while_threads_record_loses_nothing_of_any_of_them() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(end("threads", folder.path()).code(), Some(0));
    let run = ended_without_closing(folder.path());
    assert_adds_up(&run);
    // The main thread's hundred, and at least a hundred of each worker, which were interrupted anywhere.
    assert!(calls(&run, "step") >= 500);
    let in_steps = calls(&run, "step")..=calls(&run, "step") + 4;
    assert!(in_steps.contains(&calls(&run, "inner")));
    let names: Vec<&str> = run.threads.iter().map(|thread| thread.name.as_str()).collect();
    for n in 0..4 {
        assert!(names.contains(&format!("worker-{n}").as_str()), "{names:?}");
    }
}

#[test]
fn a_program_that_replaces_itself_has_two_captures() {
    let folder = tempfile::tempdir().unwrap();
    printed(recorded("endings", folder.path()).arg("exec"));
    let before = captures(folder.path());
    assert_eq!(before.len(), 2);
    marey::close_leftovers(&rings(folder.path()), |_| Status::EndedWithoutClosing);
    let runs = before.iter().map(|path| marey::load(path).unwrap());
    let mut ends: Vec<_> = runs
        .map(|run| {
            assert_adds_up(&run);
            assert_eq!(calls(&run, "step"), 100);
            (run.status == Status::Finished, open_names(&run).len(), run.info.pid)
        })
        .collect();
    ends.sort_unstable();
    let pid = ends[0].2;
    assert_eq!(ends, [(false, 1, pid), (true, 0, pid)]);
    assert!(!rings(folder.path()).exists());
}
