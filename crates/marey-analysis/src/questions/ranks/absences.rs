//! Which ranks did not come to a call of a collective in which others gave up, or hang?

use serde::Serialize;

use super::members::state;
use super::shared_calls::SharedCalls;
use super::{MemberState, placed};
use crate::intervals::Interval;
use crate::job::{
    BEGIN, CollectiveSums, RankSummary, START_UP, Source, WAIT, is_between_two, is_synchronising,
};

/// A collective that failed on some ranks, or in which these hang, and to which others never came; of dumps also a message whose other side
/// is not there, and what all came to and not all completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Absence {
    /// The group; `None` when not known.
    pub group: Option<String>,
    /// The collective; `None` where dumps say that ranks wait in a call, and no dump has it any more.
    pub name: Option<String>,
    /// Which call of it, from 1; `None` where which group's call it was is not known.
    pub call: Option<u64>,
    /// What it was given on the ranks that were in it: `1024 BFloat16`; of dumps of flight recorders, as all below that names them.
    pub input: Option<String>,
    /// Ranks that did not come, by place.
    pub absent: Vec<u32>,
    /// What each of these had open longest when it ended or was read, of sections with none open in them; `None` where there was none.
    /// Of dumps the call of another group, or the message, that it is in.
    pub absent_in: Vec<Option<String>>,
    /// Of dumps the last call that each of these made in the group, and where, or of any group where it made none in this one; `None` where
    /// that is not known. Else empty.
    pub absent_after: Vec<Option<String>>,
    /// It failed; otherwise they were in it when they ended or were read.
    pub has_failed: bool,
    /// Ranks in which it failed, or that were in it, by place.
    pub gave_up: Vec<u32>,
    /// Most time of one rank in such calls; `None` of dumps, which do not say when they were written.
    pub longest_ns: Option<u64>,
    /// Of those that were in it: whose kernel had not started, where dumps say it.
    pub not_started: Vec<u32>,
    /// Of those that were in it: whose dump no longer has the call, and only counts it.
    pub not_in_dump: Vec<u32>,
    /// Ranks that have completed it, where dumps say it.
    pub completed: Vec<u32>,
    /// Ranks that made an open call of another group before this one, where others made that one after it: kernels of both can keep each
    /// other from starting.
    pub crossed: Option<OtherCall>,
    /// When the first rank made the call, nanoseconds since 1970, where a dump says it.
    pub since_unix_ns: Option<u64>,
    /// Calls of the same number that do not fit it.
    pub others: Vec<OtherCall>,
    /// Ranks of the group, by their numbers, of which there is no dump, or one that says nothing of the call: nothing is known of them.
    pub unknown: Vec<u32>,
}

impl Absence {
    /// Nobody is missed in it, and nobody is elsewhere: all came.
    pub fn is_of_all(&self) -> bool {
        self.absent.is_empty() && self.others.is_empty() && self.unknown.is_empty()
    }
}

/// What ranks called instead of what the others did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct OtherCall {
    /// Those ranks, by place.
    pub ranks: Vec<u32>,
    /// The collective, with what it was given: `all_gather (1024 BFloat16)`.
    pub call: String,
}

/// In a call that lasts less than this nobody hangs.
const HANGS_NS: u64 = 5_000_000_000;
/// Nor in one that lasts less than so many times the longest of any rank.
const BEYOND_LONGEST: u64 = 10;

/// Ranks that are in a call of this name for so long may hang: all come together in it.
pub fn may_hang(name: &str, open_ns: u64) -> bool {
    open_ns >= HANGS_NS && (is_synchronising(name) || name == START_UP)
}

/// Collectives that failed on some ranks while others never came to them, the one with the longest failed call first; where none failed, the
/// one in which ranks hang. A rank did not come when it made no more calls of it than those that failed had completed, none of its own failed,
/// and no collective of any group was open in it: one that was held up in another call, or failed there, waited itself.
///
/// ```text
/// call       19       20
/// rank 0   |----|  |---------------------x      gave up
/// rank 1   |----|                               did not come
/// rank 2   |----|   |--------------------x      gave up
/// ```
///
/// Who came to the wait for a call is known from the calls that were begun. Asked are captures without losses. A rank without any such call
/// counts where the group has as many members as the job has ranks. Messages between two ranks, and groups that cannot be told apart, say
/// nothing.
pub(super) fn absences(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    world_size: Option<u32>,
) -> Vec<Absence> {
    let told = shared.iter().filter(|one| !one.is_ambiguous && !is_between_two(one.name));
    let mut found: Vec<Absence> = told.filter_map(|one| absence(places, one, world_size)).collect();
    if found.is_empty() {
        found.extend(hang(places, shared));
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.longest_ns));
    found
}

