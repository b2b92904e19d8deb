//! Which key of a dump is what.
//!
//! Versions of torch differ: keys came (`pg_config`, `is_p2p`), and JSON has texts where pickles have numbers. What is missing is not known;
//! keys that are not known are passed over.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::{FlightDump, GroupCall, GroupCalls};

/// Letters of what a call was given that are kept.
const MAX_INPUT: usize = 80;
/// Frames of a stack among which the program's own is looked for.
const MAX_FRAMES: usize = 64;

/// The root of a dump.
#[derive(Deserialize)]
pub(super) struct Layout {
    #[serde(default)]
    rank: Whole,
    pg_config: BTreeMap<String, Config>,
    /// By a number of the group that calls have, too.
    #[serde(default)]
    pg_status: Option<BTreeMap<String, Status>>,
    #[serde(default)]
    entries: List<Entry>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    desc: String,
    #[serde(default)]
    ranks: Members,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    last_enqueued_collective: Whole,
    #[serde(default)]
    last_completed_collective: Whole,
}

/// A call, or a message between two ranks. Of calls that are one on the device each has the number, and the last one tells whether they
/// have ended.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    pg_id: Whole,
    process_group: (String, String),
    #[serde(alias = "seq_id")]
    collective_seq_id: Whole,
    #[serde(default)]
    is_p2p: bool,
    profiling_name: String,
    state: String,
    #[serde(default)]
    time_created_ns: Whole,
    #[serde(default)]
    time_discovered_completed_ns: Whole,
    #[serde(default)]
    timeout_ms: Whole,
    #[serde(default)]
    input_sizes: List<List<u64>>,
    #[serde(default)]
    input_dtypes: List<String>,
    #[serde(default)]
    frames: Innermost,
}

#[derive(Deserialize)]
struct Frame {
    name: String,
    filename: String,
    #[serde(default)]
    line: Whole,
}

impl Layout {
    pub(super) fn dump(self) -> FlightDump {
        let Self { rank, pg_config, pg_status, entries } = self;
        let mut dump = FlightDump {
            rank: rank.0.and_then(|rank| u32::try_from(rank).ok()),
            n_unusable: entries.n_unusable,
            ..FlightDump::default()
        };
        let group = |(name, config): (String, Config)| {
            let mut members = config.ranks.0;
            members.sort_unstable();
            let group = GroupCalls {
                name: name.clone(),
                purpose: config.desc,
                members,
                ..GroupCalls::default()
            };
            (name, group)
        };
        let kept = pg_config.into_iter().take(FlightDump::MAX_GROUPS);
        let mut groups: BTreeMap<String, GroupCalls> = kept.map(group).collect();
        // Numbers of groups, which tell one from an earlier one of its name.
        let mut names: BTreeMap<u64, String> = BTreeMap::new();
        for entry in entries.items {
            let ended_ns = entry.time_discovered_completed_ns.0;
            dump.last_unix_ns = dump.last_unix_ns.max(entry.time_created_ns.0).max(ended_ns);
            let group = &entry.process_group.0;
            let id = entry.pg_id.0.unwrap_or(0);
            let is_new = names.insert(id, group.clone()).is_none();
            if entry.is_message() {
                let open = (entry.state != ENDED).then(|| entry.name().to_owned());
                dump.message = dump.message.or(open);
            } else if let (Some(group), Some(call)) = (groups.get_mut(group), entry.call()) {
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
            names.entry(0).or_insert_with(|| "0".into());
        }
        let is_told = |id: &String| id.parse().is_ok_and(|id: u64| names.contains_key(&id));
        let status = |group: &str| {
            let all = pg_status.as_ref()?;
            match names.iter().rev().find(|(_, name)| *name == group) {
                Some((id, _)) if all.contains_key(&id.to_string()) => {
                    let status = all.get(&id.to_string())?;
                    let ended = status.last_completed_collective.0.unwrap_or(0);
                    status.last_enqueued_collective.0.map(|made| (made, ended))
                }
                // A group has a status from its first call on.
                _ => all.keys().all(is_told).then_some((0, 0)),
            }
        };
        for group in groups.values_mut() {
            group.finish(status(&group.name));
        }
        dump.groups = groups.into_values().collect();
        dump
    }
}

/// What torch calls the state of a call that has ended.
const ENDED: &str = "completed";

impl Entry {
    /// The collective, or the message, without who made it.
    fn name(&self) -> &str {
        self.profiling_name.split_once(':').map_or(&*self.profiling_name, |(_, name)| name)
    }

    fn is_message(&self) -> bool {
        self.is_p2p || self.name().starts_with("send ") || self.name().starts_with("recv ")
    }

