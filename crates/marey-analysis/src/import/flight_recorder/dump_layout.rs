//! Which key of a dump is what.
//!
//! Versions of torch differ: keys came (`is_p2p`), and JSON has texts where pickles have numbers. What is missing is not known; keys that are
//! not known are passed over.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{FlightDump, GroupCall, GroupCalls};

/// Letters of what a call was given that are kept.
const MAX_INPUT: usize = 80;
/// What torch calls the state of a call that has ended.
const ENDED: &str = "completed";

/// `None` without groups.
pub(super) fn dump(root: &Value) -> Option<FlightDump> {
    let mut dump = FlightDump {
        rank: number(&root["rank"]).and_then(|rank| u32::try_from(rank).ok()),
        ..FlightDump::default()
    };
    let groups = root["pg_config"].as_object()?.iter().take(FlightDump::MAX_GROUPS);
    let mut groups: BTreeMap<&str, GroupCalls> =
        groups.map(|(name, config)| (name.as_str(), group(name, config))).collect();
    // Numbers of groups, which tell one from an earlier one of its name.
    let mut names: BTreeMap<u64, &str> = BTreeMap::new();
    for entry in root["entries"].as_array().into_iter().flatten() {
        let times = ["time_created_ns", "time_discovered_completed_ns"];
        dump.last_unix_ns =
            times.map(|key| number(&entry[key])).into_iter().fold(dump.last_unix_ns, Ord::max);
        let (Some(group), Some(name)) = (entry["process_group"][0].as_str(), name(entry)) else {
            dump.n_unusable += 1;
            continue;
        };
        let id = number(&entry["pg_id"]);
        let is_new = id.is_some_and(|id| names.insert(id, group).is_none());
        let is_message = ["send ", "recv "].iter().any(|start| name.starts_with(start));
        if is_message || entry["is_p2p"] == true {
            let open = (entry["state"] != ENDED).then(|| name.to_owned());
            dump.message = dump.message.or(open);
        } else if let (Some(group), Some(call)) = (groups.get_mut(group), call(name, entry)) {
            if is_new {
                group.calls.clear();
            }
            group.add(call);
        } else {
            dump.n_unusable += 1;
        }
    }
    // The first one, where no call tells.
    if groups.contains_key("0") {
        names.entry(0).or_insert("0");
    }
    dump.groups = groups
        .into_values()
        .map(|group| {
            let (made, ended) = status(&root["pg_status"], &names, &group.name);
            group.finished(made, ended)
        })
        .collect();
    Some(dump)
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

/// Numbers of the last call of a group that was made, and of the last that ended, where its status tells them.
fn status(all: &Value, names: &BTreeMap<u64, &str>, group: &str) -> (Option<u64>, Option<u64>) {
    let Some(all) = all.as_object() else {
        return (None, None);
    };
    let id = names.iter().rev().find(|(_, name)| **name == group).map(|(id, _)| id.to_string());
    if let Some(status) = id.and_then(|id| all.get(&id)) {
        let of = |key: &str| number(&status[key]);
        return (of("last_enqueued_collective"), of("last_completed_collective"));
    }
    // A group has a status from its first call on.
    let is_told = |id: &String| id.parse().is_ok_and(|id: u64| names.contains_key(&id));
    (all.keys().all(is_told).then_some(0), None)
}

/// The collective, or the message, without who made it.
fn name(entry: &Value) -> Option<&str> {
    let name = entry["profiling_name"].as_str()?;
    Some(name.split_once(':').map_or(name, |(_, name)| name))
}

fn call(name: &str, entry: &Value) -> Option<GroupCall> {
    Some(GroupCall {
        number: number(&entry["collective_seq_id"]).or_else(|| number(&entry["seq_id"]))?,
        name: name.to_owned(),
        input: input(entry),
        has_ended: entry["state"] == ENDED,
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
    /// Calls come in order. Of those that are one on the device each has the number, and the last one tells whether they have ended.
    fn add(&mut self, call: GroupCall) {
        match self.calls.last_mut().filter(|last| last.number == call.number) {
            Some(last) => *last = GroupCall { has_ended: last.has_ended || call.has_ended, ..call },
            None => self.calls.push(call),
        }
    }

    /// With what its status tells.
    fn finished(mut self, made: Option<u64>, ended: Option<u64>) -> Self {
        self.calls.sort_by_key(|call| call.number);
        for call in &mut self.calls {
            call.has_ended |= Some(call.number) <= ended;
        }
        self.last_made = made.max(self.calls.last().map(|call| call.number));
        let open = self.calls.iter().position(|call| !call.has_ended);
        let middle = open.unwrap_or(self.calls.len());
        self.calls.drain(..middle.saturating_sub(FlightDump::MAX_CALLS / 2));
        self.calls.truncate(FlightDump::MAX_CALLS);
        self
    }
}
