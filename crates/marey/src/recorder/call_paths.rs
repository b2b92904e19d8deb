//! Names and call paths, interned once and numbered for ever: the tables that turn a record's node into words.
//!
//! A node is a name under a parent node. Both tables only grow, in shared memory, and an entry is published after it is
//! whole, so a reader of a dead process finds every node that a record can name.
//!
//! Where a path no longer finds a place, its name does: the last nodes are kept for names under node [`OTHER`], whatever they were called
//! from, so that totals by name stay whole. What has no place even there is counted at that node itself.
//!
//! ```text
//! nodes   0 root · 1 (other) · call paths …                    │ names under (other) …
//!                                                              └ the last eighth
//! ```

use std::collections::HashMap;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout::{
    NODE_DETACHED, NODE_ITERATION, NODE_PUBLISHED, OTHER, OTHER_NAME, ProcessLayout, ROOT, high,
    low, process,
};
use super::mapping::Mapping;
use crate::run::NodeKind;

/// Longest name that is kept, in bytes; a longer one is cut and ends in a hash of the whole.
pub(crate) const MAX_NAME_BYTES: usize = 1024;
const HASH_BYTES: usize = 17;

/// Number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(pub(crate) u32);

impl NameId {
    /// The number.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Stands for all names that found no place.
const OTHER_ID: NameId = NameId(1);

/// The tables, and the index to them.
#[derive(Debug)]
pub(crate) struct CallPaths {
    header: &'static [AtomicU64],
    index: &'static [AtomicU64],
    words: &'static [AtomicU64],
    nodes: &'static [AtomicU64],
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
pub(crate) struct Known {
    names: HashMap<Box<[u8]>, NameId>,
    nodes: HashMap<u64, u32>,
}

impl CallPaths {
    pub(crate) fn new(mapping: Mapping, layout: &ProcessLayout) -> Self {
        let words = mapping.words();
        let paths = Self {
            header: &words[..super::layout::HEADER_WORDS],
            index: &words[layout.name_index..layout.name_words],
            words: &words[layout.name_words..layout.nodes],
            nodes: &words[layout.nodes..layout.slots],
            known: Mutex::default(),
        };
        let mut known = paths.lock();
        paths.add_name(&mut known, b"");
        paths.add_name(&mut known, OTHER_NAME.as_bytes());
        drop(known);
        for (node, name) in [(ROOT, NameId(0)), (OTHER, OTHER_ID)] {
            paths.nodes[node as usize].store(u64::from(name.0) << 16 | NODE_PUBLISHED, Relaxed);
        }
        paths.header[process::N_NODES].store(2, Release);
        paths
    }

    /// The number of a name. Costs a lock and a hash of the name.
    pub(crate) fn name(&self, name: &[u8]) -> NameId {
        let mut known = self.lock();
        if let Some(id) = known.names.get(name) {
            return *id;
        }
        if name.len() <= MAX_NAME_BYTES {
            return self.add_name(&mut known, name);
        }
        let cut = cut_name(name);
        let id = known.names.get(cut.as_slice()).copied();
        id.unwrap_or_else(|| self.add_name(&mut known, &cut))
    }

    /// The node of a name under a parent. Costs a lock and a hash of a number.
    pub(crate) fn node(&self, parent: u32, name: NameId, kind: NodeKind, is_detached: bool) -> u32 {
        if name == OTHER_ID {
            return OTHER;
        }
        let iteration = if kind == NodeKind::Iteration { NODE_ITERATION } else { 0 };
        let flags = iteration | if is_detached { NODE_DETACHED } else { 0 };
        let word = |parent: u32, flags: u64| {
            u64::from(parent) | u64::from(name.0) << 16 | flags << 32 | NODE_PUBLISHED
        };
        let mut known = self.lock();
        let n_paths = self.nodes.len() - self.nodes.len() / 8;
        self.find_or_add(&mut known, word(parent, flags), n_paths)
            .or_else(|| {
                // Detached: none of its time was spent in a call of the node above it.
                let by_name = word(OTHER, iteration | NODE_DETACHED);
                self.find_or_add(&mut known, by_name, self.nodes.len())
            })
            .unwrap_or(OTHER)
    }

