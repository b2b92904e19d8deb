//! What rules look at in a job of several ranks, and how sentences name those.

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

    /// The ranks at these places, of which there is one at least: `rank 3`, `ranks 0-2 and 5`; files where one does not say its rank.
    pub(super) fn all_named(&self, places: &[u32]) -> String {
        let members = places.iter().map(|place| self.job.members.get(*place as usize)?.rank);
        let numbers = members.collect::<Option<Vec<u32>>>();
        numbers.and_then(|numbers| named_ranks(&numbers)).unwrap_or_else(|| {
            let names: Vec<String> = places.iter().map(|place| self.named(*place)).collect();
            listed(&names)
        })
    }
}

/// Runs of ranks that are said; of more, how many there are.
const MAX_RUNS: usize = 5;

/// Ranks in ascending order, three or more in a row as a run: `rank 3`, `ranks 0-2, 5 and 6`; `None` of none.
pub(super) fn named_ranks(numbers: &[u32]) -> Option<String> {
    let runs: Vec<&[u32]> = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)).collect();
    let said = |run: &&[u32]| match run {
        [first, _, .., last] => vec![format!("{first}-{last}")],
        few => few.iter().map(u32::to_string).collect(),
    };
    let mut names: Vec<String> = runs.iter().take(MAX_RUNS).flat_map(said).collect();
    let n_more: usize = runs.iter().skip(MAX_RUNS).map(|run| run.len()).sum();
    if n_more > 0 {
        names.push(format!("{n_more} more"));
    }
    let what = if numbers.len() == 1 { "rank" } else { "ranks" };
    let last = names.pop()?;
    Some(if names.is_empty() {
        format!("{what} {last}")
    } else {
        format!("{what} {} and {last}", names.join(", "))
    })
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

    #[test]
    fn ranks_in_a_row_are_a_run_and_of_many_runs_the_first_are_said() {
        let said = |numbers: &[u32]| named_ranks(numbers).unwrap_or_default();
        assert_eq!(named_ranks(&[]), None);
        assert_eq!(said(&[3]), "rank 3");
        assert_eq!(said(&[0, 2]), "ranks 0 and 2");
        assert_eq!(said(&[0, 1]), "ranks 0 and 1");
        assert_eq!(said(&[0, 1, 2]), "ranks 0-2");
        assert_eq!(said(&[0, 1, 2, 5, 7, 8]), "ranks 0-2, 5, 7 and 8");
        // 0 2 4 6 8, and 10 and 12 to 14.
        let many = [0, 2, 4, 6, 8, 10, 12, 13, 14];
        assert_eq!(said(&many), "ranks 0, 2, 4, 6, 8 and 4 more");
        assert_eq!(said(&[u32::MAX]), format!("rank {}", u32::MAX));
    }
}
