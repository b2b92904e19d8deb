//! Windows of profilers in which processes of the newest jobs ended: the next window may do the same.
//!
//! ```text
//! <out>/mon/rank0-11.marey     written at 10 ┐
//!          /rank1-12.marey     written at 12 ┴ last at 12: the second newest
//!      /tue/rank0-21.marey     written at 20            the newest
//!      /latest -> tue          links are passed over, hidden folders, too
//! ```

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use marey::{Run, Status};

use super::{captures, folders};

/// Folders, those that were changed last, of which the captures are looked at.
const MAX_FOLDERS: usize = 100;

/// The captures of a job.
#[derive(Debug)]
pub struct JobCaptures {
    folder: PathBuf,
    /// Those that were written last come first.
    captures: Vec<PathBuf>,
    written: SystemTime,
}

/// A process that ended in windows.
#[derive(Debug)]
pub struct CutOff {
    /// Its capture.
    pub capture: PathBuf,
    /// The windows, with what looked. Names are in quotation marks, with control codes escaped.
    pub windows: Vec<String>,
}

impl JobCaptures {
    /// The jobs in a folder whose captures were written last, the newest first; the folder itself may be one. None when it
    /// cannot be read. Looks at every entry of the folder and at the captures of 100 folders; reads none.
    pub fn newest(out: &Path, most: usize) -> Vec<Self> {
        let below = last_written(folders(out).unwrap_or_default());
        let below = below.into_iter().take(MAX_FOLDERS).map(|(_, folder)| folder);
        let all = std::iter::once(out.to_owned()).chain(below);
        let mut jobs: Vec<Self> = all.filter_map(Self::of).collect();
        jobs.sort_by(|a, b| (b.written, &b.folder).cmp(&(a.written, &a.folder)));
        jobs.truncate(most);
        jobs
    }

    fn of(folder: PathBuf) -> Option<Self> {
        let found = last_written(captures(&folder).ok()?);
        let written = found.first()?.0;
        Some(Self { folder, captures: found.into_iter().map(|(_, path)| path).collect(), written })
    }

    /// What the folder is called; not safe to print.
    pub fn name(&self) -> String {
        let path = self.folder.canonicalize();
        let path = path.as_ref().unwrap_or(&self.folder);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The processes that ended in windows, whenever they ran. Captures that do not fit into what is left of `bytes` are passed
    /// over.
    pub fn cut_off(&self, bytes: &mut u64) -> Vec<CutOff> {
        let read = self.captures.iter().filter_map(|path| read(path, bytes));
        read.filter_map(|(path, run)| CutOff::of(path, &run)).collect()
    }

    /// As before, but only the processes of the last run, where runs of the same name share a folder.
    ///
    /// ```text
    /// |first run|      |rank 0 of the second|
    ///                    |rank 1|                 overlaps with rank 0: the same run
    /// ```
    pub fn cut_off_last(&self, bytes: &mut u64) -> Vec<CutOff> {
        let mut runs: Vec<(&PathBuf, Run)> =
            self.captures.iter().filter_map(|path| read(path, bytes)).collect();
        runs.sort_by_key(|(_, run)| std::cmp::Reverse(end_unix_ns(run)));
        let mut begin_ns = u64::MAX;
        runs.iter()
            .enumerate()
            .take_while(|(index, (_, run))| {
                let belongs = *index == 0 || end_unix_ns(run) >= begin_ns;
                begin_ns = begin_ns.min(run.info.start_unix_ns);
                belongs
            })
            .filter_map(|(_, (path, run))| CutOff::of(path, run))
            .collect()
    }
}

impl CutOff {
    fn of(capture: &Path, run: &Run) -> Option<Self> {
        if run.status == Status::Running {
            return None;
        }
        let open = run.windows.iter().filter(|w| w.stopped_ns.is_none());
        let windows: Vec<String> =
            open.map(|w| format!("the window {:?} of {}", w.name, w.instrument)).collect();
        (!windows.is_empty()).then(|| Self { capture: capture.to_owned(), windows })
    }
}

/// With when each was written to; the last comes first.
fn last_written(paths: Vec<PathBuf>) -> Vec<(SystemTime, PathBuf)> {
    let written = |path: &Path| path.metadata().ok()?.modified().ok();
    let paths = paths.into_iter().filter_map(|path| Some((written(&path)?, path)));
    let mut paths: Vec<_> = paths.collect();
    paths.sort_by(|a, b| b.cmp(a));
    paths
}

fn read<'a>(capture: &'a PathBuf, bytes: &mut u64) -> Option<(&'a PathBuf, Run)> {
    let length = capture.metadata().ok()?.len();
    *bytes = bytes.checked_sub(length)?;
    Some((capture, marey::load(capture).ok()?))
}

fn end_unix_ns(run: &Run) -> u64 {
    run.info.start_unix_ns.saturating_add(run.wall_ns)
}

#[cfg(test)]
mod tests {
    use marey::Window;
    use marey_testing::RunBuilder;

    use super::*;

    #[test]
    fn a_window_is_named_when_the_process_ended_in_it_and_not_while_it_runs() {
        let window = |stopped_ns| Window {
            name: "flux".into(),
            instrument: "torch.profiler".into(),
            stopped_ns,
            ..Window::default()
        };
        let mut run = RunBuilder::new()
            .with(|run| run.windows = vec![window(Some(3)), window(None)])
            .finish(5);
        let found = CutOff::of(Path::new("a.marey"), &run).expect("it ended in one");
        assert_eq!(found.windows, ["the window \"flux\" of torch.profiler"]);
        run.status = Status::Running;
        assert!(CutOff::of(Path::new("a.marey"), &run).is_none());
    }

    #[test]
    fn jobs_come_in_the_order_in_which_their_captures_were_written() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |s| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(s);
        // A report was made of `mon` since, so its folder is the younger one.
        for (name, second) in [("tue/a", 20), ("mon/a", 10), ("mon/b", 12), (".hidden/a", 30)] {
            let path = place.path().join(format!("{name}.marey"));
            std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
            let file = std::fs::File::create(path).expect("made");
            file.set_modified(at(second)).expect("set");
        }
        std::fs::create_dir(place.path().join("empty")).expect("made");
        std::os::unix::fs::symlink("tue", place.path().join("latest")).expect("made");
        let names = |most| -> Vec<String> {
            let jobs = JobCaptures::newest(place.path(), most);
            let names = jobs.iter().map(|job| job.folder.strip_prefix(place.path()));
            names.map(|name| name.expect("below").display().to_string()).collect()
        };
        assert_eq!(names(10), ["tue", "mon"]);
        assert_eq!(names(1), ["tue"]);
        let itself = JobCaptures::newest(&place.path().join("mon"), 10);
        assert_eq!(itself.len(), 1);
        assert!(itself[0].captures[0].ends_with("mon/b.marey"));
        assert!(JobCaptures::newest(&place.path().join("nowhere"), 10).is_empty());
    }
}
