//! Which calls had not ended when ranks wrote dumps of their flight recorders, and who had not come to them?

use std::collections::{BTreeMap, BTreeSet};

use super::absences::{Absence, OtherCall};
use crate::import::flight_recorder::{FlightDump, GroupCall, GroupCalls, Messages};
use crate::job::RankSummary;

/// The time-out of a call that says none, which is torch's own.
const TIMEOUT_NS: u64 = 600_000_000_000;

/// One group over the dumps of the ranks.
struct DumpedGroup<'a> {
    group: &'a GroupCalls,
    /// Ranks that have it, each once, in order.
    having: Vec<(u32, &'a FlightDump, &'a GroupCalls)>,
}

/// Of each group the first call that had not ended on a rank, where others had not come to it, made another call instead, or left no dump,
/// and the messages whose other side is not there; those first in which nobody is missed who is in another call. Where there is nothing
/// of that, the calls that all came to and not all completed.
///
/// ```text
/// call       2       3       4
/// rank 0   |----|  |----|  |- - -     waits
/// rank 1   |----|  |----|  |- - -     waits
/// rank 2   |----|  |----|             did not come
/// rank 3   no dump                    nothing is known of it
/// ```
///
/// Each rank has one dump at most, and `place` says which place it has.
pub(super) fn dumped_calls(
    dumps: &[&RankSummary],
    place: impl Fn(u32) -> Option<u32>,
) -> Vec<Absence> {
    let mut groups: BTreeMap<(&str, &[u32]), DumpedGroup<'_>> = BTreeMap::new();
    let said = dumps.iter().filter_map(|one| Some((one.process.rank?, one.dump.as_ref()?)));
    for (rank, dump) in said {
        let is_in = |group: &&GroupCalls| {
            group.members.is_empty() || group.members.binary_search(&rank).is_ok()
        };
        for group in dump.groups.iter().filter(is_in) {
            let known = groups.entry((&group.name, &group.members));
            let known = known.or_insert_with(|| DumpedGroup { group, having: Vec::new() });
            known.having.push((rank, dump, group));
        }
    }
    let groups: Vec<_> = groups.into_values().map(DumpedGroup::of_one_run).collect();
    let calls = groups.iter().filter_map(|group| group.standing(&place));
    let messages = groups.iter().flat_map(|group| group.messages(&place));
    let mut found: Vec<Absence> = calls.chain(messages).collect();
    if found.iter().any(|one| !one.is_of_all()) {
        found.retain(|one| !one.is_of_all());
    }
    // None, some or all of those who are missed.
    let in_others = |one: &Absence| {
        let n = one.absent_in.iter().flatten().count();
        (n > 0, n == one.absent_in.len())
    };
    found.sort_by_key(|one| (one.absent.is_empty(), in_others(one), one.since_unix_ns));
    found
}