    /// The node of a word; a new one while there are fewer than `most`.
    fn find_or_add(&self, known: &mut Known, word: u64, most: usize) -> Option<u32> {
        if let Some(node) = known.nodes.get(&word) {
            return Some(*node);
        }
        let n = self.header[process::N_NODES].load(Relaxed);
        let at = usize::try_from(n).ok().filter(|at| *at < most)?;
        self.nodes.get(at)?.store(word, Relaxed);
        self.header[process::N_NODES].store(n + 1, Release);
        let node = u32::try_from(n).ok()?;
        known.nodes.insert(word, node);
        Some(node)
    }

    /// The text of a name.
    pub(crate) fn text(&self, name: u32) -> Vec<u8> {
        let entry = self.index[name as usize].load(Acquire);
        read_name(self.words, entry)
    }

    /// Names published so far.
    pub(crate) fn n_names(&self) -> u32 {
        u32::try_from(self.header[process::N_NAMES].load(Acquire)).unwrap_or(u32::MAX)
    }

    /// The name and parent of a node, as its word.
    pub(crate) fn node_word(&self, node: u32) -> u64 {
        self.nodes[node as usize].load(Acquire)
    }

    /// Whether a node is another one or lies under it.
    pub(crate) fn is_within(&self, mut node: u32, ancestor: u32) -> bool {
        // A parent has a smaller number.
        while node > ancestor {
            node = low(self.node_word(node)) & 0xffff;
        }
        node == ancestor
    }

    /// Sections on the call path of a node, itself among them; `most` where there are more.
    pub(crate) fn level(&self, mut node: u32, most: usize) -> usize {
        let mut level = 0;
        while node != ROOT && level < most {
            level += 1;
            node = low(self.node_word(node)) & 0xffff;
        }
        level
    }

    /// Nodes published so far.
    pub(crate) fn n_nodes(&self) -> u32 {
        u32::try_from(self.header[process::N_NODES].load(Acquire)).unwrap_or(u32::MAX)
    }

    /// Holds the tables still, for a fork.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_name(&self, known: &mut Known, name: &[u8]) -> NameId {
        let n = self.header[process::N_NAMES].load(Relaxed);
        let used = self.header[process::N_NAME_WORDS].load(Relaxed);
        let (Ok(at), Ok(first)) = (usize::try_from(n), usize::try_from(used)) else {
            return OTHER_ID;
        };
        let n_words = name.len().div_ceil(8);
        if at >= self.index.len() || first + n_words > self.words.len() {
            return OTHER_ID;
        }
        for (word, bytes) in self.words[first..].iter().zip(name.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(padded), Relaxed);
        }
        self.index[at].store(used << 32 | name.len() as u64, Release);
        self.header[process::N_NAME_WORDS].store(used + n_words as u64, Release);
        self.header[process::N_NAMES].store(n + 1, Release);
        let id = NameId(u32::try_from(n).unwrap_or(OTHER_ID.0));
        known.names.insert(name.into(), id);
        id
    }
}

