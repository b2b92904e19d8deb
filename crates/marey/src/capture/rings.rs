//! Reads a process's shared files from outside: what it has not yet (or will never) put into its capture.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::encode::Encode;
use crate::clock::Anchor;
use crate::histogram::N_BUCKETS;
use crate::recorder::{
    HEADER_WORDS, Identity, LAYOUT_VERSION, PROCESS_MAGIC, ProcessLayout, Ring, complete_journal,
    lane_words, open_slots, process_words as at, read_name, snapshot,
};

/// A copy of a process's shared files, taken at one moment.
#[derive(Debug)]
pub(crate) struct Rings {
    process: Vec<AtomicU64>,
    lanes: Vec<Vec<AtomicU64>>,
    layout: ProcessLayout,
}

impl Rings {
    /// Copies the files of a ring folder; `None` when they are not there, or not of this version.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        // Lanes first: what they name is in the tables when those are read afterwards.
        let mut lanes = Vec::new();
        while let Some(lane) = read_words(&folder.join(format!("lane-{}", lanes.len()))) {
            lanes.push(lane);
        }
        let process = read_words(&folder.join("process"))?;
        let get = |word: usize| process.get(word).map(|w| w.load(Relaxed));
        if get(at::MAGIC)? != PROCESS_MAGIC || get(at::VERSION)? != LAYOUT_VERSION {
            return None;
        }
        let capacity = |word| {
            get(word)
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| *n <= process.len())
        };
        let layout = ProcessLayout::new(
            capacity(at::CAP_NAMES)?,
            capacity(at::CAP_NAME_WORDS)?,
            capacity(at::CAP_NODES)?,
            capacity(at::CAP_SLOTS)?,
            capacity(at::CAP_HISTOGRAMS)?,
        );
        (layout.end <= process.len() && process.len() >= HEADER_WORDS).then_some(Self {
            process,
            lanes,
            layout,
        })
    }

    fn get(&self, word: usize) -> u64 {
        self.process[word].load(Relaxed)
    }

    /// Whose rings these are.
    pub(crate) fn identity(&self) -> Identity {
        Identity::read_from(&self.process)
    }

    /// The capture that they belong to; `None` when it is in memory.
    pub(crate) fn capture_path(&self) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let length = usize::try_from(self.get(at::CAPTURE_PATH)).ok()?;
        let words = self.process.get(at::CAPTURE_PATH + 1..HEADER_WORDS)?;
        let mut bytes: Vec<u8> = words
            .iter()
            .flat_map(|w| w.load(Relaxed).to_le_bytes())
            .collect();
        bytes.truncate(length);
        (length > 0).then(|| std::ffi::OsString::from_vec(bytes).into())
    }

    /// Bytes of the capture that are whole blocks; what follows is in the rings.
    pub(crate) fn capture_bytes(&self) -> u64 {
        self.get(at::CAPTURE_BYTES)
    }

    /// What the rings hold, as blocks that complete the capture.
    pub(crate) fn blocks(&self) -> Vec<u8> {
        let mut encode = Encode::default();
        self.tables(&mut encode);
        let histograms = self.histograms();
        for lane in &self.lanes {
            let Some(ring) = Ring::of(lane) else { continue };
            complete_journal(&ring, &histograms);
            let id = u32::try_from(ring.get(lane_words::LANE)).unwrap_or(u32::MAX);
            let (head, tail) = (ring.get(lane_words::HEAD), ring.get(lane_words::TAIL));
            let (notes_head, notes_tail) = (
                ring.get(lane_words::NOTES_HEAD),
                ring.get(lane_words::NOTES_TAIL),
            );
            let first = tail.max(head.saturating_sub(ring.capacity()));
            let first_note = if notes_head - notes_tail.min(notes_head) > ring.note_capacity() {
                notes_head
            } else {
                notes_tail
            };
            encode.ring(id, &ring, (first, head), (first_note, notes_head));
            if self.get(at::CLEARING) == 0 {
                encode.totals(id, self.get(at::EPOCH), &snapshot(&ring, &histograms));
            }
        }
        let notes_dropped = self
            .lanes
            .iter()
            .filter_map(|lane| Ring::of(lane))
            .map(|r| r.get(lane_words::NOTES_DROPPED));
        encode.losses(
            self.get(at::SECTIONS_UNRECORDED),
            self.get(at::LANES_PRIVATE),
            self.get(at::SECTIONS_NOT_WRITTEN),
            notes_dropped.sum(),
        );
        encode.open(&open_slots(
            &self.process[self.layout.slots..self.layout.histograms],
        ));
        self.anchors()
            .into_iter()
            .for_each(|anchor| encode.anchor(anchor));
        encode.bytes
    }

    fn tables(&self, encode: &mut Encode) {
        let count =
            |word: usize, cap: usize| (usize::try_from(self.get(word)).unwrap_or(cap)).min(cap);
        let names = &self.process[self.layout.name_words..self.layout.nodes];
        let index = &self.process[self.layout.name_index..self.layout.name_words];
        let nodes = &self.process[self.layout.nodes..self.layout.slots];
        let n_names = count(at::N_NAMES, index.len());
        let texts: Vec<Vec<u8>> = index[..n_names]
            .iter()
            .map(|w| read_name(names, w.load(Relaxed)))
            .collect();
        encode.names(0, &texts);
        let n_nodes = count(at::N_NODES, nodes.len());
        let words: Vec<u64> = nodes[..n_nodes].iter().map(|w| w.load(Relaxed)).collect();
        encode.nodes(0, &words);
    }

    /// The arena as 32-bit counts; the process wrote it as such.
    fn histograms(&self) -> Vec<AtomicU32> {
        let words = &self.process[self.layout.histograms..];
        let halves = words.iter().flat_map(|w| {
            let word = w.load(Relaxed);
            [word as u32, (word >> 32) as u32].map(AtomicU32::new)
        });
        halves
            .take((words.len() * 2 / N_BUCKETS) * N_BUCKETS)
            .collect()
    }

    fn anchors(&self) -> Vec<Anchor> {
        let anchor = |word: usize| Anchor {
            ticks: self.get(word),
            monotonic_ns: self.get(word + 1),
            unix_ns: self.get(word + 2),
        };
        let n = self.get(at::N_ANCHORS).min(2) as usize;
        // The one that was being written when the process died may be torn: the map leaves out what contradicts the others.
        std::iter::once(anchor(at::FIRST_ANCHOR))
            .chain((0..n).map(|k| anchor(at::ANCHORS + 3 * k)))
            .filter(|a| a.ticks != 0)
            .collect()
    }
}

fn read_words(path: &Path) -> Option<Vec<AtomicU64>> {
    let bytes = std::fs::read(path).ok()?;
    let words = bytes
        .chunks_exact(8)
        .map(|b| AtomicU64::new(u64::from_le_bytes(b.try_into().expect("eight bytes"))));
    Some(words.collect())
}