impl DumpedGroup<'_> {
    /// Without dumps that may be of an earlier run: those that end before the time at which the others stand by more than their time-out, and
    /// have made no call of the same number at about the same time. That time is the one in the middle, since a clock may be wrong, and the
    /// later of two.
    fn of_one_run(mut self) -> Self {
        self.having.sort_by_key(|(rank, ..)| *rank);
        let at = |of: &&GroupCalls| of.open().or(of.calls.last()).and_then(|one| one.made_unix_ns);
        let mut said: Vec<&GroupCalls> = self.having.iter().map(|(.., of)| *of).collect();
        said.retain(|of| at(of).is_some());
        said.sort_by_key(at);
        let Some(middle) = said.get(said.len() / 2) else { return self };
        let timeout = middle.open().or(middle.calls.last()).and_then(|call| call.timeout_ns);
        let timeout_ns = timeout.unwrap_or(TIMEOUT_NS);
        let oldest_ns = at(middle).unwrap_or(0).saturating_sub(timeout_ns);
        let is_shared = |call: &GroupCall| {
            let other = middle.call(call.number).and_then(|other| other.made_unix_ns);
            let both = other.zip(call.made_unix_ns);
            both.is_some_and(|(one, other)| one.abs_diff(other) <= timeout_ns)
        };
        self.having.retain(|(_, dump, of)| {
            dump.last_unix_ns.is_none_or(|last| last >= oldest_ns) || of.calls.iter().any(is_shared)
        });
        self
    }

    fn standing(&self, place: &impl Fn(u32) -> Option<u32>) -> Option<Absence> {
        let having = self.having.iter();
        let number = having.clone().filter_map(|(.., of)| of.first_open()).min()?;
        let at: Vec<(u32, &GroupCall)> =
            having.clone().filter_map(|(rank, _, of)| Some((*rank, of.call(number)?))).collect();
        let waiting = || at.iter().filter(|(_, call)| !call.has_ended);
        let call =
            usual(waiting().map(|(_, call)| *call)).or(usual(at.iter().map(|(_, call)| *call)));
        let is_it = |other: &GroupCall| {
            call.is_none_or(|call| {
                is_same(&other.name, &call.name) && has_fitting_input(other, call)
            })
        };
        // Who has completed a call that needs all has seen all come: a dump that ends before it is older, and says nothing of this call.
        let all_came = having.clone().flat_map(|(.., of)| &of.calls);
        let all_came = all_came.filter(|call| call.has_ended && needs_all(&call.name));
        let all_came = all_came.map(|call| call.number).max().unwrap_or(0);
        let is_older = |of: &GroupCalls| of.last_made.is_some_and(|last| last < all_came);
        let is_absent =
            |of: &GroupCalls| of.last_made.is_some_and(|last| last < number) && !is_older(of);
        let absent: Vec<_> = having.clone().filter(|(.., of)| is_absent(of)).collect();
        let is_known =
            |of: &GroupCalls| !is_older(of) && of.last_made.is_some() || of.call(number).is_some();
        let known = having.clone().filter(|(.., of)| is_known(of));
        let known: BTreeSet<u32> = known.map(|(rank, ..)| *rank).collect();
        let members = self.group.members.iter().copied();
        let unknown: Vec<u32> = members.filter(|rank| !known.contains(rank)).collect();
        let mut by_call: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (rank, other) in at.iter().filter(|(_, other)| !is_it(other)) {
            by_call.entry(said(other)).or_default().extend(place(*rank));
        }
        let places = |ranks: &mut dyn Iterator<Item = u32>| ranks.filter_map(place).collect();
        let in_it = || waiting().filter(|(_, call)| is_it(call));
        let not_started = in_it().filter(|(_, call)| call.has_started == Some(false));
        let lost = having.clone().filter(|(.., of)| of.lost == Some(number));
        let lost: Vec<u32> = lost.map(|(rank, ..)| *rank).collect();
        let mut gave_up: Vec<u32> =
            in_it().map(|(rank, _)| *rank).chain(lost.iter().copied()).collect();
        gave_up.sort_unstable();
        let is_through = |of: &GroupCalls| {
            of.last_made >= Some(number) && of.first_open().is_none_or(|open| open > number)
        };
        let mut completed = having.filter(|(.., of)| is_through(of)).map(|(rank, ..)| *rank);
        let found = Absence {
            call: Some(number),
            absent_in: absent.iter().map(|(_, dump, _)| elsewhere(dump)).collect(),
            absent_after: absent.iter().map(|(_, dump, of)| last(dump, of)).collect(),
            absent: places(&mut absent.iter().map(|(rank, ..)| *rank)),
            gave_up: places(&mut gave_up.into_iter()),
            completed: places(&mut completed),
            not_started: places(&mut not_started.map(|(rank, _)| *rank)),
            not_in_dump: places(&mut lost.into_iter()),
            crossed: self.crossed(number, place),
            since_unix_ns: waiting().filter_map(|(_, call)| call.made_unix_ns).min(),
            others: by_call.into_iter().map(|(call, ranks)| OtherCall { ranks, call }).collect(),
            unknown,
            ..self.absence(call)
        };
        let n_members = self.group.members.len().max(self.having.len()).max(2);
        let n_known = found.gave_up.len() + found.completed.len();
        (!found.is_of_all() || n_known == n_members).then_some(found)
    }

    /// Ranks that made the open call of another group before this one, where others made it after this one.
    ///
    /// ```text
    /// rank 0   group a  |- - -          b would run once a has ended, for which a waits on rank 1
    ///          group b     |- - -
    /// rank 1   group b  |- - -
    ///          group a     |- - -
    /// ```
    fn crossed(&self, number: u64, place: &impl Fn(u32) -> Option<u32>) -> Option<OtherCall> {
        let mut others: BTreeMap<(String, &[u32]), [Vec<u32>; 2]> = BTreeMap::new();
        for (rank, dump, of) in &self.having {
            let Some(own) = of.open().filter(|own| own.number == number) else { continue };
            for group in dump.groups.iter().filter(|group| group.name != of.name) {
                let Some(other) = group.open() else { continue };
                let both = others.entry((numbered(other, group), &group.members)).or_default();
                let order = |call: &GroupCall| (call.record, call.made_unix_ns);
                let is_after = usize::from(order(other) > order(own));
                both[is_after].extend(place(*rank));
            }
        }
        let is_crossed = |both: &[Vec<u32>; 2]| both.iter().all(|ranks| !ranks.is_empty());
        let ((call, _), [ranks, _]) = others.into_iter().find(|(_, both)| is_crossed(both))?;
        Some(OtherCall { ranks, call })
    }

    /// What the call alone says.
    fn absence(&self, call: Option<&GroupCall>) -> Absence {
        Absence {
            group: Some(self.group.title().to_owned()),
            name: call.map(|call| call.name.clone()),
            input: call.map(|call| call.input.clone()).filter(|input| !input.is_empty()),
            since_unix_ns: call.and_then(|call| call.made_unix_ns),
            ..Absence::default()
        }
    }

    /// Messages that have not ended, and whose other side has none that is open, or none of that number where both have all of theirs; and
    /// those that both sides are in.
    fn messages(&self, place: &impl Fn(u32) -> Option<u32>) -> Vec<Absence> {
        let of_rank = |(rank, dump, of): &(u32, &FlightDump, &GroupCalls)| {
            let open = of.messages.iter().filter_map(|one| Some((one, one.open.as_ref()?)));
            open.filter_map(|(one, call)| self.message(*rank, dump.is_whole, one, call, place))
                .collect::<Vec<_>>()
        };
        self.having.iter().flat_map(of_rank).collect()
    }

    fn message(
        &self,
        rank: u32,
        is_whole: bool,
        one: &Messages,
        call: &GroupCall,
        place: &impl Fn(u32) -> Option<u32>,
    ) -> Option<Absence> {
        let (peer, other) = other_side(&one.name)?;
        let peer = self.group.members.get(peer).copied().or_else(|| u32::try_from(peer).ok())?;
        let found =
            Absence { gave_up: place(rank).into_iter().collect(), ..self.absence(Some(call)) };
        let at = self.having.binary_search_by_key(&peer, |(rank, ..)| *rank).ok();
        let known = at.and_then(|at| self.having.get(at));
        let Some((_, dump, of)) = known.filter(|(_, dump, _)| dump.says_something()) else {
            return Some(Absence { unknown: vec![peer], ..found });
        };
        let other = of.messages.iter().find(|of| of.name == other);
        if other.is_some_and(|other| other.open.is_some()) {
            let gave_up = found.gave_up.iter().copied().chain(place(peer)).collect();
            return one.name.starts_with("send").then_some(Absence { gave_up, ..found });
        }
        let has_come = other.is_some_and(|other| other.count > one.n_ended);
        (!(is_whole && dump.is_whole && has_come)).then(|| Absence {
            absent: place(peer).into_iter().collect(),
            absent_in: vec![elsewhere(dump)],
            absent_after: vec![last_of_all(dump)],
            ..found
        })
    }
}