fn absence(
    places: &[&RankSummary],
    shared: &SharedCalls<'_>,
    world_size: Option<u32>,
) -> Option<Absence> {
    let failed = shared.having.iter().filter(|(_, sums)| sums.n_failed > 0);
    let completed = failed.clone().map(|(_, sums)| sums.count).min()?;
    let is_of_all = shared.is_start_up()
        || (!shared.is_ambiguous
            && shared.group_size.is_some()
            && shared.group_size == world_size.map(u64::from));
    let is_member = |place: u32, rank: &RankSummary| match shared.count_of(place) {
        Some(_) => true,
        None => is_of_all && rank.process.rank.is_some(),
    };
    let did_not_come = placed(places)
        .filter(|(place, rank)| is_member(*place, rank))
        .filter(|(_, rank)| is_whole_record(rank) && !is_in_a_call(rank))
        .filter(|(_, rank)| arrivals(rank, shared.group, shared.name) <= completed);
    let absent: Vec<u32> = did_not_come.map(|(place, _)| place).collect();
    (!absent.is_empty()).then(|| Absence {
        group: shared.group.map(str::to_owned),
        name: Some(base(shared.name).to_owned()),
        call: Some(completed + 1),
        absent_in: absent.iter().map(|place| open_in(places.get(*place as usize)?)).collect(),
        absent,
        has_failed: true,
        gave_up: failed.clone().map(|(place, _)| *place).collect(),
        longest_ns: failed.map(|(_, sums)| sums.failed_ns).max(),
        ..Absence::default()
    })
}

/// Ranks that were in a call of a collective when they ended or were read, for long, and have made no other call since, while others were in
/// none, and have made none for long either: those did not come. Where all are in calls, those did not that are in one of another name. Which
/// group's call it is is not known where a rank has several groups.
fn hang(places: &[&RankSummary], shared: &[SharedCalls<'_>]) -> Option<Absence> {
    let held: Vec<(u32, &str, u64)> = placed(places)
        .filter_map(|(place, rank)| {
            let open =
                rank.sections.iter().filter_map(|one| Some((one.path.last()?, one.open_ns?)));
            let calls = open.filter(|(name, open_ns)| may_hang(name, *open_ns));
            let (name, open_ns) = calls.max_by_key(|(_, open_ns)| *open_ns)?;
            let is_long = open_ns >= longest_ns(places, name).saturating_mul(BEYOND_LONGEST);
            (is_long && !has_called_for(rank, open_ns)).then_some((place, name.as_str(), open_ns))
        })
        .collect();
    let (_, name, longest_ns) = *held.iter().max_by_key(|(.., ns)| *ns)?;
    let (held, elsewhere): (Vec<_>, Vec<_>) = held.into_iter().partition(|one| one.1 == name);
    // Groups that it may be a call of, and whose members are known.
    let is_of_held = |group: &SharedCalls<'_>| {
        group.name == name && held.iter().any(|(place, ..)| group.count_of(*place).is_some())
    };
    let groups: Vec<_> = shared.iter().filter(|group| is_of_held(group)).collect();
    let group = groups.first().filter(|_| groups.len() == 1);
    let is_member = |place: u32| {
        groups.is_empty() || groups.iter().any(|group| group.count_of(place).is_some())
    };
    let mut absent: Vec<u32> = placed(places)
        .filter(|(place, rank)| is_member(*place) && rank.process.rank.is_some())
        .filter(|(_, rank)| {
            is_whole_record(rank) && !is_in_a_call(rank) && !has_called_for(rank, HANGS_NS)
        })
        .map(|(place, _)| place)
        .collect();
    if absent.is_empty() {
        absent.extend(elsewhere.iter().map(|(place, ..)| *place));
    }
    let call =
        group.and_then(|group| held.iter().filter_map(|(place, ..)| group.count_of(*place)).min());
    (!absent.is_empty()).then(|| Absence {
        group: group.and_then(|group| group.group).map(str::to_owned),
        name: Some(name.to_owned()),
        call: call.map(|completed| completed + 1),
        absent_in: absent.iter().map(|place| open_in(places.get(*place as usize)?)).collect(),
        absent,
        has_failed: false,
        gave_up: held.iter().map(|(place, ..)| *place).collect(),
        longest_ns: Some(longest_ns),
        ..Absence::default()
    })
}

