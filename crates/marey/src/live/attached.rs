//! A process that is looked at again and again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::process::{Process, rings_in};
use super::{Iterations, LiveState, OpenNow, Reading, Totals};
use crate::capture::{Rings, how_it_ended};
use crate::clock::{self, Anchor, ClockKind};
use crate::clock_map::ClockMap;
use crate::generation::{Generated, ReportTimes};
use crate::recorder::{
    NodeSnapshot, glance, is_alive, lane_words, low, newest, process_words as at,
};
use crate::run::{Losses, Node, NodeKind, Status};

/// Iterations of a loop that are kept.
const KEPT_ITERATIONS: usize = 256;
/// How often words that change while they are read are read again.
const MAX_READS: usize = 8;
/// The node that stands for all that found no place of its own.
const OTHER: u32 = 1;

/// A process that is looked at again and again. Holds its shared files mapped, so that it can be looked at after its death, too.
#[derive(Debug)]
pub struct Live {
    folder: PathBuf,
    rings: Rings,
    /// Device and inode of the file that is mapped: another one in its place is another recording's.
    file: Option<(u64, u64)>,
    nodes: Arc<[Node]>,
    /// Of each lane, records that were looked at.
    seen: Vec<u64>,
    /// Ends and durations of the newest iterations by node, in ticks.
    iterations: HashMap<u32, VecDeque<(u64, u64)>>,
    end: Option<End>,
    /// The moment of the last look at a process that was not over.
    now: Anchor,
}

/// What is known about the end.
#[derive(Clone, Debug)]
struct End {
    status: Status,
    /// When the process was found dead, its files were still there: it did not close its recording.
    is_without_closing: bool,
    /// Length of the capture that was asked; `None` when there is none.
    capture_bytes: Option<u64>,
}

impl Live {
    /// Attaches to the process whose shared files lie in a folder. `None` when they are gone, damaged, of another version of Marey, or
    /// somebody else's.
    pub fn attach(folder: &Path) -> Option<Self> {
        let mut rings = rings_in(folder)?;
        rings.find_lanes(folder);
        Some(Self {
            folder: folder.to_owned(),
            rings,
            file: file_of(folder),
            nodes: Arc::default(),
            seen: Vec::new(),
            iterations: HashMap::new(),
            end: None,
            now: clock::anchor(),
        })
    }

    /// Folder of the shared files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Who it is, as far as is known by now.
    pub fn process(&self) -> Process {
        Process::new(&self.folder, &self.rings)
    }

    /// The rank that the program said while it recorded ([`crate::set_rank`]), which counts before that of [`Process::rank`]; `None`
    /// before that.
    pub fn said_rank(&self) -> Option<u32> {
        self.rings.said_rank()
    }

    /// What the process is doing now. Costs some hundred microseconds of the caller's time, and nothing of the process's.
    pub fn look(&mut self) -> LiveState {
        // Before the figures: a process that is found to have ended has changed them for the last time.
        let is_alive = is_alive(&self.rings.identity());
        let status = self.status(is_alive);
        if status == Status::Running {
            self.now = clock::anchor();
        }
        self.rings.find_lanes(&self.folder);
        let clock = self.clock();
        let glances = self.glances();
        let (open, series) = (self.open(&clock), self.readings(&clock));
        // Afterwards, so that all that the lanes name is there.
        self.find_nodes();
        let totals = self.totals(&glances, &clock);
        let (generated, report_times) = self.reports(&clock);
        let mut look = LiveState {
            at_ns: 0,
            status,
            is_alive,
            nodes: Arc::clone(&self.nodes),
            losses: self.losses(&glances),
            totals,
            open,
            series,
            generated,
            report_times,
            cache_hits: self.rings.get(at::CACHE_HITS),
            cache_misses: self.rings.get(at::CACHE_MISSES),
            step: self.rings.get(at::STEP).checked_sub(1),
            schedule: schedule(self.rings.get(at::SCHEDULE)),
        };
        look.at_ns = if look.is_running() { clock.now_ns } else { last_known_ns(&look, &clock) };
        for reading in &mut look.series {
            reading.age_ns = look.at_ns.saturating_sub(reading.at_ns);
        }
        look
    }

