//! The thread that drains: when it runs and how it ends.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::Recorder;

/// Wakes the drain thread early.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    stop: Mutex<bool>,
    signal: Condvar,
}

impl Recorder {
    /// Starts the drain thread. Without one (no more threads to be had) the capture fills at the end and when it is asked for.
    pub(super) fn start_drain(&'static self) {
        *self
            .wake
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = false;
        let interval = Duration::from_millis(self.config.drain_interval_ms.max(1));
        let work = move || {
            while !self.wake.wait(interval) {
                self.drain().round(self);
            }
        };
        let thread = std::thread::Builder::new()
            .name("marey-drain".into())
            .stack_size(256 << 10)
            .spawn(work);
        self.drain().thread = thread.ok();
    }

    /// Ends the drain thread and waits for it.
    pub(super) fn stop_drain(&self) {
        *self
            .wake
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.signal.notify_all();
        let thread = self.drain().thread.take();
        if let Some(thread) = thread {
            thread.join().ok();
        }
    }

    /// A ring is half full.
    pub(super) fn wake_drain(&self) {
        self.wake.signal.notify_one();
    }
}

impl Wake {
    /// Sleeps for an interval or until woken; true when the thread is to end.
    fn wait(&self, interval: Duration) -> bool {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if *stop {
            return true;
        }
        let (stop, _) = self
            .signal
            .wait_timeout(stop, interval)
            .unwrap_or_else(PoisonError::into_inner);
        *stop
    }

    /// Held across a fork, so that the child finds it whole.
    pub(super) fn hold(&self) -> std::sync::MutexGuard<'_, bool> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
