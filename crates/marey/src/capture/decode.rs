//! Blocks to values: the pure half of reading. Any bytes lead to a run; what makes no sense is passed over and reported.

use std::collections::{BTreeMap, HashMap};

use super::block::{Block, Kind};
use super::readable;
use crate::clock::{Anchor, ClockKind};
use crate::clock_map::ClockMap;
use crate::histogram::{Histogram, bucket_of};
use crate::note::Note;
use crate::recorder::{NodeSnapshot, TotalsSnapshot};
use crate::run::{
    CacheEvent, CounterReading, Event, Losses, MemoryReading, Node, NodeKind, NodeTotals,
    OpenSection, Run, RunInfo, Section, SectionAttributes, Session, Status, Thread,
};
use crate::value::Attributes;
use crate::warning::Warning;

/// A record as it was read: ticks instead of nanoseconds. As large as a [`Section`], so that one becomes the other in place.
#[derive(Debug)]
struct RawSection {
    start: u64,
    end: u64,
    node: u32,
    thread: u32,
    flow: u16,
    is_failed: bool,
    has_pauses: bool,
}

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Decode {
    facts: Vec<(String, String)>,
    names: Vec<String>,
    nodes: Vec<u64>,
    sections: Vec<RawSection>,
    notes: Vec<(u64, u32, Note)>,
    /// Per lane: next record position, next note position, thread seen last.
    lanes: BTreeMap<u32, LaneSeen>,
    /// Totals by lane and epoch.
    totals: BTreeMap<(u32, u32), TotalsSnapshot>,
    anchors: Vec<Anchor>,
    losses: [u64; 4],
    open: Vec<(u64, u32, u32)>,
    last_ticks: u64,
    /// How the process ended, if the capture says so.
    pub(crate) status: Option<Status>,
    warnings: Vec<Warning>,
}

#[derive(Debug, Default)]
struct LaneSeen {
    next_record: u64,
    next_note: u64,
    thread: u32,
    /// Records that came after the latest totals of the lane, by node.
    after_totals: BTreeMap<u32, NodeSnapshot>,
}

impl Decode {
    /// What the info blocks say under a key; the last one counts.
    pub(crate) fn fact(&self, key: &str) -> Option<&str> {
        self.facts
            .iter()
            .rev()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }

    /// Takes one block in.
    pub(crate) fn block(&mut self, block: &Block) {
        let Some(kind) = Kind::from_code(block.code) else {
            self.warn(Warning::UnknownBlock { kind: block.code });
            return;
        };
        let mut from = Payload(&block.payload);
        let understood = match kind {
            Kind::Info => self.info(&mut from),
            Kind::Names => self.names(&mut from),
            Kind::Nodes => self.nodes(&mut from),
            Kind::Records => self.records(&mut from),
            Kind::Notes => self.notes(&mut from),
            Kind::Totals => self.totals(&mut from),
            Kind::Anchor => self.anchor(&mut from),
            Kind::Losses => self.losses(&mut from),
            Kind::Open => self.open(&mut from),
            Kind::End => self.end(&mut from),
        };
        if understood.is_none() {
            self.warn(Warning::MalformedBlock {
                offset: block.offset,
            });
        }
    }

    /// Adds a warning once.
    pub(crate) fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < 1000 && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn info(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let mut facts = Vec::new();
        for _ in 0..from.u32()? {
            facts.push((readable(from.text()?), readable(from.text()?)));
        }
        // A later block, written when a capture moved from memory to a file, replaces the earlier one.
        self.facts = facts;
        Some(())
    }

    fn names(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let (first, n) = (from.u32()? as usize, from.u32()?);
        if first > self.names.len() {
            return None;
        }
        for at in first..first + n as usize {
            let name = readable(from.text()?);
            if at == self.names.len() {
                self.names.push(name);
            }
        }
        Some(())
    }

    fn nodes(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let (first, n) = (from.u32()? as usize, from.u32()?);
        if first > self.nodes.len() {
            return None;
        }
        for at in first..first + n as usize {
            let word = from.u64()?;
            let (parent, name) = (word & 0xffff, word >> 16 & 0xffff);
            let is_sound = (parent as usize) < at.max(1) && (name as usize) < self.names.len();
            if at == self.nodes.len() {
                is_sound.then(|| self.nodes.push(word))?;
            }
        }
        Some(())
    }

