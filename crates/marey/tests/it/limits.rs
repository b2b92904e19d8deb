//! Past every limit totals stay exact, and what is not recorded is counted.

use std::path::Path;

use marey::{Run, Status, Value};

use crate::program::{
    assert_adds_up, calls, captures, completed, number, only_run, printed, recorded,
};

/// Runs a case to its end with more settings.
fn load(folder: &Path, case: &str, n: &str, settings: &[(&str, &str)]) -> (String, Run) {
    let mut command = recorded("loads", folder);
    command.args([case, n]).envs(settings.iter().copied());
    let printed = printed(&mut command);
    assert!(printed.ends_with("done\n"), "{printed}");
    let run = only_run(folder);
    assert_eq!(run.status, Status::Finished);
    assert_eq!(run.warnings, []);
    (printed, run)
}

#[test]
fn a_hundred_thousand_names_are_capped_and_the_rest_counted_as_other() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = load(folder.path(), "names", "100000", &[]);
    let recorded = run.sections.len() as u64;
    assert_eq!(recorded + run.losses.sections_missing(), 100_000);
    assert_eq!(completed(&run), 100_000);
    // Of 4096 nodes, one is the root and one stands for the others.
    assert_eq!(run.nodes.len(), 4096);
    assert_eq!(run.losses.calls_without_name, 100_000 - 4094);
    assert_eq!(calls(&run, "(other)"), 100_000 - 4094);
    assert!((0..4094).all(|i| calls(&run, &format!("name-{i}")) == 1));
    // The arena of histograms is smaller; those without one have none rather than an empty one.
    let without = run.totals.iter().filter(|t| t.count > 0 && t.histogram.is_none());
    assert!(without.count() > 1000);
}

#[test]
fn names_of_any_bytes_are_kept_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = load(folder.path(), "strange names", "0", &[]);
    assert_adds_up(&run);
    let names: Vec<&str> = run.nodes[2..].iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names[0], "\u{1b}[2J\u{7}\0\r\n");
    assert_eq!(names[1], "</script><img src=x onerror=alert(1)>");
    assert_eq!(names[2], "../../../../etc/passwd");
    assert_eq!(names[3], "\\xff\\xfe\\x80");
    // Names beyond 1 KiB are cut, and end in a hash of the whole.
    assert!(names[4].starts_with("\\x80\\x80") && names[4].contains('#'));
    assert!(names[5].starts_with("xxxx") && names[5].len() == 1024 && names[5].contains('#'));
    assert_eq!((names[6], names[7]), ("", "\u{202e}\u{1f3ac}"));
    assert_eq!((run.events.len(), run.sessions.len()), (6, 6));
    let longest = run.events.iter().map(|event| event.name.len()).max();
    assert_eq!(longest, Some(8 << 10));
    assert_eq!(run.events[1].attributes[0].1, Value::Text(names[1].into()));
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 1, "only the output folder; the ring folder is removed");
}

#[test]
fn ten_thousand_levels_of_nesting_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = load(folder.path(), "deep", "10000", &[]);
    assert_eq!(completed(&run), 10_000);
    assert_eq!(run.sections.len() as u64 + run.losses.sections_missing(), 10_000);
    // Each level lies under the one before, for as long as there is room; the others are calls of that name.
    let n_nodes = u32::try_from(run.nodes.len()).unwrap();
    assert!(n_nodes > 1000, "{n_nodes}");
    let parents = run.nodes[3..].iter().map(|node| node.parent);
    assert!(parents.eq((2..n_nodes - 2).map(Some).chain([Some(1)])));
    assert_eq!(calls(&run, "level"), 10_000);
    assert_eq!(run.losses.calls_without_name, 0);
}

#[test]
fn guards_dropped_from_the_outside_in_leave_nothing_behind() {
    for n in ["3", "64", "65", "100"] {
        let folder = tempfile::tempdir().unwrap();
        let (_, run) = load(folder.path(), "out of order", n, &[]);
        assert_adds_up(&run);
        assert_eq!(calls(&run, "level").to_string(), n);
        let afterwards = run.nodes.iter().find(|node| node.name == "afterwards").unwrap();
        assert_eq!(afterwards.parent, Some(0), "{n} levels");
        assert!(run.open.is_empty());
    }
}