/// Who is at the other end of `recv 1<-0`, by number within the group, and what it calls the message: 0, `send 0->1`.
fn other_side(name: &str) -> Option<(usize, String)> {
    let (kind, ranks) = name.split_once(' ')?;
    let (own, peer) = ranks.split_once("->").or_else(|| ranks.split_once("<-"))?;
    let other = match kind {
        "send" => format!("recv {peer}<-{own}"),
        _ => format!("send {peer}->{own}"),
    };
    Some((peer.parse().ok()?, other))
}

/// The call, or the message, that a rank that did not come is in: the first that it made.
fn elsewhere(dump: &FlightDump) -> Option<String> {
    let first = dump.open().min_by_key(|(call, _)| call.made_unix_ns);
    let Some((call, group)) = first else {
        let mut groups = dump.groups.iter();
        return groups.find_map(|of| Some(format!("call {} of {}", of.lost?, of.title())));
    };
    let is_message = other_side(&call.name).is_some();
    Some(if is_message { call.name.clone() } else { numbered(call, group) })
}

/// What most ranks call, of equally many what the first of them does.
fn usual<'a>(calls: impl Iterator<Item = &'a GroupCall>) -> Option<&'a GroupCall> {
    let calls: Vec<&GroupCall> = calls.collect();
    let n_alike = |call: &GroupCall| calls.iter().filter(|other| said(other) == said(call)).count();
    calls.iter().copied().rev().max_by_key(|call| n_alike(call))
}

