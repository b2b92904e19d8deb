//! Reads a process's shared files from outside: what it has not yet (or will never) put into its capture.
//!
//! The process may be at work meanwhile. What is read of a lane is what it held at one moment, its *head*; what the capture holds
//! beyond that came later and is left to the next reader.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering::Acquire, fence};

use super::encode::Encode;
use super::tables::Tables;
use crate::clock::Anchor;
use crate::recorder::{
    HEADER_WORDS, Identity, LAYOUT_VERSION, OpenSlot, PROCESS_MAGIC, ProcessLayout, Record, Ring,
    SLOT_WORDS, SeriesTable, View, halves, lane_words, open_slots, process_words as at, read_name,
    snapshot,
};
use crate::run::Node;
use crate::value::readable;

/// A process's shared files.
#[derive(Debug)]
pub(crate) struct Rings {
    process: View,
    lanes: Vec<View>,
    layout: ProcessLayout,
}

/// What the rings held at one moment.
#[derive(Debug)]
pub(crate) struct Held {
    /// Blocks that complete the capture.
    pub(crate) blocks: Vec<u8>,
    /// Records that each lane had committed.
    pub(crate) heads: HashMap<u32, u64>,
}

impl Rings {
    /// Maps the files of a ring folder; `None` when they are not there, or not of this version.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        // Lanes first: what they name is in the tables when those are read afterwards.
        let mut lanes = Vec::new();
        find_lanes(folder, &mut lanes);
        let rings = Self::without_lanes(folder)?;
        Some(Self { lanes, ..rings })
    }

    /// As [`Self::read`], without the lanes: enough to tell whose rings these are.
    pub(crate) fn without_lanes(folder: &Path) -> Option<Self> {
        let process = View::of_file(&folder.join("process")).ok()?;
        let words = process.words();
        let get = |word: usize| words.get(word).map(|w| w.load(Acquire));
        if get(at::MAGIC)? != PROCESS_MAGIC || get(at::VERSION)? != LAYOUT_VERSION {
            return None;
        }
        let capacity =
            |word| get(word).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= words.len());
        let layout = ProcessLayout::new([
            capacity(at::CAP_NAMES)?,
            capacity(at::CAP_NAME_WORDS)?,
            capacity(at::CAP_NODES)?,
            capacity(at::CAP_SLOTS)?,
            capacity(at::CAP_HISTOGRAMS)?,
            capacity(at::CAP_SERIES)?,
        ]);
        let is_whole = layout.end <= words.len() && words.len() >= HEADER_WORDS;
        is_whole.then_some(Self { process, lanes: Vec::new(), layout })
    }

    /// Maps the lanes that came since the rings were mapped.
    pub(crate) fn find_lanes(&mut self, folder: &Path) {
        find_lanes(folder, &mut self.lanes);
    }

    /// The lanes, by number; those that are damaged are left out.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = Ring<'_>> {
        self.lanes.iter().filter_map(|lane| Ring::of(lane.words()))
    }

    /// A word of the header.
    pub(crate) fn get(&self, word: usize) -> u64 {
        self.process.words()[word].load(Acquire)
    }

    /// Whose rings these are.
    pub(crate) fn identity(&self) -> Identity {
        Identity::read_from(self.process.words())
    }

    /// The `marey run` that waits for this very process; `None` where there is none.
    pub(crate) fn waited_for_by(&self) -> Option<u32> {
        let pid = u32::try_from(self.get(at::WAITED_FOR_BY)).ok()?;
        (pid > 0).then_some(pid)
    }

    /// The rank that the program said while it recorded; `None` before that.
    pub(crate) fn said_rank(&self) -> Option<u32> {
        let rank = self.get(at::SAID_RANK).checked_sub(1)?;
        u32::try_from(rank).ok()
    }

    /// The capture that they belong to; `None` when it is in memory.
    pub(crate) fn capture_path(&self) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let length = usize::try_from(self.get(at::CAPTURE_PATH)).ok()?;
        let words = self.process.words().get(at::CAPTURE_PATH + 1..HEADER_WORDS)?;
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.load(Acquire).to_le_bytes()).collect();
        bytes.truncate(length);
        (length > 0).then(|| std::ffi::OsString::from_vec(bytes).into())
    }

    /// Bytes of the capture that are whole blocks; what follows is in the rings.
    pub(crate) fn capture_bytes(&self) -> u64 {
        self.get(at::CAPTURE_BYTES)
    }

    /// What the rings hold now.
    pub(crate) fn held(&self) -> Held {
        let mut lanes = Encode::default();
        let mut heads = HashMap::new();
        let mut notes_dropped = self.get(at::NOTES_NOT_WRITTEN);
        for ring in self.lanes() {
            let id = u32::try_from(ring.get(lane_words::LANE)).unwrap_or(u32::MAX);
            heads.insert(id, self.lane(id, &ring, &mut lanes));
            notes_dropped = notes_dropped.saturating_add(ring.get(lane_words::NOTES_DROPPED));
        }
        // After the lanes, so that all that they name is there; in front of them, as a capture has it.
        let mut encode = Encode::default();
        self.tables(&mut encode);
        encode.bytes.append(&mut lanes.bytes);
        encode.losses([
            self.get(at::SECTIONS_UNRECORDED),
            self.get(at::LANES_PRIVATE),
            self.get(at::SECTIONS_NOT_WRITTEN),
            notes_dropped,
            self.get(at::CHILDREN_UNRECORDED),
        ]);
        encode.open(&self.open_slots());
        encode.open_buckets(&self.series_table());
        for anchor in self.anchors() {
            encode.anchor(anchor);
        }
        Held { blocks: encode.bytes, heads }
    }

    /// Sections that are open, by start.
    pub(crate) fn open_slots(&self) -> Vec<OpenSlot> {
        let slots = &self.process.words()[self.layout.slots..self.layout.groups];
        let n_used = usize::try_from(self.get(at::N_SLOTS)).unwrap_or(usize::MAX);
        open_slots(&slots[..n_used.saturating_mul(SLOT_WORDS).min(slots.len())])
    }

    /// Call paths published so far. What is damaged has a stand-in.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let (texts, words) = self.texts_and_nodes();
        let mut tables = Tables::default();
        for (name, text) in (0..).zip(&texts) {
            tables.name(name, readable(text));
        }
        for (node, word) in (0..).zip(&words) {
            tables.node(node, *word).or_else(|| tables.use_node(node));
        }
        tables.run_nodes()
    }

    /// What samplers read last.
    pub(crate) fn series_table(&self) -> SeriesTable<'_> {
        SeriesTable::new(self.process.words(), &self.layout)
    }

    /// Records, notes and totals of a lane; returns its head.
    ///
    /// The drain may give room back meanwhile, and the producer write there. So the tails are read again after all is copied, and only what
    /// they have not passed counts: the rest is in the capture, which is read afterwards.
    ///
    /// ```text
    /// copied            |-- first ---------------- head --|
    /// tail, read again            ^ before: may be torn    after: whole, nobody wrote there
    /// ```
    fn lane(&self, id: u32, ring: &Ring<'_>, encode: &mut Encode) -> u64 {
        let words = self.process.words();
        let histograms = halves(&words[self.layout.histograms..]);
        let (tail, notes_tail) = (ring.get(lane_words::TAIL), ring.get(lane_words::NOTES_TAIL));
        let (totals, is_exact) = snapshot(ring, histograms, &words[at::N_NODES]);
        let notes_head = ring.get(lane_words::NOTES_HEAD);
        let first = tail.max(totals.head.saturating_sub(ring.capacity()));
        let first_note = notes_tail.max(notes_head.saturating_sub(ring.note_capacity()));
        let records: Vec<Record> =
            (first..totals.head).filter_map(|position| ring.record(position)).collect();
        let notes = ring.note_words(first_note, notes_head);
        fence(Acquire);
        let (tail, notes_tail) = (ring.get(lane_words::TAIL), ring.get(lane_words::NOTES_TAIL));
        // The last word is the position and 1.
        let untouched = records.into_iter().filter(|[.., commit]| *commit > tail);
        encode.records(id, ring.thread(), untouched);
        // A tail is always where a note begins. One that is further back than the ring is long was damaged.
        let n_passed = usize::try_from(notes_tail.saturating_sub(first_note)).unwrap_or(usize::MAX);
        let is_sound = notes_head.saturating_sub(notes_tail) <= ring.note_capacity();
        if let Some(notes) = notes.get(n_passed..).filter(|notes| is_sound && !notes.is_empty()) {
            encode.notes(id, ring.thread(), notes_tail.max(first_note), notes);
        }
        if is_exact && self.get(at::CLEARING) == 0 {
            encode.totals(id, self.get(at::EPOCH), &totals);
        }
        totals.head
    }

    fn tables(&self, encode: &mut Encode) {
        let (texts, words) = self.texts_and_nodes();
        encode.names(0, &texts);
        encode.nodes(0, &words);
    }

    /// Texts of names, and words of nodes, by number.
    fn texts_and_nodes(&self) -> (Vec<Vec<u8>>, Vec<u64>) {
        let count =
            |word: usize, cap: usize| (usize::try_from(self.get(word)).unwrap_or(cap)).min(cap);
        let all = self.process.words();
        let names = &all[self.layout.name_words..self.layout.nodes];
        let index = &all[self.layout.name_index..self.layout.name_words];
        let nodes = &all[self.layout.nodes..self.layout.slots];
        // Nodes first: a node that is counted has its name published.
        let n_nodes = count(at::N_NODES, nodes.len());
        let n_names = count(at::N_NAMES, index.len());
        let texts = index[..n_names].iter().map(|w| read_name(names, w.load(Acquire))).collect();
        let words = nodes[..n_nodes].iter().map(|w| w.load(Acquire)).collect();
        (texts, words)
    }

    /// The first and the latest moment that the process read all its clocks at.
    pub(crate) fn anchors(&self) -> Vec<Anchor> {
        let anchor = |word: usize| Anchor {
            ticks: self.get(word),
            monotonic_ns: self.get(word + 1),
            unix_ns: self.get(word + 2),
        };
        // The older of the last two may be half overwritten by the one that comes next; the capture has it.
        let n = self.get(at::N_ANCHORS);
        let latest = n.checked_sub(1).map(|k| anchor(at::ANCHORS + 3 * usize::from(k % 2 == 1)));
        std::iter::once(anchor(at::FIRST_ANCHOR)).chain(latest).filter(|a| a.ticks != 0).collect()
    }
}

/// Maps the lanes of a folder that are not among `lanes` yet.
fn find_lanes(folder: &Path, lanes: &mut Vec<View>) {
    while let Ok(lane) = View::of_file(&folder.join(format!("lane-{}", lanes.len()))) {
        lanes.push(lane);
    }
}
