//! What is the matter with a job of several ranks as a whole?
//!
//! A rule a file. Rules look at the answers about the job; what is the matter with single ranks stands in their own findings.

mod idle_gpus;
mod lost_ranks;
mod mixed_versions;
mod named_ranks;
mod rank_waiting;
mod slow_rank;
mod uneven_memory;

use super::{Category, Findings, Outcome, Thresholds, collect};
use crate::ranks::JobAnswers;

/// What rules of jobs look at.
struct JobFacts<'a> {
    /// The answers, all but the findings.
    job: &'a JobAnswers,
    thresholds: &'a Thresholds,
}

/// One thing that is looked for in jobs.
struct JobRule {
    id: &'static str,
    category: Category,
    checks: &'static str,
    check: fn(&JobFacts<'_>) -> Outcome,
}

const RULES: &[JobRule] = &[
    lost_ranks::RULE,
    slow_rank::RULE,
    rank_waiting::RULE,
    uneven_memory::RULE,
    idle_gpus::RULE,
    mixed_versions::RULE,
];

/// Checks every rule of jobs. What was found stands with the most severe first, then with the largest saving.
pub fn job_findings(job: &JobAnswers, thresholds: &Thresholds) -> Findings {
    let facts = JobFacts { job, thresholds };
    let checked = RULES.iter();
    collect(checked.map(|rule| (rule.id, rule.checks, (rule.check)(&facts))))
}

impl JobFacts<'_> {
    /// How a sentence calls the rank at a place: `rank 3`, or by its file where that says no rank.
    fn named(&self, place: u32) -> String {
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
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(5).map(String::as_str);
    let shown = shown.collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// With the first letter of a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Finding;
    use crate::ranks::Member;

    /// A job of so many ranks, of which nothing is known but that they are there.
    pub(super) fn job(n_ranks: u32) -> JobAnswers {
        let member = |rank| Member { rank: Some(rank), wall_ns: 1_000, ..Member::default() };
        JobAnswers {
            world_size: Some(n_ranks),
            members: (0..n_ranks).map(member).collect(),
            ..JobAnswers::default()
        }
    }

    pub(super) fn check(rule: &JobRule, job: &JobAnswers) -> Outcome {
        (rule.check)(&JobFacts { job, thresholds: &Thresholds::default() })
    }

    /// The only finding.
    pub(super) fn only(outcome: Outcome) -> Finding {
        match outcome {
            Outcome::Found(mut found) if found.len() == 1 => found.remove(0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_a_job_of_which_nothing_is_known_no_rule_finds_anything() {
        let all = job_findings(&JobAnswers::default(), &Thresholds::default());
        assert!(all.found.is_empty(), "{all:?}");
        assert_eq!(all.passed.len() + all.unchecked.len(), RULES.len());
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        assert_eq!(listed(&names), "0, 1, 2, 3, 4 and 2 more");
        assert_eq!(listed(&names[..2]), "0, 1");
    }
}
