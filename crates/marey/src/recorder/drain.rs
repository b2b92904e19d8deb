//! The drain: moves what is in the rings to the capture, every few milliseconds, on a thread of its own; without one, whenever a ring is half
//! full, on the thread that filled it.
//!
//! Order matters for a kill in the middle of a round: names and call paths before the records that use them, the write before the
//! ring's tail. What was written twice is told apart by its position. [`super::room`] says what is kept where, and what is not.

use std::path::{Path, PathBuf};
use std::sync::atomic::{
    Ordering::{Relaxed, Release, SeqCst},
    fence,
};
use std::thread::JoinHandle;

use super::Recorder;
use super::config::Config;
use super::lane::Lane;
use super::layout::{lane, process};
use super::mapping::Mapping;
use super::output::{Held, Output};
use super::recording::Error;
use super::room::Content;
use super::totals::snapshot;
use crate::capture::Encode;
use crate::clock::{self, Anchor};
use crate::note::Note;
use crate::run::{MemoryReading, Status};

const ANCHOR_INTERVAL_NS: u64 = 1_000_000_000;
/// Shortest time between the first two anchors: reading an anchor is exact to some 50 ns, so a slope over this is exact to 0.02 %.
const FIRST_SLOPE_NS: u64 = 250_000;
/// More often the clock is not looked at for it; a look takes some 30 ns.
const FIRST_SLOPE_LOOKS: u32 = 100_000;
const TOTALS_INTERVAL_NS: u64 = 5_000_000_000;
const MEMORY_INTERVAL_NS: u64 = 100_000_000;
/// Readings that differ less from the last one are not kept.
const MEMORY_CHANGE_BYTES: u64 = 1 << 20;
/// The lane number of notes that the drain itself writes.
const DRAIN_LANE: u32 = u32::MAX;
/// How reports call what the host's sampler reads.
const CPU_METRICS: &str = "cpu_metrics";
const REFUSED_TABLES: &str = "this sandbox gives threads no descriptors of their own (close_range and unshare are refused): Marey samples \
     nothing that takes files, and the program's own threads write the capture";

/// What the drain thread, and whoever wants the capture to be complete now, works on.
#[derive(Debug, Default)]
pub(crate) struct Drain {
    /// As the capture was opened, with the job's id filled in, so that children go to the same folder.
    config: Config,
    output: Option<Output>,
    pub(super) thread: Option<JoinHandle<u32>>,
    /// In a forked child without a capture: the words in which its parent counts.
    parents_header: Option<Mapping>,
    n_names: u32,
    n_nodes: u32,
    /// The first anchor and the latest.
    anchors: Option<(Anchor, Anchor)>,
    last_totals_ns: u64,
    last_memory_ns: u64,
    last_memory_bytes: u64,
    n_own_note_words: u64,
    has_said_refused_tables: bool,
    /// Blocks of the ring that is being emptied. Kept from round to round: it grows to the size of a ring.
    records: Encode,
}

impl Drain {
    /// Begins a capture: info block and first anchor.
    pub(crate) fn open(&mut self, recorder: &Recorder, config: &Config) -> Result<(), Error> {
        let config = &config.with_job_id();
        let output = match &config.output_dir {
            Some(dir) => Output::in_file(config, dir, recorder.header())?,
            None => Output::in_memory(config, recorder.header()),
        };
        *self = Self {
            config: config.clone(),
            output: Some(output),
            thread: self.thread.take(),
            ..Self::default()
        };
        let outside = config.outside.as_ref();
        let first = outside.map_or_else(clock::anchor, |outside| outside.start);
        self.note_anchor(recorder, first);
        let is_begun = self.summarize(|encode| {
            encode_info(recorder, config, first, encode);
            encode.anchor(first);
        });
        if !is_begun {
            let path = self.capture_path().unwrap_or_default();
            std::fs::remove_file(&path).ok();
            self.output = None;
            return Err(Error::no_space(path));
        }
        self.tell_readers(recorder);
        // Ticks have no length before there is a second anchor, and the process may be killed at once. A clock that somebody holds still
        // (libfaketime) is not waited for.
        let mut looks = 0..FIRST_SLOPE_LOOKS;
        while clock::monotonic_ns().saturating_sub(first.monotonic_ns) < FIRST_SLOPE_NS
            && looks.next().is_some()
        {
            std::hint::spin_loop();
        }
        self.anchor(recorder);
        Ok(())
    }

