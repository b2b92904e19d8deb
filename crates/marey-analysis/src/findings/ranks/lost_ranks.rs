//! Are ranks missing, or did some not end by themselves?
//!
//! ```text
//! rank 0   |------------------|   finished
//! rank 1   |--------x             killed
//! rank 2                          no file
//! rank 3                          a file of which nothing could be read
//! ```

mod first_end;

use super::{JobFacts, JobRule, listed, sentence};
use crate::findings::{Category, Confidence, Evidence, FigureUnit, Finding, Outcome, Severity};
use crate::job::{Ended, Unread};
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
    let unread: Vec<String> = job.unread.iter().map(damaged_file).collect();
    if [&cut, &missing, &unread, &damaged]
        .iter()
        .all(|names| names.is_empty())
    {
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
    let lost = Lost {
        cut,
        missing,
        unread,
        damaged,
    };
    Outcome::Found(vec![finding(facts, &lost)])
}

fn how(member: &Member) -> String {
    match &member.ended {
        Ended::Failed(why) => format!("failed ({why})"),
        Ended::Killed(signal) => format!("was killed by signal {signal}"),
        Ended::WithoutClosing => "is gone without having closed its capture".to_owned(),
        _ => "has a damaged file".to_owned(),
    }
}

fn damaged_file(Unread { rank, file, .. }: &Unread) -> String {
    let rank = rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
    format!("{rank} is damaged: {file} could not be read")
}

/// What is said of each rank.
struct Lost {
    cut: Vec<String>,
    missing: Vec<String>,
    /// With a file of which nothing could be read.
    unread: Vec<String>,
    /// With a file that could be read in part.
    damaged: Vec<String>,
}

fn finding(facts: &JobFacts<'_>, lost: &Lost) -> Finding {
    let Lost {
        cut,
        missing,
        unread,
        damaged,
    } = lost;
    let mut said = Vec::new();
    if !cut.is_empty() {
        said.push(listed(cut));
    }
    if !missing.is_empty() {
        said.push(format!("of {} there is no file", listed(missing)));
    }
    for names in [unread, damaged] {
        if !names.is_empty() {
            said.push(listed(names));
        }
    }
    let first = first_end::first_end(facts.job);
    said.extend(first.map(|first| format!("{} ended first", facts.named(first.place))));
    let is_lost = !(cut.is_empty() && missing.is_empty() && unread.is_empty());
    let count = |what: &str, names: &[String]| {
        Evidence::new(what, float(names.len() as u64), FigureUnit::Count)
    };
    let mut evidence = vec![
        Evidence::new(
            "ranks that were read",
            float(facts.job.members.len() as u64),
            FigureUnit::Count,
        ),
        count("ranks that did not end by themselves", cut),
        count("ranks without a file", missing),
        count("ranks of which no file could be read", unread),
        count("ranks with a damaged file", damaged),
    ];
    let ns = |what: &str, ns: u64| Evidence::new(what, float(ns), FigureUnit::Ns);
    evidence.extend(first.iter().flat_map(|first| {
        [
            ns(
                "time from the first of these ends to the next",
                first.lead_ns,
            ),
            ns(
                "how far that may be off, by clocks and by what a killed rank wrote last",
                first.error_ns,
            ),
        ]
    }));
    Finding {
        rule: RULE.id,
        category: RULE.category,
        severity: if is_lost { Severity::High } else { Severity::Low },
        issue: sentence(&format!("{}; figures are of what is left", said.join("; "))),
        remedy: "Look at the rank that ended first: others often end because of it. Collect the captures of all hosts, and aggregate again."
            .into(),
        evidence,
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
    use crate::ranks::PlacedClock;

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
    fn the_rank_that_ended_first_is_named() {
        let mut job = job(2);
        for (member, wall_ns) in job.members.iter_mut().zip([5_000, 3_000]) {
            member.state = MemberState::Cut;
            member.ended = Ended::Failed("oom".into());
            member.wall_ns = wall_ns;
        }
        job.clocks.each = vec![
            PlacedClock {
                start_ns: Some(0),
                error_ns: Some(10),
                ..PlacedClock::default()
            };
            2
        ];
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Rank 0 failed (oom), rank 1 failed (oom); rank 1 ended first; figures are of what is left"
        );
        let figures: Vec<f64> = found.evidence.iter().map(|one| one.figure.value).collect();
        assert_eq!(figures[5..], [2_000.0, 20.0]);
    }

    #[test]
    fn a_rank_whose_file_could_not_be_read_is_damaged_and_not_missing() {
        let mut job = job(1);
        job.world_size = Some(3);
        job.missing = vec![2];
        job.unread = vec![Unread {
            rank: Some(1),
            file: "runs/a/rank1-7.marey".into(),
            why: "is empty".into(),
        }];
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Of rank 2 there is no file; rank 1 is damaged: runs/a/rank1-7.marey could not be read; figures are of what is left"
        );
        job.missing.clear();
        assert_eq!(only(check(&RULE, &job)).severity, Severity::High);
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
