//! What rules look at in a job of several ranks, and how sentences name those.

pub(super) mod named_ranks;

use super::Thresholds;
use crate::ranks::JobAnswers;

/// What rules of jobs look at.
pub(super) struct JobFacts<'a> {
    /// The answers, all but the findings.
    pub(super) job: &'a JobAnswers,
    pub(super) thresholds: &'a Thresholds,
}

impl JobFacts<'_> {
    /// How a sentence calls the rank at a place: `rank 3`, or by its file where that says no rank.
    pub(super) fn named(&self, place: u32) -> String {
        match self.job.members.get(place as usize) {
            Some(member) => match member.rank {
                Some(rank) => format!("rank {rank}"),
                None => format!("the process of {}", member.file),
            },
            None => "a rank".to_owned(),
        }
    }
}

/// The first five, and how many there are besides: `1, 2, 3, 4, 5 and 11 more`.
pub(super) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(5).map(String::as_str);
    let shown = shown.collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// With the first letter of a sentence.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::findings::rules::tests::rules_of;
    use crate::findings::{Outcome, Rule, job_findings};
    use crate::ranks::Member;

    /// A job of so many ranks, of which nothing is known but that they are there.
    pub(in crate::findings) fn job(n_ranks: u32) -> JobAnswers {
        let member = |rank| Member { rank: Some(rank), wall_ns: 1_000, ..Member::default() };
        JobAnswers {
            world_size: Some(n_ranks),
            members: (0..n_ranks).map(member).collect(),
            ..JobAnswers::default()
        }
    }

    pub(in crate::findings) fn check(rule: &Rule, job: &JobAnswers) -> Outcome {
        let facts = JobFacts { job, thresholds: &Thresholds::default() };
        rule.of_job(&facts).expect("a rule of jobs")
    }

    #[test]
    fn of_a_job_of_which_nothing_is_known_no_rule_finds_anything() {
        let all = job_findings(&JobAnswers::default(), &Thresholds::default());
        assert!(all.found.is_empty(), "{all:?}");
        assert_eq!(all.passed.len() + all.unchecked.len(), rules_of("job"));
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        assert_eq!(listed(&names), "0, 1, 2, 3, 4 and 2 more");
        assert_eq!(listed(&names[..2]), "0, 1");
    }
}