    /// Continues a capture that was in memory in a file. Nothing happens when it is in a file already.
    pub(crate) fn move_to_file(
        &mut self,
        recorder: &Recorder,
        dir: &Path,
        config: &Config,
    ) -> Result<(), Error> {
        let Some(output) = self.output.as_ref().filter(|output| output.path().is_none()) else {
            return Ok(());
        };
        let config = &config.with_job_id();
        let mut file = Output::in_file(config, dir, recorder.header())?;
        let is_moved = file.go_on_for(output);
        let mut encode = Encode::default();
        encode_info(recorder, config, recorder.first_anchor(), &mut encode);
        if !is_moved || !file.append(&encode.bytes, Content::Summary) {
            let path = file.path().unwrap_or(dir).to_owned();
            std::fs::remove_file(&path).ok();
            return Err(Error::no_space(path));
        }
        self.output = Some(file);
        self.config = config.clone();
        self.tell_readers(recorder);
        Ok(())
    }

    /// Says in the capture, and to live viewers, which rank this is now, for readers to believe it over what was said before. The file
    /// keeps its name.
    pub(crate) fn note_place(&mut self, recorder: &Recorder, rank: u32) {
        let config = self.config.clone();
        self.summarize(|encode| {
            encode_info(recorder, &config, recorder.first_anchor(), encode);
        });
        recorder.header()[process::SAID_RANK].store(u64::from(rank) + 1, Release);
    }

    /// Opens the capture for the calling thread, if it has descriptors of its own.
    pub(super) fn reach(&mut self) {
        if let Some(output) = &mut self.output {
            output.is_within_reach();
        }
    }

    /// One round: everything that is in the rings goes to the capture. Whether a ring had filled by more than a sixteenth.
    pub(crate) fn round(&mut self, recorder: &Recorder) -> bool {
        // Without a free descriptor, say: the rings hold it for the drain thread, which has its own.
        if self.output.as_mut().is_some_and(|output| !output.is_within_reach()) {
            return false;
        }
        let lanes: Vec<&'static Lane> = recorder.lanes().all.clone();
        let committed: Vec<_> =
            lanes.iter().map(|l| (l.ring.get(lane::HEAD), l.ring.get(lane::NOTES_HEAD))).collect();
        self.define(recorder);
        let mut is_busy = false;
        for (lane, (head, notes_head)) in lanes.into_iter().zip(committed) {
            let waiting = head.saturating_sub(lane.ring.get(lane::TAIL));
            is_busy |= waiting > lane.ring.capacity() / 16;
            self.empty(recorder, lane, head, notes_head);
        }
        let now = clock::monotonic_ns();
        // Early on the known slope is short, so it is renewed more often.
        let (first, latest) =
            self.anchors.map_or((0, 0), |(a, b)| (a.monotonic_ns, b.monotonic_ns));
        if now.saturating_sub(latest)
            >= ANCHOR_INTERVAL_NS.min(latest.saturating_sub(first).max(FIRST_SLOPE_NS))
        {
            self.anchor(recorder);
        }
        if now.saturating_sub(self.last_memory_ns) >= MEMORY_INTERVAL_NS {
            self.last_memory_ns = now;
            self.read_memory();
        }
        // Ever rarer, so that a run of a week writes hundreds of them and not a hundred thousand.
        let interval = TOTALS_INTERVAL_NS.max(latest.saturating_sub(first) / 100);
        if now.saturating_sub(self.last_totals_ns) >= interval {
            self.last_totals_ns = now;
            self.totals(recorder);
        }
        is_busy
    }

    /// Writes names and nodes that came since the last round.
    fn define(&mut self, recorder: &Recorder) {
        let paths = &recorder.paths;
        // Nodes first: a node that is counted has its name published.
        let n_nodes = paths.n_nodes();
        let n_names = paths.n_names();
        if (n_names, n_nodes) == (self.n_names, self.n_nodes) {
            return;
        }
        let mut encode = Encode::default();
        if n_names > self.n_names {
            let names: Vec<Vec<u8>> =
                (self.n_names..n_names).map(|name| paths.text(name)).collect();
            encode.names(self.n_names, &names);
        }
        if n_nodes > self.n_nodes {
            let words: Vec<u64> =
                (self.n_nodes..n_nodes).map(|node| paths.node_word(node)).collect();
            encode.nodes(self.n_nodes, &words);
        }
        if self.append(&encode.bytes, Content::Summary) {
            (self.n_names, self.n_nodes) = (n_names, n_nodes);
        }
    }

