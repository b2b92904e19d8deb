//! Which processes of a job are one run: those of one command.
//!
//! ```text
//! marey run -- both.sh   |==========================|      a launcher's command: all that began while it ran
//!   encode.py               |-----|
//!   generate.py                       |----------|
//!
//! generate.py            |----------|                       without a launcher: who began while another ran;
//!   its worker               |---|                          the same command later is a run of its own
//! generate.py                           |----------|
//! ```
//!
//! Of a job of several ranks it has the processes of the lowest: what ranks did together is read from the summaries of all.

use std::path::{Path, PathBuf};

use marey::Run;
use marey_analysis::job::{joined, program_name, totals_only};

use super::{Launches, Process};

/// Sections of one process beside those of others are only counted where there would be more than this in all.
const MOST_SECTIONS: usize = 10_000_000;

/// The processes of a job while they are read.
#[derive(Debug, Default)]
pub(super) struct JobRuns {
    candidates: Vec<Candidate>,
    n_sections: usize,
}

/// One run of a job.
#[derive(Debug)]
pub(super) struct JobRun {
    /// What its processes did.
    pub(super) run: Run,
    /// The capture of the process that the user means.
    pub(super) capture: PathBuf,
    /// The files of all, the first that began first.
    pub(super) files: Vec<String>,
    precedence: Precedence,
}

#[derive(Debug)]
struct Candidate {
    capture: PathBuf,
    process: Process,
    precedence: Precedence,
    run: Run,
}

impl JobRuns {
    /// Takes a process, unless another stands for it.
    pub(super) fn offer(&mut self, capture: &Path, process: &Process, is_earlier: bool, run: Run) {
        let mut new = Candidate {
            capture: capture.to_owned(),
            process: process.clone(),
            precedence: Precedence::new(process, is_earlier),
            run,
        };
        match self.candidates.first() {
            Some(best) if best.precedence.kind() < new.precedence.kind() => return,
            Some(best) if best.precedence.kind() > new.precedence.kind() => {
                self.candidates.clear();
                self.n_sections = 0;
            }
            _ => {}
        }
        self.n_sections = self.n_sections.saturating_add(new.run.sections.len());
        if self.n_sections > MOST_SECTIONS && !self.candidates.is_empty() {
            self.n_sections -= new.run.sections.len();
            totals_only(&mut new.run);
        }
        self.candidates.push(new);
    }

    /// The run that the job's documents describe: that of the process which the user means.
    pub(super) fn principal(self, launches: &Launches) -> Option<JobRun> {
        let runs = self.into_runs(launches);
        runs.into_iter().min_by(|a, b| a.precedence.cmp(&b.precedence))
    }

    /// All runs, in order of their start.
    pub(super) fn into_runs(mut self, launches: &Launches) -> Vec<JobRun> {
        let order = |one: &Candidate| (one.process.start_unix_ns, one.process.file.clone());
        self.candidates.sort_by_key(order);
        let (mut commands, mut alone): (Vec<(u32, Vec<Candidate>)>, Vec<Candidate>) =
            Default::default();
        for candidate in self.candidates {
            let around = launches.around(&candidate.run.info);
            let Some(launcher) = around.map(|launched| launched.launch.launcher) else {
                alone.push(candidate);
                continue;
            };
            match commands.iter_mut().find(|(other, _)| *other == launcher) {
                Some((_, processes)) => processes.push(candidate),
                None => commands.push((launcher, vec![candidate])),
            }
        }
        let mut groups = without_launcher(alone);
        groups.extend(commands.into_iter().map(|(_, processes)| processes));
        let runs = groups.into_iter().filter_map(|group| one_run(group, launches));
        let mut runs: Vec<JobRun> = runs.collect();
        runs.sort_by_key(|run| run.run.info.start_unix_ns);
        runs
    }
}

impl Candidate {
    fn end_unix_ns(&self) -> u64 {
        let start = self.process.start_unix_ns;
        start.saturating_add(self.process.wall_ns)
    }

    fn is_outside(&self) -> bool {
        self.precedence.recorded == Recorded::FromOutside
    }
}

/// Groups of processes of which each began while another of its group ran; one group where their commands are not all the same.
fn without_launcher(processes: Vec<Candidate>) -> Vec<Vec<Candidate>> {
    let mut groups: Vec<Vec<Candidate>> = Vec::new();
    for process in processes {
        let runs = |group: &&mut Vec<Candidate>| {
            let mut ends = group.iter().map(Candidate::end_unix_ns);
            ends.any(|end| end > process.process.start_unix_ns)
        };
        match groups.iter_mut().find(runs) {
            Some(group) => group.push(process),
            None => groups.push(vec![process]),
        }
    }
    let mut commands = groups.iter().map(|group| program_name(&group[0].process.command));
    let first = commands.next();
    if commands.all(|command| Some(command) == first) {
        return groups;
    }
    vec![groups.into_iter().flatten().collect()]
}

fn one_run(group: Vec<Candidate>, launches: &Launches) -> Option<JobRun> {
    let places = group.iter().enumerate();
    let (main, best) = places.min_by(|(_, a), (_, b)| a.precedence.cmp(&b.precedence))?;
    let (capture, precedence) = (best.capture.clone(), best.precedence.clone());
    let is_outside = best.is_outside();
    let files = group.iter().map(|one| one.process.file.clone()).collect();
    let around = launches.around(&best.run.info).filter(|_| !is_outside);
    let around = around.map(|launched| launched.run.clone());
    let parts = group.into_iter().map(|one| one.run).collect();
    let mut run = joined(parts, main, around.as_ref());
    launches.add_around(&mut run);
    Some(JobRun { run, capture, files, precedence })
}

/// Which process the documents describe; the least. A launcher such as torchrun records nothing, the oldest process of rank 0
/// that recorded something is the one that the user means. What was only seen from outside comes last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Precedence {
    is_earlier: bool,
    recorded: Recorded,
    is_forked: bool,
    rank: u32,
    start_unix_ns: u64,
    file: String,
}

/// What a process recorded of itself, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Recorded {
    Something,
    Nothing,
    /// Another one did it.
    FromOutside,
}

impl Recorded {
    fn by(process: &Process) -> Self {
        match (process.is_outside, process.is_empty) {
            (true, _) => Self::FromOutside,
            (_, true) => Self::Nothing,
            _ => Self::Something,
        }
    }
}

impl Precedence {
    /// Everything but when and whose child: processes of one kind can be parts of one run, or repeats of each other.
    fn kind(&self) -> (bool, &Recorded, u32) {
        (self.is_earlier, &self.recorded, self.rank)
    }

    fn new(process: &Process, is_earlier: bool) -> Self {
        Self {
            is_earlier,
            recorded: Recorded::by(process),
            is_forked: process.forked_from.is_some(),
            rank: process.rank.unwrap_or(0),
            start_unix_ns: process.start_unix_ns,
            file: process.file.clone(),
        }
    }
}
