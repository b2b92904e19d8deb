//! How long the GPU works for sections, without waiting for it: torch's own events, queued at both ends and read later.
//!
//! ```text
//! host     ·|-- section A --|·   ·|- B -|·  asks: is A done? no    asks: yes, B: yes
//! stream        ├────── A ───────────┤├──── B ─────┤
//!               ^ begin, queued      ^ end          both spans are noted, with the delay of their beginnings
//! ```
//!
//! Only `query` is asked, at ends of sections, oldest first; nothing is ever waited for. While anybody captures a graph nothing
//! is done at all: a query would break the capture, and a record would become part of the graph. Everything that is called here
//! is written in C, so that no signal handler of the program runs in between. The state is locked only while no Python runs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use marey::{Lane, Note, SectionKey};
use marey_gpu::DeviceClock;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::device_watch::{self, drop_error, unavailable};

/// What it is called where it is not measured.
const WHAT: &str = "GPU time of sections";
/// Pairs that wait to be read; beyond that sections are not measured.
const MAX_WAITING: usize = 4096;
/// Streams whose objects are kept.
const MAX_STREAMS: usize = 64;
/// Pairs that the end of a section reads.
const READ_AT_END: usize = 4;
/// Pairs whose notes fit into a ring together.
const READ_AT_ONCE: usize = 128;
/// After so long another event becomes the reference of the clock.
const REFERENCE_NS: f64 = 1e9;
/// A delay is told when it is known within this, or within a tenth.
const DELAY_ERROR_NS: f64 = 1e6;

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Graphs that are captured right now.
static N_CAPTURES: AtomicU32 = AtomicU32::new(0);
static STATE: Mutex<State> = Mutex::new(State::new());

pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Functions of torch's C part.
#[derive(Debug)]
struct Functions {
    new_event: Py<PyAny>,
    new_stream: Py<PyAny>,
    record: Py<PyAny>,
    query: Py<PyAny>,
    elapsed: Py<PyAny>,
    current_device: Py<PyAny>,
    current_stream: Py<PyAny>,
    is_capturing: Py<PyAny>,
}

/// A device's number and a stream's.
type StreamKey = (u32, u64);

#[derive(Debug)]
struct State {
    /// Grows with each start, stop and fork: what began before is not ended after.
    epoch: u32,
    functions: Option<Arc<Functions>>,
    /// Events that nobody uses, by device: one belongs to the device where it was recorded first.
    free: BTreeMap<u32, Vec<Py<PyAny>>>,
    streams: BTreeMap<StreamKey, Arc<Py<PyAny>>>,
    waiting: BTreeMap<StreamKey, VecDeque<Pair>>,
    n_waiting: usize,
    references: BTreeMap<u32, Reference>,
    not_measured: NotMeasured,
}

/// Sections that were watched and have no GPU time.
#[derive(Clone, Copy, Debug, Default)]
struct NotMeasured {
    other_stream: u64,
    capture: u64,
    too_many: u64,
}

/// What the begin of a section queued.
#[derive(Debug)]
pub(crate) struct Begun {
    epoch: u32,
    stream: StreamKey,
    event: Py<PyAny>,
    queued_ticks: u64,
}

#[derive(Debug)]
struct Pair {
    section: SectionKey,
    begin: Py<PyAny>,
    begin_ticks: u64,
    end: Py<PyAny>,
    end_ticks: u64,
}

/// The event that a device's clock is known at; times of the host are counted from when it was queued.
#[derive(Debug)]
struct Reference {
    number: u64,
    event: Arc<Py<PyAny>>,
    queued_ticks: u64,
    clock: DeviceClock,
}

/// Begins to measure, with functions of `torch._C`. `how` is said in reports.
#[pyfunction]
#[pyo3(signature = (*, how, new_event, new_stream, record, query, elapsed, current_device, current_stream, is_capturing))]
#[expect(clippy::too_many_arguments, reason = "one for each function of torch")]
pub(crate) fn start_gpu_times(
    py: Python<'_>,
    how: String,
    new_event: Py<PyAny>,
    new_stream: Py<PyAny>,
    record: Py<PyAny>,
    query: Py<PyAny>,
    elapsed: Py<PyAny>,
    current_device: Py<PyAny>,
    current_stream: Py<PyAny>,
    is_capturing: Py<PyAny>,
) {
    if !marey::is_on() || is_on() {
        return;
    }
    let functions = Functions {
        new_event,
        new_stream,
        record,
        query,
        elapsed,
        current_device,
        current_stream,
        is_capturing,
    };
    let mut state = state();
    state.clear();
    state.functions = Some(Arc::new(functions));
    drop(state);
    if let Some(lane) = crate::thread::lane(py) {
        let key = "gpu_times".to_owned();
        lane.recorder().note(&Note::Fact { key, value: how });
    }
    IS_ON.store(true, Relaxed);
    device_watch::follow();
}

