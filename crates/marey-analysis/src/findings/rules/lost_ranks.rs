//! Are ranks missing, or did some not end by themselves?
//!
//! ```text
//! rank 0   |------------------|   finished
//! rank 1   |--------x             killed
//! rank 2                          no file
//! rank 3                          a file of which nothing could be read
//! rank 4   |----| load_lora …     never came to a call that the others are in
//! ```

mod first_end;
mod gave_up;

pub use gave_up::hang;

use std::collections::BTreeMap;

use crate::findings::job_facts::{JobFacts, listed, named_ranks, sentence};
use crate::findings::prelude::*;
use crate::job::{Ended, Source, Unread};
use crate::ranks::{Member, MemberState};

pub(super) const RULE: Rule = Rule {
    id: "lost-ranks",
    category: Category::Scaling,
    checks: "ranks are missing, failed, were killed or hang",
    limits: &[],
    saves: "none: what is lost saves nothing",
    of: &[Check::Job(
        "the number of ranks; for hangs a collective that is open for 5 s, and ten times its longest call",
        check,
    )],
};

fn check(facts: &JobFacts<'_>) -> Outcome {
    let job = facts.job;
    if job.members.is_empty() {
        return Outcome::Unknown("no rank was read".into());
    }
    let (cut, damaged) =
        (Endings::of(facts, MemberState::Cut), Endings::of(facts, MemberState::Damaged));
    let unread: Vec<String> = job.unread.iter().map(damaged_file).collect();
    let n_lost = cut.n_ranks + damaged.n_ranks + job.missing.len() + unread.len();
    if n_lost == 0 && job.absences.is_empty() {
        if job.members.iter().any(|member| member.source == Source::FlightRecorder) {
            return Outcome::Passed("no dump has a call that waits for another rank".into());
        }
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
    let lost = Lost { cut, unread, damaged };
    let mut causes = gave_up::causes(facts).into_iter();
    let cause = causes.next().or_else(|| first_end::cause(facts));
    let others = causes.map(|cause| Finding {
        severity: Severity::High,
        issue: sentence(&cause.said),
        remedy: cause.remedy.to_owned(),
        evidence: cause.evidence,
        ..RULE.finding()
    });
    let others: Vec<Finding> = others.collect();
    Outcome::Found([vec![finding(facts, &lost, cause)], others].concat())
}

/// Ranks by how they ended, those with an equal ending together.
struct Endings {
    n_ranks: usize,
    /// A part of a sentence each, in the order of their first ranks.
    said: Vec<String>,
}

impl Endings {
    fn of(facts: &JobFacts<'_>, wanted: MemberState) -> Self {
        let places = (0_u32..).zip(&facts.job.members);
        let mut by_ending: Vec<(&Member, Vec<u32>)> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (place, member) in places.filter(|(_, member)| member.state == wanted) {
            let next = by_ending.len();
            let at = *known.entry(how(member, true)).or_insert(next);
            match by_ending.get_mut(at) {
                Some((_, places)) => places.push(place),
                None => by_ending.push((member, vec![place])),
            }
        }
        let say = |(member, places): &(&Member, Vec<u32>)| {
            let is_one = places.len() == 1;
            format!("{} {}", facts.all_named(places), how(member, is_one))
        };
        Self {
            n_ranks: by_ending.iter().map(|(_, places)| places.len()).sum(),
            said: by_ending.iter().map(say).collect(),
        }
    }
}

fn how(member: &Member, is_one: bool) -> String {
    match (&member.ended, is_one) {
        (Ended::Failed(why), _) => format!("failed ({why})"),
        (Ended::Killed(signal), true) => format!("was killed by signal {signal}"),
        (Ended::Killed(signal), false) => format!("were killed by signal {signal}"),
        // Of a copy nobody knows whether its process closed the capture.
        (Ended::WithoutClosing, true) if member.is_truncated => {
            "has a capture that was cut, or a copy of it that is incomplete".to_owned()
        }
        (Ended::WithoutClosing, false) if member.is_truncated => {
            "have captures that were cut, or copies of them that are incomplete".to_owned()
        }
        (Ended::WithoutClosing, true) => "is gone without having closed its capture".to_owned(),
        (Ended::WithoutClosing, false) => {
            "are gone without having closed their captures".to_owned()
        }
        (_, true) => "has a damaged file".to_owned(),
        (_, false) => "have damaged files".to_owned(),
    }
}

fn damaged_file(Unread { rank, file, .. }: &Unread) -> String {
    let rank = rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
    format!("{rank} is damaged: {file} could not be read")
}

/// What is said of ranks.
struct Lost {
    cut: Endings,
    /// With a file of which nothing could be read.
    unread: Vec<String>,
    /// With a file that could be read in part.
    damaged: Endings,
}

fn finding(facts: &JobFacts<'_>, lost: &Lost, cause: Option<Cause>) -> Finding {
    let Lost { cut, unread, damaged } = lost;
    let missing = &facts.job.missing;
    let no_file = named_ranks(missing);
    let parts = [
        listed(&cut.said),
        no_file.map_or_else(String::new, |ranks| format!("of {ranks} there is no file")),
        listed(unread),
        listed(&damaged.said),
    ];
    let mut said: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut evidence = vec![count("ranks that were read", facts.job.members.len())];
    let counts = [
        count("ranks that did not end by themselves", cut.n_ranks),
        count("ranks without a file", missing.len()),
        count("ranks of which no file could be read", unread.len()),
        count("ranks with a damaged file", damaged.n_ranks),
    ];
    evidence.extend(counts.into_iter().filter(|one| one.figure.value > 0.0));
    let mut remedy = "";
    if let Some(cause) = cause {
        said.push(cause.said);
        evidence.extend(cause.evidence);
        remedy = cause.remedy;
    }
    let n_lost = cut.n_ranks + damaged.n_ranks + missing.len() + unread.len();
    // None is lost where all are there and hang.
    let (left, collect) = match n_lost {
        0 => ("", ""),
        _ => (
            "; figures are of what is left",
            " Collect the files of all hosts, and aggregate again.",
        ),
    };
    Finding {
        severity: if n_lost == damaged.n_ranks && facts.job.absences.is_empty() {
            Severity::Low
        } else {
            Severity::High
        },
        issue: sentence(&(said.join("; ") + left)),
        remedy: format!("{remedy}{collect}").trim_start().to_owned(),
        evidence,
        ..RULE.finding()
    }
}

/// What the captures say of why ranks are lost.
struct Cause {
    said: String,
    evidence: Vec<Evidence>,
    remedy: &'static str,
}

fn count(what: &str, n_ranks: usize) -> Evidence {
    Evidence::count(what, n_ranks as u64)
}

fn duration(what: &str, ns: u64) -> Evidence {
    Evidence::ns(what, ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::job_facts::tests::{check, job};
    use crate::findings::rules::tests::only;
    use crate::ranks::{Absence, PlacedClock};

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
    fn ranks_that_ended_alike_are_named_together_and_counts_of_nothing_left_out() {
        let mut job = job(6);
        for member in &mut job.members[..4] {
            member.state = MemberState::Cut;
            member.ended = Ended::WithoutClosing;
        }
        job.members[1].ended = Ended::Killed(9);
        job.members[5].state = MemberState::Damaged;
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Ranks 0, 2 and 3 are gone without having closed their captures, rank 1 was killed by signal 9; rank 5 has a damaged file; figures are of what is left"
        );
        let figures: Vec<(&str, f64)> =
            found.evidence.iter().map(|one| (one.what.as_str(), one.figure.value)).collect();
        assert_eq!(
            figures,
            [
                ("ranks that were read", 6.0),
                ("ranks that did not end by themselves", 4.0),
                ("ranks with a damaged file", 1.0)
            ]
        );
    }

    #[test]
    fn the_rank_that_ended_first_is_named() {
        let mut job = job(2);
        for (member, wall_ns) in job.members.iter_mut().zip([5_000, 3_000]) {
            member.state = MemberState::Cut;
            member.ended = Ended::Failed("oom".into());
            member.wall_ns = wall_ns;
        }
        job.clocks.each =
            vec![
                PlacedClock { start_ns: Some(0), error_ns: Some(10), ..PlacedClock::default() };
                2
            ];
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Ranks 0 and 1 failed (oom); rank 1 ended first; figures are of what is left"
        );
        let figures: Vec<f64> = found.evidence.iter().map(|one| one.figure.value).collect();
        assert_eq!(figures, [2.0, 2.0, 2_000.0, 20.0]);
    }

    #[test]
    fn the_rank_that_did_not_come_to_a_call_is_named_before_the_one_that_ended_first() {
        // Ranks 0 and 2 gave up in a call and ended; rank 1, for which they waited, was stopped then.
        let mut job = job(3);
        for (member, wall_ns) in job.members.iter_mut().zip([3_000, 5_000, 3_000]) {
            member.state = MemberState::Cut;
            member.ended = Ended::Failed("timeout".into());
            member.wall_ns = wall_ns;
        }
        job.absences = vec![Absence {
            has_failed: true,
            name: Some("all_reduce".into()),
            absent: vec![1],
            gave_up: vec![0, 2],
            longest_ns: Some(2_500),
            ..Absence::default()
        }];
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Ranks 0-2 failed (timeout); rank 1 did not come to an all_reduce in which ranks 0 and 2 gave up; figures are of what is left"
        );
        assert!(found.remedy.starts_with("Find out what the rank"), "{}", found.remedy);
        let figures: Vec<f64> = found.evidence.iter().map(|one| one.figure.value).collect();
        assert_eq!(figures, [3.0, 3.0, 1.0, 2.0, 2_500.0]);
    }

    #[test]
    fn a_capture_that_ends_within_a_block_may_be_a_copy_of_one_that_was_closed() {
        let mut job = job(4);
        for place in [1, 2, 3] {
            job.members[place].state = MemberState::Cut;
            job.members[place].ended = Ended::WithoutClosing;
            job.members[place].is_truncated = place != 2;
        }
        let found = only(check(&RULE, &job));
        assert_eq!(
            found.issue,
            "Ranks 1 and 3 have captures that were cut, or copies of them that are incomplete, rank 2 is gone without having closed its capture; figures are of what is left"
        );
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
            ..Unread::default()
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
