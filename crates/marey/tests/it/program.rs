//! Runs the example programs that stand for a user's process.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The built example, recording into `folder` with rings below `folder/rings`.
pub(crate) fn recorded(example: &str, folder: &Path) -> Command {
    let mut command = Command::new(example_path(example));
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
    let entries = std::fs::read_dir(folder.join("out/job"))
        .into_iter()
        .flatten();
    let mut captures: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    captures.retain(|path| path.extension().is_some_and(|e| e == "marey"));
    captures.sort();
    captures
}

/// `cargo test` builds examples beside the test binaries.
fn example_path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test");
    let profile = test
        .ancestors()
        .nth(2)
        .expect("target/<profile>/deps/<test>");
    profile.join("examples").join(name)
}