/// A graph begins or ends to be captured.
#[pyfunction]
pub(crate) fn graph_capture(is_begin: bool) {
    if is_begin {
        N_CAPTURES.fetch_add(1, Relaxed);
    } else {
        N_CAPTURES
            .fetch_update(Relaxed, Relaxed, |n| Some(n.saturating_sub(1)))
            .ok();
    }
}

/// Queues the first event of a section.
pub(crate) fn begin(py: Python<'_>, lane: &Lane) -> Option<Begun> {
    if !is_on() {
        return None;
    }
    let functions = state().functions.clone()?;
    let (stream, event, queued_ticks) = queue(py, lane, &functions)?;
    let epoch = state().epoch;
    Some(Begun {
        epoch,
        stream,
        event,
        queued_ticks,
    })
}

/// Queues the second one, and reads what is done by now.
pub(crate) fn end(py: Python<'_>, lane: &Lane, begun: Begun, section: SectionKey) {
    let functions = {
        let state = state();
        if state.epoch != begun.epoch {
            // Of a recording that has ended, or of the parent of a fork, whose events cannot even be destroyed here.
            std::mem::forget(begun.event);
            return;
        }
        state.functions.clone()
    };
    let Some(functions) = functions.filter(|_| is_on()) else {
        return;
    };
    let Some((stream, event, end_ticks)) = queue(py, lane, &functions) else {
        state().give(begun.stream.0, begun.event);
        return;
    };
    if stream == begun.stream {
        let pair = Pair {
            section,
            begin: begun.event,
            begin_ticks: begun.queued_ticks,
            end: event,
            end_ticks,
        };
        state().wait(stream, pair);
    } else {
        let mut state = state();
        state.not_measured.other_stream += 1;
        state.give(begun.stream.0, begun.event);
        state.give(stream.0, event);
    }
    read(py, lane, &functions, stream, READ_AT_END);
    let other = state().another(stream);
    if let Some(other) = other {
        read(py, lane, &functions, other, READ_AT_END);
    }
}

/// Reads everything that is done.
pub(crate) fn read_all(py: Python<'_>, lane: &Lane) {
    let Some(functions) = state().functions.clone().filter(|_| is_on()) else {
        return;
    };
    let streams: Vec<StreamKey> = state().waiting.keys().copied().collect();
    for stream in streams {
        // What waits can be more than a ring of notes holds.
        while read(py, lane, &functions, stream, READ_AT_ONCE) == READ_AT_ONCE {
            py.detach(|| lane.recorder().drain_now());
        }
    }
}

/// Ends it: reads what is done, and says what is not.
pub(crate) fn stop(py: Python<'_>, lane: &Lane) {
    read_all(py, lane);
    let mut state = state();
    if !IS_ON.swap(false, Relaxed) {
        return;
    }
    let (missing, unread) = (state.not_measured, state.n_waiting as u64);
    state.clear();
    drop(state);
    if let Some(why) = missing.in_words(unread) {
        unavailable(lane, WHAT, why);
    }
}

/// Forgets everything and frees nothing.
pub(crate) fn forget() {
    IS_ON.store(false, Relaxed);
    N_CAPTURES.store(0, Relaxed);
    let mut state = state();
    let epoch = state.epoch.wrapping_add(1);
    let inherited = std::mem::replace(&mut *state, State::new());
    state.epoch = epoch;
    drop(state);
    std::mem::forget(inherited);
}

/// Records an event on the current stream: the stream, the event, and the time right before. `None` when that is not possible now.
fn queue(
    py: Python<'_>,
    lane: &Lane,
    functions: &Functions,
) -> Option<(StreamKey, Py<PyAny>, u64)> {
    let queued = || -> PyResult<Option<(StreamKey, Py<PyAny>, u64)>> {
        if N_CAPTURES.load(Relaxed) > 0 || functions.is_capturing.call0(py)?.is_truthy(py)? {
            state().not_measured.capture += 1;
            return Ok(None);
        }
        if state().n_waiting >= MAX_WAITING {
            state().not_measured.too_many += 1;
            return Ok(None);
        }
        let (key, stream) = functions.stream(py)?;
        let free = state().free.get_mut(&key.0).and_then(Vec::pop);
        let event = match free {
            Some(event) => event,
            None => functions.event(py)?,
        };
        let ticks = marey::ticks();
        functions.record.call1(py, (&event, &*stream))?;
        Ok(Some((key, event, ticks)))
    };
    queued().unwrap_or_else(|error| {
        switch_off(py, lane, &error);
        None
    })
}

