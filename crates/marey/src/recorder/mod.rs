//! The recorder: what runs inside the profiled process.
//!
//! A thread writes into its own *lane* (a ring of records, a ring of notes, totals), without locks. The *drain* thread moves
//! what is in the rings to the capture every few milliseconds. Lanes, the tables of call paths and the table of open sections lie
//! in files that other processes can see, so that a kill loses nothing.
//!
//! ```text
//! thread ─► lane ──┐   shared files      drain thread        capture
//! thread ─► lane ──┼──────────────────────► round() ────────► file (or memory)
//! ```
//!
//! After the start nothing here fails: what could not be recorded is counted.

mod arguments;
mod call_paths;
mod capture_file;
mod config;
mod drain;
mod drain_thread;
mod facts;
mod fork;
mod future;
mod glance;
mod guard;
pub(crate) mod identity;
mod job_id;
mod lane;
mod lanes;
mod launch_capture;
mod launcher;
mod layout;
mod mapping;
mod notes;
mod outer_sections;
mod output;
mod recording;
mod ring;
mod ring_folder;
mod room;
mod series_table;
mod shared_memory;
mod slots;
mod totals;
mod window_request;

use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) use arguments::redacted;
pub use call_paths::NameId;
pub(crate) use call_paths::{CallPaths, read_name};
pub use capture_file::file_size_limit;
pub use config::Config;
pub(crate) use facts::RANK_NOT_BELIEVED;
pub use future::{InSection, Sectioned, new_flow};
pub(crate) use glance::{glance, newest};
pub use guard::{SectionGuard, SessionGuard, Site, section_named};
pub(crate) use identity::start_time;
pub use identity::{Identity, is_alive};
pub use job_id::job_id;
pub use lane::{Ending, Lane};
use lanes::Lanes;
pub(crate) use lanes::SamplerLane;
pub use lanes::{lane, own_lane};
pub use launch_capture::{LaunchCapture, Outside};
pub use launcher::{place_in_job, rank};
pub(crate) use layout::{
    HEADER_WORDS, LAYOUT_VERSION, PROCESS_MAGIC, ProcessLayout, SLOT_WORDS, high,
    lane as lane_words, low, process as process_words,
};
pub(crate) use mapping::{View, halves, resident_pages};
pub use notes::StartedSession;
pub use outer_sections::Allowance;
pub use recording::{
    Error, Recording, is_asked_for_by_env, start, start_from_env, start_from_env_with,
};
pub(crate) use ring::{Record, Ring};
pub(crate) use ring_folder::remove as remove_ring_folder;
pub use ring_folder::ring_root;
pub(crate) use series_table::{Bucket, GroupPlace, SeriesTable};
pub use slots::{Current, Slot};
pub(crate) use slots::{OpenSlot, Slots, open_slots};
pub(crate) use totals::snapshot;
pub use totals::{NodeSnapshot, TotalsSnapshot};
pub use window_request::{ask_for_window, offer_windows};

use crate::capture::Encode;
use crate::clock::{self, Anchor};
use crate::clock_map::ClockMap;
use crate::process_memory;
use crate::run::Status;
use crate::sampler::Sampler;
use drain::Drain;
use drain_thread::Order;
use mapping::Mapping;
use ring_folder::RingFolder;
use shared_memory::HISTOGRAMS_AT_ONCE;

/// A recording takes half of it, most of which is room that glibc's allocator reserves for the recorder's threads.
const NEEDED_ADDRESS_SPACE_BYTES: u64 = 512 << 20;

const OFF: u8 = 0;
const ON: u8 = 1;
/// Recording was on in the parent; this process starts its own capture with its first record.
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(OFF);
/// Number of the recording that is on, so that what was cached in another one is not used; 0 while none is.
static RECORDING: AtomicU32 = AtomicU32::new(0);
static RECORDER: OnceLock<Recorder> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());

