//! Which ranks did not come to a call in which others gave up, or hang?

use std::collections::BTreeSet;

use super::{Cause, JobFacts, count, duration, named_ranks, sentence};
use crate::findings::Thresholds;
use crate::quantity::duration_ns;
use crate::ranks::{Absence, JobAnswers};

/// The call in which ranks waited longest for those that did not come, in words.
pub(super) fn cause(facts: &JobFacts<'_>) -> Option<Cause> {
    let longest = facts.job.absences.first()?;
    let article = match longest.name.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'u') => "an",
        _ => "a",
    };
    if !longest.has_failed {
        let circle = circle(&facts.job.absences);
        return Some(Cause {
            said: match circle[..] {
                [] => waiting(facts, longest),
                _ => deadlock(facts, &circle),
            },
            evidence: [
                Some(longest.absent.len())
                    .filter(|n_absent| *n_absent > 0)
                    .map(|n_absent| count("ranks that did not come", n_absent)),
                longest.longest_ns.map(|ns| duration("most time of a rank in that call", ns)),
            ]
            .into_iter()
            .flatten()
            .collect(),
            remedy: match circle[..] {
                [] => remedy(longest),
                _ => "Make calls of several groups, and messages, in one order on all ranks.",
            },
        });
    }
    Some(Cause {
        said: format!(
            "{} did not come to {article} {} in which {} gave up",
            facts.all_named(&longest.absent),
            longest.name,
            facts.all_named(&longest.gave_up)
        ),
        evidence: vec![
            count("ranks that did not come", longest.absent.len()),
            count("ranks that gave up", longest.gave_up.len()),
            duration(
                "most time of a rank in such calls until it gave up",
                longest.longest_ns.unwrap_or(0),
            ),
        ],
        remedy: "Look at what the ranks that did not come did instead: the others waited for them.",
    })
}

/// The call that ranks hang in, as a sentence; `None` where they hang in none.
pub fn hang(job: &JobAnswers) -> Option<String> {
    let facts = JobFacts { job, thresholds: &Thresholds::default() };
    let longest = job.absences.first().filter(|absence| !absence.has_failed)?;
    Some(sentence(&waiting(&facts, longest)))
}

fn remedy(absence: &Absence) -> &'static str {
    match absence.absent[..] {
        [] if absence.is_of_all() && absence.not_started.is_empty() => {
            "Look at the network, and at the log of NCCL (NCCL_DEBUG=INFO). Dumps of a job that works may look the same for a moment."
        }
        [] if absence.is_of_all() => {
            "Look at what the GPUs ran before: a kernel that did not start waits for other work, or for memory."
        }
        [] if absence.others.is_empty() => {
            "Collect the dumps of all ranks, and look at the log of those without one."
        }
        [] => "Look at why ranks call different things: conditions that differ, calls left out.",
        _ => "Look at what the ranks that did not come do instead: the others wait for them.",
    }
}

/// `ranks 0, 1 and 3 waited 18.0 s in call 11 of all_reduce, to which rank 2 did not come: it was in load_lora`
fn waiting(facts: &JobFacts<'_>, absence: &Absence) -> String {
    let named = |ranks: &[u32]| facts.all_named(ranks);
    if absence.is_of_all() {
        return of_all(facts, absence);
    }
    let waited = match absence.longest_ns {
        Some(ns) => format!("waited {}", duration_ns(ns)),
        None => "waited".to_owned(),
    };
    let mut said = vec![format!("{} {waited} in {}", named(&absence.gave_up), call(absence))];
    if !absence.absent.is_empty() {
        let absent = named(&absence.absent);
        let what = match absence.name.split_once(' ') {
            Some(("send", _)) => format!(", for which {absent} has no open recv"),
            Some(("recv", _)) => format!(", for which {absent} has no open send"),
            _ => format!(", to which {absent} did not come"),
        };
        said.push(what + &instead(facts, absence));
    }
    let others = absence.others.iter();
    said.extend(others.map(|one| format!(", {} called {} instead", named(&one.ranks), one.call)));
    let unknown = named_ranks::ranks(&absence.unknown);
    said.extend(unknown.map(|unknown| format!("; no dump says what {unknown} did")));
    said.concat()
}

