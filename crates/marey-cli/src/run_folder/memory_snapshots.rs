//! Memory snapshots that torch wrote: one that was asked for, and those that lie beside a capture.
//!
//! ```text
//! <job folder>/film-rank0-memory-1795171628.pickle      named so by windows
//! Run::windows[].files                                  whatever else a window wrote that ends so
//! ```

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use marey::Run;
use marey_analysis::import::snapshot::read_snapshot;
use marey_report::SnapshotFile;

/// Files beside one capture that are read for its report; of more the last ones by name.
const MAX_FILES: usize = 8;
/// Longest file that is read for a report; `marey analyze` reads longer ones.
const MAX_BYTES_IN_REPORT: u64 = 256 << 20;
/// Longest file that is read at all.
const MAX_BYTES: u64 = 2 << 30;

/// What a snapshot says, by the sections and steps of the run of the same process if there is one. `name` is how the file is
/// called where it is shown.
///
/// # Errors
/// When the file cannot be read, or is no memory snapshot.
pub fn read_memory_snapshot(
    path: &Path,
    name: String,
    run: Option<&Run>,
) -> anyhow::Result<SnapshotFile> {
    let snapshot = read_snapshot(&bytes(path, MAX_BYTES)?)?;
    Ok(SnapshotFile {
        file: name,
        answers: Some(marey_analysis::snapshot(&snapshot, run)),
        problem: None,
    })
}

/// The snapshots of a run that lie in a folder, read. One that cannot be read says why.
pub(crate) fn memory_snapshots(folder: &Path, run: &Run) -> Vec<SnapshotFile> {
    let files = of_run(folder, run);
    let skipped = files.len().saturating_sub(MAX_FILES);
    let read = files.iter().skip(skipped).map(|path| {
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let found = bytes(path, MAX_BYTES_IN_REPORT)
            .map_err(|error| error.to_string())
            .and_then(|bytes| read_snapshot(&bytes).map_err(|error| error.to_string()));
        match found {
            Ok(snapshot) => SnapshotFile {
                file: name,
                answers: Some(marey_analysis::snapshot(&snapshot, Some(run))),
                problem: None,
            },
            Err(problem) => SnapshotFile {
                file: name,
                answers: None,
                problem: Some(problem),
            },
        }
    });
    read.collect()
}

/// Files by the pattern of their names, and those that windows name, as far as they lie in the folder. Those of other ranks are
/// left out.
fn of_run(folder: &Path, run: &Run) -> Vec<PathBuf> {
    let mut names = BTreeSet::new();
    let windows = run.windows.iter().flat_map(|window| &window.files);
    for file in windows {
        // A window's file may have moved with its folder; only its name counts, and a name leads nowhere else.
        let name = Path::new(&file.path)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        names.extend(name.filter(|name| name.ends_with(".pickle")));
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_of_rank(&name, run.info.rank.unwrap_or(0)) {
            names.insert(name);
        }
    }
    let paths = names.into_iter().map(|name| folder.join(name));
    paths.filter(|path| path.is_file()).collect()
}

/// `…-memory-….pickle`; with `-rank3-` in front of that only for rank 3.
fn is_of_rank(name: &str, rank: u32) -> bool {
    let Some((before, _)) = name
        .strip_suffix(".pickle")
        .and_then(|n| n.split_once("-memory-"))
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
    let file = File::open(path)?;
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
    use super::*;

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
