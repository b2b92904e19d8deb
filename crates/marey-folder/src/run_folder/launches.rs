//! What launchers say of the commands of a job: `launcher-<pid>.launch`, beside the captures of the processes.
//!
//! ```text
//! marey run -- ./all.sh      |===================== launcher-7 =====================|
//!   marey run -- prepare.py    |=== launcher-8, within the other: one of its parts ===|
//! ```

use std::path::{Path, PathBuf};

use marey::{Launch, Run, RunInfo, Status};

use super::{files, folder_of};

/// Two processes that begin at once say so in any order, nanoseconds.
const SLACK_NS: u64 = 1_000_000_000;

/// The launchers' captures of a folder.
#[derive(Debug, Default)]
pub struct Launches {
    all: Vec<Launched>,
}

/// A launcher's capture.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The file.
    pub capture: PathBuf,
    /// What it says. It has no sections.
    pub run: Run,
    /// What the launcher saw.
    pub launch: Launch,
}

/// The launchers' captures in a folder, sorted by name; none of a folder that cannot be listed.
pub fn launch_captures(folder: &Path) -> Vec<PathBuf> {
    files(folder, |file| file.extension().is_some_and(|ending| ending == "launch"))
        .unwrap_or_default()
}

impl Launches {
    /// Those in a folder. What cannot be read is as if it were not there: it only adds to what processes say.
    pub fn read(folder: &Path) -> Self {
        let captures = launch_captures(folder).into_iter();
        let launched = captures.filter_map(|capture| {
            let run = marey::load(&capture).ok()?;
            let launch = Launch::of(&run.info)?;
            Some(Launched { capture, run, launch })
        });
        Self { all: launched.collect() }
    }

    /// Those in the folder of a capture.
    pub fn beside(capture: &Path) -> Self {
        Self::read(folder_of(capture))
    }

    /// The job's own: the last that is not part of another. Where several hosts have one, a failure goes first.
    pub fn of_job(&self) -> Option<&Launched> {
        self.last(|_| true)
    }

    /// Puts what the launcher of this very process saw into the process's run.
    pub fn add_own(&self, run: &mut Run) {
        if let Some(launched) = self.own(&run.info) {
            launched.add_to(run);
        }
    }

    fn own(&self, process: &RunInfo) -> Option<&Launched> {
        let is_own =
            |launched: &&Launched| launched.launch.pid == process.pid && launched.contains(process);
        self.all.iter().find(is_own)
    }

    /// Takes what a process says of itself into what is known of the command around it.
    pub fn learn(&mut self, run: &Run) {
        for launched in &mut self.all {
            if launched.contains(&run.info) {
                launched.launch = launched.launch_with(run);
            }
        }
    }

    /// Puts what the launcher saw of the command around a process into the process's run, if its own launcher did not.
    pub fn add_around(&self, run: &mut Run) {
        if Launch::of(&run.info).is_some() {
            return;
        }
        self.add_own(run);
        if Launch::of(&run.info).is_none()
            && let Some(launched) = self.around(&run.info)
        {
            launched.add_to(run);
        }
    }

    /// The outermost command that a process is part of: its own launcher's, where that is no part of another, also if another began at once.
    pub fn around(&self, process: &RunInfo) -> Option<&Launched> {
        let own = self.own(process).filter(|own| self.is_outermost(own));
        own.or_else(|| self.last(|launched| launched.contains(process)))
    }

    fn last(&self, is_wanted: impl Fn(&Launched) -> bool) -> Option<&Launched> {
        let wanted = || self.all.iter().filter(|one| self.is_outermost(one) && is_wanted(one));
        let start = |launched: &&Launched| launched.run.info.start_unix_ns;
        let last = wanted().max_by_key(start)?;
        let beside = wanted().filter(|other| other.end_unix_ns() >= start(&last));
        beside.max_by_key(|one| (one.has_failed(), start(one)))
    }

    fn is_outermost(&self, launched: &Launched) -> bool {
        let around = launched.launch.within;
        let is_around = |other: &Launched| {
            Some(other.launch.launcher) == around && other.run.info.host == launched.run.info.host
        };
        !self.all.iter().any(is_around)
    }
}

