//! Where things lie in the shared files of a recording process. All numbers are 64-bit words, little-endian.
//!
//! One folder a process holds `process`, and a `lane-<n>` for each thread that records at the same time. Both are read by
//! [`crate::capture`]'s salvage and by live viewers; they belong to one version of Marey and are never kept.
//!
//! ## `process`
//!
//! | words | content |
//! |---|---|
//! | 0..8 | magic · layout version · pid · start time of the process (clock ticks since boot) · clock kind · boot id (2) · pid namespace |
//! | 8..12 | capacities: names · name words · nodes · slots |
//! | 12, 13 | capacities: histogram arena, in histograms · series |
//! | 14 | rank that the program said while it recorded, plus 1; 0 before that |
//! | 15 | pid of the `marey run` that waits for this very process; 0 for none |
//! | 16..23 | in use: names · name words · nodes · slots · histograms · series · samplers |
//! | 24..32 | losses: sections unrecorded · lanes in private memory · sections not written · epoch of totals · totals being cleared · bytes of the capture that are whole · notes not written · forked children that could not open a capture |
//! | 32..35 | first anchor: ticks, monotonic ns, unix ns |
//! | 35 | number of later anchors; anchor k lies at 36 + 3·(k mod 2) |
//! | 42 | denoising steps of the schedule in use that are made « 32 · its length; 0 while none is known |
//! | 43 | windows that somebody outside asks for: 0 none are opened here · 1 offered · 2 asked for |
//! | 48..53 | reported so far: steps · blocks · frames in blocks · frames streamed · frames dropped |
//! | 53..55 | reported so far: hits of caches · misses |
//! | 55 | number of the denoising step that was reported last, plus 1; 0 when none was |
//! | 56..64 | when reports were made, the newest and the one before it, in ticks, 0 when there is none: of steps (2) · of blocks (2) · of deliveries (2); frames of the newest block and of the newest delivery |
//! | 64, 65.. | length in bytes, and bytes, of the absolute path of the capture; 0 when there is none |
//! | 512.. | name index: offset into the name words « 32 · length in bytes |
//! | … | name words |
//! | … | nodes: parent · name « 16 · flags « 32 (bit 0 iteration, bit 1 detached) · published « 63 |
//! | … | slots of open sections, 4 words each: start ticks (0 = free) · node, generation « 32 · parent slot, its generation « 32 · lane, flow « 32 |
//! | … | samplers and their series, see [`super::series_table`] |
//! | … | histogram arena: `N_BUCKETS` 32-bit counts each |
//!
//! ## `lane-<n>`
//!
//! | words | content |
//! |---|---|
//! | 0..6 | magic · layout version · lane · capacity: records · note words · nodes |
//! | 8 | head: records committed (the producer's) |
//! | 16 | tail: records that are in the capture (the drain's) |
//! | 24..28 | dropped: completed but not recorded · base: head and dropped when the totals were last cleared · thread that owns the lane · a drop is being counted |
//! | 40..42 | notes: head · dropped |
//! | 48 | notes: tail |
//! | 512.. | records, 4 words: start · end · node, flow « 32, flags « 48 · commit = position + 1 |
//! | … | notes, a ring of words |
//! | … | totals of a node, 8 words: count · sum if count is even · sum if it is odd · min · max · end of last · first · histogram + 1 |
//! | … | rare, 2 words a node: start of the first call · errors « 32, low half of count with the last of them |

pub(crate) const PROCESS_MAGIC: u64 = u64::from_le_bytes(*b"MareyPRC");
pub(crate) const LANE_MAGIC: u64 = u64::from_le_bytes(*b"MareyLAN");
pub(crate) const LAYOUT_VERSION: u64 = 2;
pub(crate) const HEADER_WORDS: usize = 512;

/// Word positions in the header of `process`.
pub(crate) mod process {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const PID: usize = 2;
    pub(crate) const START_TIME: usize = 3;
    pub(crate) const CLOCK: usize = 4;
    pub(crate) const BOOT_ID: usize = 5;
    pub(crate) const PID_NAMESPACE: usize = 7;
    pub(crate) const CAP_NAMES: usize = 8;
    pub(crate) const CAP_NAME_WORDS: usize = 9;
    pub(crate) const CAP_NODES: usize = 10;
    pub(crate) const CAP_SLOTS: usize = 11;
    pub(crate) const CAP_HISTOGRAMS: usize = 12;
    pub(crate) const CAP_SERIES: usize = 13;
    pub(crate) const SAID_RANK: usize = 14;
    pub(crate) const WAITED_FOR_BY: usize = 15;
    pub(crate) const N_NAMES: usize = 16;
    pub(crate) const N_NAME_WORDS: usize = 17;
    pub(crate) const N_NODES: usize = 18;
    pub(crate) const N_SLOTS: usize = 19;
    pub(crate) const N_HISTOGRAMS: usize = 20;
    pub(crate) const N_SERIES: usize = 21;
    pub(crate) const N_GROUPS: usize = 22;
    pub(crate) const SECTIONS_UNRECORDED: usize = 24;
    pub(crate) const LANES_PRIVATE: usize = 25;
    pub(crate) const SECTIONS_NOT_WRITTEN: usize = 26;
    pub(crate) const EPOCH: usize = 27;
    pub(crate) const CLEARING: usize = 28;
    pub(crate) const CAPTURE_BYTES: usize = 29;
    pub(crate) const NOTES_NOT_WRITTEN: usize = 30;
    pub(crate) const CHILDREN_UNRECORDED: usize = 31;
    pub(crate) const FIRST_ANCHOR: usize = 32;
    pub(crate) const N_ANCHORS: usize = 35;
    pub(crate) const ANCHORS: usize = 36;
    pub(crate) const SCHEDULE: usize = 42;
    pub(crate) const WINDOW: usize = 43;
    pub(crate) const GENERATED: usize = 48;
    pub(crate) const CACHE_HITS: usize = 53;
    pub(crate) const CACHE_MISSES: usize = 54;
    pub(crate) const STEP: usize = 55;
    pub(crate) const REPORT_TIMES: usize = 56;
    pub(crate) const CAPTURE_PATH: usize = 64;
}

