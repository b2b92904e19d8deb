//! The sessions of one profiler.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use marey::Attributes;
use pyo3::prelude::*;

use crate::session_context::{self, Session};
use crate::{flow, state, thread};

static N_PROFILERS: AtomicU64 = AtomicU64::new(0);
static N_MADE_UP: AtomicU64 = AtomicU64::new(0);
/// Sessions of all profilers that are open, the oldest first. Locked only while no Python code runs.
static OPEN: Mutex<Vec<Arc<Session>>> = Mutex::new(Vec::new());

/// The sessions that one profiler began, in all threads and tasks.
#[derive(Debug)]
pub(crate) struct ProfilerSessions {
    /// Number of the profiler in this process.
    profiler: u64,
}

impl Default for ProfilerSessions {
    fn default() -> Self {
        Self {
            profiler: N_PROFILERS.fetch_add(1, Relaxed),
        }
    }
}

impl ProfilerSessions {
    /// Begins a session and makes it current in the running context, nested in what was current there; `None` when recording is off.
    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        id: String,
        tags: Attributes,
        has_keeper: bool,
    ) -> Option<Arc<Session>> {
        let recorder = state::recorder()?;
        let thread = thread::lane(py)?.thread_number();
        let mut current = session_context::open_sessions(py, self.profiler);
        let within = current.next().map(|session| session.number);
        let flow = flow::number(py);
        let number = recorder.start_session(&id, tags, within, flow);
        let session = Arc::new(Session::new(self.profiler, number, within, id, has_keeper));
        let is_alone = {
            let mut open = all_open();
            open.push(session.clone());
            open.len() == 1
        };
        session_context::note_beginning(py, number, (thread, flow), is_alone);
        session_context::enter(py, session.clone());
        Some(session)
    }

    /// Ends a session, and those nested in it that were forgotten in the running context, but nothing that a `with` block still holds there: a
    /// generator that is closed must not end its consumer's.
    pub(crate) fn end(&self, py: Python<'_>, session: &Arc<Session>) {
        let mine: Vec<_> = session_context::open_sessions(py, self.profiler).collect();
        let nested = mine.iter().position(|open| Arc::ptr_eq(open, session));
        let nested = mine[..nested.unwrap_or(0)].iter().rev();
        let forgotten = nested.take_while(|inner| !inner.has_keeper);
        forgotten
            .chain([session])
            .for_each(|session| close(py, session));
        session_context::forget_ended(py);
    }

    /// Ends every session of this profiler, in whatever thread or task it began, the newest first.
    pub(crate) fn end_all(&self, py: Python<'_>) {
        let open = self.open();
        open.iter().rev().for_each(|session| close(py, session));
        session_context::forget_ended(py);
    }

    /// The session that what is recorded now belongs to: the innermost of the running context. In a thread that has begun none itself it is the
    /// only one that is open, if one is, those that it is nested in aside.
    pub(crate) fn current(&self, py: Python<'_>) -> Option<Arc<Session>> {
        let mine = session_context::open_sessions(py, self.profiler).next();
        mine.or_else(|| {
            let is_bare_thread =
                !session_context::is_known(py) && thread::lane(py).is_some() && flow::is_base(py);
            is_bare_thread.then(|| self.only_one()).flatten()
        })
    }

    /// The session that an end without an id means: as [`Self::current`], but the only open one also from a task that has none.
    pub(crate) fn to_end(&self, py: Python<'_>) -> Option<Arc<Session>> {
        let mine = session_context::open_sessions(py, self.profiler).next();
        mine.or_else(|| self.only_one())
    }

    /// The session of an id: the innermost of the running context, else the newest.
    pub(crate) fn of_id(&self, py: Python<'_>, id: &str) -> Option<Arc<Session>> {
        let mut mine = session_context::open_sessions(py, self.profiler);
        mine.find(|session| session.id == id).or_else(|| {
            let mut newest = self.open().into_iter().rev();
            newest.find(|session| session.id == id)
        })
    }

    /// Ids of all open sessions, the oldest first.
    pub(crate) fn open_ids(&self) -> Vec<String> {
        let open = self.open();
        open.iter().map(|session| session.id.clone()).collect()
    }

    /// The innermost of the open sessions, if they are all nested in each other.
    fn only_one(&self) -> Option<Arc<Session>> {
        let open = self.open();
        let mut innermost = open
            .iter()
            .filter(|session| !open.iter().any(|o| o.within == Some(session.number)));
        match (innermost.next(), innermost.next()) {
            (Some(only), None) => Some((*only).clone()),
            _ => None,
        }
    }

    /// Those that are open, the oldest first.
    fn open(&self) -> Vec<Arc<Session>> {
        let open = all_open();
        let mine = open.iter().filter(|open| open.profiler == self.profiler);
        mine.cloned().collect()
    }
}

/// [`OPEN`] without those that have ended.
fn all_open() -> MutexGuard<'static, Vec<Arc<Session>>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|session| session.is_open());
    open
}

fn close(py: Python<'_>, session: &Session) {
    if !session.end() {
        return;
    }
    session_context::note_ending(py, session.number);
    if let Some(recorder) = marey::recorder() {
        recorder.end_session(session.number);
    }
}

/// An id that no other session of this job has: of the process, the moment and a running number.
pub(crate) fn made_up_id() -> String {
    let n = N_MADE_UP.fetch_add(1, Relaxed);
    format!(
        "session_{:x}_{:x}_{n}",
        std::process::id(),
        marey::unix_ns() / 1_000_000
    )
}