/// Reads up to `most` pairs of a stream, oldest first, until one is not done. Returns how many.
fn read(
    py: Python<'_>,
    lane: &Lane,
    functions: &Functions,
    stream: StreamKey,
    most: usize,
) -> usize {
    for n in 0..most {
        if N_CAPTURES.load(Relaxed) > 0 {
            return n;
        }
        let Some(pair) = state().next(stream) else {
            return n;
        };
        match functions.read(py, lane, stream, &pair) {
            Ok(Some(note)) => {
                lane.recorder().note(&note);
                state().give_pair(stream.0, pair);
            }
            Ok(None) => {
                state().put_back(stream, pair);
                return n;
            }
            Err(error) => {
                switch_off(py, lane, &error);
                return n;
            }
        }
    }
    most
}

/// Something failed: it is said once, and nothing is measured from here on.
fn switch_off(py: Python<'_>, lane: &Lane, error: &PyErr) {
    let why = drop_error(py, error);
    if IS_ON.swap(false, Relaxed) {
        state().clear();
        device_watch::follow();
        unavailable(lane, WHAT, format!("switched off after an error: {why}"));
    }
}

impl Functions {
    fn event(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let keywords = PyDict::new(py);
        keywords.set_item("enable_timing", true)?;
        self.new_event.call(py, (), Some(&keywords))
    }

    /// The current stream of the current device.
    fn stream(&self, py: Python<'_>) -> PyResult<(StreamKey, Arc<Py<PyAny>>)> {
        let device = self.current_device.call0(py)?;
        let described = self.current_stream.call1(py, (&device,))?;
        let described = described.bind(py).cast::<PyTuple>()?;
        let (id, device, kind): (i64, u32, i64) = described.extract()?;
        let key = (device, id.cast_unsigned());
        if let Some(known) = state().streams.get(&key) {
            return Ok((key, known.clone()));
        }
        let keywords = PyDict::new(py);
        keywords.set_item("stream_id", id)?;
        keywords.set_item("device_index", device)?;
        keywords.set_item("device_type", kind)?;
        let stream = Arc::new(self.new_stream.call(py, (), Some(&keywords))?);
        let mut state = state();
        if state.streams.len() < MAX_STREAMS {
            state.streams.insert(key, stream.clone());
        }
        Ok((key, stream))
    }

    /// Milliseconds between two events, as nanoseconds.
    fn elapsed_ns(&self, py: Python<'_>, from: &Py<PyAny>, to: &Py<PyAny>) -> PyResult<f64> {
        let ms: f64 = self.elapsed.call1(py, (from, to))?.extract(py)?;
        Ok(ms * 1e6)
    }

    /// What a pair says; `None` when it is not done.
    fn read(
        &self,
        py: Python<'_>,
        lane: &Lane,
        (device, stream): StreamKey,
        pair: &Pair,
    ) -> PyResult<Option<Note>> {
        if !self.query.call1(py, (&pair.end,))?.is_truthy(py)? {
            return Ok(None);
        }
        let done_ticks = marey::ticks();
        let gpu_ns = self.elapsed_ns(py, &pair.begin, &pair.end)?.max(0.0);
        let reference = state().reference(py, device, pair, done_ticks);
        let elapsed_ns = match &reference {
            Some((_, event)) => self.elapsed_ns(py, event, &pair.begin)?,
            None => 0.0,
        };
        let number = reference.map_or(0, |(number, _)| number);
        let seen = Seen {
            elapsed_ns,
            gpu_ns,
            done_ticks,
            tick_ns: lane.recorder().tick_ns(),
        };
        let delay = state().place(py, device, number, pair, &seen);
        Ok(Some(Note::GpuSpan {
            section: pair.section,
            device,
            stream,
            delay_ns: delay.map(|(delay_ns, _)| whole(delay_ns)),
            gpu_ns: whole(gpu_ns),
            error_ns: delay.map(|(_, error_ns)| whole(error_ns)),
        }))
    }
}

/// What a pair that is done has told.
struct Seen {
    /// From the reference to its begin.
    elapsed_ns: f64,
    gpu_ns: f64,
    done_ticks: u64,
    tick_ns: f64,
}

impl State {
    const fn new() -> Self {
        Self {
            epoch: 0,
            functions: None,
            free: BTreeMap::new(),
            streams: BTreeMap::new(),
            waiting: BTreeMap::new(),
            n_waiting: 0,
            references: BTreeMap::new(),
            not_measured: NotMeasured {
                other_stream: 0,
                capture: 0,
                too_many: 0,
            },
        }
    }

    fn clear(&mut self) {
        let epoch = self.epoch.wrapping_add(1);
        *self = Self::new();
        self.epoch = epoch;
    }

