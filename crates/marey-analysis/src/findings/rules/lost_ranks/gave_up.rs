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
        return Some(Cause {
            said: waiting(facts, longest),
            evidence: [
                Some(longest.absent.len())
                    .filter(|n_absent| *n_absent > 0)
                    .map(|n_absent| count("ranks that did not come", n_absent)),
                longest.longest_ns.map(|ns| duration("most time of a rank in that call", ns)),
            ]
            .into_iter()
            .flatten()
            .collect(),
            remedy: remedy(longest),
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
    let call = absence.call.map_or(String::new(), |call| format!("call {call} of "));
    let waited = match absence.longest_ns {
        Some(ns) => format!("waited {}", duration_ns(ns)),
        None => "waited".to_owned(),
    };
    let details = [
        absence.group.as_ref().filter(|_| absence.longest_ns.is_none()).cloned(),
        absence.input.clone(),
        absence.since_unix_ns.map(|ns| format!("since {}", time_of_day(ns))),
    ];
    let details = details.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let details = if details.is_empty() { details } else { format!(" ({details})") };
    let mut said =
        vec![format!("{} {waited} in {call}{}{details}", named(&absence.gave_up), absence.name)];
    if !absence.absent.is_empty() {
        let absent = named(&absence.absent);
        said.push(format!(", to which {absent} did not come{}", instead(absence)));
    }
    let others = absence.others.iter();
    said.extend(others.map(|one| format!(", {} called {} instead", named(&one.ranks), one.call)));
    let unknown = named_ranks::ranks(&absence.unknown);
    said.extend(unknown.map(|unknown| format!("; no dump says what {unknown} did")));
    said.concat()
}

/// Where the ranks were that did not come.
fn instead(absence: &Absence) -> String {
    let is_one = absence.absent.len() == 1;
    let listed = |each: &[Option<String>]| {
        let each: BTreeSet<&str> = each.iter().flatten().map(String::as_str).collect();
        each.into_iter().collect::<Vec<_>>().join(", ")
    };
    let (inside, after) = (listed(&absence.absent_in), listed(&absence.absent_after));
    match (inside.is_empty(), after.is_empty(), is_one) {
        (false, _, true) => format!(": it was in {inside}"),
        (false, _, false) => format!(": they were in {inside}"),
        (true, false, true) => format!(": its last was {after}"),
        (true, false, false) => format!(": their last were {after}"),
        (true, true, _) => String::new(),
    }
}

/// `12:53:24 UTC`
fn time_of_day(unix_ns: u64) -> String {
    let s = unix_ns / 1_000_000_000 % 86_400;
    format!("{:02}:{:02}:{:02} UTC", s / 3600, s / 60 % 60, s % 60)
}
