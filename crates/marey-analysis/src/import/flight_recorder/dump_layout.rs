//! Which key of a dump is what.
//!
//! Versions of torch differ: keys came (`is_p2p`), and JSON has texts where pickles have numbers. What is missing is not known; keys that are
//! not known are passed over.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{FlightDump, GroupCall, GroupCalls, Messages};

/// Letters of what a call was given that are kept.
const MAX_INPUT: usize = 80;
/// What torch calls several messages that are one on the device.
const COALESCED: &str = "coalesced";
/// What torch calls the state of a call that has ended.
const ENDED: &str = "completed";
/// Where the number of a call stands, by versions of torch.
const NUMBERS: [&str; 2] = ["collective_seq_id", "seq_id"];
const MESSAGE_NUMBERS: [&str; 2] = ["p2p_seq_id", "seq_id"];

/// `None` of what has neither groups nor calls.
pub(super) fn dump(root: &Value) -> Option<FlightDump> {
    let (config, entries) = (root["pg_config"].as_object(), root["entries"].as_array());
    if config.is_none() && entries.is_none() {
        return None;
    }
    let entries = entries.map_or(&[][..], Vec::as_slice);
    let mut dump = FlightDump {
        rank: number(&root["rank"]).and_then(|rank| u32::try_from(rank).ok()),
        is_whole: is_whole(root, entries),
        ..FlightDump::default()
    };
    let described = config.into_iter().flatten().take(FlightDump::MAX_GROUPS);
    let mut groups: BTreeMap<&str, GroupCalls> =
        described.map(|(name, config)| (name.as_str(), group(name, config))).collect();
    // Numbers of groups, which tell one from an earlier one of its name.
    let mut names: BTreeMap<u64, &str> = BTreeMap::new();
    let tells_starts = entries.iter().any(has_started);
    for entry in entries {
        let times = ["time_created_ns", "time_discovered_completed_ns"];
        dump.last_unix_ns =
            times.map(|key| number(&entry[key])).into_iter().fold(dump.last_unix_ns, Ord::max);
        let (Some(of), Some(name)) = (entry["process_group"][0].as_str(), name(entry)) else {
            dump.n_unusable += 1;
            continue;
        };
        let id = number(&entry["pg_id"]);
        let is_new = id.is_some_and(|id| names.insert(id, of).is_none());
        if config.is_none() && groups.len() < FlightDump::MAX_GROUPS {
            let described = json!({"desc": entry["process_group"][1]});
            groups.entry(of).or_insert_with(|| group(of, &described));
        }
        if let Some(group) = groups.get_mut(of).filter(|_| is_new) {
            (group.calls, group.messages) = (Vec::new(), Vec::new());
        }
        let is_message = ["send ", "recv "].iter().any(|start| name.starts_with(start))
            || entry["is_p2p"] == true
            || name == COALESCED && groups.get(of).is_some_and(|of| of.is_sending(entry));
        let keys = if is_message { MESSAGE_NUMBERS } else { NUMBERS };
        match (groups.get_mut(of), call(name, keys, tells_starts, entry)) {
            (Some(group), Some(call)) if is_message => group.add_message(call),
            (Some(group), Some(call)) => group.add(call),
            _ => dump.n_unusable += 1,
        }
    }
    // The first one, where no call tells.
    if groups.contains_key("0") {
        names.entry(0).or_insert("0");
    }
    let no_calls = dump.is_whole.then_some(0);
    let finished = |group: GroupCalls| {
        let (made, ended) = status(&root["pg_status"], &names, &group);
        group.finished(made.or(no_calls), ended)
    };
    dump.groups = groups.into_values().map(finished).collect();
    Some(dump)
}

/// Numbers of calls begin with 0, and none is left out. Without calls there were none where no group has a status.
fn is_whole(root: &Value, entries: &[Value]) -> bool {
    let mut numbered = (0..).zip(entries);
    let has_no_status = || root["pg_status"].as_object().is_some_and(Map::is_empty);
    numbered.all(|(n, entry)| number(&entry["record_id"]) == Some(n))
        && (!entries.is_empty() || has_no_status())
}

/// Of one that has ended, too, a recorder tells it only where it was asked for it.
fn has_started(entry: &Value) -> bool {
    entry["state"] == "started" || number(&entry["time_discovered_started_ns"]).is_some()
}

fn group(name: &str, config: &Value) -> GroupCalls {
    // `[0, 1, 2]`, as text.
    let ranks = config["ranks"].as_str().map_or_else(|| config["ranks"].to_string(), str::to_owned);
    let ranks = ranks.split(|c: char| !c.is_ascii_digit()).filter_map(|rank| rank.parse().ok());
    let mut members: Vec<u32> = ranks.take(FlightDump::MAX_MEMBERS).collect();
    members.sort_unstable();
    let purpose = config["desc"].as_str().unwrap_or_default().to_owned();
    GroupCalls { name: name.to_owned(), purpose, members, ..GroupCalls::default() }
}

/// Numbers of the last call of a group that was made, and of the last that ended, where its status tells them: that of a group with
/// messages counts these, too.
fn status(
    all: &Value,
    names: &BTreeMap<u64, &str>,
    group: &GroupCalls,
) -> (Option<u64>, Option<u64>) {
    let Some(all) = all.as_object().filter(|all| !all.is_empty() && group.messages.is_empty())
    else {
        return (None, None);
    };
    let id = names.iter().rev().find(|(_, name)| **name == group.name);
    if let Some(status) = id.and_then(|(id, _)| all.get(&id.to_string())) {
        return (
            last(status, "last_enqueued_collective"),
            last(status, "last_completed_collective"),
        );
    }
    // A group has a status from its first call on, or one of no calls.
    let is_known = |(id, status): (&String, &Value)| {
        id.parse().is_ok_and(|id: u64| names.contains_key(&id))
            || last(status, "last_enqueued_collective") == Some(0)
    };
    (all.iter().all(is_known).then_some(0), None)
}