    fn records(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let (lane, thread, n, _) = (from.u32()?, from.u32()?, from.u32()?, from.u32()?);
        let seen = self.lanes.entry(lane).or_default();
        seen.thread = thread;
        let head_of_totals = self
            .totals
            .range((lane, 0)..=(lane, u32::MAX))
            .next_back()
            .map_or(0, |(_, t)| t.head);
        let mut last = self.last_ticks;
        for _ in 0..n {
            let (start, end, word, commit) = (from.u64()?, from.u64()?, from.u64()?, from.u64()?);
            let node = word as u32;
            if commit <= seen.next_record || node as usize >= self.nodes.len() || end < start {
                continue;
            }
            seen.next_record = commit;
            last = last.max(end);
            let is_failed = word >> 48 & 1 != 0;
            if commit > head_of_totals {
                count(&mut seen.after_totals, node, start, end, is_failed);
            }
            self.sections.push(RawSection {
                start,
                end,
                node,
                thread,
                flow: (word >> 32) as u16,
                is_failed,
                has_pauses: word >> 48 & 2 != 0,
            });
        }
        self.last_ticks = last;
        Some(())
    }

    fn notes(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let (lane, thread, mut position) = (from.u32()?, from.u32()?, from.u64()?);
        let words: Vec<u64> = std::iter::from_fn(|| from.u64()).collect();
        let mut rest = words.as_slice();
        let seen = self.lanes.entry(lane).or_default();
        if thread != u32::MAX {
            seen.thread = thread;
        }
        let mut is_sound = true;
        while !rest.is_empty() {
            let (ticks, note, n_words) = Note::decode(rest)?;
            if position >= seen.next_note {
                match note {
                    Some(note) => self.notes.push((ticks, thread, note)),
                    None => is_sound = false,
                }
                self.last_ticks = self.last_ticks.max(ticks);
                seen.next_note = position + n_words as u64;
            }
            position += n_words as u64;
            rest = &rest[n_words..];
        }
        is_sound.then_some(())
    }

    fn totals(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let (lane, epoch, head, dropped) = (from.u32()?, from.u32()?, from.u64()?, from.u64()?);
        let mut nodes = Vec::new();
        for _ in 0..from.u32()? {
            let totals = from.node_totals()?;
            if (totals.node as usize) < self.nodes.len() {
                nodes.push(totals);
            }
        }
        self.totals.insert(
            (lane, epoch),
            TotalsSnapshot {
                head,
                dropped,
                nodes,
            },
        );
        self.lanes.entry(lane).or_default().after_totals.clear();
        Some(())
    }

    fn anchor(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let anchor = Anchor {
            ticks: from.u64()?,
            monotonic_ns: from.u64()?,
            unix_ns: from.u64()?,
        };
        self.last_ticks = self.last_ticks.max(anchor.ticks);
        self.anchors.push(anchor);
        Some(())
    }

    fn losses(&mut self, from: &mut Payload<'_>) -> Option<()> {
        self.losses = [from.u64()?, from.u64()?, from.u64()?, from.u64()?];
        Some(())
    }

    fn open(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let mut open = Vec::new();
        for _ in 0..from.u32()? {
            let (start, node, lane) = (from.u64()?, from.u32()?, from.u32()?);
            if (node as usize) < self.nodes.len() {
                self.last_ticks = self.last_ticks.max(start);
                open.push((start, node, lane));
            }
        }
        self.open = open;
        Some(())
    }

    fn end(&mut self, from: &mut Payload<'_>) -> Option<()> {
        let (code, signal, reason) = (
            from.u8()?,
            from.u32()?.cast_signed(),
            readable(from.text()?),
        );
        self.status = Some(match code {
            0 => Status::Finished,
            1 => Status::Failed(reason),
            2 => Status::Killed(signal),
            _ => Status::EndedWithoutClosing,
        });
        Some(())
    }

    /// The run. `status` is for a capture that does not say itself how the process ended.
    pub(crate) fn finish(mut self, status: Status) -> Run {
        let clock_kind = if self.fact("clock") == Some("monotonic") {
            ClockKind::Monotonic
        } else {
            ClockKind::Tsc
        };
        let clock = ClockMap::new(clock_kind, std::mem::take(&mut self.anchors));
        clock.jumps().into_iter().for_each(|jump| self.warn(jump));
        let threads = self.threads();
        let dense: HashMap<u32, u32> = threads
            .keys()
            .zip(0..)
            .map(|(number, index)| (*number, index))
            .collect();
        let thread = |number: u32| dense.get(&number).copied().unwrap_or(0);
        let mut run = Run {
            info: self.run_info(&clock, clock_kind),
            wall_ns: clock.ns(self.last_ticks),
            totals: self.node_totals(&clock),
            losses: self.run_losses(),
            nodes: self.run_nodes(),
            open: self.open_sections(&clock, &dense),
            status: self.status.take().unwrap_or(status),
            ..Run::default()
        };
        let keys = self.attribute_keys(&thread);
        run.sections = std::mem::take(&mut self.sections)
            .into_iter()
            .map(|raw| Section {
                thread: thread(raw.thread),
                node: raw.node,
                start_ns: clock.ns(raw.start),
                end_ns: clock.ns(raw.end),
                flow: raw.flow,
                is_failed: raw.is_failed,
                has_pauses: raw.has_pauses,
            })
            .collect();
        if !run.sections.is_sorted_by_key(|s| s.thread) {
            run.sections.sort_by_key(|s| s.thread);
        }
        run.threads = threads.into_values().collect();
        place_notes(&mut run, std::mem::take(&mut self.notes), &clock, &thread);
        place_attributes(&mut run, keys, &clock);
        self.check_totals(&run);
        run.warnings = self.warnings;
        run
    }

