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
//! is written in C, so that no signal handler of the program runs in between, and nobody begins a capture between the look whether
//! one is going on and a query. The state is locked only while no Python runs.

use std::sync::Arc;

use marey::{GpuSpan, Lane, Note, SectionKey};
use marey_analysis::GPU_TIMES;
use pyo3::prelude::*;
use pyo3::types::PyDict;

mod waiting;

use waiting::{MAX_WAITING, Pair, STATE, Seen, in_words};

use crate::callback;
use crate::devices::{self, Devices, Hindrance, NotMeasured, Stream, StreamKey, captures};
use crate::errors::drop_error;
use crate::kept::Kept;
use crate::section_mode::{self, Watch};

/// Pairs that the end of a section reads.
const READ_AT_END: usize = 4;
/// Pairs whose notes fit into a ring together.
const READ_AT_ONCE: usize = 128;
/// Functions of torch while sections are watched.
static FUNCTIONS: Kept<Option<Arc<Functions>>> = Kept::new(None);
/// Puts back what was put in the place of torch's own functions.
static UNDO: Kept<Option<Py<PyAny>>> = Kept::new(None);

fn is_on() -> bool {
    section_mode::is_watched_for(Watch::GpuTimes)
}

/// Switches it off; whether it was on.
fn swap_off() -> bool {
    section_mode::watch(Watch::GpuTimes, false)
}

/// What the beginning of a section queued.
#[derive(Debug)]
pub(crate) struct Begun {
    epoch: u32,
    stream: StreamKey,
    event: Py<PyAny>,
    queued_ticks: u64,
}

/// Begins to measure on the devices that are watched, with functions of `torch._C`. `how` is said in reports; `undo` is called once
/// it has ended.
#[pyfunction]
#[pyo3(signature = (*, how, undo, new_event, record, query, elapsed))]
pub(crate) fn start_gpu_times(
    py: Python<'_>,
    how: String,
    undo: Py<PyAny>,
    new_event: Py<PyAny>,
    record: Py<PyAny>,
    query: Py<PyAny>,
    elapsed: Py<PyAny>,
) {
    drop(UNDO.replace(Some(undo)));
    let Some(devices) = devices::watched().filter(|_| marey::is_on()) else {
        put_functions_back(py);
        return;
    };
    if is_on() {
        return;
    }
    let functions = Functions { devices, new_event, record, query, elapsed };
    clear();
    FUNCTIONS.replace(Some(Arc::new(functions)));
    if let Some(lane) = crate::thread::lane(py) {
        let key = "gpu_times".to_owned();
        lane.recorder().note(&Note::Fact { key, value: how });
    }
    section_mode::watch(Watch::GpuTimes, true);
}

/// Torch gets its functions back.
pub(crate) fn put_functions_back(py: Python<'_>) {
    if let Some(Err(error)) = UNDO.take().map(|undo| callback::call(undo.bind(py), ())) {
        drop_error(py, &error);
    }
    captures::forget_unasked();
}

/// Queues the first event of a section.
pub(crate) fn begin(py: Python<'_>, lane: &Lane) -> Option<Begun> {
    if !is_on() {
        return None;
    }
    let functions = FUNCTIONS.lock().clone()?;
    let (stream, event, queued_ticks) = queue(py, lane, &functions)?;
    let epoch = STATE.lock().epoch;
    Some(Begun { epoch, stream, event, queued_ticks })
}

/// Queues the second one, and reads what is done by now.
pub(crate) fn end(py: Python<'_>, lane: &Lane, begun: Begun, section: SectionKey) {
    if STATE.lock().epoch != begun.epoch {
        // Of a recording that has ended, or of the parent of a fork, whose events cannot even be destroyed here.
        std::mem::forget(begun.event);
        return;
    }
    let functions = FUNCTIONS.lock().clone();
    let Some(functions) = functions.filter(|_| is_on()) else {
        return;
    };
    let Some((stream, event, end_ticks)) = queue(py, lane, &functions) else {
        give(begun.stream.0, begun.event);
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
        STATE.lock().wait(stream, pair);
    } else {
        count(NotMeasured::OtherStream);
        give(begun.stream.0, begun.event);
        give(stream.0, event);
    }
    read(py, lane, &functions, stream, READ_AT_END);
    let other = STATE.lock().another(stream);
    if let Some(other) = other {
        read(py, lane, &functions, other, READ_AT_END);
    }
}

/// Reads everything that is done, unless this thread may not ask.
pub(crate) fn read_all(py: Python<'_>, lane: &Lane) {
    let Some(functions) = FUNCTIONS.lock().clone().filter(|_| is_on()) else {
        return;
    };
    if functions.devices.is_capturing(py) {
        return;
    }
    let streams: Vec<StreamKey> = STATE.lock().waiting.keys().copied().collect();
    for stream in streams {
        // What waits can be more than a ring of notes holds.
        while read(py, lane, &functions, stream, READ_AT_ONCE) == READ_AT_ONCE {
            py.detach(|| lane.recorder().drain_now());
        }
    }
}

/// Ends it: reads what is done, and says what is not, or may not be asked.
pub(crate) fn stop(py: Python<'_>, lane: &Lane) {
    read_all(py, lane);
    if !swap_off() {
        return;
    }
    let (missing, unread) = clear();
    if let Some(why) = in_words(missing, (unread, "had not run when the recording ended")) {
        unavailable(lane, why);
    }
}

