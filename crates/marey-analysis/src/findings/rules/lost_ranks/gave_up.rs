//! Which ranks did not come to a call in which others gave up, or hang?

use std::collections::BTreeSet;

use super::{Cause, JobFacts, count, duration, listed, named_ranks, sentence};
use crate::findings::Thresholds;
use crate::quantity::duration_ns;
use crate::ranks::{Absence, JobAnswers};

/// The call in which ranks waited longest for those that did not come, in words; of calls that ranks hang in, each hang by itself.
pub(super) fn causes(facts: &JobFacts<'_>) -> Vec<Cause> {
    match facts.job.absences.first() {
        Some(longest) if longest.has_failed => vec![gave_up(facts, longest)],
        _ => hangs(&facts.job.absences).iter().map(|hang| hung(facts, hang)).collect(),
    }
}

fn gave_up(facts: &JobFacts<'_>, longest: &Absence) -> Cause {
    let name = longest.name.as_deref().unwrap_or("call");
    let article = match name.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'u') => "an",
        _ => "a",
    };
    Cause {
        said: format!(
            "{} did not come to {article} {name} in which {} gave up",
            facts.all_named(&longest.absent),
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
        remedy: "Find out what the ranks that did not come did instead: the others waited for them.",
    }
}

fn hung(facts: &JobFacts<'_>, hang: &[&Absence]) -> Cause {
    let n_absent = hang.first().map_or(0, |first| first.absent.len());
    let longest_ns = hang.iter().find_map(|one| one.longest_ns);
    Cause {
        said: in_words(facts, hang),
        evidence: [
            (n_absent > 0).then(|| count("ranks that did not come", n_absent)),
            longest_ns.map(|ns| duration("most time of a rank in that call", ns)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        remedy: match hang {
            [only] => remedy(only),
            _ => ONE_ORDER,
        },
    }
}

/// The call that ranks hang in, as a sentence; `None` where they hang in none.
pub fn hang(job: &JobAnswers) -> Option<String> {
    let facts = JobFacts { job, thresholds: &Thresholds::default() };
    job.absences.first().filter(|first| !first.has_failed)?;
    Some(sentence(&in_words(&facts, hangs(&job.absences).first()?)))
}

fn in_words(facts: &JobFacts<'_>, hang: &[&Absence]) -> String {
    match hang {
        [only] if only.is_of_all() => of_all(facts, only),
        [only] => waiting(facts, only),
        circle => deadlock(facts, circle),
    }
}

const ONE_ORDER: &str =
    "Make the calls of all groups, and messages, in the same order on all ranks.";

fn remedy(absence: &Absence) -> &'static str {
    match absence.absent[..] {
        [] if absence.is_of_all() && absence.crossed.is_some() => {
            "Make the calls of all groups in the same order on all ranks: NCCL can deadlock where the orders differ."
        }
        [] if absence.is_of_all() && absence.not_started.is_empty() => {
            "Check the network and the log of NCCL (NCCL_DEBUG=INFO). Dumps of a job that works can look the same for a moment."
        }
        [] if absence.is_of_all() => {
            "Check what those GPUs ran before: a kernel that has not started waits for other work or for memory."
        }
        [] if absence.others.is_empty() => {
            "Read the logs of the ranks of which no dump says what they did."
        }
        [] => {
            "Make all ranks call the same collectives in the same order: look for conditions that differ between ranks."
        }
        _ => {
            "Find out what the ranks that did not come are doing instead: the others wait for them."
        }
    }
}

/// `ranks 0, 1 and 3 waited 18.0 s in call 11 of all_reduce, to which rank 2 did not come: it was in load_lora`
fn waiting(facts: &JobFacts<'_>, absence: &Absence) -> String {
    let named = |ranks: &[u32]| facts.all_named(ranks);
    let waited = match absence.longest_ns {
        Some(ns) => format!("waited {}", duration_ns(ns)),
        None => "waited".to_owned(),
    };
    let mut said = vec![format!("{} {waited} in {}", named(&absence.gave_up), call(absence))];
    if !absence.absent.is_empty() {
        let absent = named(&absence.absent);
        let what = match absence.name.as_deref().and_then(|name| name.split_once(' ')) {
            Some(("send", _)) => format!(", for which {absent} has no open recv"),
            Some(("recv", _)) => format!(", for which {absent} has no open send"),
            _ => format!(", to which {absent} did not come"),
        };
        said.push(what + &instead(facts, absence));
    }
    let others = absence.others.iter();
    said.extend(others.map(|one| format!(", {} called {} instead", named(&one.ranks), one.call)));
    let unknown = named_ranks(&absence.unknown);
    said.extend(unknown.map(|unknown| format!("; no dump says what {unknown} did")));
    said.concat() + &not_in_dump(facts, absence)
}

/// `all 4 ranks are in call 4 of all_reduce (default_pg, since 12:53:24 UTC), and none has completed it`
fn of_all(facts: &JobFacts<'_>, absence: &Absence) -> String {
    let named = |ranks: &[u32]| facts.all_named(ranks);
    let n_ranks = absence.gave_up.len();
    let ranks = match facts.job.world_size {
        Some(2) if n_ranks == 2 => "both ranks".to_owned(),
        Some(size) if size as usize == n_ranks => format!("all {n_ranks} ranks"),
        _ => named(&absence.gave_up),
    };
    let (is, completed) = match (n_ranks, absence.completed.len()) {
        (1, _) => ("is", format!("which {} completed", named(&absence.completed))),
        (_, 0) => ("are", "and none of them has completed it".to_owned()),
        _ => ("are", format!("which {} completed", named(&absence.completed))),
    };
    let not_started = match absence.not_started.len() {
        0 => String::new(),
        n if n == n_ranks && n > 1 => "; its kernel has started on none of them".to_owned(),
        _ => format!("; its kernel has not started on {}", named(&absence.not_started)),
    };
    let crossed = absence.crossed.as_ref().map_or_else(String::new, |other| {
        format!("; {} made {} before it, others after it", named(&other.ranks), other.call)
    });
    let lost = not_in_dump(facts, absence);
    format!("{ranks} {is} in {}, {completed}{not_started}{crossed}{lost}", call(absence))
}

/// Whose dump only counts the call.
fn not_in_dump(facts: &JobFacts<'_>, absence: &Absence) -> String {
    match absence.not_in_dump.len() {
        0 => String::new(),
        _ if absence.name.is_none() => "; no dump has that call any more".to_owned(),
        1 => format!(
            "; the dump of {} no longer has that call",
            facts.all_named(&absence.not_in_dump)
        ),
        _ => format!(
            "; the dumps of {} no longer have that call",
            facts.all_named(&absence.not_in_dump)
        ),
    }
}

/// `call 4 of all_reduce (default_pg, 1024 BFloat16, since 12:53:24 UTC)`
fn call(absence: &Absence) -> String {
    let call = absence.call.map(|call| format!("call {call}"));
    let said = [call, absence.name.clone()].into_iter().flatten().collect::<Vec<_>>().join(" of ");
    let details = [
        absence.group.as_ref().filter(|_| absence.longest_ns.is_none()).cloned(),
        absence.input.clone(),
        absence.since_unix_ns.map(|ns| format!("since {}", time_of_day(ns))),
    ];
    let details = details.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let details = if details.is_empty() { details } else { format!(" ({details})") };
    said + &details
}

/// Calls that hang, each hang by itself: what ranks are missed in that are missed in an earlier one is no other hang, nor is a call in which
/// ranks wait for those that wait in another one.
fn hangs(absences: &[Absence]) -> Vec<Vec<&Absence>> {
    let mut found: Vec<Vec<&Absence>> = Vec::new();
    for one in absences.iter().filter(|one| !one.has_failed) {
        let hang = hang_of(absences, one);
        let is_known =
            found.iter().flatten().any(|known| hang.iter().any(|one| is_one(known, one)));
        if !is_known {
            found.push(hang);
        }
    }
    found
}

/// One hang: who is missed in both is the same, or, where nobody is, who is in them.
fn is_one(known: &Absence, other: &Absence) -> bool {
    let share = |a: &[u32], b: &[u32]| a.iter().any(|rank| b.contains(rank));
    share(&known.absent, &other.absent)
        || share(&known.unknown, &other.unknown)
        || other.absent.is_empty() && share(&known.gave_up, &other.gave_up)
}

/// The call that a call waits for, since all that are missed in it wait there, and so on; all calls of a circle, in which ranks wait for each
/// other.
///
/// ```text
/// rank 0   waits in group A for rank 1
/// rank 1   waits in group B for rank 0
/// ```
fn hang_of<'a>(absences: &'a [Absence], one: &'a Absence) -> Vec<&'a Absence> {
    let mut row = vec![one];
    while let Some(last) = row.last() {
        let waits = |one: &&Absence| last.absent.iter().any(|rank| one.gave_up.contains(rank));
        let Some(next) = absences.iter().find(waits) else { break };
        if let Some(at) = row.iter().position(|one| std::ptr::eq(*one, next)) {
            return row.split_off(at);
        }
        row.push(next);
    }
    let is_caused_elsewhere = one.absent_in.iter().all(Option::is_some);
    vec![row.pop().filter(|_| is_caused_elsewhere).unwrap_or(one)]
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
        return format!(": {}", listed(&each.collect::<Vec<_>>()));
    }
    let distinct = |each: &[Option<String>]| {
        let each: BTreeSet<String> = each.iter().flatten().cloned().collect();
        (!each.is_empty()).then(|| listed(&each.into_iter().collect::<Vec<_>>()))
    };
    match (distinct(inside), distinct(after), absence.absent.len()) {
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
