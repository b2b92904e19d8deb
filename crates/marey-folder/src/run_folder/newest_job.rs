//! The newest of several jobs: the one with the process that began last.
//!
//! ```text
//! mon   |--- rank 0 ---|  |--- rank 1 ---|     the newest: its rank 1 began last
//! tue     |--- rank 0 ---|
//! ```
//!
//! Captures say when that was. When files were written tells nothing: a copy has new times.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{captures, folders, launch_captures};

/// When the last process of a job began, nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Began {
    /// As its files say.
    said: Option<u64>,
    /// When the last of its files was written to: stands where none says.
    written: Option<u64>,
}

impl Began {
    /// Of one file, which says this.
    pub(crate) fn of(file: &Path, said: Option<u64>) -> Self {
        let written = std::fs::metadata(file).and_then(|file| file.modified());
        let written = written.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Self {
            said: said.filter(|at| *at > 0),
            written: written.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        }
    }

    /// Of several files, or several jobs.
    pub(crate) fn last(self, other: Self) -> Self {
        Self { said: self.said.max(other.said), written: self.written.max(other.written) }
    }

    /// `None` when nothing tells.
    pub(crate) fn at(self) -> Option<u64> {
        self.said.or(self.written)
    }
}

/// The newest job in a folder of jobs: links and hidden folders are passed over. What `latest` leads to where there is none; `None` when
/// there is neither.
pub fn newest_job(out: &Path) -> Option<PathBuf> {
    let folders = folders(out).ok()?.into_iter();
    let jobs = folders.filter_map(|folder| Some((began(&folder)?.at(), folder)));
    jobs.max().map(|(_, job)| job).or_else(|| out.join("latest").canonicalize().ok())
}

/// `None` of a folder without captures.
fn began(job: &Path) -> Option<Began> {
    let all = captures(job).ok()?.into_iter().chain(launch_captures(job));
    let each = all.map(|capture| {
        let info = marey::peek(&capture);
        Began::of(&capture, info.map(|info| info.start_unix_ns))
    });
    each.reduce(Began::last)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    /// An empty file that was written to at this second.
    fn file(path: &Path, second: u64) -> PathBuf {
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        let file = File::create(path).expect("made");
        file.set_modified(UNIX_EPOCH + Duration::from_secs(second)).expect("set");
        path.to_owned()
    }

    #[test]
    fn without_a_start_the_job_whose_captures_were_written_last_is_the_newest() {
        let place = tempfile::tempdir().expect("a folder");
        for (name, second) in [("tue/a", 20), ("mon/a", 10), ("mon/b", 12), (".hidden/a", 30)] {
            file(&place.path().join(format!("{name}.marey")), second);
        }
        assert_eq!(newest_job(place.path()), Some(place.path().join("tue")));
        assert_eq!(newest_job(&place.path().join("tue")), None);
        // `latest` is for folders of which nothing else tells.
        std::os::unix::fs::symlink("../mon", place.path().join("tue/latest")).expect("made");
        let mon = place.path().join("mon").canonicalize().expect("there");
        assert_eq!(newest_job(&place.path().join("tue")), Some(mon));
    }
}
