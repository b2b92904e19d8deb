//! The recorder's shared memory over time: taken at the start, grown with use, given back at the end.
//!
//! ```text
//! start            use                                       end
//! tables ────────────────────────────────────────────────────┤ private, what can still be asked for
//! 64 histograms ─┬─ 64 more ──┬─ …                            │ (totals, names)
//!                └ a lane with a thread's first record ──────┤
//! ```

use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::layout::{HEADER_WORDS, SLOT_WORDS, process};
use super::ring_folder::RingFolder;
use super::{Config, Identity, Recorder};
use crate::histogram::N_BUCKETS;

/// Histograms that get their memory together: a quarter of a MiB.
pub(super) const HISTOGRAMS_AT_ONCE: u32 = 64;

impl Recorder {
    /// A histogram from the arena, counted from 1; 0 when it is used up.
    pub(crate) fn new_histogram(&self) -> u32 {
        loop {
            let room = self.n_reserved_histograms.load(Acquire);
            let taken = self.header()[process::N_HISTOGRAMS]
                .fetch_update(Relaxed, Relaxed, |n| (n < u64::from(room)).then_some(n + 1));
            if let Ok(n) = taken {
                return u32::try_from(n + 1).unwrap_or(0);
            }
            if !self.reserve_histograms(room) {
                return 0;
            }
        }
    }

    /// Gives histograms beyond the first `before` their memory; false when there is none. Nobody touches the arena beyond what is reserved.
    fn reserve_histograms(&self, before: u32) -> bool {
        let mut folder = self.folder();
        if self.n_reserved_histograms.load(Acquire) != before {
            return true;
        }
        let all = u32::try_from(self.histograms.len() / N_BUCKETS);
        let after = before.saturating_add(HISTOGRAMS_AT_ONCE).min(all.unwrap_or(0));
        let words = self.layout.histogram(before)..self.layout.histogram(after);
        let is_reserved = after > before && folder.more_of_process(self.process, words);
        if is_reserved {
            self.n_reserved_histograms.store(after, Release);
        }
        is_reserved
    }

    /// Puts what this process holds into new shared files: the old ones are gone, or belong to the parent.
    pub(super) fn share_again(&self, config: &Config) {
        let mut lanes = self.lanes();
        let lanes = &mut *lanes;
        lanes.shared_bytes = 0;
        let mut folder = self.folder();
        *folder = RingFolder::make(config.ring_dir.as_deref(), config.output_dir.as_deref());
        Identity::of_this_process().write_to(self.header());
        let n_reserved = self.n_reserved_histograms.load(Acquire);
        folder.move_process(self.process, self.layout.histogram(n_reserved));
        let mut n_private = 0u64;
        for lane in &lanes.all {
            let n_bytes = lane.mapping.words().len() * 8;
            let is_shared = lanes.shared_bytes + n_bytes <= self.config.shared_bytes
                && folder.move_lane(lane.id(), lane.mapping);
            if is_shared {
                lanes.shared_bytes += n_bytes;
            } else {
                n_private += 1;
            }
        }
        self.header()[process::LANES_PRIVATE].store(n_private, Relaxed);
    }

    /// Gives shared memory back at the end of a recording: what is asked for afterwards (totals, names) becomes this process's own. Stays
    /// where there is no room for that.
    pub(super) fn leave_shared_memory(&self) {
        let mut lanes = self.lanes();
        let mut folder = self.folder();
        let _paths = self.paths.lock();
        let words = &self.layout;
        let [n_slots, n_histograms] = [process::N_SLOTS, process::N_HISTOGRAMS]
            .map(|at| usize::try_from(self.header()[at].load(Relaxed)).unwrap_or(0));
        let histograms = words.histogram(u32::try_from(n_histograms).unwrap_or(u32::MAX));
        let mut kept = self.tables_in_use().to_vec();
        kept.push(words.slots..(words.slots + n_slots * SLOT_WORDS).min(words.groups));
        kept.push(words.histograms..histograms);
        self.process.make_private(&kept).ok();
        for lane in &lanes.all {
            lane.mapping.make_private(&lane.ring.totals_in_use(self.paths.n_nodes())).ok();
        }
        lanes.shared_bytes = 0;
        folder.forget();
    }

    /// Where the header, names and call paths lie that are there so far.
    pub(super) fn tables_in_use(&self) -> [Range<usize>; 4] {
        let in_use = |word: usize, first: usize, end: usize| {
            let n = usize::try_from(self.header()[word].load(Relaxed)).unwrap_or(usize::MAX);
            first..first.saturating_add(n).min(end)
        };
        let words = &self.layout;
        [
            0..HEADER_WORDS,
            in_use(process::N_NAMES, words.name_index, words.name_words),
            in_use(process::N_NAME_WORDS, words.name_words, words.nodes),
            in_use(process::N_NODES, words.nodes, words.slots),
        ]
    }
}