    fn give(&mut self, device: u32, event: Py<PyAny>) {
        let free = self.free.entry(device).or_default();
        if free.len() < 2 * MAX_WAITING {
            free.push(event);
        }
    }

    /// Gives the events of a pair back, but for one that has become the reference.
    fn give_pair(&mut self, device: u32, pair: Pair) {
        let reference = self.references.get(&device);
        let is_kept = reference.is_some_and(|r| r.event.as_ptr() == pair.begin.as_ptr());
        if !is_kept {
            self.give(device, pair.begin);
        }
        self.give(device, pair.end);
    }

    fn wait(&mut self, stream: StreamKey, pair: Pair) {
        self.n_waiting += 1;
        self.waiting.entry(stream).or_default().push_back(pair);
    }

    fn next(&mut self, stream: StreamKey) -> Option<Pair> {
        let pair = self.waiting.get_mut(&stream)?.pop_front()?;
        self.n_waiting = self.n_waiting.saturating_sub(1);
        Some(pair)
    }

    fn put_back(&mut self, stream: StreamKey, pair: Pair) {
        self.n_waiting += 1;
        self.waiting.entry(stream).or_default().push_front(pair);
    }

    /// A stream beside this one on which something waits.
    fn another(&self, stream: StreamKey) -> Option<StreamKey> {
        let waits = |(key, queue): (&StreamKey, &VecDeque<Pair>)| {
            (*key != stream && !queue.is_empty()).then_some(*key)
        };
        self.waiting.iter().find_map(waits)
    }

    /// The device's reference: its number and event. The first pair that is read becomes it, which needs no figure.
    fn reference(
        &mut self,
        py: Python<'_>,
        device: u32,
        pair: &Pair,
        done_ticks: u64,
    ) -> Option<(u64, Arc<Py<PyAny>>)> {
        if let Some(known) = self.references.get(&device) {
            return Some((known.number, known.event.clone()));
        }
        let tick_ns = marey::recorder().map_or(1.0, marey::Recorder::tick_ns);
        let done_ns = between(pair.begin_ticks, done_ticks, tick_ns);
        let first = Reference {
            number: 0,
            event: Arc::new(pair.begin.clone_ref(py)),
            queued_ticks: pair.begin_ticks,
            clock: DeviceClock::new(0.0, done_ns),
        };
        self.references.insert(device, first);
        None
    }

    /// Delay of a pair's begin and by how much it may be wrong, nanoseconds; `None` where that is too much.
    fn place(
        &mut self,
        py: Python<'_>,
        device: u32,
        number: u64,
        pair: &Pair,
        seen: &Seen,
    ) -> Option<(f64, f64)> {
        let reference = self.references.get_mut(&device)?;
        if reference.number != number {
            return None;
        }
        let host = |ticks| between(reference.queued_ticks, ticks, seen.tick_ns);
        let (begin_ns, done_ns) = (host(pair.begin_ticks), host(seen.done_ticks));
        let clock = &mut reference.clock;
        clock.learn(seen.elapsed_ns, begin_ns, done_ns - seen.gpu_ns);
        let end_elapsed = seen.elapsed_ns + seen.gpu_ns;
        clock.learn(end_elapsed, host(pair.end_ticks), done_ns);
        let placed = clock.place(seen.elapsed_ns);
        let delay_ns = (placed.at_ns.max(begin_ns) - host(pair.section.start_ticks)).max(0.0);
        if seen.elapsed_ns > REFERENCE_NS {
            *reference = Reference {
                number: number.wrapping_add(1),
                clock: clock.moved_to(seen.elapsed_ns, begin_ns),
                event: Arc::new(pair.begin.clone_ref(py)),
                queued_ticks: pair.begin_ticks,
            };
        }
        let is_known = placed.error_ns <= DELAY_ERROR_NS.max(delay_ns / 10.0);
        is_known.then_some((delay_ns, placed.error_ns))
    }
}

impl NotMeasured {
    fn in_words(self, unread: u64) -> Option<String> {
        let reasons = [
            (self.other_stream, "ended on another stream or device"),
            (self.capture, "began or ended while a graph was captured"),
            (self.too_many, "came while too many were waiting"),
            (unread, "had not run when the recording ended"),
        ];
        let said: Vec<String> = reasons
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, why)| format!("{n} {why}"))
            .collect();
        let n = self.other_stream + self.capture + self.too_many + unread;
        (n > 0).then(|| format!("{n} not measured: {}", said.join(", ")))
    }
}

/// Nanoseconds from one time in ticks to another.
#[expect(clippy::cast_precision_loss, reason = "seconds at most matter")]
fn between(from: u64, to: u64, tick_ns: f64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64 * tick_ns
}

/// Nanoseconds without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates, and takes NaN for 0"
)]
fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
