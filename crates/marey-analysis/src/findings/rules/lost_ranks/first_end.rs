//! Which of the ranks that did not end by themselves ended first?
//!
//! ```text
//! rank 0   |-----------x- - ?         killed: the last that it wrote, and it may have lived on for a while
//! rank 1   |------x                   failed: the moment that it said so
//!                 |<-->|              the least time between both ends
//! ```

use super::{Cause, JobFacts, duration};
use crate::job::Ended;
use crate::ranks::{JobAnswers, MemberState};

/// A rank that certainly ended before all others that did not end by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FirstEnd {
    place: u32,
    /// The least time from its end to the next, by what clocks and captures say, nanoseconds.
    lead_ns: u64,
    /// How far both ends together may be off, which is less.
    error_ns: u64,
}

/// The rank that ended first, in words.
pub(super) fn cause(facts: &JobFacts<'_>) -> Option<Cause> {
    let first = first_end(facts.job)?;
    Some(Cause {
        said: format!("{} ended first", facts.named(first.place)),
        evidence: vec![
            duration("time from the first of these ends to the next", first.lead_ns),
            duration(
                "how far that may be off, by clocks and by what a killed rank wrote last",
                first.error_ns,
            ),
        ],
        remedy: "Look at the rank that ended first: others often end because of it.",
    })
}

/// A process that was killed writes a sign of life each second until then, and what a round of writing takes later.
const SIGN_OF_LIFE_NS: u64 = 1_100_000_000;

/// When a rank ended, on the common axis.
struct End {
    place: u32,
    /// The last that is known of it.
    seen_ns: u64,
    /// How far its clock may be off.
    clock_error_ns: u64,
    /// How long it may have lived on.
    unseen_ns: u64,
}

/// `None` where one of them cannot be placed on the axis, where there is only one, and where the first two ended closer to each other than
/// clocks and captures tell.
fn first_end(job: &JobAnswers) -> Option<FirstEnd> {
    let cut = (0_u32..).zip(&job.members);
    let cut = cut.filter(|(_, member)| member.state == MemberState::Cut);
    let end = |(place, member): (u32, &crate::ranks::Member)| {
        let clock = job.clocks.each.get(place as usize)?;
        // Of a copy that was cut nobody knows how long the process lived.
        if member.is_truncated && member.ended == Ended::WithoutClosing {
            return None;
        }
        Some(End {
            place,
            seen_ns: clock.start_ns?.saturating_add(member.wall_ns),
            clock_error_ns: clock.error_ns?,
            unseen_ns: match member.ended {
                Ended::Failed(_) => 0,
                _ => SIGN_OF_LIFE_NS,
            },
        })
    };
    let mut ends: Vec<End> = cut.map(end).collect::<Option<Vec<End>>>()?;
    ends.sort_by_key(|end| end.seen_ns.saturating_add(end.unseen_ns));
    let (first, others) = ends.split_first()?;
    let next = others.iter().min_by_key(|end| end.seen_ns.saturating_sub(end.clock_error_ns))?;
    let error_ns =
        first.clock_error_ns.saturating_add(next.clock_error_ns).saturating_add(first.unseen_ns);
    let lead_ns = next.seen_ns.saturating_sub(first.seen_ns);
    (lead_ns > error_ns).then_some(FirstEnd { place: first.place, lead_ns, error_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Clocks, Member, PlacedClock};

    const MS: u64 = 1_000_000;

    /// Ranks that did not end by themselves: how, when they began and how long they ran, and what clocks are off by, milliseconds.
    fn job(ranks: &[(Ended, u64, u64, Option<u64>)]) -> JobAnswers {
        let member = |(ended, _, wall_ms, _): &(Ended, u64, u64, Option<u64>)| Member {
            ended: ended.clone(),
            state: MemberState::Cut,
            wall_ns: wall_ms * MS,
            ..Member::default()
        };
        let clock = |(_, start_ms, _, error_ms): &(Ended, u64, u64, Option<u64>)| PlacedClock {
            start_ns: Some(start_ms * MS),
            error_ns: error_ms.map(|ms| ms * MS),
            ..PlacedClock::default()
        };
        JobAnswers {
            members: ranks.iter().map(member).collect(),
            clocks: Clocks { each: ranks.iter().map(clock).collect(), ..Clocks::default() },
            ..JobAnswers::default()
        }
    }

    fn failed() -> Ended {
        Ended::Failed("out of memory".into())
    }

    #[test]
    fn the_first_to_end_is_told_by_the_common_axis() {
        // rank 0   0 |------------------------| 500     ran longest
        // rank 1       300 |----| 400                   failed first
        // rank 2   0 |-------------------| 460
        let ranks = [
            (failed(), 0, 500, Some(0)),
            (failed(), 300, 100, Some(20)),
            (Ended::Killed(15), 0, 460, Some(30)),
        ];
        let first = first_end(&job(&ranks));
        let expected = FirstEnd { place: 1, lead_ns: 60 * MS, error_ns: 50 * MS };
        assert_eq!(first, Some(expected));
    }

    #[test]
    fn nobody_is_named_where_clocks_are_off_by_more_than_lies_between() {
        let mut ranks = [(failed(), 0, 400, Some(30)), (failed(), 0, 460, Some(30))];
        assert_eq!(first_end(&job(&ranks)), None);
        ranks[1].3 = Some(29);
        assert!(first_end(&job(&ranks)).is_some());
        // How far a clock is off is not known.
        ranks[1].3 = None;
        assert_eq!(first_end(&job(&ranks)), None);
        assert_eq!(first_end(&job(&ranks[..1])), None);
        assert_eq!(first_end(&job(&[])), None);
        // The next one by what is seen of it need not be the one that may have ended next.
        let ranks = [
            (failed(), 0, 400, Some(0)),
            (failed(), 0, 460, Some(0)),
            (failed(), 0, 470, Some(80)),
        ];
        assert_eq!(first_end(&job(&ranks)), None);
    }

    #[test]
    fn a_killed_rank_may_have_lived_for_a_second_after_what_it_wrote_last() {
        let mut ranks = [(Ended::Killed(9), 0, 400, Some(0)), (failed(), 0, 1_500, Some(0))];
        assert_eq!(first_end(&job(&ranks)), None);
        ranks[1].2 = 1_501;
        assert_eq!(first_end(&job(&ranks)).map(|first| first.place), Some(0));
    }

    #[test]
    fn of_a_copy_that_was_cut_nobody_knows_how_long_its_process_lived() {
        let mut job =
            job(&[(Ended::WithoutClosing, 0, 400, Some(0)), (failed(), 0, 4_000, Some(0))]);
        assert_eq!(first_end(&job).map(|first| first.place), Some(0));
        job.members[0].is_truncated = true;
        assert_eq!(first_end(&job), None);
    }
}