/// Forgets everything and frees nothing.
pub(crate) fn forget() {
    swap_off();
    let inherited = (FUNCTIONS.take(), STATE.lock().cleared());
    std::mem::forget(inherited);
}

/// Records an event where work runs now: the stream, the event, and the time right before. `None` when that is not possible.
fn queue(
    py: Python<'_>,
    lane: &Lane,
    functions: &Functions,
) -> Option<(StreamKey, Py<PyAny>, u64)> {
    let queued = || -> Result<(StreamKey, Py<PyAny>, u64), Hindrance> {
        let Stream { key, object } = functions.devices.stream(py)?;
        if STATE.lock().n_waiting >= MAX_WAITING {
            return Err(NotMeasured::TooMany.into());
        }
        let free = STATE.lock().free.get_mut(&key.0).and_then(Vec::pop);
        let event = match free {
            Some(event) => event,
            None => functions.event(py)?,
        };
        let ticks = marey::ticks();
        callback::call(functions.record.bind(py), (&event, &*object))?;
        Ok((key, event, ticks))
    };
    match queued() {
        Ok(queued) => return Some(queued),
        Err(Hindrance::Known(why)) => count(why),
        Err(Hindrance::Error(error)) => switch_off(py, lane, &error),
    }
    None
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
        // Another thread can have begun one between two of them.
        if captures::is_any(py) {
            return n;
        }
        let Some(pair) = STATE.lock().next(stream) else {
            return n;
        };
        match functions.read(py, lane, stream, &pair) {
            Ok(Some(note)) => {
                lane.recorder().note(&note);
                give_pair(stream.0, pair);
            }
            Ok(None) => {
                STATE.lock().put_back(stream, pair);
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

/// Something failed: it is said once, with what was not measured until then, and nothing is measured from here on.
fn switch_off(py: Python<'_>, lane: &Lane, error: &PyErr) {
    let error = drop_error(py, error);
    if !swap_off() {
        return;
    }
    let (missing, unread) = clear();
    let before = in_words(missing, (unread, "had not been read yet"));
    let before = before.map_or_else(String::new, |before| format!("; before that {before}"));
    let why = format!("switched off after an error: {error}{before}");
    unavailable(lane, why);
}

fn count(why: NotMeasured) {
    STATE.lock().not_measured[why as usize] += 1;
}

/// Forgets everything: what was not measured, and how many pairs were not read. Events are destroyed here, which can let go of the
/// GIL, so by now nothing is locked.
fn clear() -> ([u64; NotMeasured::WHY.len()], u64) {
    let functions = FUNCTIONS.take();
    let before = STATE.lock().cleared();
    drop(functions);
    (before.not_measured, before.n_waiting as u64)
}

/// Keeps an event for another section; destroys it here, as above, where there are too many.
fn give(device: u32, event: Py<PyAny>) {
    let rest = STATE.lock().give(device, event);
    drop(rest);
}

/// As [`give`], for both of a pair.
fn give_pair(device: u32, pair: Pair) {
    let rest = STATE.lock().give_pair(device, pair);
    drop(rest);
}

fn unavailable(lane: &Lane, why: String) {
    lane.recorder().note(&Note::unavailable(GPU_TIMES, why));
}

/// Functions of torch's C part.
#[derive(Debug)]
struct Functions {
    devices: Arc<Devices>,
    new_event: Py<PyAny>,
    record: Py<PyAny>,
    query: Py<PyAny>,
    elapsed: Py<PyAny>,
}

impl Functions {
    fn event(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let keywords = PyDict::new(py);
        keywords.set_item("enable_timing", true)?;
        Ok(callback::call_with(self.new_event.bind(py), (), Some(&keywords))?.unbind())
    }

    /// Milliseconds between two events, as nanoseconds.
    fn elapsed_ns(&self, py: Python<'_>, from: &Py<PyAny>, to: &Py<PyAny>) -> PyResult<f64> {
        let ms = callback::call(self.elapsed.bind(py), (from, to))?;
        Ok(callback::float(&ms)? * 1e6)
    }

    /// What a pair says; `None` when it is not done.
    fn read(
        &self,
        py: Python<'_>,
        lane: &marey::Lane,
        (device, stream): StreamKey,
        pair: &Pair,
    ) -> PyResult<Option<Note>> {
        if !callback::is_true(&callback::call(self.query.bind(py), (&pair.end,))?)? {
            return Ok(None);
        }
        let done_ticks = marey::ticks();
        let gpu_ns = self.elapsed_ns(py, &pair.begin, &pair.end)?.max(0.0);
        let reference = STATE.lock().reference(device);
        let elapsed_ns = match &reference {
            Some(event) => self.elapsed_ns(py, event, &pair.begin)?,
            None => 0.0,
        };
        let seen = Seen { elapsed_ns, gpu_ns, done_ticks, tick_ns: lane.recorder().tick_ns() };
        let placed = STATE.lock().place(py, device, reference.as_ref(), pair, &seen);
        drop(placed.old_event);
        let delay = placed.delay;
        let span = GpuSpan {
            device,
            stream,
            delay_ns: delay.map(|(delay_ns, _)| whole(delay_ns)),
            gpu_ns: whole(gpu_ns),
            error_ns: delay.map(|(_, error_ns)| whole(error_ns)),
            ..GpuSpan::default()
        };
        Ok(Some(Note::GpuSpan(pair.section, span)))
    }
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
