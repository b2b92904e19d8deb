//! Memory snapshots that torch wrote: one that was asked for, and those that lie beside a capture.
//!
//! ```text
//! <job folder>/film-rank0-memory-1795171628.pickle      named so by windows
//! Run::windows[].files                                  whatever else a window wrote that ends so, wherever it is
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use marey::Run;
use marey_analysis::import::snapshot::read_snapshot;
use marey_report::SnapshotFile;

use super::window_files::WindowFiles;

/// Files of one capture that are read for its report; of more the last ones by name.
const MAX_FILES: usize = 8;
/// Longest file that is read for a report; `marey analyze` reads longer ones.
const MAX_BYTES_IN_REPORT: u64 = 256 << 20;
/// Longest file that is read at all.
const MAX_BYTES: u64 = 2 << 30;

/// What a snapshot says, by the sections and steps of the run of the same process if there is one; or why it cannot be read. `name` is how
/// the file is called where it is shown.
pub fn read_memory_snapshot(path: &Path, name: String, run: Option<&Run>) -> SnapshotFile {
    within(path, name, run, MAX_BYTES)
}

fn within(path: &Path, file: String, run: Option<&Run>, limit: u64) -> SnapshotFile {
    let read = bytes(path, limit).map_err(|error| error.to_string());
    match read.and_then(|bytes| read_snapshot(&bytes).map_err(|error| error.to_string())) {
        Ok(snapshot) => {
            let answers = Some(marey_analysis::snapshot(&snapshot, run));
            SnapshotFile { file, answers, problem: None }
        }
        Err(problem) => SnapshotFile { file, answers: None, problem: Some(problem) },
    }
}

/// The snapshots of a run, read. One that cannot be read says why.
pub(super) fn memory_snapshots(folder: &Path, run: &Run) -> Vec<SnapshotFile> {
    let places = places(folder, run);
    let missing = places.missing.into_iter().take(MAX_FILES).map(|file| SnapshotFile {
        file,
        answers: None,
        problem: Some("it is not there any more".into()),
    });
    let skipped = places.found.len().saturating_sub(MAX_FILES);
    let found = places.found.into_iter().skip(skipped);
    let read = found.map(|(name, path)| within(&path, name, Some(run), MAX_BYTES_IN_REPORT));
    read.chain(missing).collect()
}

/// Where the snapshots of a run are, by the names that are shown. What is no longer there is left out.
pub fn memory_snapshot_places(folder: &Path, run: &Run) -> BTreeMap<String, PathBuf> {
    places(folder, run).found
}

/// Those that windows name, wherever they are, and files in the folder by the pattern of their names. Those of other ranks are left out.
fn places(folder: &Path, run: &Run) -> WindowFiles {
    let mut places = WindowFiles::of_run(folder, run, &[".pickle"]);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_of_rank(&entry.file_name().to_string_lossy(), run.info.rank.unwrap_or(0)) {
            places.add(&entry.path());
        }
    }
    places
}

