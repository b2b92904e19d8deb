//! What an object of Python, or the process, keeps behind a lock, and what a tracker keeps there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use marey::{Run, Status};
use marey_report::Report;

/// A value that is locked only while no Python code runs. Not even an object is dropped meanwhile, which can let go of the GIL: whoever
/// takes one out drops it afterwards.
#[derive(Debug, Default)]
pub(crate) struct Kept<T>(Mutex<T>);

impl<T> Kept<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// The value. A panic while it was locked is a defect that [`crate::guarded`] tells of; what was kept until then stays.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a value in the place of the one before, which the caller drops after the lock.
    pub(crate) fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *self.lock(), value)
    }
}

impl<T: Default> Kept<T> {
    /// Takes the value out, and leaves an empty one.
    pub(crate) fn take(&self) -> T {
        self.replace(T::default())
    }
}

/// What one tracker saw, for tables of its own: the recorder gets all of it, and of these the first.
#[derive(Debug)]
pub(crate) struct Log<R> {
    /// When the first one was kept, nanoseconds since 1970.
    pub(crate) start_unix_ns: Option<u64>,
    pub(crate) records: Vec<R>,
}

impl<R> Default for Log<R> {
    fn default() -> Self {
        Self { start_unix_ns: None, records: Vec::new() }
    }
}

impl<R: Clone> Log<R> {
    /// Most records of one tracker.
    const MOST: usize = 100_000;

    /// Keeps a record, made of the time since the first one. False when there are too many.
    pub(crate) fn keep(&mut self, record: impl FnOnce(u64) -> R) -> bool {
        let now = marey::unix_ns();
        let at_ns = now.saturating_sub(*self.start_unix_ns.get_or_insert(now));
        let has_room = self.records.len() < Self::MOST;
        if has_room {
            self.records.push(record(at_ns));
        }
        has_room
    }

    /// The report of a run in which there is nothing else: `place` says where in it they belong.
    pub(crate) fn report(&self, place: impl FnOnce(&mut Run) -> &mut Vec<R>) -> Report {
        let mut run = Run { status: Status::Running, ..Run::default() };
        run.info.start_unix_ns = self.start_unix_ns.unwrap_or_default();
        place(&mut run).clone_from(&self.records);
        Report::new(&run)
    }
}