/// Before the first call it is -1.
fn last(status: &Value, key: &str) -> Option<u64> {
    let none = status[key].as_i64().filter(|n| *n < 0).map(|_| 0);
    number(&status[key]).or(none)
}

/// The collective, or the message, without who made it.
fn name(entry: &Value) -> Option<&str> {
    let name = entry["profiling_name"].as_str()?;
    Some(name.split_once(':').map_or(name, |(_, name)| name))
}

fn call(name: &str, keys: [&str; 2], tells_starts: bool, entry: &Value) -> Option<GroupCall> {
    Some(GroupCall {
        number: keys.iter().find_map(|key| number(&entry[*key]))?,
        name: name.to_owned(),
        input: input(entry),
        has_ended: entry["state"] == ENDED,
        has_started: tells_starts.then(|| has_started(entry)),
        record: number(&entry["record_id"]),
        made_unix_ns: number(&entry["time_created_ns"]).filter(|ns| *ns > 0),
        timeout_ns: number(&entry["timeout_ms"]).map(|ms| ms.saturating_mul(1_000_000)),
        place: place(&entry["frames"]),
    })
}

/// `1024 BFloat16`, of several tensors `1024 BFloat16, 4 Float`.
fn input(entry: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tensors = list(&entry["input_sizes"]).into_iter().zip(list(&entry["input_dtypes"]));
    let tensors = tensors.take(MAX_INPUT).filter_map(|(sizes, of)| {
        let mut sizes = sizes.as_array()?.iter().map(number);
        let n_elements = sizes.try_fold(1_u64, |n, size| Some(n.saturating_mul(size?)))?;
        Some(format!("{n_elements} {}", of.as_str()?))
    });
    tensors.collect::<Vec<_>>().join(", ").chars().take(MAX_INPUT).collect()
}

/// The innermost frame that is not torch's own; the innermost where all are.
fn place(frames: &Value) -> Option<String> {
    let frames = frames.as_array()?;
    let file = |frame: &Value| frame["filename"].as_str().unwrap_or_default().to_owned();
    let own = frames.iter().find(|frame| !file(frame).contains("/torch/"));
    let frame = own.or(frames.first())?;
    let line = number(&frame["line"]).map_or_else(String::new, |line| format!(":{line}"));
    let file = file(frame);
    let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
    Some(format!("{} ({file}{line})", frame["name"].as_str()?))
}

/// A whole number that is not negative, also as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

impl GroupCalls {
    /// Calls come in order. Of those that are one on the device each has the number, and the last one tells whether they have ended. A group
    /// that was built again begins with 1.
    fn add(&mut self, call: GroupCall) {
        if call.number == 1 && self.calls.last().is_some_and(|last| last.number > 1) {
            self.calls.clear();
        }
        match self.calls.last_mut().filter(|last| last.number == call.number) {
            Some(last) => *last = GroupCall { has_ended: last.has_ended || call.has_ended, ..call },
            None => self.calls.push(call),
        }
    }

    /// A call is of messages that have not ended.
    fn is_sending(&self, entry: &Value) -> bool {
        let number = number(&entry["p2p_seq_id"]);
        let mut open = self.messages.iter().filter_map(|of| of.open.as_ref());
        open.any(|open| Some(open.number) == number)
    }

    /// Messages that are one on the device have the number of the call that tells whether they have ended, which comes after them.
    fn add_message(&mut self, call: GroupCall) {
        if call.name == COALESCED {
            let is_of_it = |open: &GroupCall| call.has_ended && open.number == call.number;
            let ended =
                self.messages.iter_mut().filter(|of| of.open.as_ref().is_some_and(is_of_it));
            ended.for_each(|of| (of.n_ended, of.open) = (of.count, None));
            return;
        }
        let known = self.messages.iter().position(|of| of.name == call.name);
        let at = known.unwrap_or(self.messages.len());
        if known.is_none() {
            self.messages.push(Messages { name: call.name.clone(), ..Messages::default() });
        }
        let Some(of) = self.messages.get_mut(at) else { return };
        of.count += 1;
        match of.open {
            None if call.has_ended => of.n_ended = of.count,
            None => of.open = Some(call),
            Some(_) => {}
        }
    }

    /// With what its status tells.
    fn finished(mut self, made: Option<u64>, ended: Option<u64>) -> Self {
        self.calls.sort_by_key(|call| call.number);
        for call in &mut self.calls {
            call.has_ended |= Some(call.number) <= ended;
        }
        self.last_made = made.max(self.calls.last().map(|call| call.number));
        let last_ended =
            self.calls.iter().filter(|call| call.has_ended).map(|call| call.number).max();
        let next = ended.map(|ended| ended.max(last_ended.unwrap_or(0)) + 1);
        self.lost = next.filter(|next| made >= Some(*next) && self.call(*next).is_none());
        let open = self.calls.iter().position(|call| !call.has_ended);
        let middle = open.unwrap_or(self.calls.len());
        self.calls.drain(..middle.saturating_sub(FlightDump::MAX_CALLS / 2));
        self.calls.truncate(FlightDump::MAX_CALLS);
        self
    }
}