/// The process's recorder; there is one, and it is never dropped.
#[derive(Debug)]
pub struct Recorder {
    config: Config,
    /// No kind of section is switched off.
    records_all: bool,
    process: Mapping,
    layout: ProcessLayout,
    pub(crate) paths: CallPaths,
    pub(crate) slots: Slots,
    pub(crate) histograms: &'static [AtomicU32],
    /// Histograms of the arena whose memory is there.
    n_reserved_histograms: AtomicU32,
    // Locked in this order, when several are: samplers, drain, lanes, folder, then the tables of `paths`.
    samplers: Mutex<Vec<Sampler>>,
    drain: Mutex<Drain>,
    lanes: Mutex<Lanes>,
    folder: Mutex<RingFolder>,
    wake: drain_thread::Wake,
    has_drain_thread: AtomicBool,
    is_refused_tables: AtomicBool,
    /// What dead processes left: held while a capture of theirs is completed.
    abandoned: Mutex<crate::capture::Abandoned>,
    n_sessions: AtomicU64,
    /// How many have ended.
    n_sessions_ended: AtomicU64,
    /// Samplers so far, in all recordings.
    n_samplers: AtomicU32,
    /// In ticks: no thread asks for a new lane before.
    next_claim: AtomicU64,
}

fn set_state(state: u8) {
    static N_RECORDINGS: AtomicU32 = AtomicU32::new(0);
    let number =
        if state == ON { N_RECORDINGS.fetch_add(1, Relaxed).wrapping_add(1).max(1) } else { 0 };
    RECORDING.store(number, Release);
    STATE.store(state, Release);
}

/// The number of the recording that is on; 0 while none is. A lane that [`lane()`] gave may be kept while this stays the same and its thread
/// lives.
#[inline]
pub fn recording_number() -> u32 {
    RECORDING.load(Relaxed)
}

/// Recording is on (or will be, with the first record after a fork).
#[inline]
pub fn is_on() -> bool {
    STATE.load(Relaxed) != OFF
}

/// The recorder, if one was ever started in this process.
pub fn recorder() -> Option<&'static Recorder> {
    RECORDER.get().filter(|_| !fork::is_cut_off())
}

/// Says which rank this process is, where its launcher does not: a place learnt later, of Ray Train or `mp.spawn` say. It counts for
/// the capture that is being written and for those that follow, over everything said before.
///
/// False, and nothing changes, when a rank or local rank is not below `world_size`.
pub fn set_rank(rank: u32, world_size: u32, local_rank: Option<u32>) -> bool {
    if !launcher::keep(rank, world_size, local_rank) {
        return false;
    }
    // In a forked child that has no capture yet, that one will say it.
    if let Some(recorder) = recorder().filter(|_| STATE.load(Acquire) == ON) {
        recorder.drain().note_place(recorder, rank);
    }
    true
}