/// Word positions in the header of a lane.
pub(crate) mod lane {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const LANE: usize = 2;
    pub(crate) const CAP_RECORDS: usize = 3;
    pub(crate) const CAP_NOTE_WORDS: usize = 4;
    pub(crate) const CAP_NODES: usize = 5;
    pub(crate) const HEAD: usize = 8;
    pub(crate) const TAIL: usize = 16;
    pub(crate) const DROPPED: usize = 24;
    pub(crate) const BASE: usize = 25;
    pub(crate) const THREAD: usize = 26;
    pub(crate) const IS_DROPPING: usize = 27;
    pub(crate) const NOTES_HEAD: usize = 40;
    pub(crate) const NOTES_DROPPED: usize = 41;
    pub(crate) const NOTES_TAIL: usize = 48;
}

/// Words of a record, of a slot, of a node's totals.
pub(crate) const RECORD_WORDS: usize = 4;
pub(crate) const SLOT_WORDS: usize = 4;
pub(crate) const TOTALS_WORDS: usize = 8;
pub(crate) const RARE_WORDS: usize = 2;
/// Words of a sampler and of a series of it.
pub(crate) const GROUP_WORDS: usize = 16;
pub(crate) const SERIES_WORDS: usize = 24;
/// Samplers of a process.
pub(crate) const MAX_GROUPS: u32 = 16;
/// Series of a process, all samplers together.
pub(crate) const MAX_SERIES: usize = 1024;

/// A record was left by an error.
pub(crate) const FLAG_FAILED: u64 = 1;
/// A record's section was suspended in between: its end is its start and the time it ran.
pub(crate) const FLAG_PAUSED: u64 = 2;
/// Node flags.
pub(crate) const NODE_ITERATION: u64 = 1;
pub(crate) const NODE_DETACHED: u64 = 2;
pub(crate) const NODE_PUBLISHED: u64 = 1 << 63;

/// The root of all call paths, and the node that stands for all that no longer found a place.
pub(crate) const ROOT: u32 = 0;
pub(crate) const OTHER: u32 = 1;
pub(crate) const OTHER_NAME: &str = "(other)";

/// The low half of a packed word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "half of the word is wanted")]
pub(crate) const fn low(word: u64) -> u32 {
    word as u32
}

/// The high half of a packed word.
#[inline]
pub(crate) const fn high(word: u64) -> u32 {
    low(word >> 32)
}

/// First words of the regions of `process`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessLayout {
    pub(crate) name_index: usize,
    pub(crate) name_words: usize,
    pub(crate) nodes: usize,
    pub(crate) slots: usize,
    pub(crate) groups: usize,
    pub(crate) series: usize,
    pub(crate) histograms: usize,
    pub(crate) end: usize,
}

impl ProcessLayout {
    /// From the six capacities of the header.
    pub(crate) fn new([names, name_words, nodes, slots, histograms, series]: [usize; 6]) -> Self {
        let name_index = HEADER_WORDS;
        let words = name_index + names;
        let node_words = words + name_words;
        let slot_words = node_words + nodes;
        let group_words = slot_words + slots * SLOT_WORDS;
        let series_words = group_words + MAX_GROUPS as usize * GROUP_WORDS;
        let histogram_words = series_words + series * SERIES_WORDS;
        let end = histogram_words + histograms * crate::histogram::N_BUCKETS / 2;
        Self {
            name_index,
            name_words: words,
            nodes: node_words,
            slots: slot_words,
            groups: group_words,
            series: series_words,
            histograms: histogram_words,
            end,
        }
    }

    /// The first word of a histogram of the arena, which is also where what comes before it ends. Histograms begin at whole words in pairs.
    pub(crate) fn histogram(&self, number: u32) -> usize {
        self.end.min(self.histograms + (number as usize * crate::histogram::N_BUCKETS).div_ceil(2))
    }
}

/// First words of the regions of a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneLayout {
    pub(crate) records: usize,
    pub(crate) notes: usize,
    pub(crate) totals: usize,
    pub(crate) rare: usize,
    pub(crate) end: usize,
}

impl LaneLayout {
    /// From the three capacities of the header.
    pub(crate) fn new(records: usize, note_words: usize, nodes: usize) -> Self {
        let notes = HEADER_WORDS + records * RECORD_WORDS;
        let totals = notes + note_words;
        let rare = totals + nodes * TOTALS_WORDS;
        Self { records: HEADER_WORDS, notes, totals, rare, end: rare + nodes * RARE_WORDS }
    }
}