    /// Running, or how it ended.
    fn status(&mut self, is_alive: Option<bool>) -> Status {
        let is_closed = file_of(&self.folder) != self.file;
        if !is_closed && is_alive != Some(false) {
            return Status::Running;
        }
        let capture = self.rings.capture_path();
        let length = capture.as_ref().and_then(|path| Some(path.metadata().ok()?.len()));
        let known = self.end.take();
        let is_without_closing = known.as_ref().map_or(!is_closed, |end| end.is_without_closing);
        let ask = || {
            let said = capture.and_then(|path| how_it_ended(&path, &self.rings.identity()));
            End {
                status: said.unwrap_or(if is_without_closing {
                    Status::EndedWithoutClosing
                } else {
                    Status::Finished
                }),
                is_without_closing,
                capture_bytes: length,
            }
        };
        // Whoever saw it die may complete the capture later, and say more.
        let end = known.filter(|end| end.capture_bytes == length).unwrap_or_else(ask);
        self.end.insert(end).status.clone()
    }

    fn clock(&self) -> Clock {
        let anchors = self.rings.anchors();
        let first = anchors.first().copied();
        let last_ns = anchors
            .last()
            .zip(first)
            .map_or(0, |(last, first)| last.monotonic_ns.saturating_sub(first.monotonic_ns));
        let is_monotonic = self.rings.get(at::CLOCK) == ClockKind::Monotonic.code();
        let kind = if is_monotonic { ClockKind::Monotonic } else { ClockKind::Tsc };
        // Before the process has a second anchor, and so that what is just read is converted by no old slope.
        let now = self.now;
        let same_clock = first.is_some() && kind == clock::kind();
        let anchors = anchors.into_iter().chain(same_clock.then_some(now)).collect();
        Clock {
            map: ClockMap::new(kind, anchors),
            now_ns: first
                .map_or(0, |first: Anchor| now.monotonic_ns.saturating_sub(first.monotonic_ns)),
            last_ns,
        }
    }

    /// Figures of all lanes together, by node; takes note of the newest iterations.
    fn glances(&mut self) -> Vec<NodeSnapshot> {
        let mut by_node: BTreeMap<u32, NodeSnapshot> = BTreeMap::new();
        let mut heads = Vec::new();
        let n_nodes = self.rings.get(at::N_NODES);
        let mut records = Vec::new();
        for (place, ring) in self.rings.lanes().enumerate() {
            for seen in glance(&ring, n_nodes) {
                by_node.entry(seen.node).and_modify(|all| all.add(&seen)).or_insert(seen);
            }
            let head = ring.get(lane_words::HEAD);
            let from = self.seen.get(place).copied().unwrap_or(0);
            records.extend(newest(&ring, from, head));
            heads.push(head);
        }
        self.seen = heads;
        self.find_nodes();
        records.sort_by_key(|record| record[1]);
        for [start, end, node_flow_flags, _] in records {
            let node = low(node_flow_flags);
            let kind = self.nodes.get(node as usize).map(|node| node.kind);
            if kind == Some(NodeKind::Iteration) {
                let iterations = self.iterations.entry(node).or_default();
                if iterations.len() == KEPT_ITERATIONS {
                    iterations.pop_front();
                }
                iterations.push_back((end, end.saturating_sub(start)));
            }
        }
        by_node.into_values().collect()
    }

    /// Reads the call paths when there are new ones.
    fn find_nodes(&mut self) {
        if self.nodes.len() as u64 != self.rings.get(at::N_NODES) {
            self.nodes = self.rings.nodes().into();
        }
    }

