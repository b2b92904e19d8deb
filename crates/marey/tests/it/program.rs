//! Runs the example programs that stand for a user's process.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey::Run;

/// The built example, recording into `folder` with rings below `folder/rings`.
pub(crate) fn recorded(example: &str, folder: &Path) -> Command {
    recording(Command::new(example_path(example)), folder)
}

/// As [`recorded`], run by a user who is not root, where the test is; as the test's own user where not. `folder` is theirs afterwards.
pub(crate) fn recorded_by_an_ordinary_user(example: &str, folder: &Path) -> Command {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return recorded(example, folder);
    }
    std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    // The folder of the build may be closed to others.
    let copy = folder.join(example);
    std::fs::copy(example_path(example), &copy).unwrap();
    let mut command = recording(Command::new(copy), folder);
    command.uid(NOBODY).gid(NOBODY);
    command
}

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

/// Waits for threads of Marey until they have ended, however busy the machine is: for tests in which none hangs.
pub(crate) const PATIENT: (&str, &str) = ("MAREY_PATIENCE_MS", "60000");

fn recording(mut command: Command, folder: &Path) -> Command {
    command
        .env("MAREY_ENABLED", "1")
        .env("MAREY_OUTPUT_DIR", folder.join("out"))
        .env("MAREY_JOB_ID", "job");
    command.env("MAREY_RING_DIR", rings(folder));
    command
}

/// Where the rings of a program started by [`recorded`] lie.
pub(crate) fn rings(folder: &Path) -> PathBuf {
    folder.join("rings")
}

/// The captures that programs left in `folder`, sorted by name.
pub(crate) fn captures(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("out/job")).into_iter().flatten();
    let mut captures: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    captures.retain(|path| path.extension().is_some_and(|e| e == "marey"));
    captures.sort();
    captures
}

/// `cargo test` builds examples beside the test binaries.
fn example_path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    profile.join("examples").join(name)
}

/// Runs a program to its end, which must be a success, and returns what it printed.
pub(crate) fn printed(command: &mut Command) -> String {
    let output = command.output().expect("examples are built");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The number after a word that a program printed.
pub(crate) fn number(printed: &str, word: &str) -> u64 {
    let line = printed.lines().find_map(|line| line.strip_prefix(word));
    line.expect(word).trim().parse().unwrap()
}

/// The only capture in `folder`.
pub(crate) fn only_run(folder: &Path) -> Run {
    let captures = captures(folder);
    assert_eq!(captures.len(), 1, "{captures:?}");
    marey::load(&captures[0]).unwrap()
}

/// Completed calls of all nodes with a name.
pub(crate) fn calls(run: &Run, name: &str) -> u64 {
    let nodes = run.nodes.iter().zip(&run.totals);
    nodes.filter(|(node, _)| node.name == name).map(|(_, totals)| totals.count).sum()
}

/// Completed calls.
pub(crate) fn completed(run: &Run) -> u64 {
    run.totals.iter().map(|totals| totals.count).sum()
}

/// Every completed call is recorded or counted as missing, and in a histogram.
pub(crate) fn assert_adds_up(run: &Run) {
    let recorded = run.sections.len() as u64;
    assert_eq!(recorded + run.losses.sections_missing(), completed(run), "{:?}", run.losses);
    for totals in &run.totals {
        let counted = totals.histogram.as_ref().map(marey::Histogram::count);
        assert_eq!(counted.unwrap_or(0), totals.count);
    }
}
