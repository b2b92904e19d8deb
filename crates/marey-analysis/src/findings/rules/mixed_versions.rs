//! Were ranks recorded with different versions of Marey?
//!
//! ```text
//! rank 0   0.1.0
//! rank 1   0.2.0      figures may be measured in different ways
//! ```

use crate::findings::job_facts::{JobFacts, listed};
use crate::findings::prelude::*;
use crate::quantity::counted;

pub(super) const RULE: Rule = Rule {
    id: "mixed-versions",
    category: Category::Scaling,
    checks: "ranks were recorded with different versions of Marey, or say different numbers of ranks",
    limits: &[],
    saves: "none",
    of: &[Check::Job("captures, which say it", check)],
};

fn check(facts: &JobFacts<'_>) -> Outcome {
    let job = facts.job;
    let known = job.versions.iter().filter_map(|row| Some((row.marey.as_ref()?, row.places.len())));
    let versions: Vec<String> = known
        .map(|(version, n)| format!("{version} on {}", counted(n as u64, "rank", "ranks")))
        .collect();
    let sizes: Vec<String> = job.other_world_sizes.iter().map(u32::to_string).collect();
    if versions.is_empty() && sizes.is_empty() {
        return Outcome::Unknown("the files do not say which version of Marey wrote them".into());
    }
    if versions.len() < 2 && sizes.is_empty() {
        return Outcome::Passed(format!(
            "all that say it were recorded with {}",
            listed(&versions)
        ));
    }
    let mut found = Vec::new();
    if versions.len() > 1 {
        let issue =
            format!("Ranks were recorded with different versions of Marey: {}", listed(&versions));
        let remedy =
            "Install the same version on all hosts: figures may be measured in different ways.";
        found.push(finding(issue, remedy, ("versions", versions.len())));
    }
    if !sizes.is_empty() {
        let issue = format!("Ranks disagree about how many they are: {}", listed(&sizes));
        let remedy = "Aggregate the files of one job at a time, and give each job an id of its own (MAREY_JOB_ID).";
        found.push(finding(issue, remedy, ("numbers of ranks", sizes.len())));
    }
    Outcome::Found(found)
}

fn finding(issue: String, remedy: &str, (what, n): (&str, usize)) -> Finding {
    Finding {
        severity: Severity::Low,
        issue,
        remedy: remedy.into(),
        evidence: vec![Evidence::count(what, n as u64)],
        ..RULE.finding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::job_facts::tests::{check, job};
    use crate::findings::rules::tests::only;
    use crate::ranks::{JobAnswers, VersionRow};

    fn with(versions: &[Option<&str>]) -> JobAnswers {
        let mut job = job(2);
        let row = |(place, version): (u32, Option<&str>)| VersionRow {
            marey: version.map(str::to_owned),
            places: vec![place],
        };
        job.versions = (0..).zip(versions.iter().copied()).map(row).collect();
        job
    }

    #[test]
    fn different_versions_are_named_with_their_ranks() {
        let found = only(check(&RULE, &with(&[Some("0.1.0"), Some("0.2.0")])));
        assert_eq!(
            found.issue,
            "Ranks were recorded with different versions of Marey: 0.1.0 on 1 rank, 0.2.0 on 1 rank"
        );
    }

    #[test]
    fn different_numbers_of_ranks_are_named() {
        let mut job = with(&[Some("0.1.0")]);
        job.other_world_sizes = vec![2, 4];
        let found = only(check(&RULE, &job));
        assert_eq!(found.issue, "Ranks disagree about how many they are: 2, 4");
    }

    #[test]
    fn one_version_passes_whatever_does_not_say_it() {
        let outcome = check(&RULE, &with(&[None, Some("0.1.0")]));
        assert!(matches!(outcome, Outcome::Passed(_)), "{outcome:?}");
        assert!(matches!(check(&RULE, &with(&[None])), Outcome::Unknown(_)));
    }
}
