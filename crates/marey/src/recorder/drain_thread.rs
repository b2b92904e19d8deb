//! The thread that drains: when it runs and how it ends.

use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{ON, Recorder, STATE, identity};
use crate::descriptors::leave_the_programs_table;
use crate::run::Status;

/// How long a start waits for its capture to be opened at most.
const OPENING: Duration = Duration::from_secs(1);

/// What the drain thread is to do.
#[derive(Clone, Debug, Default)]
pub(super) enum Order {
    /// Drain on.
    #[default]
    Drain,
    /// End, to be started again.
    Rest,
    /// Write how the recording ended, and end.
    Close(Status),
}

/// Gives the drain thread its orders, and wakes it early.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    order: Mutex<Order>,
    signal: Condvar,
}

impl Recorder {
    /// Starts the drain thread, and waits until it has opened the capture: what the program does next (another user, another root) may keep
    /// it from that. Without such a thread (no more are to be had, or none that may open files) the program's threads do its work.
    pub(super) fn start_drain(&'static self) {
        *self.wake.hold() = Order::Drain;
        self.offer_windows();
        let interval = Duration::from_millis(self.config.drain_interval_ms.max(1));
        let (has_opened, opened) = std::sync::mpsc::sync_channel(1);
        let work = move || {
            let os_id = identity::this_thread();
            if !leave_the_programs_table() {
                has_opened.send(false).ok();
                return os_id;
            }
            self.drain().reach();
            has_opened.send(true).ok();
            let mut wait = interval;
            let order = loop {
                match self.wake.wait(wait) {
                    Order::Drain => {}
                    order => break order,
                }
                let is_busy = self.drain().round(self);
                self.hear_request();
                if !is_busy {
                    // A few, because a fork waits for it.
                    (0..4).all(|_| self.close_abandoned());
                }
                // With little to do it rests longer: a producer wakes it when its ring is half full.
                wait = if is_busy { interval } else { interval * 5 / 2 };
            };
            if let Order::Close(status) = order {
                self.drain().close(self, &status);
            }
            os_id
        };
        let thread = std::thread::Builder::new().name("marey-drain".into()).stack_size(256 << 10);
        let thread = crate::without_signals(|| thread.spawn(work));
        let mut thread = thread.ok();
        // A disk that does not answer is not waited for.
        let is_refused = thread.is_some() && opened.recv_timeout(OPENING) == Ok(false);
        if is_refused {
            thread.take().and_then(|thread| thread.join().ok());
            self.drain().note_refused_tables();
        }
        self.is_refused_tables.store(is_refused, Relaxed);
        self.has_drain_thread.store(thread.is_some(), Relaxed);
        self.drain().thread = thread;
    }

    /// The kernel gives threads of ours no descriptors of their own: none that opens files may run.
    pub(crate) fn is_refused_tables(&self) -> bool {
        self.is_refused_tables.load(Relaxed)
    }

    /// Ends drain and samplers for as long as a fork takes, so that Python does not warn of threads which the program has not started:
    ///
    /// ```text
    /// our threads   ──────┤                      ├──────────
    /// program         pause_threads  fork  resume_threads
    /// ```
    pub fn pause_threads(&'static self) {
        self.pause_samplers();
        // A drain that waits for a disk is not waited for; Python then warns.
        let abandoned = super::fork::soon(&self.abandoned);
        if abandoned.is_none() || super::fork::soon(&self.drain).is_none() {
            return;
        }
        if let Some(os_id) = self.end_drain(Order::Rest) {
            identity::wait_until_gone(os_id, self.config.patience_ns());
        }
    }

    /// Completes the capture of a dead process that nobody waits for, without keeping anybody from the drain. Whether there was one.
    /// Children begin often, and their parent does it.
    fn close_abandoned(&self) -> bool {
        if identity::forked_from().is_some() {
            return false;
        }
        let root = self.folder().path().and_then(Path::parent).map(Path::to_owned);
        match (root, self.abandoned.try_lock()) {
            (Some(root), Ok(mut abandoned)) => abandoned.close_next(&root),
            _ => false,
        }
    }

    /// Starts what was paused, if recording is on.
    pub fn resume_threads(&'static self) {
        if STATE.load(Acquire) == ON && self.drain().thread.is_none() {
            self.start_drain();
        }
        if STATE.load(Acquire) == ON {
            self.resume_samplers();
        }
    }

    /// Gives the drain thread the order to end and waits for it. What the system called it; `None` when there was none.
    pub(super) fn end_drain(&self, order: Order) -> Option<u32> {
        *self.wake.hold() = order;
        self.wake.signal.notify_all();
        let thread = self.drain().thread.take();
        thread.and_then(|thread| thread.join().ok())
    }

    /// A ring is half full. Where no thread drains, and nobody else does at this moment, the caller does.
    pub(super) fn wake_drain(&self) {
        if self.has_drain_thread.load(Relaxed) {
            self.wake.signal.notify_one();
        } else if STATE.load(Acquire) == ON
            && let Ok(mut drain) = self.drain.try_lock()
        {
            drain.round(self);
        }
    }
}

impl Wake {
    /// Sleeps for an interval or until woken; what the order is then.
    fn wait(&self, interval: Duration) -> Order {
        let order = self.hold();
        if !matches!(*order, Order::Drain) {
            return order.clone();
        }
        let (order, _) =
            self.signal.wait_timeout(order, interval).unwrap_or_else(PoisonError::into_inner);
        order.clone()
    }

    /// Held across a fork, so that the child finds it whole.
    pub(super) fn hold(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