    /// Threads by number, also those whose name was not recorded.
    fn threads(&self) -> BTreeMap<u32, Thread> {
        let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
        for lane in self.lanes.values().filter(|lane| lane.next_record > 0) {
            threads.entry(lane.thread).or_default();
        }
        for raw in &self.sections {
            threads.entry(raw.thread).or_default();
        }
        for (_, _, note) in &self.notes {
            if let Note::Thread {
                thread,
                os_id,
                name,
            } = note
            {
                threads.insert(
                    *thread,
                    Thread {
                        os_id: *os_id,
                        name: name.clone(),
                    },
                );
            }
        }
        threads
    }

    fn run_info(&self, clock: &ClockMap, kind: ClockKind) -> RunInfo {
        let text = |key: &str| self.fact(key).unwrap_or_default().to_owned();
        let number = |key: &str| self.fact(key).and_then(|v| v.parse().ok());
        let all = |wanted: &str| {
            self.facts
                .iter()
                .filter(|(k, _)| k == wanted)
                .map(|(_, v)| v.clone())
                .collect()
        };
        let known = [
            "pid",
            "host",
            "job_id",
            "rank",
            "world_size",
            "argument",
            "clock",
        ];
        RunInfo {
            start_unix_ns: clock.start_unix_ns(),
            pid: number("pid").unwrap_or(0),
            host: text("host"),
            job_id: text("job_id"),
            rank: number("rank"),
            world_size: number("world_size"),
            command: all("argument"),
            clock: kind.name().to_owned(),
            facts: self
                .facts
                .iter()
                .filter(|(k, _)| !known.contains(&k.as_str()))
                .cloned()
                .collect(),
        }
    }

    fn run_nodes(&self) -> Vec<Node> {
        let node = |(id, word): (usize, &u64)| Node {
            parent: (id > 0).then_some(*word as u32 & 0xffff),
            name: self
                .names
                .get((*word >> 16 & 0xffff) as usize)
                .cloned()
                .unwrap_or_default(),
            kind: if word >> 32 & 1 != 0 {
                NodeKind::Iteration
            } else {
                NodeKind::Section
            },
            is_detached: word >> 32 & 2 != 0,
        };
        self.nodes.iter().enumerate().map(node).collect()
    }

    /// Totals of all lanes and epochs together, and the records that came after them.
    fn node_totals(&self, clock: &ClockMap) -> Vec<NodeTotals> {
        let unit_ns = clock.duration_ns(1 << 40) as f64 / (1u64 << 40) as f64;
        let mut merged: Vec<Merged> = self.nodes.iter().map(|_| Merged::default()).collect();
        for ((lane, _), snapshot) in &self.totals {
            snapshot
                .nodes
                .iter()
                .for_each(|node| merged[node.node as usize].add(*lane, node, unit_ns));
        }
        for (lane, seen) in &self.lanes {
            seen.after_totals
                .values()
                .for_each(|node| merged[node.node as usize].add(*lane, node, unit_ns));
        }
        merged.into_iter().map(|m| m.finish(clock)).collect()
    }

    fn run_losses(&self) -> Losses {
        // Of the epochs of a lane, the latest knows all drops so far.
        let mut ring_full: BTreeMap<u32, u64> = BTreeMap::new();
        for ((lane, _), totals) in &self.totals {
            let known = ring_full.entry(*lane).or_default();
            *known = totals.dropped.max(*known);
        }
        let [
            sections_unrecorded,
            threads_in_private_memory,
            sections_not_written,
            notes_dropped,
        ] = self.losses;
        let other = self
            .totals
            .values()
            .flat_map(|t| &t.nodes)
            .filter(|n| n.node == 1)
            .map(|n| n.count)
            .sum::<u64>();
        let later = self
            .lanes
            .values()
            .filter_map(|l| l.after_totals.get(&1))
            .map(|n| n.count)
            .sum::<u64>();
        Losses {
            sections_ring_full: ring_full.values().sum(),
            sections_not_written,
            notes_dropped,
            calls_without_name: other + later,
            sections_unrecorded,
            threads_in_private_memory,
        }
    }