#[test]
fn more_open_sections_than_slots_are_recorded_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = load(folder.path(), "slots", "0", &[("MAREY_MAX_OPEN", "64")]);
    assert_adds_up(&run);
    assert_eq!((calls(&run, "main"), calls(&run, "thread")), (100, 40));
    assert_eq!(run.losses.sections_unrecorded, 3);
}

#[test]
fn past_the_cap_of_the_capture_what_is_not_kept_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let cap = [("MAREY_CAPTURE_BYTES", "1000000"), ("MAREY_NOTE_BYTES", "1000000")];
    let (_, run) = load(folder.path(), "steps", "200000", &cap);
    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), 200_000);
    assert!(run.losses.sections_not_written > 0, "{:?}", run.losses);
    assert!(run.losses.notes_dropped >= 200_000 - 1_000_000 / 32, "{:?}", run.losses);
    let length = std::fs::metadata(&captures(folder.path())[0]).unwrap().len();
    assert!(length < 1_100_000, "{length} bytes");
}

#[test]
fn a_full_ring_drops_records_and_counts_them() {
    let folder = tempfile::tempdir().unwrap();
    let slow = [("MAREY_RING_RECORDS", "64"), ("MAREY_DRAIN_INTERVAL_MS", "10000")];
    let (_, run) = load(folder.path(), "steps", "300000", &slow);
    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), 300_000);
    assert!(run.losses.sections_ring_full > 0, "{:?}", run.losses);
}

#[test]
fn notes_are_kept_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = load(folder.path(), "steps", "50000", &[]);
    assert_adds_up(&run);
    let attributes = run.section_attributes.len() as u64;
    // Attributes of sections whose record was dropped have nothing to belong to.
    let lost = run.losses.notes_dropped + run.losses.sections_missing();
    assert!(attributes <= 50_000 && attributes + lost >= 50_000, "{:?}", run.losses);
}

#[test]
fn totals_that_start_again_add_up_over_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let (_, run) = load(folder.path(), "epochs", "300", &[]);
    // Ten histograms serve all 300 epochs: 3000 would be more than there are.
    assert_adds_up(&run);
    assert_eq!(completed(&run), 300 * 100);
    assert!((0..10).all(|name| calls(&run, &name.to_string()) == 3000));
}

#[test]
fn a_second_recording_of_a_process_is_as_good_as_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let said = printed(recorded("loads", folder.path()).arg("restart"));
    let runs: Vec<Run> = said
        .lines()
        .filter(|line| *line != "done")
        .map(|path| marey::load(path.as_ref()).unwrap())
        .collect();
    assert_eq!(captures(folder.path()).len(), 2);
    for (run, steps) in runs.iter().zip([10, 20]) {
        assert_eq!(run.status, Status::Finished);
        assert_eq!(run.warnings, []);
        assert_adds_up(run);
        assert_eq!(
            (calls(run, "step"), run.section_attributes.len()),
            (steps, usize::try_from(steps).unwrap())
        );
        assert_eq!(run.threads.len(), 1);
        assert_eq!(run.threads[0].name, "loads", "threads are named in each");
        assert!(run.losses.is_none(), "{:?}", run.losses);
    }
    assert_eq!((runs[0].open.len(), runs[1].open.len()), (1, 0));
    assert_eq!((calls(&runs[0], "second only"), calls(&runs[1], "second only")), (0, 1));
}

#[test]
fn three_million_sections_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let cap = [("MAREY_CAPTURE_BYTES", "1000000")];
    let (printed, run) = load(folder.path(), "growth", "3000000", &cap);
    assert_adds_up(&run);
    assert_eq!(calls(&run, "step"), 3_000_000);
    // 32 bytes a section would be 95 MB.
    let grown = number(&printed, "grown");
    assert!(grown < 8 << 20, "{grown} bytes more");
}
