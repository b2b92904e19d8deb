//! The thread that drains: when it runs and how it ends.

use std::sync::atomic::Ordering::Acquire;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::{ON, Recorder, STATE, identity};

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
            let (os_id, _) = identity::this_thread();
            let mut wait = interval;
            while !self.wake.wait(wait) {
                let is_busy = self.drain().round(self);
                // With little to do it rests longer: a producer wakes it when its ring is half full.
                wait = if is_busy { interval } else { interval * 5 / 2 };
            }
            os_id
        };
        let thread = std::thread::Builder::new()
            .name("marey-drain".into())
            .stack_size(256 << 10)
            .spawn(work);
        self.drain().thread = thread.ok();
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
        if super::fork::soon(&self.drain).is_none() {
            return;
        }
        let Some(os_id) = self.stop_drain() else {
            return;
        };
        // The kernel lets a waiting thread go on a moment before it stops counting the one that ended.
        let task = format!("/proc/self/task/{os_id}");
        for _ in 0..1000 {
            if std::fs::metadata(&task).is_err() {
                break;
            }
            std::thread::yield_now();
        }
    }

    /// Starts what was paused, if recording is on.
    pub fn resume_threads(&'static self) {
        if STATE.load(Acquire) == ON {
            self.resume_samplers();
        }
        if STATE.load(Acquire) == ON && self.drain().thread.is_none() {
            self.start_drain();
        }
    }

    /// Ends the drain thread and waits for it. What the system called it; `None` when there was none.
    pub(super) fn stop_drain(&self) -> Option<u32> {
        *self
            .wake
            .stop
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.signal.notify_all();
        let thread = self.drain().thread.take();
        thread.and_then(|thread| thread.join().ok())
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
