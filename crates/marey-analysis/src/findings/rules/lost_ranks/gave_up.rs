//! Which ranks did not come to a call in which others gave up, or hang?

use super::{Cause, JobFacts, count, duration};
use crate::quantity::duration_ns;
use crate::ranks::Absence;

/// The call in which ranks waited longest for those that did not come, in words.
pub(super) fn cause(facts: &JobFacts<'_>) -> Option<Cause> {
    let longest = facts.job.absences.first()?;
    let article = match longest.name.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'u') => "an",
        _ => "a",
    };
    if !longest.has_failed {
        return Some(Cause {
            said: hang(facts, longest),
            evidence: vec![
                count("ranks that did not come", longest.absent.len()),
                duration("most time of a rank in that call", longest.longest_ns),
            ],
            remedy: "Look at what the ranks that did not come do instead: the others wait for them.",
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
            duration("most time of a rank in such calls until it gave up", longest.longest_ns),
        ],
        remedy: "Look at what the ranks that did not come did instead: the others waited for them.",
    })
}

/// `ranks 0, 1 and 3 waited 18.0 s in call 11 of all_reduce, to which rank 2 did not come: it was in load_lora`
fn hang(facts: &JobFacts<'_>, absence: &Absence) -> String {
    let mut sections: Vec<&str> = absence.absent_in.iter().flatten().map(String::as_str).collect();
    sections.sort_unstable();
    sections.dedup();
    let who = if absence.absent.len() == 1 { "it was" } else { "they were" };
    let inside = match sections[..] {
        [] => String::new(),
        _ => format!(": {who} in {}", sections.join(", ")),
    };
    let call = absence.call.map_or(String::new(), |call| format!("call {call} of "));
    format!(
        "{} waited {} in {call}{}, to which {} did not come{inside}",
        facts.all_named(&absence.gave_up),
        duration_ns(absence.longest_ns),
        absence.name,
        facts.all_named(&absence.absent),
    )
}
