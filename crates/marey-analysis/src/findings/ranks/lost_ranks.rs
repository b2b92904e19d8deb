//! Are ranks missing, or did some not end by themselves?
//!
//! ```text
//! rank 0   |------------------|   finished
//! rank 1   |--------x             killed
//! rank 2                          no file
//! ```

use super::{JobFacts, JobRule, listed, sentence};
use crate::findings::{Category, Confidence, Evidence, FigureUnit, Finding, Outcome, Severity};
use crate::job::Ended;
use crate::ranks::{Member, MemberState};
use crate::stats::float;

pub(super) const RULE: JobRule = JobRule {
    id: "lost-ranks",
    category: Category::Scaling,
    checks: "ranks are missing, failed or were killed",
    check,
};

fn check(facts: &JobFacts<'_>) -> Outcome {
    let job = facts.job;
    if job.members.is_empty() {
        return Outcome::Unknown("no rank was read".into());
    }
    let of_state = |wanted: MemberState| -> Vec<String> {
        let places = (0_u32..).zip(&job.members);
        let found = places.filter(|(_, member)| member.state == wanted);
        found
            .map(|(place, member)| format!("{} {}", facts.named(place), how(member)))
            .collect()
    };
    let (cut, damaged) = (of_state(MemberState::Cut), of_state(MemberState::Damaged));
    let missing: Vec<String> = job
        .missing
        .iter()
        .map(|rank| format!("rank {rank}"))
        .collect();
    if cut.is_empty() && missing.is_empty() && damaged.is_empty() {
        return match job.world_size {
            Some(world_size) => Outcome::Passed(format!(
                "{world_size} of {world_size} ranks are there and ended well"
            )),
            None => Outcome::Unknown(
                "the files do not say how many ranks there are; those that were read ended well"
                    .into(),
            ),
        };
    }
    Outcome::Found(vec![finding(facts, &cut, &missing, &damaged)])
}

fn how(member: &Member) -> String {
    match &member.ended {
        Ended::Failed(why) => format!("failed ({why})"),
        Ended::Killed(signal) => format!("was killed by signal {signal}"),
        Ended::WithoutClosing => "is gone without having closed its capture".to_owned(),
        _ => "has a damaged file".to_owned(),
    }
}

fn finding(
    facts: &JobFacts<'_>,
    cut: &[String],
    missing: &[String],
    damaged: &[String],
) -> Finding {
    let mut said = Vec::new();
    if !cut.is_empty() {
        said.push(listed(cut));
    }
    if !missing.is_empty() {
        said.push(format!("of {} there is no file", listed(missing)));
    }
    if !damaged.is_empty() {
        said.push(listed(damaged));
    }
    let is_lost = !(cut.is_empty() && missing.is_empty());
    let count = |what: &str, names: &[String]| {
        Evidence::new(what, float(names.len() as u64), FigureUnit::Count)
    };
    Finding {
        rule: RULE.id,
        category: RULE.category,
        severity: if is_lost { Severity::High } else { Severity::Low },
        issue: sentence(&format!("{}; figures are of what is left", said.join("; "))),
        remedy: "Look at the first rank that failed: others often end because of it. Collect the captures of all hosts, and aggregate again."
            .into(),
        evidence: vec![
            Evidence::new("ranks that were read", float(facts.job.members.len() as u64), FigureUnit::Count),
            count("ranks that did not end by themselves", cut),
            count("ranks without a file", missing),
            count("ranks with a damaged file", damaged),
        ],
        intervals: Vec::new(),
        node: None,
        saving: None,
        confidence: Confidence::High,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, job, only};
    use super::*;

    #[test]
    fn killed_and_missing_ranks_are_named() {
        let mut job = job(3);
        job.members[1].state = MemberState::Cut;
        job.members[1].ended = Ended::Killed(9);
        job.members.truncate(2);
        job.missing = vec![2];
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Rank 1 was killed by signal 9; of rank 2 there is no file; figures are of what is left"
        );
        assert_eq!(found.severity, Severity::High);
    }

    #[test]
    fn a_damaged_file_is_of_low_severity() {
        let mut job = job(2);
        job.members[0].state = MemberState::Damaged;
        assert_eq!(only(check(&RULE, &job)).severity, Severity::Low);
    }

    #[test]
    fn a_job_whose_ranks_all_ended_well_passes_and_without_its_size_nobody_can_tell() {
        let mut job = job(2);
        assert!(matches!(check(&RULE, &job), Outcome::Passed(_)));
        job.members[0].state = MemberState::Running;
        assert!(matches!(check(&RULE, &job), Outcome::Passed(_)));
        job.world_size = None;
        assert!(matches!(check(&RULE, &job), Outcome::Unknown(_)));
    }
}
