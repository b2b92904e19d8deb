//! Which ranks did not come to a call in which others gave up?

use super::{Cause, JobFacts, count, duration};

/// The call in which ranks waited longest for those that did not come, in words.
pub(super) fn cause(facts: &JobFacts<'_>) -> Option<Cause> {
    let longest = facts.job.absences.first()?;
    let article = match longest.name.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'u') => "an",
        _ => "a",
    };
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
        remedy: "Look at what the ranks that did not come did instead: the others waited for them. ",
    })
}
