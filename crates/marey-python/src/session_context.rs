//! Which session is current: kept in a context variable, so that threads and asyncio tasks do not see each other's.
//!
//! ```text
//! start "a"   start "b"   task made here: sees b in a      end "b"          end "a"
//! ───┬────────────┬──────────────┬────────────────────────────┬────────────────┬───►
//!    a           b ─► a          └─ task: b ─► a, and a alone once b has ended
//! ```

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use marey::Lane;
use pyo3::prelude::*;

use crate::context_variable::ContextVariable;
use crate::flow;
use crate::under_gil::UnderGil;

static CURRENT: ContextVariable = ContextVariable::new(c"marey_current_session");

/// The session that has been the only one in the process since it began, and where it was begun.
static ALONE: UnderGil<Cell<Option<Alone>>> = UnderGil::new(Cell::new(None));

#[derive(Clone, Copy)]
struct Alone {
    session: u64,
    thread: u32,
    flow: u16,
}

/// A session has begun in a thread and flow, while there were others or none.
pub(crate) fn note_beginning(py: Python<'_>, session: u64, place: (u32, u16), is_alone: bool) {
    let (thread, flow) = place;
    let alone = is_alone.then_some(Alone {
        session,
        thread,
        flow,
    });
    ALONE.get(py).set(alone);
}

/// A session has ended.
pub(crate) fn note_ending(py: Python<'_>, session: u64) {
    let alone = ALONE.get(py);
    alone.set(alone.get().filter(|alone| alone.session != session));
}

/// A section was opened that is said to be a session's: what it encloses has to say so, too, where it is another's.
pub(crate) fn note_said(py: Python<'_>, session: Option<u64>) {
    let alone = ALONE.get(py);
    let is_same = |alone: &Alone| session.is_none_or(|said| said == alone.session);
    alone.set(alone.get().filter(is_same));
}

/// Whether a session has been the only one since it began, in the running thread and flow: readers put what is opened here meanwhile into it
/// without being told (the second rule of `marey_analysis::Belonging`).
pub(crate) fn is_alone(py: Python<'_>, lane: &Lane, session: u64) -> bool {
    let alone = ALONE.get(py).get();
    let here = alone.filter(|a| (a.session, a.thread) == (session, lane.thread_number()));
    here.is_some_and(|alone| alone.flow == flow::number(py))
}

/// A session of a profiler.
#[derive(Debug)]
pub(crate) struct Session {
    /// Number of the profiler.
    pub(crate) profiler: u64,
    /// Number of the session in the recording.
    pub(crate) number: u64,
    /// Number of the session that it is nested in.
    pub(crate) within: Option<u64>,
    /// The recording that it is a part of; after a fork, or a new start, there is another one.
    recording: u32,
    /// As the user gave it.
    pub(crate) id: String,
    /// A `with` block or a generator ends it, so nothing else has to.
    pub(crate) has_keeper: bool,
    has_ended: AtomicBool,
}

impl Session {
    pub(crate) fn new(
        profiler: u64,
        number: u64,
        within: Option<u64>,
        id: String,
        has_keeper: bool,
    ) -> Self {
        Self {
            profiler,
            number,
            within,
            recording: marey::recording_number(),
            id,
            has_keeper,
            has_ended: AtomicBool::new(false),
        }
    }

    /// It has not ended, and neither has its recording.
    pub(crate) fn is_open(&self) -> bool {
        !self.has_ended.load(Relaxed) && self.recording == marey::recording_number()
    }

    /// Ends it; false when it had ended.
    pub(crate) fn end(&self) -> bool {
        let was_open = self.is_open();
        self.has_ended.store(true, Relaxed);
        was_open
    }
}

/// A session, and the one that was current before it.
#[derive(Debug)]
struct Link {
    session: Arc<Session>,
    before: Option<Arc<Link>>,
}

/// What the context variable holds: the sessions that were begun in this context and those that it is a copy of.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct SessionChain {
    innermost: Option<Arc<Link>>,
}

/// Whether a session was ever begun in the running context, by whatever profiler.
pub(crate) fn is_known(py: Python<'_>) -> bool {
    CURRENT.get(py).is_some()
}

/// A profiler's sessions that are open in the running context, the innermost first.
pub(crate) fn open_sessions(py: Python<'_>, profiler: u64) -> impl Iterator<Item = Arc<Session>> {
    let mut link = innermost(py);
    let links = std::iter::from_fn(move || {
        let this = link.take()?;
        link.clone_from(&this.before);
        Some(this.session.clone())
    });
    links.filter(move |session| session.profiler == profiler && session.is_open())
}

/// Makes a session the current one of the running context.
pub(crate) fn enter(py: Python<'_>, session: Arc<Session>) {
    let before = first_open(innermost(py));
    put(py, Some(Arc::new(Link { session, before })));
}

/// Takes a session that was entered last out of the running context, though it goes on.
pub(crate) fn leave(py: Python<'_>, session: &Session) {
    let found = first_open(innermost(py));
    if let Some(link) = found.filter(|link| std::ptr::eq(&raw const *link.session, session)) {
        put(py, first_open(link.before.clone()));
    }
}

/// Lets go of sessions that have ended.
pub(crate) fn forget_ended(py: Python<'_>) {
    if let Some(innermost) = innermost(py)
        && !innermost.session.is_open()
    {
        put(py, first_open(Some(innermost)));
    }
}

fn first_open(mut link: Option<Arc<Link>>) -> Option<Arc<Link>> {
    while let Some(this) = &link
        && !this.session.is_open()
    {
        link = this.before.clone();
    }
    link
}

fn innermost(py: Python<'_>) -> Option<Arc<Link>> {
    let value = CURRENT.get(py)?;
    let chain = value.cast::<SessionChain>().ok()?;
    chain.get().innermost.clone()
}

fn put(py: Python<'_>, innermost: Option<Arc<Link>>) {
    if let Ok(chain) = Py::new(py, SessionChain { innermost }) {
        CURRENT.set(py, chain.as_any());
    }
}
