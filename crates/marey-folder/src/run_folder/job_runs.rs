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

use std::collections::BTreeMap;

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
    /// The file of the process that the user means.
    pub(super) main: String,
    /// The files of all, the first that began first.
    pub(super) files: Vec<String>,
    precedence: Precedence,
}

#[derive(Debug)]
struct Candidate {
    process: Process,
    precedence: Precedence,
    run: Run,
}

impl JobRuns {
    /// Takes a process, unless another stands for it.
    pub(super) fn offer(&mut self, process: &Process, is_earlier: bool, run: Run) {
        let mut new = Candidate {
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
        // By launcher; those without one are sorted below.
        let mut commands: BTreeMap<Option<u32>, Vec<Candidate>> = BTreeMap::new();
        for candidate in self.candidates {
            let around = launches.around(&candidate.run.info);
            let launcher = around.map(|launched| launched.launch.launcher);
            commands.entry(launcher).or_default().push(candidate);
        }
        let mut groups = without_launcher(commands.remove(&None).unwrap_or_default());
        groups.extend(commands.into_values());
        let runs = groups.into_iter().filter_map(|group| one_run(group, launches));
        let mut runs: Vec<JobRun> = runs.collect();
        runs.sort_by_key(|run| run.run.info.start_unix_ns);
        runs
    }
}

/// Groups of processes of which each began while another of its group ran; one group where their commands are not all the same.
fn without_launcher(processes: Vec<Candidate>) -> Vec<Vec<Candidate>> {
    let mut groups: Vec<Vec<Candidate>> = Vec::new();
    for process in processes {
        let runs = |group: &&mut Vec<Candidate>| {
            let mut group = group.iter().map(|one| &one.process);
            let start = process.process.start_unix_ns;
            group.any(|one| one.start_unix_ns.saturating_add(one.wall_ns) > start)
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
    let precedence = best.precedence.clone();
    let files = group.iter().map(|one| one.process.file.clone()).collect();
    let around = launches.around(&best.run.info).filter(|_| !best.process.is_outside);
    let parts = group.into_iter().map(|one| one.run).collect();
    let mut run = joined(parts, main, around.map(|launched| &launched.run));
    match around {
        Some(launched) => launched.add_to(&mut run),
        None => launches.add_around(&mut run),
    }
    Some(JobRun { run, main: precedence.file.clone(), files, precedence })
}

/// Which process the documents describe; the least. A launcher such as torchrun records nothing, the oldest process of rank 0
/// that recorded something is the one that the user means. What was only seen from outside comes last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each decides before the next one")]
struct Precedence {
    is_earlier: bool,
    is_outside: bool,
    /// It recorded nothing by itself.
    is_empty: bool,
    is_forked: bool,
    rank: u32,
    start_unix_ns: u64,
    file: String,
}

impl Precedence {
    fn new(process: &Process, is_earlier: bool) -> Self {
        Self {
            is_earlier,
            is_outside: process.is_outside,
            is_empty: process.is_outside || process.is_empty,
            is_forked: process.forked_from.is_some(),
            rank: process.rank.unwrap_or(0),
            start_unix_ns: process.start_unix_ns,
            file: process.file.clone(),
        }
    }

    /// Everything but when and whose child: processes of one kind can be parts of one run, or repeats of each other.
    fn kind(&self) -> (bool, bool, bool, u32) {
        (self.is_earlier, self.is_outside, self.is_empty, self.rank)
    }
}
