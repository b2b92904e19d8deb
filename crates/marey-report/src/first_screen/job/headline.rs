//! The headline of a job: how many ranks ended how, in what time, and whether one of them is slow.

use marey::{Launch, signal_text};
use marey_analysis::job::{Ended, Source};
use marey_analysis::ranks::{JobAnswers, MemberState, SlowestRank};

use super::{account, rank_name};
use crate::first_screen::{Headline, Mood};
use crate::json::object::{Fields, Json, object};
use crate::model::killed_text;
use crate::quantity::{Column, Unit, counted, float, share, signed_share};
use crate::rank_report::ranges;

/// `4 ranks finished in 847.6 ms · rank 2 is slowest: 804.7 ms, +33 % against rank 1 (median)`
pub(super) fn headline(job: &JobAnswers, total_ns: u64, launch: Option<&Launch>) -> Headline {
    let n_ranks = job.members.len() as u64;
    let all = job.world_size.map_or(n_ranks, |size| u64::from(size).max(n_ranks));
    let subject = if all == n_ranks {
        counted(n_ranks, "rank", "ranks")
    } else {
        format!("{n_ranks} of {}", counted(all, "rank", "ranks"))
    };
    let total = Column::of(Unit::Time, total_ns).text(total_ns);
    let lost = lost(job);
    let is_traced = job.members.iter().all(|member| member.source == Source::Trace);
    let is_running = is_running(job);
    let is_dumped = is_dumped(job);
    let (outcome, mood, after) = match &lost {
        _ if is_dumped => {
            let mood = if job.absences.is_empty() { Mood::Plain } else { Mood::Bad };
            let lost = lost.as_ref().map_or_else(String::new, |lost| format!(": {lost}"));
            ("left dumps of NCCL's flight recorder", mood, lost)
        }
        Some(lost) => ("did not all finish", Mood::Bad, format!(" after {total}: {lost}")),
        None if is_running => ("are still running", Mood::Plain, format!(" after {total}")),
        None if is_traced => ("", Mood::Plain, format!("{} in {total}", steps(job))),
        None => ("finished", Mood::Good, format!(" in {total}")),
    };
    let slow = slow(job).filter(|_| lost.is_none() && !is_running);
    let waiting = account::waiting_ratio(job).filter(|_| lost.is_none());
    let slow = slow.map(|slow| format!(" · {slow}")).unwrap_or_default();
    let killed = launch.and_then(killed_text);
    let mood = if killed.is_some() { Mood::Bad } else { mood };
    let killed = killed.map(|killed| format!("; {killed}"));
    let waiting_said = waiting.map(|ratio| format!("{} of rank time is waiting", share(ratio)));
    Headline {
        subject,
        outcome: outcome.into(),
        mood,
        after: after + &killed.unwrap_or_default() + &slow,
        parts: waiting_said.into_iter().collect(),
    }
}

/// For programs.
pub(super) fn facts(job: &JobAnswers, total_ns: u64) -> impl Fields + Json + use<> {
    let has_lost = lost(job).is_some();
    let slowest = job.slowest.as_ref().filter(|_| !has_lost);
    object! {
        /// How its ranks ended.
        outcome: match (has_lost, is_running(job)) {
            // Dumps of flight recorders do not say it.
            _ if is_dumped(job) => "unknown",
            (true, _) => "failed",
            (false, true) => "running",
            (false, false) => "finished",
        },
        /// Of which there is a file.
        ranks: job.members.len(),
        /// Null where it is not known.
        world_size: job.world_size,
        /// Ranks without a file.
        missing: job.missing.clone(),
        /// From the first start to the last end; null where that is not known.
        wall_s: (!is_dumped(job)).then(|| float(total_ns) / 1e9),
        /// Of the time of all ranks; null where it is not known.
        waiting_ratio: account::waiting_ratio(job).filter(|_| !has_lost),
        /// The slowest rank beside a usual one.
        slowest?: slowest.map(|found| slowest_facts(job, found)),
    }
}

/// Nothing but dumps of flight recorders is known of it.
pub(super) fn is_dumped(job: &JobAnswers) -> bool {
    job.members.iter().all(|member| member.source == Source::FlightRecorder)
}

fn is_running(job: &JobAnswers) -> bool {
    let mut states = job.members.iter().map(|member| member.state);
    states.any(|state| state == MemberState::Running)
}

fn slowest_facts(job: &JobAnswers, found: &SlowestRank) -> impl Json + use<> {
    let [own, usual] = found.ns.map(|ns| float(ns) / 1e9);
    object! {
        rank: rank_name(job, found.place),
        usual: rank_name(job, found.usual),
        slow: found.is_slow,
        /// Time without waiting, or all of it.
        measure: if found.is_own_time { "own" } else { "wall" },
        rank_s: own,
        usual_s: usual,
        /// That it still ran when all others had ended.
        ends_later_s?: ends_later_ns(job, found).map(|ns| float(ns) / 1e9),
    }
}

/// How long the slowest rank still ran when all others had ended; `None` where it did not.
pub(super) fn ends_later_ns(job: &JobAnswers, found: &SlowestRank) -> Option<u64> {
    let last = job.last.as_ref();
    let last = last.filter(|last| last.place == found.place);
    last.map(|last| last.alone_ns)
}

/// `, 4 steps` where all ranks have as many.
fn steps(job: &JobAnswers) -> String {
    let steps = job.steps.as_ref().filter(|steps| steps.counts_differ.is_none());
    let n = steps.map(|steps| steps.count / (job.members.len() as u64).max(1));
    n.filter(|n| *n > 0).map(|n| format!(", {}", counted(n, "step", "steps"))).unwrap_or_default()
}

/// Which rank is slow, or that none is; `None` where nothing says so.
fn slow(job: &JobAnswers) -> Option<String> {
    let found = job.slowest.as_ref()?;
    if !found.is_slow {
        return Some("no rank slower than the others".into());
    }
    let [ns, usual] = found.ns;
    let column = Column::of(Unit::Time, ns.max(usual));
    let what = if found.is_own_time { "own time " } else { "" };
    let ratio = float(ns) / float(usual.max(1)) - 1.0;
    Some(format!(
        "{} is slowest: {what}{}, {} against {} (median)",
        rank_name(job, found.place),
        column.text(ns),
        signed_share(ratio),
        rank_name(job, found.usual)
    ))
}

/// `rank 2 failed (ValueError)`; `None` where all ended well or still run.
fn lost(job: &JobAnswers) -> Option<String> {
    let places = (0_u32..).zip(&job.members);
    let cut: Vec<(u32, &Ended)> = places
        .filter(|(_, member)| member.state == MemberState::Cut)
        .map(|(place, member)| (place, &member.ended))
        .collect();
    let mut said = Vec::new();
    if let Some((place, ended)) = cut.first() {
        let how = match ended {
            Ended::Failed(why) if why.is_empty() => "failed".to_owned(),
            Ended::Failed(why) => format!("failed ({why})"),
            Ended::Killed(signal) => format!("was killed by {}", signal_text(*signal)),
            _ => "ended without closing its recording".to_owned(),
        };
        let more = (cut.len() > 1).then(|| format!(" and {} more did not end well", cut.len() - 1));
        said.push(format!("{} {how}{}", rank_name(job, *place), more.unwrap_or_default()));
    }
    if !job.missing.is_empty() {
        let (ranks, have) =
            if job.missing.len() == 1 { ("rank", "has") } else { ("ranks", "have") };
        let listed = ranges(&job.missing);
        said.push(format!("{ranks} {listed} {have} no file"));
    }
    (!said.is_empty()).then(|| said.join("; "))
}