impl Launched {
    /// Puts what the launcher saw into a run of its command.
    pub(super) fn add_to(&self, run: &mut Run) {
        run.info.facts.extend(self.launch_with(run).facts());
    }

    /// What the launcher saw, with the peak of a process of its command where that is higher: the kernel forgot it when a memory tracker
    /// began to count anew.
    fn launch_with(&self, run: &Run) -> Launch {
        let mut launch = self.launch.clone();
        let peak = marey_analysis::process_peak_bytes(run);
        if let Some((usage, peak)) = launch.usage.as_mut().zip(peak)
            && peak > usage.peak_bytes
        {
            (usage.peak_bytes, usage.is_peak_at_most) = (peak, false);
        }
        launch
    }

    /// The process began on the launcher's host while the command ran.
    fn contains(&self, process: &RunInfo) -> bool {
        let host = Some(process.host.as_str()).filter(|host| !host.is_empty());
        self.saw(host, process.start_unix_ns)
    }

    /// The same of what began on this host at this moment, nanoseconds since 1970.
    pub(super) fn saw(&self, host: Option<&str>, began: u64) -> bool {
        if self.run.info.host != host.unwrap_or_default() {
            return false;
        }
        let (start, end) = (self.run.info.start_unix_ns, self.end_unix_ns());
        start <= began.saturating_add(SLACK_NS) && began <= end.saturating_add(SLACK_NS)
    }

    fn end_unix_ns(&self) -> u64 {
        if self.run.status == Status::Running {
            return u64::MAX;
        }
        self.run.info.start_unix_ns.saturating_add(self.run.wall_ns)
    }

    fn has_failed(&self) -> bool {
        !matches!(self.run.status, Status::Running | Status::Finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launchers with their command's exit code, `(launcher, within, start, end)` in seconds.
    fn launches(drawn: &[(u32, Option<u32>, u64, u64, i32)]) -> Launches {
        let one = |(launcher, within, start, end, code): &(u32, Option<u32>, u64, u64, i32)| {
            let launch = Launch {
                pid: launcher + 100,
                launcher: *launcher,
                within: *within,
                exit_code: Some(*code),
                ..Launch::default()
            };
            let mut run = Run {
                status: launch.status().unwrap(),
                wall_ns: (end - start) * 1_000_000_000,
                ..Run::default()
            };
            run.info.start_unix_ns = start * 1_000_000_000;
            run.info.facts = launch.facts();
            let capture = PathBuf::from(format!("launcher-{launcher}.launch"));
            Launched { capture, run, launch }
        };
        Launches { all: drawn.iter().map(one).collect() }
    }

    fn of_job(launches: &Launches) -> Option<u32> {
        Some(launches.of_job()?.launch.launcher)
    }

    fn launcher_of(launches: &Launches, pid: u32, start: u64) -> Option<u32> {
        let mut run = Run::default();
        run.info.pid = pid;
        run.info.start_unix_ns = start * 1_000_000_000;
        launches.add_around(&mut run);
        Some(Launch::of(&run.info)?.launcher)
    }

    #[test]
    fn the_jobs_launcher_is_the_last_that_is_no_part_of_another() {
        assert_eq!(of_job(&launches(&[])), None);
        let nested = launches(&[(7, None, 10, 90, 0), (8, Some(7), 20, 30, 1)]);
        assert_eq!(of_job(&nested), Some(7));
        let again = launches(&[(7, None, 10, 20, 1), (8, None, 50, 60, 0)]);
        assert_eq!(of_job(&again), Some(8));
        let hosts = launches(&[(7, None, 10, 60, 1), (8, None, 11, 60, 0)]);
        assert_eq!(of_job(&hosts), Some(7));
        // The launcher around it is of another job.
        assert_eq!(of_job(&launches(&[(8, Some(7), 20, 30, 1)])), Some(8));
    }

    #[test]
    fn a_process_belongs_to_its_own_launcher_else_to_the_one_around_it() {
        let nested = launches(&[(7, None, 10, 90, 0), (8, Some(7), 20, 30, 1)]);
        assert_eq!(launcher_of(&nested, 108, 20), Some(8));
        assert_eq!(launcher_of(&nested, 5, 25), Some(7));
        assert_eq!(launcher_of(&nested, 5, 5), None);
        assert_eq!(launcher_of(&nested, 107, 95), None);
    }
}
