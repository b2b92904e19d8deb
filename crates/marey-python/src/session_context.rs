//! Which session is current: kept in a context variable, so that threads and asyncio tasks do not see each other's.
//!
//! ```text
//! start "a"   start "b"   task made here: b in a           end "b"          end "a"
//! ───┬────────────┬──────────────┬────────────────────────────┬────────────────┬───►
//!    a           b in a          └─ task: b, also after its end: it works for b          nothing
//! ```
//!
//! A thread that was started in a session may serve others later, so it has that session only as long as it is open.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use marey::{Lane, StartedSession};
use pyo3::prelude::*;

use crate::context::{ContextVariable, context_address, is_found};
use crate::under_gil::UnderGil;
use crate::{flow, thread};

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
    let alone = is_alone.then_some(Alone { session, thread, flow });
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
/// by themselves (the second rule of `marey_analysis::SessionAssignment`).
pub(crate) fn is_alone(py: Python<'_>, lane: &Lane, session: u64) -> bool {
    let alone = ALONE.get(py).get();
    let here = alone.filter(|a| (a.session, a.thread) == (session, lane.thread_number()));
    here.is_some_and(|alone| alone.flow == flow::number(py))
}

/// What ends a session, if something does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// Whoever remembers to.
    None,
    /// A `with` block, or a function.
    Block,
    /// A generator: what its consumer does between its items is not of the session.
    Generator,
}

/// A session of a profiler.
#[derive(Debug)]
pub(crate) struct Session {
    /// Number of the profiler.
    pub(crate) profiler: u64,
    /// As the recorder has it: its number, and what had been used when it began.
    pub(crate) started: StartedSession,
    /// Number of the session that it is nested in.
    pub(crate) within: Option<u64>,
    /// The thread and the flow that it was begun in.
    place: (u32, u16),
    /// The recording that it is a part of; after a fork, or a new start, there is another one.
    recording: u32,
    /// As the user gave it.
    pub(crate) id: String,
    /// What ends it.
    pub(crate) keeper: Keeper,
    has_ended: AtomicBool,
}

impl Session {
    pub(crate) fn new(
        profiler: u64,
        started: StartedSession,
        within: Option<u64>,
        place: (u32, u16),
        id: String,
        keeper: Keeper,
    ) -> Self {
        Self {
            profiler,
            started,
            within,
            place,
            recording: marey::recording_number(),
            id,
            keeper,
            has_ended: AtomicBool::new(false),
        }
    }

    /// It has not ended, and neither has its recording.
    pub(crate) fn is_open(&self) -> bool {
        !self.has_ended.load(Relaxed) && self.recording == marey::recording_number()
    }

    /// Whoever does not name it may mean it: nothing else ends it, or it was begun in this thread.
    pub(crate) fn may_be_ended_here(&self, py: Python<'_>) -> bool {
        let is_here = || thread::lane(py).is_none_or(|lane| lane.thread_number() == self.place.0);
        self.keeper == Keeper::None || is_here()
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
    /// Address of the context in which it was made current; copies of that have it from there.
    made_in: usize,
    before: Option<Arc<Link>>,
}

impl Link {
    /// What is recorded in the context `here` may belong to it.
    fn counts(&self, here: usize) -> bool {
        let is_of_this_recording = self.session.recording == marey::recording_number();
        is_of_this_recording && (self.made_in != here || self.session.is_open())
    }
}

thread_local! {
    /// What the thread was started with; the context variable goes before it.
    static STARTED_WITH: RefCell<Option<Arc<Link>>> = const { RefCell::new(None) };
    /// It is there: a thread without it has nothing to drop, and ends the sooner.
    static HAS_STARTED_WITH: Cell<bool> = const { Cell::new(false) };
    /// The session that the thread works for until that is noted ([`marey::Note::SessionWork`]).
    static WORKS_FOR: Cell<Option<u64>> = const { Cell::new(None) };
}

/// What the context variable holds: the sessions that were begun in this context and those that it is a copy of.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct SessionChain {
    innermost: Option<Arc<Link>>,
}

impl SessionChain {
    /// The number of the innermost one, which may have ended; `None` after a new start of the recording.
    pub(crate) fn number(&self) -> Option<u64> {
        let link = self.innermost.as_ref()?;
        (link.session.recording == marey::recording_number()).then_some(link.session.started.number)
    }
}

/// Whether a session was ever begun in the running context, by whatever profiler, or the thread was started in one.
pub(crate) fn is_known(py: Python<'_>) -> bool {
    CURRENT.get(py).is_some() || started_with().is_some()
}

/// The sessions of the running context, to hand on; `None` without.
pub(crate) fn chain(py: Python<'_>) -> Option<Py<SessionChain>> {
    let innermost = Some(current_link(py).or_else(started_with)?);
    Py::new(py, SessionChain { innermost }).ok()
}

/// The session that the calling thread works for from now on; returns that of before.
pub(crate) fn work_for(session: Option<u64>) -> Option<u64> {
    WORKS_FOR.replace(session)
}

