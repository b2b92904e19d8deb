//! The first screen of a job of several ranks: how it ended, which rank is slow and in what, what the ranks wait for.

mod account;
mod findings;
mod headline;
mod lines;

use std::marker::PhantomData;

use marey::Launch;
use marey_analysis::ranks::{ClockMethod, JobAnswers, Member, MemberState};

use super::brief::keys_of;
use super::checks::Checks;
use super::{Facts, FirstScreen, Labelled, Mood, Next, Places, Sentence};
use crate::json::object::{Fields, Json, object};
use crate::quantity::{Unit, counted, duration_ns};

impl FirstScreen {
    /// Of one job; with what its launcher saw of the command that started all ranks, if there was one.
    pub fn of_job(job: &JobAnswers, places: Places, launch: Option<&Launch>) -> Self {
        let command_ns = launch.and_then(|launch| launch.wall_ns);
        let total_ns = command_ns.unwrap_or(0).max(job.span_ns);
        let has_lost = has_lost_ranks(job);
        let found = findings::findings(job, total_ns);
        let checks = checks(job);
        let is_clean = found.is_empty() && !has_lost;
        let (lines, facts) = said(job, total_ns);
        Self {
            kind: "job",
            facts: Facts::of(&facts),
            unit: Unit::Time,
            headline: headline::headline(job, total_ns, launch),
            account: account::rank_time(job),
            differences: account::differences(job).filter(|_| !has_lost),
            lines,
            findings: found,
            closing: match is_clean {
                true if headline::is_dumped(job) => vec![nobody_waits()],
                true => checks.sentences(),
                false => Vec::new(),
            },
            checks: Some(checks),
            data: data(job),
            not_known: not_known(job),
            next: next(places),
        }
    }
}

fn next(places: Places) -> Next {
    let parts = match &places.page {
        Some(page) => vec![page.clone(), format!("all tables: {}", places.full)],
        None => vec![places.full.clone(), "--output job.html for strips on one time axis".into()],
    };
    Next { parts, full: places.full, page: places.page }
}

/// The lines below the account, and the keys of this kind of screen as JSON.
fn said(job: &JobAnswers, total_ns: u64) -> (Vec<Labelled>, impl Fields + Json + use<>) {
    let (lines, of_lines) = lines::lines(job);
    let facts = object! { ..headline::facts(job, total_ns), ..of_lines };
    (lines, facts)
}

/// The keys of all jobs.
pub(super) fn keys() -> PhantomData<impl Fields> {
    keys_of(|(job, total_ns): (&JobAnswers, u64)| said(job, total_ns).1)
}

/// Of dumps of which no rank is missed in a call.
fn nobody_waits() -> Sentence {
    let text = "No dump has a call that waits for another rank.".into();
    Sentence { text, mood: Mood::Good, may_go: false }
}

/// Checks that fit only jobs whose GPUs or memory were read.
const OF_DEVICES: [&str; 2] = ["idle-gpus", "uneven-memory"];

/// A rank failed, was killed, has no file, or never came to what the others wait in.
fn has_lost_ranks(job: &JobAnswers) -> bool {
    let mut members = job.members.iter();
    !job.missing.is_empty()
        || !job.absences.is_empty()
        || members.any(|member| member.state == MemberState::Cut)
}

fn checks(job: &JobAnswers) -> Checks {
    let all = &job.findings;
    Checks {
        passed: all.passed.iter().map(|passed| passed.rule).collect(),
        n_skipped: all.unchecked.len() as u64,
        n_open: all.unchecked.iter().filter(|one| !OF_DEVICES.contains(&one.rule)).count() as u64,
        missing: if job.waiting.is_none() { vec!["collectives"] } else { Vec::new() },
        n_small: all.found.len() as u64,
        idle: account::idle(job),
    }
}

/// What to know of clocks and of what was not recorded.
fn data(job: &JobAnswers) -> Option<String> {
    let mut said = Vec::new();
    let n_unread = job.unread.len() as u64;
    if n_unread > 0 {
        said.push(format!("{} could not be read", counted(n_unread, "file", "files")));
    }
    let is_damaged = |member: &&Member| member.state == MemberState::Damaged;
    let damaged = job.members.iter().filter(is_damaged).count() as u64;
    if damaged > 0 {
        said.push(format!("{} damaged", counted(damaged, "rank's file is", "ranks' files are")));
    }
    if job.waiting.is_none() && job.members.len() > 1 && !headline::is_dumped(job) {
        said.push(
            "no collectives recorded: waiting inside steps is not known (marey.distributed.instrument())".into(),
        );
    }
    let stragglers = &job.stragglers;
    if stragglers.is_waiting_known {
        said.push(format!("own time and waiting: {}", stragglers.basis.trim_end_matches('.')));
    }
    let mut clocks = job.clocks.each.iter();
    let are_aligned = clocks.any(|clock| clock.method == ClockMethod::Collectives);
    let error_ns = job.clocks.error_ns.filter(|_| are_aligned);
    said.extend(
        error_ns.map(|ns| format!("clocks aligned by collectives, within {}", duration_ns(ns))),
    );
    super::joined(&said)
}

fn not_known(job: &JobAnswers) -> Vec<(&'static str, String)> {
    let has_account = job.slowest.as_ref().is_some_and(|slowest| slowest.account.is_some());
    super::not_known([
        (
            job.waiting.is_none(),
            "waiting",
            "marey.distributed.instrument(), or traces of all ranks",
        ),
        (!has_account, "account of ranks", "captures of Marey with sections"),
    ])
}

/// `rank 3`, or the file of a process without one.
fn rank_name(job: &JobAnswers, place: u32) -> String {
    match job.members.get(place as usize) {
        Some(member) => match member.rank {
            Some(rank) => format!("rank {rank}"),
            None => member.file.rsplit('/').next().unwrap_or_default().into(),
        },
        None => "a rank".into(),
    }
}
