//! Blocks to values: the pure half of reading. Any bytes lead to a run; what makes no sense is passed over and reported.

use std::collections::{BTreeMap, HashMap};

use super::block::{Block, Kind};
use super::merge::count;
use super::packed::Packed;
use super::positions::Positions;
use super::tables::Tables;
use crate::clock::Anchor;
use crate::note::Note;
use crate::recorder::{NodeSnapshot, TotalsSnapshot, high, low};
use crate::run::Status;
use crate::warning::Warning;
use crate::wire::{Decoder, Wire, put_length, wire};

/// Whether blocks of a kind hold what most of a capture is made of.
pub(super) fn is_bulk(code: u16) -> bool {
    let kind = Kind::from_code(code);
    matches!(kind, Some(Kind::Packed | Kind::Notes))
}

/// A record as it was read: ticks instead of nanoseconds. As large as a [`crate::run::Section`], so that one becomes the other in place.
#[derive(Debug)]
pub(super) struct RawSection {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) node: u32,
    pub(super) thread: u32,
    pub(super) flow: u16,
    pub(super) is_failed: bool,
    pub(super) has_pauses: bool,
}

/// A note as it was read.
#[derive(Debug)]
pub(super) struct RawNote {
    pub(super) ticks: u64,
    pub(super) thread: u32,
    /// Number of the session that it belongs to.
    pub(super) session: Option<u64>,
    /// The flow in which it was noted.
    pub(super) flow: u16,
    pub(super) note: Note,
}

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Decode {
    pub(super) facts: Vec<(String, String)>,
    pub(super) tables: Tables,
    pub(super) sections: Vec<RawSection>,
    pub(super) notes: Vec<RawNote>,
    pub(super) lanes: BTreeMap<u32, LaneSeen>,
    /// Totals by lane and epoch.
    pub(super) totals: BTreeMap<(u32, u32), TotalsSnapshot>,
    pub(super) anchors: Vec<Anchor>,
    pub(super) losses: [u64; 5],
    pub(super) open: Vec<(u64, u32, u32)>,
    pub(super) last_ticks: u64,
    /// What lies beyond these records of a lane is left out.
    pub(super) heads: HashMap<u32, u64>,
    /// How the process ended, if the capture says so.
    pub(crate) status: Option<Status>,
    pub(super) warnings: Vec<Warning>,
}

/// What was read of a lane.
#[derive(Debug, Default)]
pub(super) struct LaneSeen {
    /// Positions of its records, counted from 1.
    pub(super) records: Positions,
    /// Positions of the words of its notes.
    pub(super) notes: Positions,
    pub(super) n_records: u64,
    /// The thread that was seen last.
    pub(super) thread: u32,
    /// Records that came after the latest totals of the lane, by node.
    pub(super) after_totals: BTreeMap<u32, NodeSnapshot>,
}

impl Decode {
    /// What the info blocks say under a key; the last one counts.
    pub(crate) fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// Leaves out what lanes recorded beyond these heads.
    pub(crate) fn leave_out_after(&mut self, heads: &HashMap<u32, u64>) {
        self.heads.clone_from(heads);
    }

    /// Takes one block in. Of a stream, first those that [`is_bulk`] is false of, then the others: the totals of a lane say which of its
    /// records they lack, wherever those lie.
    pub(crate) fn block(&mut self, block: &Block) {
        let Some(kind) = Kind::from_code(block.code) else {
            self.warn(Warning::UnknownBlock { kind: block.code });
            return;
        };
        let mut from = Decoder::new(&block.payload);
        let understood = match kind {
            Kind::Info => self.info(&mut from),
            Kind::Names => self.names(&mut from),
            Kind::Nodes => self.nodes(&mut from),
            Kind::Notes => self.notes(&mut from),
            Kind::Totals => self.totals(&mut from),
            Kind::Anchor => self.anchor(&mut from),
            Kind::Losses => self.losses(&mut from),
            Kind::Open => self.open(&mut from),
            Kind::End => self.end(&mut from),
            Kind::Packed => self.records(&mut from),
            Kind::Last => u64::take(&mut from).map(drop),
        };
        if understood.is_none() {
            self.warn(Warning::MalformedBlock { offset: block.offset });
        }
    }

    /// Adds a warning once.
    pub(crate) fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < 1000 && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn info(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let mut facts = Vec::new();
        for _ in 0..u32::take(from)? {
            facts.push(Wire::take(from)?);
        }
        // A later block, written when a capture moved from memory to a file or the rank was learnt, replaces the earlier one.
        self.facts = facts;
        Some(())
    }

    fn names(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let (first, n) = (u32::take(from)?, u32::take(from)?);
        for offset in 0..n {
            let text = String::take(from)?;
            self.tables.name(first.checked_add(offset)?, text)?;
        }
        Some(())
    }

    fn nodes(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let (first, n) = (u32::take(from)?, u32::take(from)?);
        for offset in 0..n {
            let word = u64::take(from)?;
            self.tables.node(first.checked_add(offset)?, word)?;
        }
        Some(())
    }