/// `all_reduce (1024 BFloat16)`
fn said(call: &GroupCall) -> String {
    match &*call.input {
        "" => call.name.clone(),
        input => format!("{} ({input})", call.name),
    }
}

/// Every rank gives collectives of these names as much of the same type.
const EVEN: [&str; 5] =
    ["all_reduce", "broadcast", "reduce", "_all_gather_base", "_reduce_scatter_base"];

/// It ends on no rank before all have come to it; a root may be through with the others.
fn needs_all(name: &str) -> bool {
    ["all_", "reduce_scatter", "barrier"].iter().any(|part| name.contains(part))
}

/// Front ends of torch call one collective by several names: `all_gather`, `_all_gather_base`.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let name = name.trim_start_matches('_').to_ascii_lowercase();
        name.strip_suffix("_base").unwrap_or(&name).replace("all_to_all", "alltoall")
    };
    plain(one) == plain(other)
}

fn has_fitting_input(one: &GroupCall, other: &GroupCall) -> bool {
    let are_known = !one.input.is_empty() && !other.input.is_empty();
    let are_even = one.name == other.name && EVEN.contains(&&*other.name);
    !are_known || !are_even || one.input == other.input
}

/// The last call in a group: `call 3 of all_reduce in load_lora (run.py:43)`; `None` where the dump has it no more. Where there was none in
/// it, the last of all.
fn last(dump: &FlightDump, of: &GroupCalls) -> Option<String> {
    if of.last_made == Some(0) {
        return Some(format!("{}, none of this group", last_of_all(dump)?));
    }
    let last = of.calls.last().filter(|last| Some(last.number) == of.last_made)?;
    Some(format!("call {} of {}{}", last.number, last.name, placed(last)))
}

/// `call 3 of all_reduce of mesh_tp in load_lora (run.py:43)`
fn last_of_all(dump: &FlightDump) -> Option<String> {
    let last = dump.groups.iter().filter_map(|of| Some((of.calls.last()?, of)));
    let (last, of) = last.max_by_key(|(last, _)| last.made_unix_ns)?;
    Some(format!("{}{}", numbered(last, of), placed(last)))
}

/// `call 3 of all_reduce of mesh_tp`
fn numbered(call: &GroupCall, of: &GroupCalls) -> String {
    format!("call {} of {} of {}", call.number, call.name, of.title())
}

fn placed(call: &GroupCall) -> String {
    call.place.as_ref().map_or_else(String::new, |place| format!(" in {place}"))
}
