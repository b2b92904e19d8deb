//! The runs that a path holds: a capture, a job's folder, a folder of many; as `marey compare` wants them.
//!
//! ```text
//! nightly/mon/rank0-11.marey                ┐ one job, one run: the processes of rank 0 that recorded something
//!            /rank1-12.marey                ┘
//!        /tue/rank0-21.marey                ┐ one job's folder, but one after the other and by the same command:
//!            /rank0-22.marey                ┘ two runs
//!        /latest -> tue                       links are passed over, hidden folders, too
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use marey::{ReadError, Run};
use marey_analysis::{PathTimes, path_times};
use marey_report::RankTimes;

use super::job_runs::JobRuns;
use super::{Error, Launches, Process, captures, folders_below};

/// What of a path can be compared, in order of the start.
#[derive(Debug, Default)]
pub struct RecordedRuns {
    /// The runs; those that began at the same moment by name.
    pub runs: Vec<RecordedRun>,
    /// Captures of which nothing can be read.
    pub unreadable: Vec<ReadError>,
}

/// One run: the processes of one command.
#[derive(Debug)]
pub struct RecordedRun {
    /// Where it lies below the path that was asked for: its folder, or its capture where several share a folder. Not safe
    /// to print.
    pub name: String,
    /// What all of them say, with what dead processes left in shared memory. The captures stay as they are.
    pub run: Run,
    /// What held each rank up, of a job of several; empty where the job ran more than once.
    pub ranks: RankTimes,
    /// Other processes of the same job, which are left out.
    pub n_others: usize,
}

impl RecordedRuns {
    /// All runs at or below a path; writes nothing.
    ///
    /// # Errors
    /// When a folder cannot be listed, or the file is no capture.
    pub fn at(path: &Path) -> anyhow::Result<Self> {
        if !path.is_dir() {
            let mut run = marey::load(path)?;
            Launches::beside(path).add_around(&mut run);
            let only =
                RecordedRun { name: file_name(path), run, ranks: RankTimes::new(), n_others: 0 };
            return Ok(Self { runs: vec![only], unreadable: Vec::new() });
        }
        let mut found = Self::default();
        let (folders, unlisted) = folders_below(path, |_| true);
        if let Some((_, error)) = unlisted.into_iter().next() {
            return Err(error.into());
        }
        for folder in folders {
            found.add_folder(&folder, path)?;
        }
        found.runs.sort_by(|a, b| {
            (a.run.info.start_unix_ns, &a.name).cmp(&(b.run.info.start_unix_ns, &b.name))
        });
        Ok(found)
    }

    fn add_folder(&mut self, folder: &Path, top: &Path) -> Result<(), Error> {
        let mut jobs: BTreeMap<String, FolderJob> = BTreeMap::new();
        let launches = Launches::read(folder);
        let mut captures = captures(folder)?;
        if captures.is_empty() {
            // Nothing in it recorded itself.
            captures.extend(launches.of_job().map(|launched| launched.capture.clone()));
        }
        for capture in captures {
            match marey::load(&capture) {
                Err(error) => self.unreadable.push(error),
                Ok(mut run) => {
                    launches.add_around(&mut run);
                    let job = jobs.entry(job_of(&run, &capture)).or_default();
                    job.ranks.add(&run);
                    job.n_processes += 1;
                    let process = Process::new(&capture, &run);
                    job.runs.offer(&process, false, run);
                }
            }
        }
        let first = self.runs.len();
        for job in jobs.into_values() {
            let mut runs = job.runs.into_runs(&launches);
            let mut ranks = RankTimes::new();
            if let [only] = runs.as_mut_slice() {
                job.ranks.extend(&mut only.run);
                ranks = job.ranks.times;
            }
            let n_described: usize = runs.iter().map(|one| one.files.len()).sum();
            self.runs.extend(runs.into_iter().map(|one| RecordedRun {
                name: below(&folder.join(&one.main), top),
                run: one.run,
                ranks: ranks.clone(),
                n_others: job.n_processes.saturating_sub(n_described),
            }));
        }
        if let [only] = &mut self.runs[first..]
            && folder != top
        {
            only.name = below(folder, top);
        }
        Ok(())
    }
}

/// What a folder holds of a job.
#[derive(Default)]
struct FolderJob {
    runs: JobRuns,
    ranks: JobRanks,
    n_processes: usize,
}

/// The ranks of a job.
#[derive(Debug, Default)]
struct JobRanks {
    times: RankTimes,
    /// When the first of them began and the last ended, by host: clocks of several need not agree.
    span_unix_ns: BTreeMap<String, [u64; 2]>,
}

impl JobRanks {
    /// Takes a process, if it is one of several ranks; of each rank the process that ran longest counts.
    fn add(&mut self, run: &Run) {
        let info = &run.info;
        let rank = info.rank.filter(|_| info.world_size.is_some_and(|n| n > 1));
        let Some((rank, times)) = rank.zip(path_times(run)) else {
            return;
        };
        let [first, last] = self.span_unix_ns.entry(info.host.clone()).or_insert([u64::MAX, 0]);
        *first = (*first).min(info.start_unix_ns);
        *last = (*last).max(info.start_unix_ns.saturating_add(run.wall_ns));
        let is_longest = |known: &PathTimes| known.0 < times.0;
        if self.times.get(&rank).is_none_or(is_longest) {
            self.times.insert(rank, times);
        }
    }

    /// A job lasts from the start of its first rank to the end of its last. Ranks on other hosts than the run's are left out: their
    /// clocks may differ.
    fn extend(&self, job: &mut Run) {
        if let Some([first, last]) = self.span_unix_ns.get(&job.info.host) {
            job.wall_ns = job.wall_ns.max(last.saturating_sub(*first));
        }
    }
}

/// Captures without a job are jobs of their own.
fn job_of(run: &Run, capture: &Path) -> String {
    let job = &run.info.job_id;
    if job.is_empty() {
        return format!("/{}", file_name(capture));
    }
    job.clone()
}

fn below(path: &Path, top: &Path) -> String {
    path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use marey_testing::RunBuilder;

    use super::*;

    /// A rank on a host that begins after so many nanoseconds since 1970 and lasts so long.
    fn rank(number: u32, host: &str, start: u64, lasts: u64) -> Run {
        let drawn = RunBuilder::new().section("step", 0, lasts, |_| {});
        let mut run = drawn.finish(lasts);
        run.info.rank = Some(number);
        run.info.world_size = Some(3);
        run.info.host = host.into();
        run.info.start_unix_ns = start;
        run
    }

    #[test]
    fn a_job_lasts_from_its_first_rank_on_the_same_host_to_its_last() {
        // rank 0, here        |-- 100 --|
        // rank 1, here           |---- 150 ----|            ends at 1 180
        // rank 2, here     |-- 100 --|                      begins at 970
        // rank 3, elsewhere                          |-100-|  by a clock that is ahead
        let mut ranks = JobRanks::default();
        let mut first = rank(0, "here", 1_000, 100);
        for one in [
            &first,
            &rank(1, "here", 1_030, 150),
            &rank(2, "here", 970, 100),
            &rank(3, "elsewhere", 9_000, 100),
        ] {
            ranks.add(one);
        }
        ranks.extend(&mut first);
        assert_eq!(first.wall_ns, 210);
        assert_eq!(ranks.times.len(), 4);
    }
}