    fn totals(&self, glances: &[NodeSnapshot], clock: &Clock) -> Vec<Totals> {
        let iterations = |seen: &NodeSnapshot| {
            let iterations = self.iterations.get(&seen.node)?;
            let ticks = iterations.iter();
            let is_last = iterations.back().is_some_and(|(end, _)| *end == seen.last_end);
            let first = iterations.front().filter(|_| is_last);
            Some(Iterations {
                newest_ns: ticks.map(|(_, ticks)| clock.map.duration_ns(*ticks)).collect(),
                first_end_ns: first.map(|(end, _)| clock.map.ns(*end)),
            })
        };
        let totals = |seen: &NodeSnapshot| Totals {
            node: seen.node,
            count: seen.count,
            errors: seen.errors.into(),
            sum_ns: clock.map.duration_ns(seen.sum),
            min_ns: clock.map.duration_ns(seen.min),
            max_ns: clock.map.duration_ns(seen.max),
            last_ns: clock.map.duration_ns(seen.last),
            last_end_ns: clock.map.ns(seen.last_end),
            iterations: iterations(seen),
        };
        glances.iter().map(totals).collect()
    }

    fn open(&self, clock: &Clock) -> Vec<OpenNow> {
        let open = self.rings.open_slots().into_iter();
        open.map(|slot| OpenNow {
            node: slot.node,
            lane: slot.lane,
            flow: slot.flow,
            start_ns: clock.map.ns(slot.start),
        })
        .collect()
    }

    fn readings(&self, clock: &Clock) -> Vec<Reading> {
        let latest = self.rings.series_table().latest().into_iter();
        latest
            .filter(|(_, value, _)| value.is_finite())
            .map(|(info, value, ticks)| Reading {
                info,
                value,
                at_ns: clock.map.ns(ticks),
                age_ns: 0,
            })
            .collect()
    }

    /// What the program reported, and when it did: both of the same moment, as nearly as another process can see it.
    fn reports(&self, clock: &Clock) -> (Generated, ReportTimes) {
        let read = || -> ([u64; Generated::WORDS], [u64; ReportTimes::WORDS]) {
            (
                std::array::from_fn(|place| self.rings.get(at::GENERATED + place)),
                std::array::from_fn(|place| self.rings.get(at::REPORT_TIMES + place)),
            )
        };
        let mut words = read();
        for _ in 0..MAX_READS {
            let again = read();
            if std::mem::replace(&mut words, again) == again {
                break;
            }
        }
        let times = ReportTimes::of_words(words.1, |ticks| clock.map.ns(ticks));
        (Generated::of_words(words.0), times)
    }

    fn losses(&self, glances: &[NodeSnapshot]) -> Losses {
        let sum = |word: usize| {
            let words = self.rings.lanes().map(|ring| ring.get(word));
            words.fold(0, u64::saturating_add)
        };
        let other = glances.iter().find(|glance| glance.node == OTHER);
        Losses {
            sections_ring_full: sum(lane_words::DROPPED),
            sections_not_written: self.rings.get(at::SECTIONS_NOT_WRITTEN),
            notes_dropped: sum(lane_words::NOTES_DROPPED)
                .saturating_add(self.rings.get(at::NOTES_NOT_WRITTEN)),
            calls_without_name: other.map_or(0, |other| other.count),
            sections_unrecorded: self.rings.get(at::SECTIONS_UNRECORDED),
            threads_in_private_memory: self.rings.get(at::LANES_PRIVATE),
            children_unrecorded: self.rings.get(at::CHILDREN_UNRECORDED),
        }
    }
}

/// How ticks are converted, as of one moment.
struct Clock {
    map: ClockMap,
    /// That moment, in nanoseconds since the start of the recording.
    now_ns: u64,
    /// When the process last read all its clocks.
    last_ns: u64,
}

fn schedule(word: u64) -> Option<(u64, u64)> {
    let (n_made, n_steps) = (word >> 32, word & u64::from(u32::MAX));
    (n_steps > 0).then_some((n_made, n_steps))
}

/// Device and inode of the shared file in a folder; `None` when it is gone.
fn file_of(folder: &Path) -> Option<(u64, u64)> {
    let file = std::fs::symlink_metadata(folder.join("process")).ok()?;
    Some((file.dev(), file.ino()))
}

/// The last thing known of a process that is over.
fn last_known_ns(look: &LiveState, clock: &Clock) -> u64 {
    let ends = look.totals.iter().map(|totals| totals.last_end_ns);
    let starts = look.open.iter().map(|open| open.start_ns);
    let readings = look.series.iter().map(|reading| reading.at_ns);
    let known = ends.chain(starts).chain(readings).chain([clock.last_ns]);
    known.max().unwrap_or(0)
}
