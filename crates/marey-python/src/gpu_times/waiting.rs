//! Pairs of events that wait to be read, and where a device's clock stands.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use marey::SectionKey;
use marey_gpu::DeviceClock;
use pyo3::prelude::*;

use crate::devices::{NotMeasured, StreamKey};
use crate::kept::Kept;

/// Pairs that wait to be read; beyond that sections are not measured.
pub(super) const MAX_WAITING: usize = 4096;
/// After so long another event becomes the reference of the clock.
const REFERENCE_NS: f64 = 1e9;
/// A delay is kept when it is known within this, or within a tenth.
const DELAY_ERROR_NS: f64 = 1e6;

pub(super) static STATE: Kept<State> = Kept::new(State::new());

/// All that is known of devices.
#[derive(Debug)]
pub(super) struct State {
    /// Grows with each start, stop and fork: what began before is not ended after.
    pub(super) epoch: u32,
    /// Events that nobody uses, by device: one belongs to the device where it was recorded first.
    pub(super) free: BTreeMap<u32, Vec<Py<PyAny>>>,
    pub(super) waiting: BTreeMap<StreamKey, VecDeque<Pair>>,
    pub(super) n_waiting: usize,
    pub(super) references: BTreeMap<u32, Reference>,
    /// Sections that were watched and have no GPU time, by why not.
    pub(super) not_measured: [u64; NotMeasured::WHY.len()],
}

/// What both ends of a section queued.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) section: SectionKey,
    pub(super) begin: Py<PyAny>,
    pub(super) begin_ticks: u64,
    pub(super) end: Py<PyAny>,
    pub(super) end_ticks: u64,
}

/// The event that a device's clock is known at; times of the host are counted from when it was queued.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) event: Arc<Py<PyAny>>,
    pub(super) queued_ticks: u64,
    pub(super) clock: DeviceClock,
}

/// What a pair that is done has measured.
pub(super) struct Seen {
    /// From the reference to its begin.
    pub(super) elapsed_ns: f64,
    pub(super) gpu_ns: f64,
    pub(super) done_ticks: u64,
    pub(super) tick_ns: f64,
}

/// Where the beginning of a pair lies on the host's clock.
#[derive(Default)]
#[must_use = "the event is dropped while nothing is locked"]
pub(super) struct Placed {
    /// Its delay and by how much that may be wrong, nanoseconds; `None` where that is too much.
    pub(super) delay: Option<(f64, f64)>,
    /// The event that is the device's reference no longer.
    pub(super) old_event: Option<Arc<Py<PyAny>>>,
}

impl State {
    pub(super) const fn new() -> Self {
        Self {
            epoch: 0,
            free: BTreeMap::new(),
            waiting: BTreeMap::new(),
            n_waiting: 0,
            references: BTreeMap::new(),
            not_measured: [0; NotMeasured::WHY.len()],
        }
    }

    /// Begins anew; what was known before.
    #[must_use = "dropped while nothing is locked"]
    pub(super) fn cleared(&mut self) -> Self {
        let before = std::mem::replace(self, Self::new());
        self.epoch = before.epoch.wrapping_add(1);
        before
    }

    /// Keeps an event; gives it back when there are enough.
    #[must_use = "dropped while nothing is locked"]
    pub(super) fn give(&mut self, device: u32, event: Py<PyAny>) -> Option<Py<PyAny>> {
        let free = self.free.entry(device).or_default();
        if free.len() < 2 * MAX_WAITING {
            free.push(event);
            return None;
        }
        Some(event)
    }

    /// Keeps the events of a pair, but for one that has become the reference; gives back what is not kept.
    #[must_use = "dropped while nothing is locked"]
    pub(super) fn give_pair(&mut self, device: u32, pair: Pair) -> [Option<Py<PyAny>>; 2] {
        let reference = self.references.get(&device);
        let is_reference = reference.is_some_and(|r| r.event.as_ptr() == pair.begin.as_ptr());
        let begin = if is_reference { Some(pair.begin) } else { self.give(device, pair.begin) };
        [begin, self.give(device, pair.end)]
    }

    pub(super) fn wait(&mut self, stream: StreamKey, pair: Pair) {
        self.n_waiting += 1;
        self.waiting.entry(stream).or_default().push_back(pair);
    }