    /// Writes what a lane committed and gives the room back to its producer, also when the capture cannot take it.
    fn empty(&mut self, recorder: &Recorder, lane: &Lane, head: u64, notes_head: u64) {
        let (ring, id) = (&lane.ring, lane.id());
        let (tail, notes_tail) = (ring.get(lane::TAIL), ring.get(lane::NOTES_TAIL));
        if tail == head && notes_tail == notes_head {
            return;
        }
        let held = Held { lane: id, ring, records: (tail, head), notes: (notes_tail, notes_head) };
        let lost = match &mut self.output {
            Some(output) => output.write(held, &mut self.records),
            None => held.counts(),
        };
        recorder.header()[process::SECTIONS_NOT_WRITTEN].fetch_add(lost.sections, Relaxed);
        recorder.header()[process::NOTES_NOT_WRITTEN].fetch_add(lost.notes, Relaxed);
        ring.set(lane::NOTES_TAIL, notes_head);
        ring.set(lane::TAIL, head);
    }

    fn append(&mut self, blocks: &[u8], content: Content) -> bool {
        self.output.as_mut().is_some_and(|output| output.append(blocks, content))
    }

    /// Appends small blocks that are never refused.
    fn summarize(&mut self, write: impl FnOnce(&mut Encode)) -> bool {
        let mut encode = Encode::default();
        write(&mut encode);
        self.append(&encode.bytes, Content::Summary)
    }

    fn anchor(&mut self, recorder: &Recorder) {
        let anchor = clock::anchor();
        self.note_anchor(recorder, anchor);
        self.summarize(|encode| encode.anchor(anchor));
    }

    /// Keeps an anchor for live conversion and, in the shared header, for whoever reads after a kill.
    fn note_anchor(&mut self, recorder: &Recorder, anchor: Anchor) {
        let header = recorder.header();
        let n = header[process::N_ANCHORS].load(Relaxed);
        let at = match self.anchors {
            None => process::FIRST_ANCHOR,
            Some(_) => process::ANCHORS + 3 * usize::from(n % 2 == 1),
        };
        for (word, value) in
            header[at..].iter().zip([anchor.ticks, anchor.monotonic_ns, anchor.unix_ns])
        {
            word.store(value, Relaxed);
        }
        if self.anchors.is_some() {
            header[process::N_ANCHORS].store(n + 1, Release);
        }
        self.anchors = Some((self.anchors.map_or(anchor, |(first, _)| first), anchor));
    }

    /// Resident memory, if it changed and is that of what is recorded.
    fn read_memory(&mut self) {
        if self.config.outside.is_some() {
            return;
        }
        let Some(allocated_bytes) = crate::process_memory::resident_bytes() else {
            return;
        };
        if allocated_bytes.abs_diff(self.last_memory_bytes) < MEMORY_CHANGE_BYTES {
            return;
        }
        self.last_memory_bytes = allocated_bytes;
        let reading = MemoryReading { allocated_bytes, ..MemoryReading::default() };
        self.note(&Note::Memory(reading));
    }

    /// Writes a note of the drain's own.
    fn note(&mut self, note: &Note) {
        let Some(words) = note.encode(clock::ticks(), None) else {
            return;
        };
        let mut encode = Encode::default();
        encode.notes(DRAIN_LANE, u32::MAX, self.n_own_note_words, &words);
        self.n_own_note_words += words.len() as u64;
        self.append(&encode.bytes, Content::Readings);
    }

    /// Says once that threads of ours get no descriptors of their own, and what follows.
    pub(super) fn note_refused_tables(&mut self) {
        if !std::mem::replace(&mut self.has_said_refused_tables, true) {
            self.note(&Note::unavailable(CPU_METRICS, REFUSED_TABLES));
        }
    }

    /// Totals of all lanes, and what was lost so far.
    fn totals(&mut self, recorder: &Recorder) {
        self.summarize(|encode| encode_totals(recorder, encode));
    }

    /// The whole capture as if it ended now, without ending it.
    pub(crate) fn capture_so_far(&mut self, recorder: &Recorder) -> Vec<u8> {
        self.round(recorder);
        let bytes = self.output.as_ref().map(Output::bytes).unwrap_or_default();
        let mut encode = Encode { bytes };
        encode_state(recorder, &mut encode);
        encode.anchor(clock::anchor());
        encode.bytes
    }