    fn call(&self) -> Option<GroupCall> {
        Some(GroupCall {
            number: self.collective_seq_id.0?,
            name: self.name().to_owned(),
            input: self.input(),
            has_ended: self.state == ENDED,
            made_unix_ns: self.time_created_ns.0.filter(|ns| *ns > 0),
            timeout_ns: self.timeout_ms.0.map(|ms| ms.saturating_mul(1_000_000)),
            place: self.frames.0.clone(),
        })
    }

    /// `1024 BFloat16`, of several tensors `1024 BFloat16, 4 Float`.
    fn input(&self) -> String {
        let types = self.input_dtypes.items.iter();
        let tensors = self.input_sizes.items.iter().zip(types).map(|(sizes, of)| {
            let n_elements = sizes.items.iter().fold(1_u64, |n, size| n.saturating_mul(*size));
            format!("{n_elements} {of}")
        });
        let all = tensors.take(MAX_INPUT).collect::<Vec<_>>().join(", ");
        all.chars().take(MAX_INPUT).collect()
    }
}

impl Frame {
    fn text(&self) -> String {
        let file = self.filename.rsplit(['/', '\\']).next().unwrap_or_default();
        let line = self.line.0.map_or_else(String::new, |line| format!(":{line}"));
        format!("{} ({file}{line})", self.name)
    }
}

impl GroupCalls {
    /// Calls come in order, and those of one number one after the other.
    fn add(&mut self, call: GroupCall) {
        match self.calls.last_mut().filter(|last| last.number == call.number) {
            Some(last) => *last = GroupCall { has_ended: last.has_ended || call.has_ended, ..call },
            None => self.calls.push(call),
        }
    }

    /// With the last call that was made, and the last that has ended, as the group says it.
    fn finish(&mut self, status: Option<(u64, u64)>) {
        self.calls.sort_by_key(|call| call.number);
        if let Some((_, ended)) = status {
            self.calls.iter_mut().for_each(|call| call.has_ended |= call.number <= ended);
        }
        let last = self.calls.last().map(|call| call.number);
        self.last_made = last.max(status.map(|(made, _)| made));
        let open = self.calls.iter().position(|call| !call.has_ended);
        let middle = open.unwrap_or(self.calls.len());
        let most = FlightDump::MAX_CALLS;
        self.calls.drain(..middle.saturating_sub(most / 2));
        self.calls.truncate(most);
    }
}

/// A whole number that is not negative, also as text; `None` of anything else.
#[derive(Clone, Copy, Default)]
struct Whole(Option<u64>);

/// Ranks: numbers, or a text of them, `[0, 1, 2]`.
#[derive(Default)]
struct Members(Vec<u32>);

/// Of a stack, the innermost frame that is not torch's own; the innermost where all are.
#[derive(Default)]
struct Innermost(Option<String>);

/// What can be read of a list, and how much cannot.
struct List<T> {
    items: Vec<T>,
    n_unusable: u64,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new(), n_unusable: 0 }
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Whole;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }
            fn visit_u64<E>(self, number: u64) -> Result<Whole, E> {
                Ok(Whole(Some(number)))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Whole, E> {
                Ok(Whole(u64::try_from(number).ok()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Whole, E> {
                Ok(Whole(text.parse().ok()))
            }
            fn visit_unit<E>(self) -> Result<Whole, E> {
                Ok(Whole(None))
            }
        }
        from.deserialize_any(Read)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the ranks of a group")
            }
            fn visit_str<E>(self, text: &str) -> Result<Members, E> {
                let numbers = text.split(|c: char| !c.is_ascii_digit());
                let ranks = numbers.filter_map(|number| number.parse().ok());
                Ok(Members(ranks.take(FlightDump::MAX_MEMBERS).collect()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Members, A::Error> {
                let mut ranks = usable(seq)?.items;
                ranks.truncate(FlightDump::MAX_MEMBERS);
                Ok(Members(ranks))
            }
        }
        from.deserialize_any(Read)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<List<T>, A::Error> {
                usable(seq)
            }
        }
        from.deserialize_any(Read(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Innermost {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Innermost;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a stack")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Innermost, A::Error> {
                let mut innermost = None;
                for _ in 0..MAX_FRAMES {
                    let Some(frame) = seq.next_element::<Frame>()? else {
                        break;
                    };
                    if !frame.filename.contains("/torch/") {
                        innermost = Some(frame.text());
                        break;
                    }
                    innermost = innermost.or_else(|| Some(frame.text()));
                }
                // A reader of JSON wants its lists read to their ends.
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Innermost(innermost))
            }
        }
        from.deserialize_any(Read)
    }
}

/// Those items of a list that are as they should be.
fn usable<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut seq: A) -> Result<List<T>, A::Error> {
    let mut list = List::default();
    loop {
        match seq.next_element() {
            Ok(Some(item)) => list.items.push(item),
            Ok(None) => return Ok(list),
            Err(_) => list.n_unusable += 1,
        }
    }
}