/// `all 4 ranks stand in call 4 of all_reduce (default_pg, since 12:53:24 UTC): none of them completed it`
fn of_all(facts: &JobFacts<'_>, absence: &Absence) -> String {
    let n_ranks = absence.gave_up.len();
    let are_all = facts.job.world_size.is_some_and(|size| size as usize == n_ranks);
    let all = are_all.then(|| format!("all {n_ranks} ranks"));
    let ranks = all.unwrap_or_else(|| facts.all_named(&absence.gave_up));
    let not_started = match absence.not_started.len() {
        0 => String::new(),
        n_ranks if n_ranks == absence.gave_up.len() => "; its kernel started on none".to_owned(),
        _ => format!("; its kernel did not start on {}", facts.all_named(&absence.not_started)),
    };
    format!("{ranks} stand in {}: none of them completed it{not_started}", call(absence))
}

/// `call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC)`
fn call(absence: &Absence) -> String {
    let call = absence.call.map_or(String::new(), |call| format!("call {call} of "));
    let details = [
        absence.group.as_ref().filter(|_| absence.longest_ns.is_none()).cloned(),
        absence.input.clone(),
        absence.since_unix_ns.map(|ns| format!("since {}", time_of_day(ns))),
    ];
    let details = details.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let details = if details.is_empty() { details } else { format!(" ({details})") };
    format!("{call}{}{details}", absence.name)
}

/// Of calls of dumps those that wait for each other: who did not come to one waits in the next one, and who did not come to the last one in
/// the first. Empty where the first of all leads to none.
///
/// ```text
/// rank 0   waits in group A for rank 1
/// rank 1   waits in group B for rank 0
/// ```
fn circle(absences: &[Absence]) -> Vec<&Absence> {
    let mut circle: Vec<&Absence> = absences.first().into_iter().collect();
    while let Some(last) = circle.last() {
        let waits = |one: &&Absence| last.absent.iter().any(|rank| one.gave_up.contains(rank));
        let Some(next) = absences.iter().find(waits) else { break };
        if let Some(at) = circle.iter().position(|one| std::ptr::eq(*one, next)) {
            return circle.split_off(at);
        }
        circle.push(next);
    }
    Vec::new()
}

/// `rank 1 waited in call 3 of all_reduce (b) for rank 0, rank 0 waited in call 4 of all_reduce (a) for rank 1: a deadlock`
fn deadlock(facts: &JobFacts<'_>, circle: &[&Absence]) -> String {
    let each = circle.iter().map(|one| {
        let [waiting, absent] = [&one.gave_up, &one.absent].map(|ranks| facts.all_named(ranks));
        format!("{waiting} waited in {} for {absent}", call(one))
    });
    each.collect::<Vec<_>>().join(", ") + ": a deadlock"
}

/// Where the ranks were that did not come: of some that are in another call and some that are in none, of each.
fn instead(facts: &JobFacts<'_>, absence: &Absence) -> String {
    let (inside, after) = (&absence.absent_in, &absence.absent_after);
    if inside.iter().any(Option::is_some) && inside.iter().any(Option::is_none) {
        let of_each = absence.absent.iter().zip(inside.iter().zip(after));
        let each = of_each.filter_map(|(rank, did)| {
            let rank = facts.all_named(&[*rank]);
            match did {
                (Some(call), _) => Some(format!("{rank} was in {call}")),
                (None, Some(last)) => Some(format!("the last of {rank} was {last}")),
                (None, None) => None,
            }
        });
        return format!(": {}", each.collect::<Vec<_>>().join(", "));
    }
    let listed = |each: &[Option<String>]| {
        let each: BTreeSet<&str> = each.iter().flatten().map(String::as_str).collect();
        (!each.is_empty()).then(|| each.into_iter().collect::<Vec<_>>().join(", "))
    };
    match (listed(inside), listed(after), absence.absent.len()) {
        (Some(calls), _, 1) => format!(": it was in {calls}"),
        (Some(calls), _, _) => format!(": they were in {calls}"),
        (None, Some(calls), 1) => format!(": its last was {calls}"),
        (None, Some(calls), _) => format!(": their last were {calls}"),
        (None, None, _) => String::new(),
    }
}

/// `12:53:24 UTC`
fn time_of_day(unix_ns: u64) -> String {
    let s = unix_ns / 1_000_000_000 % 86_400;
    format!("{:02}:{:02}:{:02} UTC", s / 3600, s / 60 % 60, s % 60)
}
