//! Jobs whose ranks hang in a collective, by the rule of `marey aggregate`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use marey::monotonic_ns;
use marey_analysis::Thresholds;
use marey_analysis::findings::hang;
use marey_analysis::ranks::{JobAnswers, may_hang, ranks};
use marey_folder::aggregation::{Inputs, Jobs, n_threads, summaries};
use serde::Serialize;

use crate::live_processes::{LiveProcess, job_folder};

/// Captures are read again after so many times as long as reading them took.
const REST: u64 = 20;

/// Jobs in which a collective is open for long, by their folders. Their captures are read, since they alone say which calls are of which
/// group.
#[derive(Debug, Default)]
pub(super) struct Hangs(HashMap<PathBuf, Read>);

/// What captures said of a job.
#[derive(Debug)]
struct Read {
    hang: Option<Hang>,
    at_ns: u64,
    took_ns: u64,
}

/// A call that ranks of a job hang in.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Hang {
    job_id: String,
    /// In words.
    pub(super) said: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    collective: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Which call of the group, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u64>,
    /// How long the first of them has been in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_s: Option<f64>,
    waiting_ranks: Vec<u32>,
    absent_ranks: Vec<u32>,
}

impl Hangs {
    /// Takes what processes are in now.
    pub(super) fn take(&mut self, processes: &[LiveProcess]) {
        let suspects = processes.iter().filter(|process| is_long_in_a_call(process));
        let jobs: BTreeSet<&Path> = suspects.filter_map(|one| job_folder(&one.process)).collect();
        self.0.retain(|folder, _| jobs.contains(&**folder));
        for job in jobs {
            if self.0.get(job).is_none_or(|read| {
                monotonic_ns().saturating_sub(read.at_ns) > read.took_ns.saturating_mul(REST)
            }) {
                self.0.insert(job.to_owned(), Read::of(job));
            }
        }
    }

    /// Of the job that a process is of.
    pub(super) fn of(&self, process: &LiveProcess) -> Option<&Hang> {
        self.0.get(job_folder(&process.process)?)?.hang.as_ref()
    }

    /// Of all jobs, in order.
    pub(super) fn all(&self) -> Vec<&Hang> {
        let mut all: Vec<&Hang> = self.0.values().filter_map(|read| read.hang.as_ref()).collect();
        all.sort_by(|a, b| a.job_id.cmp(&b.job_id));
        all
    }
}

fn is_long_in_a_call(process: &LiveProcess) -> bool {
    let now = &process.snapshot;
    let mut open = now.look.open.iter();
    now.look.is_running()
        && open.any(|open| {
            let path = now.look.path(open.node);
            path.last().zip(now.open_for_ns(open)).is_some_and(|(name, ns)| may_hang(name, ns))
        })
}

impl Read {
    fn of(job: &Path) -> Self {
        let at_ns = monotonic_ns();
        let inputs = Inputs::of(&[job.to_owned()], &Jobs::Newest).unwrap_or_default();
        let answers = ranks(&summaries(&inputs.files, n_threads()), &Thresholds::default());
        let hang = answers.jobs.iter().find_map(Hang::of);
        Self { hang, at_ns, took_ns: monotonic_ns().saturating_sub(at_ns) }
    }
}

impl Hang {
    fn of(job: &JobAnswers) -> Option<Self> {
        let said = hang(job)?;
        let absence = job.absences.first()?;
        let ranks = |places: &[u32]| {
            let members = places.iter().filter_map(|place| job.members.get(*place as usize));
            members.filter_map(|member| member.rank).collect()
        };
        Some(Self {
            job_id: job.job_id.clone(),
            said,
            collective: absence.name.clone(),
            group: absence.group.clone(),
            call: absence.call,
            waited_s: absence.longest_ns.map(|ns| Duration::from_nanos(ns).as_secs_f64()),
            waiting_ranks: ranks(&absence.gave_up),
            absent_ranks: ranks(&absence.absent),
        })
    }
}
