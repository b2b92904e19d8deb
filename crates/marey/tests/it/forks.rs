//! Forks: parent and child have a capture each, with what each of them did.

use std::path::{Path, PathBuf};

use marey::{Run, Status};

use crate::program::{PATIENT, assert_adds_up, calls, captures, printed, recorded, rings};

/// Runs a case to its end; the parent's capture, and those of its descendants, completed.
fn after(case: &str, folder: &Path) -> (Run, Vec<(PathBuf, Run)>) {
    printed(recorded("forks", folder).env(PATIENT.0, PATIENT.1).arg(case));
    marey::close_leftovers(&rings(folder), |_| Status::EndedWithoutClosing);
    assert!(!rings(folder).exists(), "nobody left rings behind");
    let mut runs: Vec<_> = captures(folder)
        .into_iter()
        .map(|path| {
            let run = marey::load(&path).unwrap();
            (path, run)
        })
        .collect();
    for (path, run) in &runs {
        assert_adds_up(run);
        assert_eq!(run.warnings, [], "{}", path.display());
    }
    let is_parent = |run: &Run| calls(run, "before") > 0;
    let at = runs.iter().position(|(_, run)| is_parent(run)).unwrap();
    let (_, parent) = runs.remove(at);
    assert!(!runs.iter().any(|(_, run)| is_parent(run)));
    assert_eq!(parent.status, Status::Finished);
    assert_eq!(calls(&parent, "before"), 10);
    (parent, runs)
}

fn assert_name(path: &Path, parent: &Run, child: &Run) {
    let expected = format!("rank0-{}-child{}.marey", parent.info.pid, child.info.pid);
    assert_eq!(path.file_name().unwrap(), expected.as_str());
}

#[test]
fn a_child_that_records_has_a_capture_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("child", folder.path());
    assert_eq!((calls(&parent, "child"), calls(&parent, "after")), (0, 5));
    assert_eq!(calls(&parent, "outer"), 1);
    let [(path, child)] = &children[..] else {
        panic!("one child");
    };
    assert_name(path, &parent, child);
    assert_eq!((calls(child, "child"), calls(child, "outer")), (7, 0));
    // The section that is open in the parent does not exist in the child.
    assert!(child.open.is_empty());
    // The parent samples, and counts the child among its children.
    let is_host = |run: &Run| run.series.iter().any(|s| s.info.name == "host.memory.used");
    assert!(is_host(&parent));
    assert_eq!(child.series, []);
    let node = child.nodes.iter().position(|n| n.name == "child" && n.parent == Some(0));
    assert_eq!(child.totals[node.expect("at the top")].count, 7);
}

#[test]
fn a_child_that_leaves_its_parents_sections_records_none_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("deep", folder.path());
    assert_eq!(calls(&parent, "deep"), 100);
    assert_eq!(children.len(), 1);
    let child = &children[0].1;
    assert_eq!((calls(child, "child"), calls(child, "deep")), (7, 0));
}

#[test]
fn a_future_that_was_begun_before_a_fork_is_the_parents() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("future", folder.path());
    assert_eq!(calls(&parent, "waits"), 1);
    let [(_, child)] = &children[..] else { panic!("one child") };
    assert_eq!((calls(child, "child"), calls(child, "waits")), (7, 0));
}

#[test]
fn a_child_that_records_nothing_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("silent", folder.path());
    assert_eq!(calls(&parent, "after"), 5);
    assert!(children.is_empty());
}

#[test]
fn a_child_of_a_child_has_its_own_capture_too() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, mut children) = after("grandchild", folder.path());
    children.sort_by_key(|(_, run)| calls(run, "grandchild"));
    let [(child_path, child), (path, grandchild)] = &children[..] else {
        panic!("a child and a grandchild");
    };
    assert_eq!((calls(child, "child"), calls(grandchild, "child")), (5, 0));
    assert_eq!(calls(grandchild, "grandchild"), 4);
    assert_name(child_path, &parent, child);
    assert_name(path, child, grandchild);
}

#[test]
fn a_child_of_a_silent_child_belongs_to_the_one_that_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("grandchild of a silent child", folder.path());
    let [(path, grandchild)] = &children[..] else {
        panic!("one that recorded");
    };
    assert_eq!(calls(grandchild, "grandchild"), 4);
    assert_name(path, &parent, grandchild);
}

#[test]
fn a_child_of_a_process_that_stopped_recording_does_not_record() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("while off", folder.path());
    assert_eq!(calls(&parent, "after"), 0);
    assert!(children.is_empty());
}

#[test]
fn a_child_without_room_records_nothing_and_touches_nothing_of_its_parents() {
    let folder = tempfile::tempdir().unwrap();
    printed(recorded("forks", folder.path()).arg("without room"));
    let closed = marey::close_leftovers(&rings(folder.path()), |_| Status::EndedWithoutClosing);
    assert_eq!(closed, captures(folder.path()));
    assert_eq!(closed.len(), 1);
    let parent = marey::load(&closed[0]).unwrap();
    assert_adds_up(&parent);
    assert_eq!(["before", "after", "child"].map(|name| calls(&parent, name)), [10, 5, 0]);
    assert_eq!(parent.open.len(), 1);
}

#[test]
fn children_that_cannot_make_a_capture_are_counted_in_their_parents() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("another user", folder.path());
    assert_eq!((calls(&parent, "child"), children.len()), (0, 0));
    assert_eq!(calls(&parent, "after"), 5);
    assert_eq!(parent.losses.children_unrecorded, 2);
}

#[test]
fn two_hundred_forks_while_threads_record_neither_hang_nor_mix() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, children) = after("storm", folder.path());
    assert!(calls(&parent, "flood") > 0);
    assert_eq!(calls(&parent, "after"), 5);
    assert_eq!(children.len(), 200);
    for (path, child) in &children {
        assert_name(path, &parent, child);
        assert_eq!((calls(child, "child"), calls(child, "flood")), (1, 0));
    }
}

#[test]
fn a_fork_beside_dead_neighbours_has_no_other_thread() {
    let folder = tempfile::tempdir().unwrap();
    printed(recorded("forks", folder.path()).arg("leftovers"));
    assert_eq!(marey::leftovers(&rings(folder.path())).len(), 16);
    let mut command = recorded("forks", folder.path());
    command.env("MAREY_JOB_ID", "later").env(PATIENT.0, PATIENT.1);
    command.env("MAREY_MONITOR_CPU_USAGE", "0");
    command.env("MAREY_MONITOR_SYSTEM_MEMORY", "0");
    let said = printed(command.arg("beside the dead"));
    // It is the drain thread that completes their captures, and it ends for a fork.
    assert_eq!(said.trim(), "2 and 1 threads");
    for capture in captures(folder.path()) {
        assert_eq!(marey::load(&capture).unwrap().warnings, []);
    }
    assert!(!rings(folder.path()).exists());
}
