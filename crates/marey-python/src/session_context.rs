//! Which session is current: kept in a context variable, so that threads and asyncio tasks do not see each other's.
//!
//! ```text
//! start "a"   start "b"   task made here: sees b in a      end "b"          end "a"
//! ───┬────────────┬──────────────┬────────────────────────────┬────────────────┬───►
//!    a           b ─► a          └─ task: b ─► a, and a alone once b has ended
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::prelude::*;

use crate::context_variable::ContextVariable;

static CURRENT: ContextVariable = ContextVariable::new(c"marey_current_session");

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