    fn open_sections(&self, clock: &ClockMap, dense: &HashMap<u32, u32>) -> Vec<OpenSection> {
        let thread_of = |lane: u32| {
            self.lanes
                .get(&lane)
                .and_then(|seen| dense.get(&seen.thread))
                .copied()
        };
        let open = |(start, node, lane): &(u64, u32, u32)| OpenSection {
            thread: thread_of(*lane),
            node: *node,
            start_ns: clock.ns(*start),
        };
        self.open.iter().map(open).collect()
    }

    /// Attributes by the section they belong to: thread, node, start in ticks.
    fn attribute_keys(&mut self, thread: &impl Fn(u32) -> u32) -> AttributeKeys {
        let mut keys = AttributeKeys::new();
        self.notes.retain_mut(|(_, number, note)| {
            let Note::SectionAttributes {
                node,
                start_ticks,
                attributes,
            } = note
            else {
                return true;
            };
            let given = keys
                .entry((thread(*number), *node, *start_ticks))
                .or_default();
            given.append(attributes);
            false
        });
        keys
    }

    /// Says so when the totals are not the last word.
    fn check_totals(&mut self, run: &Run) {
        let is_closed = matches!(run.status, Status::Finished | Status::Failed(_));
        if !is_closed
            && self
                .lanes
                .values()
                .any(|lane| !lane.after_totals.is_empty())
            && !self.totals.is_empty()
        {
            self.warn(Warning::TotalsAreOld);
        }
    }
}

type AttributeKeys = HashMap<(u32, u32, u64), Attributes>;

/// Counts one record into totals by node.
fn count(
    totals: &mut BTreeMap<u32, NodeSnapshot>,
    node: u32,
    start: u64,
    end: u64,
    is_failed: bool,
) {
    let duration = end - start;
    let t = totals.entry(node).or_insert_with(|| NodeSnapshot {
        node,
        min: u64::MAX,
        first_start: u64::MAX,
        buckets: Some(Vec::new()),
        ..NodeSnapshot::default()
    });
    t.count += 1;
    t.sum = t.sum.saturating_add(duration);
    t.min = t.min.min(duration);
    t.max = t.max.max(duration);
    t.errors += u32::from(is_failed);
    if start < t.first_start {
        (t.first, t.first_start) = (duration, start);
    }
    if end >= t.last_end {
        (t.last, t.last_end) = (duration, end);
    }
    if let Some(buckets) = &mut t.buckets {
        let bucket = bucket_of(duration) as u32;
        match buckets.binary_search_by_key(&bucket, |(b, _)| *b) {
            Ok(at) => buckets[at].1 = buckets[at].1.saturating_add(1),
            Err(at) => buckets.insert(at, (bucket, 1)),
        }
    }
}

/// Totals of one node while lanes are added up.
#[derive(Debug, Default)]
struct Merged {
    all: Option<NodeSnapshot>,
    errors: u64,
    histogram: Option<Histogram>,
    is_incomplete: bool,
    lanes: Vec<u32>,
}

impl Merged {
    fn add(&mut self, lane: u32, node: &NodeSnapshot, unit_ns: f64) {
        self.errors += u64::from(node.errors);
        if !self.lanes.contains(&lane) {
            self.lanes.push(lane);
        }
        match &node.buckets {
            None => self.is_incomplete = true,
            Some(buckets) => {
                let histogram = self
                    .histogram
                    .get_or_insert_with(|| Histogram::with_unit(unit_ns));
                buckets
                    .iter()
                    .for_each(|(bucket, n)| histogram.add_to_bucket(*bucket as usize, (*n).into()));
            }
        }
        let Some(all) = &mut self.all else {
            self.all = Some(NodeSnapshot {
                buckets: None,
                ..node.clone()
            });
            return;
        };
        all.count = all.count.saturating_add(node.count);
        all.sum = all.sum.saturating_add(node.sum);
        all.min = all.min.min(node.min);
        all.max = all.max.max(node.max);
        if node.first_start < all.first_start {
            (all.first, all.first_start) = (node.first, node.first_start);
        }
        if node.last_end >= all.last_end {
            (all.last, all.last_end) = (node.last, node.last_end);
        }
    }