/// `…-memory-….pickle`; with `-rank3-` in front of that only for rank 3.
fn is_of_rank(name: &str, rank: u32) -> bool {
    let Some((before, _)) = name.strip_suffix(".pickle").and_then(|n| n.split_once("-memory-"))
    else {
        return false;
    };
    match before.rsplit_once("-rank") {
        Some((_, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            number.parse() == Ok(rank)
        }
        _ => true,
    }
}

fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Before it is opened: opening a pipe waits until somebody writes into it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut file = File::open(path)?;
    let mut first = [0; 2];
    if file.read(&mut first)? < first.len() || !matches!(first, [0x80, 2..=5]) {
        return Err(io::Error::other("it is no pickle of protocol 2 to 5"));
    }
    file.rewind()?;
    // Room for one byte more, so that the end is seen without growing.
    let length = file.metadata().map_or(0, |file| file.len().min(limit) + 1);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let problem = format!("longer than {} MiB", limit >> 20);
        return Err(io::Error::other(problem));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use marey::{Window, WindowFile};

    use super::*;

    const BASIC_OOM: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/basic_oom.pickle");

    /// A run with a window that wrote these files.
    fn run(paths: &[&Path]) -> Run {
        let file = |path: &&Path| WindowFile {
            path: path.to_str().unwrap().into(),
            bytes: 1,
            at_ns: 0,
            export_ns: 0,
        };
        Run {
            windows: vec![Window { files: paths.iter().map(file).collect(), ..Window::default() }],
            ..Run::default()
        }
    }

    /// Names, and what stood in the way.
    fn found(folder: &Path, paths: &[&Path]) -> Vec<(String, String)> {
        let files = memory_snapshots(folder, &run(paths)).into_iter();
        let shown = files.map(|file| (file.file, file.problem.unwrap_or_default()));
        shown.collect()
    }

    #[test]
    fn a_windows_snapshot_is_found_where_the_window_wrote_it() {
        let (job, traces) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let elsewhere = traces.path().canonicalize().unwrap().join("film.pickle");
        std::fs::copy(BASIC_OOM, &elsewhere).unwrap();
        let beside = job.path().join("clip-memory-1.pickle");
        std::fs::copy(BASIC_OOM, &beside).unwrap();
        std::fs::create_dir(job.path().join("sub")).unwrap();
        std::fs::copy(BASIC_OOM, job.path().join("sub/a.pickle")).unwrap();
        // The file beside the capture is found twice, and shown once.
        let named = [elsewhere.as_path(), beside.as_path(), Path::new("sub/a.pickle")];
        let found = found(job.path(), &named);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let below = job.path().canonicalize().unwrap().join("sub/a.pickle");
        let mut expected =
            [elsewhere.to_str().unwrap(), "clip-memory-1.pickle", below.to_str().unwrap()];
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(found.iter().all(|(_, problem)| problem.is_empty()));
    }

    #[test]
    fn a_snapshot_that_moved_with_its_folder_is_found_there_and_one_that_is_gone_is_said() {
        let job = tempfile::tempdir().unwrap();
        std::fs::copy(BASIC_OOM, job.path().join("film.pickle")).unwrap();
        let named = ["/nowhere/film.pickle", "/nowhere/gone.pickle"].map(Path::new);
        let found = found(job.path(), &named);
        let gone = ("/nowhere/gone.pickle", "it is not there any more");
        let found: Vec<(&str, &str)> = found.iter().map(|(n, p)| (&**n, &**p)).collect();
        assert_eq!(found, [("film.pickle", ""), gone]);
    }

    #[test]
    fn only_regular_files_that_begin_as_pickles_are_read() {
        let job = tempfile::tempdir().unwrap();
        let pipe = job.path().join("a-memory-1.pickle");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        std::fs::write(job.path().join("b-memory-1.pickle"), "root:x:0:0").unwrap();
        std::fs::write(job.path().join("c-memory-1.pickle"), "").unwrap();
        let problems: Vec<String> = found(job.path(), &[]).into_iter().map(|f| f.1).collect();
        let no_pickle = "it is no pickle of protocol 2 to 5";
        assert_eq!(problems, ["it is no regular file", no_pickle, no_pickle]);
    }

    #[test]
    fn snapshots_of_other_ranks_are_left_out() {
        assert!(is_of_rank("film-rank0-memory-17.pickle", 0));
        assert!(!is_of_rank("film-rank1-memory-17.pickle", 0));
        assert!(is_of_rank("film-rank1-memory-oom-17.pickle", 1));
        assert!(is_of_rank("film-memory-17.pickle", 3));
        assert!(is_of_rank("low-ranks-memory-17.pickle", 3));
        assert!(!is_of_rank("film-memory-17.txt", 0));
        assert!(!is_of_rank("model.pickle", 0));
    }
}