    pub(super) fn next(&mut self, stream: StreamKey) -> Option<Pair> {
        let pair = self.waiting.get_mut(&stream)?.pop_front()?;
        self.n_waiting = self.n_waiting.saturating_sub(1);
        Some(pair)
    }

    pub(super) fn put_back(&mut self, stream: StreamKey, pair: Pair) {
        self.n_waiting += 1;
        self.waiting.entry(stream).or_default().push_front(pair);
    }

    /// A stream beside this one on which something waits.
    pub(super) fn another(&self, stream: StreamKey) -> Option<StreamKey> {
        let waits = |(key, queue): (&StreamKey, &VecDeque<Pair>)| {
            (*key != stream && !queue.is_empty()).then_some(*key)
        };
        self.waiting.iter().find_map(waits)
    }

    /// The event that a device's clock is known at.
    pub(super) fn reference(&self, device: u32) -> Option<Arc<Py<PyAny>>> {
        self.references.get(&device).map(|known| known.event.clone())
    }

    /// Where a pair's begin lies; `from` is the reference that it was measured from. The first pair that is read becomes it, which needs no
    /// figure.
    pub(super) fn place(
        &mut self,
        py: Python<'_>,
        device: u32,
        from: Option<&Arc<Py<PyAny>>>,
        pair: &Pair,
        seen: &Seen,
    ) -> Placed {
        if from.is_none() {
            let done_ns = between(pair.begin_ticks, seen.done_ticks, seen.tick_ns);
            self.references.entry(device).or_insert_with(|| Reference {
                event: Arc::new(pair.begin.clone_ref(py)),
                queued_ticks: pair.begin_ticks,
                clock: DeviceClock::new(0.0, done_ns),
            });
        }
        let from = from.map_or(pair.begin.as_ptr(), |event| event.as_ptr());
        let known = self.references.get_mut(&device);
        let Some(reference) = known.filter(|known| known.event.as_ptr() == from) else {
            return Placed::default();
        };
        let host = |ticks| between(reference.queued_ticks, ticks, seen.tick_ns);
        let (begin_ns, done_ns) = (host(pair.begin_ticks), host(seen.done_ticks));
        let clock = &mut reference.clock;
        clock.learn(seen.elapsed_ns, begin_ns, done_ns - seen.gpu_ns);
        let end_elapsed = seen.elapsed_ns + seen.gpu_ns;
        clock.learn(end_elapsed, host(pair.end_ticks), done_ns);
        let placed = clock.place(seen.elapsed_ns);
        let delay_ns = (placed.at_ns.max(begin_ns) - host(pair.section.start_ticks)).max(0.0);
        let old_event = (seen.elapsed_ns > REFERENCE_NS).then(|| {
            let clock = reference.clock.moved_to(seen.elapsed_ns, begin_ns);
            let next = Reference {
                clock,
                event: Arc::new(pair.begin.clone_ref(py)),
                queued_ticks: pair.begin_ticks,
            };
            std::mem::replace(reference, next).event
        });
        let is_known = placed.error_ns <= DELAY_ERROR_NS.max(delay_ns / 10.0);
        Placed { delay: is_known.then_some((delay_ns, placed.error_ns)), old_event }
    }
}

/// `None` when nothing is missing. Of those that were not read, how many, and why.
pub(super) fn in_words(
    not_measured: [u64; NotMeasured::WHY.len()],
    unread: (u64, &str),
) -> Option<String> {
    let known = not_measured.into_iter().zip(NotMeasured::WHY).chain([unread]);
    let reasons: Vec<_> = known.filter(|(n, _)| *n > 0).collect();
    let said: Vec<String> = reasons.iter().map(|(n, why)| format!("{n} {why}")).collect();
    let n: u64 = reasons.iter().map(|(n, _)| n).sum();
    (n > 0).then(|| format!("{n} not measured: {}", said.join(", ")))
}

/// Nanoseconds from one time in ticks to another.
#[expect(clippy::cast_precision_loss, reason = "seconds at most matter")]
fn between(from: u64, to: u64, tick_ns: f64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64 * tick_ns
}