    fn finish(self, clock: &ClockMap) -> NodeTotals {
        let Some(all) = self.all else {
            return NodeTotals::default();
        };
        NodeTotals {
            count: all.count,
            sum_ns: clock.duration_ns(all.sum),
            min_ns: clock.duration_ns(all.min),
            max_ns: clock.duration_ns(all.max),
            first_ns: clock.duration_ns(all.first),
            last_ns: clock.duration_ns(all.last),
            errors: self.errors,
            histogram: self.histogram.filter(|_| !self.is_incomplete),
            n_threads: u32::try_from(self.lanes.len()).unwrap_or(u32::MAX),
        }
    }
}

/// Sorts notes into the lists of the run.
fn place_notes(
    run: &mut Run,
    notes: Vec<(u64, u32, Note)>,
    clock: &ClockMap,
    thread: &impl Fn(u32) -> u32,
) {
    let mut sessions: BTreeMap<u64, Session> = BTreeMap::new();
    for (ticks, number, note) in notes {
        let at_ns = clock.ns(ticks);
        match note {
            Note::Thread { .. } | Note::SectionAttributes { .. } => {}
            Note::Event { name, attributes } => {
                run.events.push(Event {
                    at_ns,
                    thread: thread(number),
                    name,
                    attributes,
                });
            }
            Note::Memory {
                label,
                source,
                allocated_bytes,
                reserved_bytes,
                peak_bytes,
            } => {
                run.memory.push(MemoryReading {
                    at_ns,
                    label,
                    source,
                    allocated_bytes,
                    reserved_bytes,
                    peak_bytes,
                });
            }
            Note::Counter { name, value } if value.is_finite() => {
                run.counters.push(CounterReading { at_ns, name, value })
            }
            Note::Counter { .. } => {}
            Note::Cache {
                cache,
                outcome,
                step,
                block,
                score,
                threshold,
                held_bytes,
                attributes,
            } => {
                run.cache_events.push(CacheEvent {
                    at_ns,
                    cache,
                    outcome,
                    step,
                    block,
                    score: score.filter(|v| v.is_finite()),
                    threshold: threshold.filter(|v| v.is_finite()),
                    held_bytes,
                    attributes,
                });
            }
            Note::SessionStart {
                session,
                name,
                tags,
            } => {
                sessions.insert(
                    session,
                    Session {
                        name,
                        start_ns: at_ns,
                        end_ns: None,
                        tags,
                    },
                );
            }
            Note::SessionEnd { session } => {
                if let Some(session) = sessions.get_mut(&session) {
                    session.end_ns = Some(at_ns.max(session.start_ns));
                }
            }
        }
    }
    run.sessions = sessions.into_values().collect();
    run.sessions.sort_by_key(|s| s.start_ns);
    run.events.sort_by_key(|e| e.at_ns);
    run.memory.sort_by_key(|m| m.at_ns);
    run.counters.sort_by_key(|c| c.at_ns);
    run.cache_events.sort_by_key(|c| c.at_ns);
}

/// Finds the section of each set of attributes. Those of sections that were not recorded are dropped.
fn place_attributes(run: &mut Run, keys: AttributeKeys, clock: &ClockMap) {
    if keys.is_empty() {
        return;
    }
    let by_time: HashMap<(u32, u32, u64), Attributes> = keys
        .into_iter()
        .map(|((thread, node, start), given)| ((thread, node, clock.ns(start)), given))
        .collect();
    for (section, s) in run.sections.iter().enumerate() {
        if let Some(attributes) = by_time.get(&(s.thread, s.node, s.start_ns)) {
            run.section_attributes.push(SectionAttributes {
                section,
                attributes: attributes.clone(),
            });
        }
    }
}

/// Reads numbers off a payload; `None` past its end.
struct Payload<'a>(&'a [u8]);

impl<'a> Payload<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|b| b[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (text, rest) = (length <= self.0.len()).then(|| self.0.split_at(length))?;
        self.0 = rest;
        Some(text)
    }

    fn node_totals(&mut self) -> Option<NodeSnapshot> {
        let mut totals = NodeSnapshot {
            node: self.u32()?,
            errors: self.u32()?,
            count: self.u64()?,
            sum: self.u64()?,
            min: self.u64()?,
            max: self.u64()?,
            last: self.u64()?,
            last_end: self.u64()?,
            first: self.u64()?,
            first_start: self.u64()?,
            buckets: None,
        };
        let n = self.u32()?;
        if n != u32::MAX {
            let mut buckets = Vec::new();
            for _ in 0..n {
                buckets.push((self.u32()?, self.u32()?));
            }
            totals.buckets = Some(buckets);
        }
        Some(totals)
    }
}