    fn records(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let (lane, thread, first) = (u32::take(from)?, u32::take(from)?, u64::take(from)?);
        let limit = self.heads.get(&lane).copied().unwrap_or(u64::MAX);
        let seen = self.lanes.entry(lane).or_default();
        seen.thread = thread;
        let head_of_totals =
            self.totals.range((lane, 0)..=(lane, u32::MAX)).next_back().map_or(0, |(_, t)| t.head);
        let (mut bytes, mut packed) = (from.bytes, Packed::default());
        let (mut next, mut is_sound) = (Some(first), true);
        while !bytes.is_empty() {
            let ([start, end, word], commit) = packed.next(&mut bytes).zip(next)?;
            next = commit.checked_add(1);
            let node = low(word);
            if commit == 0 || commit > limit {
                continue;
            }
            if end < start || self.tables.use_node(node).is_none() {
                is_sound = false;
                continue;
            }
            if !seen.records.insert(commit, commit.saturating_add(1), end) {
                continue;
            }
            seen.n_records += 1;
            self.last_ticks = self.last_ticks.max(end);
            let [flow, flags] = [high(word) & 0xffff, high(word) >> 16];
            let is_failed = flags & 1 != 0;
            if commit > head_of_totals {
                count(&mut seen.after_totals, node, start, end, is_failed);
            }
            self.sections.push(RawSection {
                start,
                end,
                node,
                thread,
                flow: u16::try_from(flow).unwrap_or(0),
                is_failed,
                has_pauses: flags & 2 != 0,
            });
        }
        is_sound.then_some(())
    }

    fn notes(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let (lane, thread, mut position) = (u32::take(from)?, u32::take(from)?, u64::take(from)?);
        let words: Vec<u64> = std::iter::from_fn(|| u64::take(from)).collect();
        let mut rest = words.as_slice();
        let seen = self.lanes.entry(lane).or_default();
        if thread != u32::MAX {
            seen.thread = thread;
        }
        let mut is_sound = true;
        while !rest.is_empty() {
            let noted = Note::decode(rest)?;
            let (ticks, n_words) = (noted.ticks, noted.n_words);
            let next = position.saturating_add(n_words as u64);
            if seen.notes.insert(position, next, ticks) {
                match noted.note {
                    Some(note) => self.notes.push(RawNote {
                        ticks,
                        thread,
                        session: noted.session,
                        flow: noted.flow,
                        note,
                    }),
                    None => is_sound = false,
                }
                self.last_ticks = self.last_ticks.max(ticks);
            }
            position = next;
            rest = &rest[n_words..];
        }
        is_sound.then_some(())
    }

    fn totals(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let (lane, epoch, head, dropped) =
            (u32::take(from)?, u32::take(from)?, u64::take(from)?, u64::take(from)?);
        let mut nodes = Vec::new();
        for _ in 0..u32::take(from)? {
            let totals = NodeSnapshot::take(from)?;
            self.tables.use_node(totals.node)?;
            nodes.push(totals);
        }
        if self.heads.get(&lane).is_some_and(|limit| head > *limit) {
            return Some(());
        }
        let snapshot = TotalsSnapshot { head, dropped, nodes };
        self.totals.insert((lane, epoch), snapshot);
        self.lanes.entry(lane).or_default().after_totals.clear();
        Some(())
    }

    fn anchor(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let anchor = Anchor::take(from)?;
        self.last_ticks = self.last_ticks.max(anchor.ticks);
        self.anchors.push(anchor);
        Some(())
    }

    fn losses(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let known = [u64::take(from)?, u64::take(from)?, u64::take(from)?, u64::take(from)?];
        self.losses[..4].copy_from_slice(&known);
        // The first captures have no more.
        self.losses[4] = u64::take(from).unwrap_or(0);
        Some(())
    }

    fn open(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let mut open = Vec::new();
        for _ in 0..u32::take(from)? {
            let (start, node, lane) = (u64::take(from)?, u32::take(from)?, u32::take(from)?);
            self.tables.use_node(node)?;
            self.last_ticks = self.last_ticks.max(start);
            open.push((start, node, lane));
        }
        self.open = open;
        Some(())
    }

    fn end(&mut self, from: &mut Decoder<'_>) -> Option<()> {
        let (code, signal, reason) =
            (u8::take(from)?, u32::take(from)?.cast_signed(), String::take(from)?);
        // The first one is the process's own; a process that died while it removed its rings looks like one that did not close.
        self.status.get_or_insert(match code {
            0 => Status::Finished,
            1 => Status::Failed(reason),
            2 => Status::Killed(signal),
            4 => Status::OutOfMemory(reason),
            _ => Status::EndedWithoutClosing,
        });
        Some(())
    }
}

wire! { struct Anchor { ticks, monotonic_ns, unix_ns } }
wire! {
    struct NodeSnapshot {
        node, errors, count, sum, min, max, last, last_end, first, first_start, buckets,
    }
}

/// Their number (all ones for none), and so many of them.
impl Wire for Option<Vec<(u32, u32)>> {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.as_ref().map_or(usize::MAX, Vec::len), out);
        self.iter().flatten().for_each(|bucket| bucket.put(out));
    }

    fn take(from: &mut Decoder<'_>) -> Option<Self> {
        match u32::take(from)? {
            u32::MAX => Some(None),
            n => (0..n).map(|_| Wire::take(from)).collect::<Option<_>>().map(Some),
        }
    }
}