impl Recorder {
    fn start(config: &Config) -> Result<&'static Self, Error> {
        if fork::is_cut_off() {
            return Err(Error::CutOff);
        }
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        clock::kind();
        let is_new = RECORDER.get().is_none();
        if let Some(left_bytes) = process_memory::address_space_left_bytes().filter(|_| is_new)
            && left_bytes < NEEDED_ADDRESS_SPACE_BYTES
        {
            let needed_bytes = NEEDED_ADDRESS_SPACE_BYTES;
            return Err(Error::AddressSpace { needed_bytes, left_bytes });
        }
        let recorder = if let Some(recorder) = RECORDER.get() {
            recorder
        } else {
            let made = Self::new(config)?;
            RECORDER.get_or_init(|| made)
        };
        if STATE.load(Acquire) == ON {
            if let Some(folder) = &config.output_dir {
                recorder.drain().move_to_file(recorder, folder, config)?;
                // Anew, so that it opens the file before the program goes on.
                recorder.end_drain(Order::Rest);
                recorder.start_drain();
                recorder.sample_host(&config.profiling);
            }
            return Ok(recorder);
        }
        if !is_new {
            recorder.share_again(config);
            recorder.forget_last_run();
        }
        let opened = recorder.drain().open(recorder, config);
        opened.inspect_err(|_| recorder.folder().remove())?;
        recorder.start_drain();
        fork::install();
        set_state(ON);
        if config.output_dir.is_some() {
            recorder.sample_host(&config.profiling);
        }
        Ok(recorder)
    }

    fn new(config: &Config) -> Result<Self, Error> {
        let n_nodes = config.max_nodes.clamp(16, 65_000);
        let name_words = n_nodes * 16;
        let n_histograms = config.histogram_bytes / (crate::histogram::N_BUCKETS * 4);
        let capacities =
            [n_nodes, name_words, n_nodes, config.max_open, n_histograms, layout::MAX_SERIES];
        let layout = ProcessLayout::new(capacities);
        let mut folder = RingFolder::make(config.ring_dir.as_deref(), config.output_dir.as_deref());
        let n_reserved = HISTOGRAMS_AT_ONCE.min(u32::try_from(n_histograms).unwrap_or(u32::MAX));
        let process =
            folder.process(layout.end, layout.histogram(n_reserved)).map_err(Error::Memory)?;
        let header = process.words();
        for (at, value) in (process_words::CAP_NAMES..).zip(capacities) {
            header[at].store(value as u64, Relaxed);
        }
        Identity::of_this_process().write_to(header);
        header[process_words::VERSION].store(LAYOUT_VERSION, Relaxed);
        header[process_words::MAGIC].store(PROCESS_MAGIC, Release);
        Ok(Self {
            config: config.clone(),
            records_all: config.profiling.records_all_kinds(),
            process,
            layout,
            paths: CallPaths::new(process, &layout),
            slots: Slots::new(process, &layout),
            histograms: mapping::halves(&process.words()[layout.histograms..]),
            n_reserved_histograms: AtomicU32::new(n_reserved),
            samplers: Mutex::default(),
            drain: Mutex::default(),
            lanes: Mutex::default(),
            folder: Mutex::new(folder),
            wake: drain_thread::Wake::default(),
            has_drain_thread: AtomicBool::new(false),
            is_refused_tables: AtomicBool::new(false),
            abandoned: Mutex::default(),
            n_sessions: AtomicU64::new(0),
            n_sessions_ended: AtomicU64::new(0),
            n_samplers: AtomicU32::new(0),
            next_claim: AtomicU64::new(0),
        })
    }

    /// How the recorder was set up by the first start.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Whether sections of a name are recorded, as the configuration of the first start says. Costs nothing while all are.
    pub(crate) fn records(&self, name: &str) -> bool {
        self.records_all || self.config.profiling.records(name)
    }

    /// The number of a name, for [`Lane::node`].
    pub fn name(&self, name: &[u8]) -> NameId {
        self.paths.name(name)
    }

    /// `n` slots for sections that their owner opens and closes itself; `None` when no more are to be had.
    pub fn take_slots(&self, n: u32) -> Option<Vec<Slot>> {
        let first = self.slots.take(n)?;
        (first..first + n).map(|number| self.slots.at(number)).collect()
    }

    /// Counts a section that could not be recorded at all.
    pub fn count_unrecorded(&self) {
        self.header()[process_words::SECTIONS_UNRECORDED].fetch_add(1, Relaxed);
    }

    /// Length of a time in ticks, by the mean speed of the clock so far.
    pub fn duration_ns(&self, ticks: u64) -> u64 {
        self.clock_map().duration_ns(ticks)
    }

    /// Length of a tick in nanoseconds, by the mean speed of the clock so far.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn tick_ns(&self) -> f64 {
        self.duration_ns(1 << 40) as f64 / (1u64 << 40) as f64
    }

    /// Ticks that a duration takes, by the mean speed of the clock so far.
    pub fn ticks_of(&self, duration_ns: u64) -> u64 {
        let per_2_32 = self.duration_ns(1 << 32).max(1);
        u64::try_from(u128::from(duration_ns) * (1 << 32) / u128::from(per_2_32))
            .unwrap_or(u64::MAX)
    }

    /// Makes the capture hold all that was recorded until now, and returns its bytes so far, totals included.
    pub fn capture_so_far(&self) -> Vec<u8> {
        self.drain().capture_so_far(self)
    }

    /// Moves what lies in the rings to the capture, on the calling thread: for who records much at once. Writes to the disk.
    pub fn drain_now(&self) {
        self.drain().round(self);
    }

    /// The text of a name.
    pub fn text_of(&self, name: NameId) -> String {
        String::from_utf8_lossy(&self.paths.text(name.number())).into_owned()
    }

    /// A capture of the live totals alone, without single records: cheap however long the run is. Totals are those since the last
    /// [`Self::clear_totals`].
    ///
    /// Waits for no disk.
    pub fn totals_so_far(&self) -> Vec<u8> {
        let paths = &self.paths;
        let (n_nodes, n_names) = (paths.n_nodes(), paths.n_names());
        let names: Vec<Vec<u8>> = (0..n_names).map(|name| paths.text(name)).collect();
        let nodes: Vec<u64> = (0..n_nodes).map(|node| paths.node_word(node)).collect();
        let mut encode = Encode { bytes: crate::capture::FILE_HEADER.to_vec() };
        encode.info(&[("clock".into(), clock::kind().name().into())]);
        encode.names(0, &names);
        encode.nodes(0, &nodes);
        drain::encode_totals(self, &mut encode);
        encode.anchor(self.first_anchor());
        encode.anchor(clock::anchor());
        encode.bytes
    }

    /// The start of the recording.
    fn first_anchor(&self) -> Anchor {
        let get = |at: usize| self.header()[process_words::FIRST_ANCHOR + at].load(Relaxed);
        Anchor { ticks: get(0), monotonic_ns: get(1), unix_ns: get(2) }
    }

    /// A conversion of ticks that ends now.
    fn clock_map(&self) -> ClockMap {
        ClockMap::new(clock::kind(), vec![self.first_anchor(), clock::anchor()])
    }

    /// Length of the capture so far.
    pub fn capture_bytes(&self) -> u64 {
        self.header()[process_words::CAPTURE_BYTES].load(Relaxed)
    }

    /// The process that is recorded from outside; `None` when it is this one.
    pub(crate) fn outside_pid(&self) -> Option<u32> {
        let drain = self.drain();
        drain.config().outside.as_ref().map(|outside| outside.pid)
    }

    /// The path of the capture; `None` while it is in memory.
    pub fn capture_path(&self) -> Option<PathBuf> {
        self.drain().capture_path()
    }

    /// The folder of the files that others see this process by, for [`crate::live::Live`]; `None` while they are in private memory.
    pub fn ring_folder(&self) -> Option<PathBuf> {
        self.folder().path().map(Path::to_owned)
    }

    /// Live totals since the last [`Self::clear_totals`], for each lane. Those of a thread that records meanwhile are of one moment each.
    pub fn totals(&self) -> Vec<TotalsSnapshot> {
        let n_nodes = &self.header()[process_words::N_NODES];
        self.lanes()
            .all
            .iter()
            .map(|lane| snapshot(&lane.ring, self.histograms, n_nodes).0)
            .collect()
    }

    /// Starts the live totals again at zero; the capture keeps the old ones. Call it while no other thread records (in Python: under the GIL).
    pub fn clear_totals(&self) {
        self.drain().clear_totals(self);
    }

    /// Ends the recording: drains what there is, writes totals and how it ended, removes the shared files. Returns the path of the capture.
    pub fn stop(&self, status: &Status) -> Option<PathBuf> {
        if fork::is_cut_off() {
            return None;
        }
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if STATE.load(Acquire) != ON {
            set_state(OFF);
            return None;
        }
        self.finish_samplers();
        set_state(OFF);
        let path = self.capture_path();
        if self.end_drain(Order::Close(status.clone())).is_none() {
            self.drain().close(self, status);
        }
        self.leave_shared_memory();
        path
    }

    pub(crate) fn header(&self) -> &'static [AtomicU64] {
        &self.process.words()[..layout::HEADER_WORDS]
    }

    pub(crate) fn samplers(&self) -> MutexGuard<'_, Vec<Sampler>> {
        self.samplers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(&self) -> MutexGuard<'_, RingFolder> {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drain(&self) -> MutexGuard<'_, Drain> {
        self.drain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recording has ended and a new one begins: totals and losses start at zero, names and call paths stay.
    fn forget_last_run(&self) {
        let losses_and_clock = [
            process_words::SECTIONS_UNRECORDED,
            process_words::SECTIONS_NOT_WRITTEN,
            process_words::NOTES_NOT_WRITTEN,
            process_words::CHILDREN_UNRECORDED,
            process_words::EPOCH,
            process_words::N_ANCHORS,
            process_words::CAPTURE_BYTES,
            // What was said since counts from the info block that comes.
            process_words::SAID_RANK,
            process_words::SCHEDULE,
            process_words::WINDOW,
        ];
        // What was reported, and the path: until the next capture is open, whoever finds these rings must not take the last one, or a
        // parent's, for theirs.
        let reported = process_words::GENERATED..=process_words::CAPTURE_PATH;
        for at in losses_and_clock.into_iter().chain(reported) {
            self.header()[at].store(0, Relaxed);
        }
        self.series_table().clear();
        self.lanes().all.iter().for_each(|lane| lane.forget());
    }
}