/// The longest call of a collective on any rank.
fn longest_ns(places: &[&RankSummary], name: &str) -> u64 {
    let all = places.iter().flat_map(|rank| &rank.collectives).filter(|one| one.name == name);
    all.flat_map(|one| &one.calls).map(Interval::length_ns).max().unwrap_or(0)
}

/// It has completed a call in so long before its end: what is open that long is on a thread beside.
fn has_called_for(rank: &RankSummary, ns: u64) -> bool {
    let since_ns = rank.wall_ns.saturating_sub(ns);
    let calls = rank.collectives.iter().filter_map(|one| one.calls.last());
    calls.map(|call| call.end_ns).any(|end_ns| end_ns > since_ns)
}

/// Of what it had open, with nothing open in it, what lasted longest.
fn open_in(rank: &RankSummary) -> Option<String> {
    let open = || rank.sections.iter().filter(|one| one.open_ns.is_some());
    let is_innermost = |path: &[String]| {
        !open().any(|one| one.path.len() > path.len() && one.path.starts_with(path))
    };
    let innermost = open().filter(|one| is_innermost(&one.path));
    innermost.max_by_key(|one| one.open_ns)?.path.last().cloned()
}

/// All calls of it up to its end are counted.
fn is_whole_record(rank: &RankSummary) -> bool {
    rank.source == Source::Capture
        && rank.n_lost == 0
        && rank.n_collectives_left_out == 0
        && rank.warnings.is_empty()
        && state(rank) != MemberState::Damaged
}

/// A collective failed in it, or was open when it ended.
fn is_in_a_call(rank: &RankSummary) -> bool {
    let names = || rank.collectives.iter().map(|one| base(&one.name));
    let open = rank.sections.iter().filter(|one| one.open_ns.is_some());
    let mut open = open.filter_map(|one| one.path.last());
    rank.collectives.iter().any(|one| one.n_failed > 0)
        || open.any(|name| {
            let is_collective = is_synchronising(name) || name == START_UP;
            name == "wait" || is_collective || names().any(|known| known == name)
        })
}

/// Calls that it came to: of waits, those that it began.
fn arrivals(rank: &RankSummary, group: Option<&str>, name: &str) -> u64 {
    let begun = name.strip_suffix(WAIT).map(|of| format!("{of}{BEGIN}"));
    let wanted = begun.as_deref().unwrap_or(name);
    let is_it = |one: &&CollectiveSums| one.group.as_deref() == group && one.name == wanted;
    let counts = rank.collectives.iter().filter(is_it).map(|one| one.count);
    counts.fold(0, u64::saturating_add)
}