/// The bytes that an entry of the name index points to; empty when it points outside.
pub(crate) fn read_name(words: &[AtomicU64], entry: u64) -> Vec<u8> {
    let (first, length) = (high(entry) as usize, low(entry) as usize);
    let Some(words) = words.get(first..first.saturating_add(length.div_ceil(8))) else {
        return Vec::new();
    };
    let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.load(Relaxed).to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

/// The first bytes of a long name, up to a character boundary, then `#` and 16 hex digits of its FNV-1a hash.
fn cut_name(name: &[u8]) -> Vec<u8> {
    let hash = name
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    let limit = MAX_NAME_BYTES - HASH_BYTES;
    // A character has at most four bytes; what has more continuations is not text.
    let end = (limit - 3..=limit).rev().find(|end| name[*end] & 0xc0 != 0x80).unwrap_or(limit);
    let mut cut = name[..end].to_vec();
    cut.extend_from_slice(format!("#{hash:016x}").as_bytes());
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: usize, nodes: usize) -> CallPaths {
        let layout = ProcessLayout::new([names, 4096, nodes, 0, 0, 0]);
        CallPaths::new(Mapping::private(layout.end).unwrap(), &layout)
    }

    #[test]
    fn the_same_path_is_the_same_node() {
        let paths = paths(16, 16);
        let decode = paths.name(b"vae_decode");
        let outer = paths.node(ROOT, decode, NodeKind::Section, false);
        assert_eq!(paths.node(ROOT, paths.name(b"vae_decode"), NodeKind::Section, false), outer);
        let inner = paths.node(outer, decode, NodeKind::Section, false);
        let loop_turn = paths.node(ROOT, decode, NodeKind::Iteration, false);
        assert_eq!([outer, inner, loop_turn], [2, 3, 4]);
        assert_eq!(paths.text(decode.0), b"vae_decode");
    }

    #[test]
    fn a_level_counts_the_sections_of_a_call_path() {
        let paths = paths(16, 16);
        let mut nodes = vec![ROOT];
        for name in [b"a", b"b", b"c"] {
            let parent = nodes.last().copied().unwrap();
            nodes.push(paths.node(parent, paths.name(name), NodeKind::Section, false));
        }
        let levels: Vec<usize> = nodes.iter().map(|node| paths.level(*node, 9)).collect();
        assert_eq!(levels, [0, 1, 2, 3]);
        assert_eq!(paths.level(nodes[3], 2), 2);
        assert_eq!(paths.level(OTHER, 9), 1);
    }

    #[test]
    fn full_tables_lead_to_the_other_node() {
        let paths = paths(4, 16);
        let ids: Vec<u32> = [b"a", b"b", b"c"].iter().map(|n| paths.name(*n).0).collect();
        assert_eq!(ids, [2, 3, 1]);
        assert_eq!(paths.node(ROOT, paths.name(b"c"), NodeKind::Section, false), OTHER);
    }

    // nodes   0 root · 1 (other) · 2..14 a>a>a>… · 14, 15 for names
    #[test]
    fn a_name_that_is_called_from_ever_new_places_keeps_its_totals() {
        let paths = paths(16, 16);
        let [a, b, c] = [b"a", b"b", b"c"].map(|name| paths.name(name));
        let under = |parent, name| paths.node(parent, name, NodeKind::Section, false);
        let deepest = (2..14).fold(ROOT, |parent, _| under(parent, a));
        assert_eq!(deepest, 13);
        // Whatever they are called from.
        assert_eq!([under(deepest, a), under(14, a), under(ROOT, b)], [14, 14, 15]);
        assert_eq!([under(3, b), under(4, c), under(ROOT, a)], [15, OTHER, 2]);
        assert_eq!(paths.node(5, b, NodeKind::Section, true), 15);
        assert_eq!(low(paths.node_word(14)) & 0xffff, OTHER);
    }

    #[test]
    fn a_long_name_is_cut_between_characters_and_stays_distinct() {
        let paths = paths(16, 16);
        let long = "ä".repeat(500_000);
        let other = format!("{long}x");
        let (a, b) = (paths.name(long.as_bytes()), paths.name(other.as_bytes()));
        assert_ne!(a, b);
        assert_eq!(paths.name(long.as_bytes()), a);
        let text = String::from_utf8(paths.text(a.0)).expect("cut between characters");
        assert!(text.len() <= MAX_NAME_BYTES && text.starts_with('ä') && text.contains('#'));
    }
}