/// Puts sessions in the place of those of the running context, and returns those.
pub(crate) fn replace(
    py: Python<'_>,
    sessions: Option<&Py<SessionChain>>,
) -> Option<Py<SessionChain>> {
    let before = CURRENT.get(py);
    let before = before.and_then(|value| value.cast_into::<SessionChain>().ok());
    CURRENT.set(py, sessions.map_or(&py.None(), Py::as_any));
    before.map(Bound::unbind)
}

/// The calling thread was started in these sessions.
pub(crate) fn start_with(sessions: &SessionChain) {
    if let Some(link) = &sessions.innermost {
        thread::set_started_in(link.session.started.number, link.session.recording);
        STARTED_WITH.set(sessions.innermost.clone());
        HAS_STARTED_WITH.set(true);
    }
}

fn started_with() -> Option<Arc<Link>> {
    if !HAS_STARTED_WITH.get() {
        return None;
    }
    STARTED_WITH.with_borrow(Option::clone)
}

/// A profiler's sessions that are open in the running context, the innermost first.
pub(crate) fn open_sessions(py: Python<'_>, profiler: u64) -> impl Iterator<Item = Arc<Session>> {
    let all = links(given(py).or_else(started_with)).map(|link| link.session.clone());
    all.filter(move |session| session.profiler == profiler && session.is_open())
}

/// A profiler's session that what is recorded now belongs to.
pub(crate) fn current(py: Python<'_>, profiler: u64) -> Option<Arc<Session>> {
    let mut all = links(current_link(py)).map(|link| link.session.clone());
    all.find(|session| session.profiler == profiler)
}

/// The number of the session that what is recorded now belongs to, by whatever profiler.
pub(crate) fn current_number(py: Python<'_>) -> Option<u64> {
    current_link(py).map(|link| link.session.started.number)
}

/// The session that code of a task has from the one that made it: what it opens there has to say so.
pub(crate) fn inherited(py: Python<'_>, lane: &Lane, flow: u16) -> Option<u64> {
    let link = current_link(py)?;
    (link.session.place != (lane.thread_number(), flow)).then_some(link.session.started.number)
}

/// The session of a context that somebody entered on the thread's own stack, where nothing else says it.
pub(crate) fn of_visited(py: Python<'_>, lane: &Lane) -> Option<u64> {
    let session = current_number(py)?;
    let is_known = WORKS_FOR.get() == Some(session) || is_alone(py, lane, session);
    (!is_known).then_some(session)
}

/// Makes a session the current one of the running context.
pub(crate) fn enter(py: Python<'_>, session: Arc<Session>) {
    let before = current_link(py).map(shortened);
    CURRENT.make_context(py);
    let link = Link { session, made_in: here(py), before };
    put(py, Some(Arc::new(link)));
}

/// The same without sessions before it that have ended, where it has ended itself: of those that each begin the next one all would stay.
fn shortened(link: Arc<Link>) -> Arc<Link> {
    if link.session.is_open() {
        return link;
    }
    let open = links(link.before.clone()).find(|before| before.session.is_open());
    Arc::new(Link { session: link.session.clone(), made_in: link.made_in, before: open })
}

/// Takes a session that was entered last out of the running context, though it goes on.
pub(crate) fn leave(py: Python<'_>, session: &Session) {
    let found = current_link(py);
    if let Some(link) = found.filter(|link| std::ptr::eq(&raw const *link.session, session)) {
        put(py, link.before.clone());
    }
}

/// Lets go of sessions that have ended.
pub(crate) fn forget_ended(py: Python<'_>) {
    if let Some(innermost) = given(py)
        && !innermost.counts(here(py))
    {
        put(py, current_link(py));
    }
}

/// The innermost session that what is recorded now may belong to.
fn current_link(py: Python<'_>) -> Option<Arc<Link>> {
    if CURRENT.get(py).is_some() {
        let here = here(py);
        return links(given(py)).find(|link| link.counts(here));
    }
    links(started_with()).find(|link| link.session.is_open())
}

/// The session and those that were current before it.
fn links(mut link: Option<Arc<Link>>) -> impl Iterator<Item = Arc<Link>> {
    std::iter::from_fn(move || {
        let this = link.take()?;
        link.clone_from(&this.before);
        Some(this)
    })
}

/// What the running context has.
fn given(py: Python<'_>) -> Option<Arc<Link>> {
    let value = CURRENT.get(py)?;
    let chain = value.cast::<SessionChain>().ok()?;
    chain.get().innermost.clone()
}

/// The running context; where contexts cannot be told apart they are one.
fn here(py: Python<'_>) -> usize {
    if is_found() { context_address(py) } else { 0 }
}

fn put(py: Python<'_>, innermost: Option<Arc<Link>>) {
    if let Ok(chain) = Py::new(py, SessionChain { innermost }) {
        CURRENT.set(py, chain.as_any());
    }
}
