//! The sessions of one profiler.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard};

use marey::{Attributes, Outcome};
use pyo3::prelude::*;

use crate::kept::Kept;
use crate::session_context::{self, Keeper, Session};
use crate::{flow, state, thread};

static N_PROFILERS: AtomicU64 = AtomicU64::new(0);
static N_MADE_UP: AtomicU64 = AtomicU64::new(0);
/// Sessions of all profilers that are open, the oldest first.
static OPEN: Kept<Vec<Arc<Session>>> = Kept::new(Vec::new());

/// The sessions that one profiler began, in all threads and tasks, by the number of the profiler in this process.
#[derive(Debug)]
pub(crate) struct ProfilerSessions(u64);

impl Default for ProfilerSessions {
    fn default() -> Self {
        Self(N_PROFILERS.fetch_add(1, Relaxed))
    }
}

impl ProfilerSessions {
    /// Begins a session and makes it current in the running context, nested in what was current there; `None` when recording is off.
    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        id: String,
        tags: Attributes,
        keeper: Keeper,
    ) -> Option<Arc<Session>> {
        let recorder = state::recorder()?;
        let thread = thread::lane(py)?.thread_number();
        let mut current = session_context::open_sessions(py, self.0);
        let within = current.next().map(|session| session.started.number);
        let flow = match keeper {
            Keeper::Generator => marey::Session::IN_NO_FLOW,
            Keeper::None | Keeper::Block => flow::number(py),
        };
        let started = recorder.start_session(&id, tags, within, flow);
        let place = (thread, flow);
        let session = Session::new(self.0, started, within, place, id, keeper);
        let session = Arc::new(session);
        let is_alone = {
            let mut open = all_open();
            open.push(session.clone());
            open.len() == 1
        };
        session_context::note_beginning(py, started.number, place, is_alone);
        session_context::enter(py, session.clone());
        Some(session)
    }

    /// Ends a session, and those nested in it that were forgotten in the running context, but nothing that a `with` block still holds there: a
    /// generator that is closed must not end its consumer's.
    /// Those were as forgotten as they would be at the end of the recording.
    pub(crate) fn end(&self, py: Python<'_>, session: &Arc<Session>, outcome: Outcome) {
        let mine: Vec<_> = session_context::open_sessions(py, self.0).collect();
        let nested = mine.iter().position(|open| Arc::ptr_eq(open, session));
        let nested = mine[..nested.unwrap_or(0)].iter().rev();
        let forgotten = nested.take_while(|inner| inner.keeper == Keeper::None);
        forgotten.for_each(|inner| close(py, inner, Outcome::CutOff));
        close(py, session, outcome);
        session_context::forget_ended(py);
    }

    /// Ends every session of this profiler, in whatever thread or task it began, the newest first: nobody else has.
    pub(crate) fn end_all(&self, py: Python<'_>) {
        let open = self.open();
        open.iter().rev().for_each(|session| close(py, session, Outcome::CutOff));
        session_context::forget_ended(py);
    }

    /// The session that what is recorded now belongs to: that of the running context. In a thread that has begun none itself it is the
    /// only one that is open, if one is, those that it is nested in aside.
    pub(crate) fn current(&self, py: Python<'_>) -> Option<Arc<Session>> {
        let mine = session_context::current(py, self.0);
        mine.or_else(|| {
            let is_bare_thread = !session_context::is_known(py)
                && thread::lane(py).is_some()
                && flow::is_own_stack(py);
            is_bare_thread.then(|| self.only_one()).flatten()
        })
    }

    /// The session that an end without an id means: as [`Self::current`], but the only open one also from a task that has none.
    pub(crate) fn to_end(&self, py: Python<'_>) -> Option<Arc<Session>> {
        let may_end = |session: &Arc<Session>| session.may_be_ended_here(py);
        let mine = session_context::open_sessions(py, self.0).find(may_end);
        mine.or_else(|| self.only_one().filter(may_end))
    }

    /// The session of an id: the innermost of the running context, else the newest.
    pub(crate) fn of_id(&self, py: Python<'_>, id: &str) -> Option<Arc<Session>> {
        let mut mine = session_context::open_sessions(py, self.0);
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
            .filter(|session| !open.iter().any(|o| o.within == Some(session.started.number)));
        match (innermost.next(), innermost.next()) {
            (Some(only), None) => Some((*only).clone()),
            _ => None,
        }
    }

    /// Those that are open, the oldest first.
    fn open(&self) -> Vec<Arc<Session>> {
        let open = all_open();
        let mine = open.iter().filter(|open| open.profiler == self.0);
        mine.cloned().collect()
    }
}

/// [`OPEN`] without those that have ended.
fn all_open() -> MutexGuard<'static, Vec<Arc<Session>>> {
    let mut open = OPEN.lock();
    open.retain(|session| session.is_open());
    open
}

fn close(py: Python<'_>, session: &Session, outcome: Outcome) {
    if !session.end() {
        return;
    }
    session_context::note_ending(py, session.started.number);
    if let Some(recorder) = marey::recorder() {
        recorder.end_session(&session.started, outcome);
    }
}

/// An id that no other session of this job has: of the process, the moment and a running number.
pub(crate) fn made_up_id() -> String {
    let n = N_MADE_UP.fetch_add(1, Relaxed);
    format!("session_{:x}_{:x}_{n}", std::process::id(), marey::unix_ns() / 1_000_000)
}
