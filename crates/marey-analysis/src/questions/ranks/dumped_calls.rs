//! Which calls had not ended when ranks wrote dumps of their flight recorders, and who had not come to them?

use std::collections::{BTreeMap, BTreeSet};

use super::absences::{Absence, OtherCall};
use crate::import::flight_recorder::{FlightDump, GroupCall, GroupCalls};
use crate::job::RankSummary;

/// The time-out of a call that says none, which is torch's own.
const TIMEOUT_NS: u64 = 600_000_000_000;

/// One group over the dumps of the ranks.
struct DumpedGroup<'a> {
    group: &'a GroupCalls,
    /// Ranks that have it, each once, in order.
    having: Vec<(u32, &'a FlightDump, &'a GroupCalls)>,
}

/// Of each group the first call that had not ended on a rank, where others had not come to it, made another call instead, or left no dump;
/// those first in which somebody is missed who is in no call of another group.
///
/// ```text
/// call       2       3       4
/// rank 0   |----|  |----|  |- - -     waits
/// rank 1   |----|  |----|  |- - -     waits
/// rank 2   |----|  |----|             did not come
/// rank 3   no dump                    nothing is known of it
/// ```
///
/// `dumps` are the newest first, and `place` says which place a rank has. A dump that is older than the calls of the newest by more than
/// their time-out may be of an earlier run, and says nothing.
pub(super) fn dumped_calls(
    dumps: &[&RankSummary],
    place: impl Fn(u32) -> Option<u32>,
) -> Vec<Absence> {
    let mut groups: BTreeMap<(&str, &[u32]), DumpedGroup<'_>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let said = dumps.iter().filter_map(|one| Some((one.process.rank?, one.dump.as_ref()?)));
    let oldest_ns = said.clone().next().and_then(|(_, newest)| oldest_ns(newest));
    for (rank, dump) in said {
        // One without any call has no time, and says that there was none.
        let is_old = dump.last_unix_ns.is_some() && dump.last_unix_ns < oldest_ns;
        if is_old || !seen.insert(rank) {
            continue;
        }
        let is_in = |group: &&GroupCalls| {
            group.members.is_empty() || group.members.binary_search(&rank).is_ok()
        };
        for group in dump.groups.iter().filter(is_in) {
            let known = groups.entry((&group.name, &group.members));
            let known = known.or_insert_with(|| DumpedGroup { group, having: Vec::new() });
            known.having.push((rank, dump, group));
        }
    }
    for group in groups.values_mut() {
        group.having.sort_by_key(|(rank, ..)| *rank);
    }
    let mut found: Vec<Absence> =
        groups.values().filter_map(|group| group.standing(&place)).collect();
    let is_root = |one: &Absence| one.absent_in.iter().any(Option::is_none);
    found.sort_by_key(|one| (one.absent.is_empty(), !is_root(one), one.since_unix_ns));
    found
}

/// When a dump of the same run as this one can have been written at the earliest; `None` when it does not say.
fn oldest_ns(newest: &FlightDump) -> Option<u64> {
    let open = newest.groups.iter().filter_map(GroupCalls::open);
    let first = open.min_by_key(|call| call.made_unix_ns);
    let made_ns = first.and_then(|call| call.made_unix_ns).or(newest.last_unix_ns)?;
    let timeout_ns = first.and_then(|call| call.timeout_ns).unwrap_or(TIMEOUT_NS);
    Some(made_ns.saturating_sub(timeout_ns))
}

impl DumpedGroup<'_> {
    fn standing(&self, place: &impl Fn(u32) -> Option<u32>) -> Option<Absence> {
        let having = self.having.iter();
        let number = having.clone().filter_map(|(.., of)| Some(of.open()?.number)).min()?;
        let at: Vec<(u32, &GroupCall)> =
            having.clone().filter_map(|(rank, _, of)| Some((*rank, of.call(number)?))).collect();
        let waiting = || at.iter().filter(|(_, call)| !call.has_ended);
        let call = usual(waiting().map(|(_, call)| *call))?;
        let is_it = |other: &GroupCall| other.name == call.name && has_fitting_input(other, call);
        // Who has completed a call that needs all has seen all come: a dump that ends before it is older, and says nothing of this call.
        let completed = having.clone().flat_map(|(.., of)| &of.calls);
        let completed = completed.filter(|call| call.has_ended && needs_all(&call.name));
        let completed = completed.map(|call| call.number).max().unwrap_or(0);
        let is_older = |of: &GroupCalls| of.last_made.is_some_and(|last| last < completed);
        let is_absent =
            |of: &GroupCalls| of.last_made.is_some_and(|last| last < number) && !is_older(of);
        let absent: Vec<_> = having.clone().filter(|(.., of)| is_absent(of)).collect();
        let is_known =
            |of: &GroupCalls| !is_older(of) && of.last_made.is_some() || of.call(number).is_some();
        let known: BTreeSet<u32> =
            having.filter(|(.., of)| is_known(of)).map(|(rank, ..)| *rank).collect();
        let members = self.group.members.iter().copied();
        let unknown: Vec<u32> = members.filter(|rank| !known.contains(rank)).collect();
        let places = |ranks: &mut dyn Iterator<Item = u32>| ranks.filter_map(place).collect();
        let mut by_call: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (rank, other) in at.iter().filter(|(_, other)| !is_it(other)) {
            by_call.entry(said(other)).or_default().extend(place(*rank));
        }
        if absent.is_empty() && unknown.is_empty() && by_call.is_empty() {
            return None;
        }
        Some(Absence {
            group: Some(match &*self.group.purpose {
                "" => self.group.name.clone(),
                purpose => purpose.to_owned(),
            }),
            name: call.name.clone(),
            call: Some(number),
            input: Some(call.input.clone()).filter(|input| !input.is_empty()),
            absent_in: absent.iter().map(|(_, dump, _)| self.elsewhere(dump)).collect(),
            absent_after: absent.iter().map(|(.., of)| last(of)).collect(),
            absent: places(&mut absent.iter().map(|(rank, ..)| *rank)),
            has_failed: false,
            gave_up: places(&mut waiting().filter(|(_, call)| is_it(call)).map(|(rank, _)| *rank)),
            longest_ns: None,
            since_unix_ns: waiting().filter_map(|(_, call)| call.made_unix_ns).min(),
            others: by_call.into_iter().map(|(call, ranks)| OtherCall { ranks, call }).collect(),
            unknown,
        })
    }

    /// The call of another group, or the message, that a rank is in.
    fn elsewhere(&self, dump: &FlightDump) -> Option<String> {
        let others = dump.groups.iter().filter(|group| group.name != self.group.name);
        let mut calls = others.filter_map(|group| {
            let call = group.open()?;
            let group = if group.purpose.is_empty() { &group.name } else { &group.purpose };
            Some(format!("call {} of {} of {group}", call.number, call.name))
        });
        calls.next().or_else(|| dump.message.clone())
    }
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

fn has_fitting_input(one: &GroupCall, other: &GroupCall) -> bool {
    let are_known = !one.input.is_empty() && !other.input.is_empty();
    !are_known || !EVEN.contains(&&*other.name) || one.input == other.input
}

/// `call 3 of all_reduce in load_lora (run.py:43)`; `None` before the first, and where the dump has it no more.
fn last(of: &GroupCalls) -> Option<String> {
    let last = of.calls.last().filter(|last| Some(last.number) == of.last_made)?;
    let place = last.place.as_ref().map_or_else(String::new, |place| format!(" in {place}"));
    Some(format!("call {} of {}{place}", last.number, last.name))
}