/// The collective without what a call does for it.
fn base(name: &str) -> &str {
    [WAIT, BEGIN].into_iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Ended, RankProcess, SectionSums};
    use crate::questions::ranks::shared_calls::shared_calls;

    /// A collective of a group `dp`: completed calls, those that failed, and how long these took.
    fn sums(name: &str, count: u64, n_failed: u64, failed_ns: u64) -> CollectiveSums {
        CollectiveSums {
            group: Some("dp".into()),
            group_size: Some(3),
            name: name.into(),
            count,
            n_failed,
            failed_ns,
            ..CollectiveSums::default()
        }
    }

    fn rank(number: u32, collectives: Vec<CollectiveSums>) -> RankSummary {
        RankSummary {
            process: RankProcess { rank: Some(number), ..RankProcess::default() },
            ended: Ended::WithoutClosing,
            collectives,
            ..RankSummary::default()
        }
    }

    fn found(ranks: &[RankSummary], world_size: u32) -> Vec<(Vec<u32>, Vec<u32>, u64)> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let all = absences(&places, &shared_calls(&places), Some(world_size));
        let row = |one: Absence| (one.absent, one.gave_up, one.longest_ns.unwrap_or(0));
        all.into_iter().map(row).collect()
    }

    /// Ranks 0 and 2 gave up after 3 000 in their call number 20, to which rank 1 did not come.
    fn hang() -> [RankSummary; 3] {
        [
            rank(0, vec![sums("all_reduce", 20, 1, 3_000)]),
            rank(1, vec![sums("all_reduce", 20, 0, 0)]),
            rank(2, vec![sums("all_reduce", 20, 1, 2_900)]),
        ]
    }

    #[test]
    fn the_rank_that_never_came_is_named_and_not_those_that_gave_up() {
        assert_eq!(found(&hang(), 3), [(vec![1], vec![0, 2], 3_000)]);
        let mut later = hang();
        later[1].collectives[0].count = 21;
        assert!(found(&later, 3).is_empty(), "it came to it, and left it");
    }

    const S: u64 = 1_000_000_000;

    /// Ten calls of 1 s by 20 s; then, at 40 s, this is open.
    fn hanging(number: u32, open: &[(&str, u64)]) -> RankSummary {
        let mut all_reduce = sums("all_reduce", 10, 0, 0);
        all_reduce.calls = vec![Interval { start_ns: 19 * S, end_ns: 20 * S }];
        let mut one = rank(number, vec![all_reduce]);
        (one.ended, one.wall_ns) = (Ended::Running, 40 * S);
        let section = |(name, seconds): &(&str, u64)| SectionSums {
            path: vec![(*name).to_owned()],
            open_ns: Some(seconds * S),
            ..SectionSums::default()
        };
        one.sections = open.iter().map(section).collect();
        one
    }

    #[test]
    fn ranks_that_hang_in_a_call_name_who_is_elsewhere() {
        // Beside load_lora a thread reads a little at a time.
        let of = |seconds| {
            let elsewhere = hanging(1, &[("load_lora", 18), ("read_chunk", 1)]);
            [
                hanging(0, &[("all_reduce", seconds)]),
                elsewhere,
                hanging(2, &[("all_reduce", seconds)]),
            ]
        };
        let ranks = of(18);
        let all = absences(&ranks.each_ref(), &shared_calls(&ranks.each_ref()), Some(3));
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!(
            (&one.absent, &one.gave_up, one.longest_ns),
            (&vec![1], &vec![0, 2], Some(18 * S))
        );
        assert_eq!((one.call, one.has_failed), (Some(11), false));
        assert_eq!(one.absent_in, [Some("load_lora".to_owned())]);
        // Less than ten times the longest call of any rank is no hang.
        assert!(found(&of(9), 3).is_empty());
    }

    #[test]
    fn a_hang_in_a_call_that_two_groups_have_is_named_without_its_number() {
        let mut ranks =
            [hanging(0, &[("all_reduce", 18)]), hanging(1, &[]), hanging(2, &[("all_reduce", 18)])];
        // Its last call ended after the others had come to theirs.
        ranks[1].collectives[0].calls.push(Interval { start_ns: 22 * S, end_ns: 23 * S });
        for one in &mut ranks {
            let mut other = one.collectives[0].clone();
            other.group = Some("tp".into());
            one.collectives.push(other);
        }
        let all = absences(&ranks.each_ref(), &shared_calls(&ranks.each_ref()), Some(3));
        assert_eq!((&all[0].absent, all[0].call, &all[0].group), (&vec![1], None, &None));
    }

    #[test]
    fn ranks_of_another_group_are_not_waited_for() {
        // tp:0   rank 0 in all_reduce, rank 1 in load_lora
        // tp:1   ranks 2 and 3 are through with theirs and decode
        let mut ranks = [
            hanging(0, &[("all_reduce", 18)]),
            hanging(1, &[("load_lora", 18)]),
            hanging(2, &[("vae_decode", 18)]),
            hanging(3, &[("vae_decode", 18)]),
        ];
        for (number, one) in ranks.iter_mut().enumerate() {
            one.collectives[0].group = Some(format!("tp:{}", number / 2));
            one.collectives[0].group_size = Some(2);
        }
        let all = absences(&ranks.each_ref(), &shared_calls(&ranks.each_ref()), Some(4));
        assert_eq!((&all[0].gave_up, &all[0].absent), (&vec![0], &vec![1]));
        assert_eq!((all[0].group.as_deref(), all[0].call), (Some("tp:0"), Some(11)));
    }

    #[test]
    fn of_ranks_that_are_all_in_calls_those_in_another_one_did_not_come() {
        let of = |name: &str| [(name.to_owned(), 18)];
        let ranks = ["all_reduce", "all_gather", "all_reduce"].map(of);
        let open = |number, calls: &[(String, u64)]| {
            let calls: Vec<(&str, u64)> =
                calls.iter().map(|(name, ns)| (name.as_str(), *ns)).collect();
            hanging(number, &calls)
        };
        let mut ranks = [open(0, &ranks[0]), open(1, &ranks[1]), open(2, &ranks[2])];
        ranks[0].sections[0].open_ns = Some(19 * S);
        let all = absences(&ranks.each_ref(), &shared_calls(&ranks.each_ref()), Some(3));
        assert_eq!((&all[0].gave_up, &all[0].absent), (&vec![0, 2], &vec![1]));
        assert_eq!(all[0].absent_in, [Some("all_gather".to_owned())]);
    }

    #[test]
    fn ranks_that_go_on_making_calls_beside_an_open_one_do_not_hang() {
        // A control barrier on a thread: the last all_reduce ended at 39 s of 40.
        let mut ranks = [
            hanging(0, &[("denoise", 1)]),
            hanging(1, &[("barrier", 18)]),
            hanging(2, &[("barrier", 18)]),
        ];
        for one in &mut ranks {
            one.collectives[0].calls.push(Interval { start_ns: 38 * S, end_ns: 39 * S });
        }
        assert!(found(&ranks, 3).is_empty());
    }

    #[test]
    fn a_rank_that_was_held_up_in_a_call_is_not_blamed() {
        let mut open = hang();
        open[1].sections = vec![SectionSums {
            path: vec!["step".into(), "all_reduce".into()],
            open_ns: Some(3_000),
            ..SectionSums::default()
        }];
        assert!(found(&open, 3).is_empty());
        // Rank 1 gave up in a call of another group, to which nobody whose capture is there failed to come.
        let mut elsewhere = hang();
        let mut other = sums("broadcast", 4, 1, 3_000);
        other.group = Some("tp".into());
        elsewhere[1].collectives.push(other);
        assert!(found(&elsewhere, 3).is_empty());
    }

    #[test]
    fn captures_with_losses_and_other_sources_say_nothing() {
        let spoilt: [fn(&mut RankSummary); 4] = [
            |one| one.n_lost = 1,
            |one| one.n_collectives_left_out = 1,
            |one| one.source = Source::Trace,
            |one| one.warnings = vec!["a block is damaged".into()],
        ];
        for spoil in spoilt {
            let mut ranks = hang();
            spoil(&mut ranks[1]);
            assert!(found(&ranks, 3).is_empty());
        }
    }

    #[test]
    fn a_rank_without_any_call_counts_where_all_ranks_are_in_the_group() {
        let mut ranks = hang();
        for one in &mut ranks {
            one.collectives[0].count = 0;
        }
        ranks[1].collectives.clear();
        assert_eq!(found(&ranks, 3), [(vec![1], vec![0, 2], 3_000)]);
        // Of a job of four it need not be one of the three.
        assert!(found(&ranks, 4).is_empty());
        // All ranks come to the start.
        let start = |number| rank(number, vec![sums("init_process_group", 0, 1, 5_000)]);
        let ranks = [start(0), rank(1, Vec::new()), start(2)];
        assert_eq!(found(&ranks, 4), [(vec![1], vec![0, 2], 5_000)]);
    }

    #[test]
    fn who_came_to_a_wait_is_told_by_what_was_begun() {
        // Ranks 0 and 2 began 6 calls, and gave up in the wait for the sixth; rank 1 began 5, rank 3 all of them and did not wait.
        let of = |number, begun, waited, n_failed| {
            let begin = sums("all_reduce begin", begun, 0, 0);
            rank(number, vec![begin, sums("all_reduce wait", waited, n_failed, 700)])
        };
        let mut ranks = vec![of(0, 6, 5, 1), of(1, 5, 5, 0), of(2, 6, 5, 1)];
        assert_eq!(found(&ranks, 3), [(vec![1], vec![0, 2], 700)]);
        ranks[1] = of(1, 6, 5, 0);
        assert!(found(&ranks, 3).is_empty());
    }

    #[test]
    fn messages_and_groups_that_cannot_be_told_apart_say_nothing() {
        let mut ranks = hang();
        for one in &mut ranks {
            one.collectives[0].name = "recv".into();
        }
        assert!(found(&ranks, 3).is_empty());
        let mut ranks = hang();
        for one in &mut ranks {
            one.collectives[0].group_size = Some(2);
        }
        assert!(found(&ranks, 3).is_empty());
    }
}