    /// Path of the capture; `None` in memory.
    pub(crate) fn capture_path(&self) -> Option<PathBuf> {
        self.output.as_ref()?.path().map(Path::to_owned)
    }

    /// See [`Recorder::clear_totals`]. While `CLEARING` is set, a reader takes the totals from the capture.
    pub(crate) fn clear_totals(&mut self, recorder: &Recorder) {
        self.round(recorder);
        self.totals(recorder);
        let header = recorder.header();
        header[process::CLEARING].store(1, SeqCst);
        fence(SeqCst);
        header[process::EPOCH].fetch_add(1, Relaxed);
        recorder.lanes().all.iter().for_each(|lane| lane.ring.clear_totals(recorder.histograms));
        header[process::CLEARING].store(0, SeqCst);
    }

    /// Ends the capture.
    pub(crate) fn close(&mut self, recorder: &Recorder, status: &Status) {
        // A thread may still be recording its last section: look again until all is drained.
        for _ in 0..100 {
            self.round(recorder);
            if recorder.lanes().all.iter().all(|lane| lane.is_drained()) {
                break;
            }
        }
        let mut encode = Encode::default();
        encode_state(recorder, &mut encode);
        // What ends after this is of no recording: the next one must not count the time before it.
        recorder.slots.close_all();
        let last = clock::anchor();
        self.note_anchor(recorder, last);
        encode.anchor(last);
        encode.end(status);
        let is_in_memory = self.capture_path().is_none();
        let is_whole = self.append(&encode.bytes, Content::Summary);
        self.output = None;
        // Without room for its end (a full disk), the capture is completed from the rings, by whoever reads it.
        if is_whole || is_in_memory {
            recorder.folder().remove();
        }
    }

    /// In a child after a fork: the capture, its descriptor and the thread are the parent's.
    pub(crate) fn abandon(&mut self, parents_header: Option<Mapping>) {
        std::mem::forget(self.thread.take());
        *self =
            Self { config: std::mem::take(&mut self.config), parents_header, ..Self::default() };
    }

    /// In a child after a fork that cannot open a capture: its parent's says that something is missing.
    pub(super) fn count_with_parent(&self) {
        if let Some(header) = self.parents_header {
            header.words()[process::CHILDREN_UNRECORDED].fetch_add(1, Relaxed);
        }
    }

    /// How the capture was opened.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    fn tell_readers(&self, recorder: &Recorder) {
        use std::os::unix::ffi::OsStrExt;
        let path = self.capture_path().unwrap_or_default();
        let bytes = path.as_os_str().as_bytes();
        let words = &recorder.header()[process::CAPTURE_PATH..];
        let n = bytes.len().min((words.len() - 1) * 8);
        for (word, some) in words[1..].iter().zip(bytes[..n].chunks(8)) {
            let mut padded = [0; 8];
            padded[..some.len()].copy_from_slice(some);
            word.store(u64::from_le_bytes(padded), Relaxed);
        }
        words[0].store(n as u64, Release);
    }
}

/// What is known of this process, whose recording began at an anchor.
fn encode_info(recorder: &Recorder, config: &Config, began: Anchor, encode: &mut Encode) {
    let folder = recorder.folder();
    encode.info(&super::facts::of_this_process(config, folder.path(), began.monotonic_ns));
}

/// What a capture that ends now says of this moment.
fn encode_state(recorder: &Recorder, encode: &mut Encode) {
    encode_totals(recorder, encode);
    encode.open(&recorder.slots.open_now());
    encode.open_buckets(&recorder.series_table());
}

pub(super) fn encode_totals(recorder: &Recorder, encode: &mut Encode) {
    let header = recorder.header();
    let get = |at: usize| header[at].load(Relaxed);
    let lanes: Vec<&'static Lane> = recorder.lanes().all.clone();
    for lane in &lanes {
        let (totals, _) = snapshot(&lane.ring, recorder.histograms, &header[process::N_NODES]);
        encode.totals(lane.id(), get(process::EPOCH), &totals);
    }
    let notes_dropped: u64 = lanes.iter().map(|l| l.ring.get(lane::NOTES_DROPPED)).sum();
    encode.losses([
        get(process::SECTIONS_UNRECORDED),
        get(process::LANES_PRIVATE),
        get(process::SECTIONS_NOT_WRITTEN),
        notes_dropped + get(process::NOTES_NOT_WRITTEN),
        get(process::CHILDREN_UNRECORDED),
    ]);
}
