//! What happens to a recording when the process forks.
//!
//! The child shares the parent's mappings, descriptors and locks, but none of its other threads. It must never write into
//! the parent's rings, and must not start a thread or open a file before it records something itself:
//!
//! ```text
//! parent  ──prepare: take all locks──┬──give them back──────────────────────────►
//!                                    └─child: give them back, make mappings private,
//!                                      forget capture and drain ···· first record: own files, own drain ─►
//! ```

#![allow(unsafe_code, reason = "pthread_atfork")]

use std::cell::RefCell;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{MutexGuard, Once, PoisonError};

use super::call_paths::Known;
use super::drain::Drain;
use super::ring_folder::RingFolder;
use super::{FORKED, LANE, Lanes, ON, RECORDER, Recorder, STARTING, STATE};

/// Pid of the process that this one was forked from while that was recording; 0 for none.
static PARENT: AtomicU32 = AtomicU32::new(0);
/// Own pid, so that the child knows its parent's.
static PID: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// All locks of the recorder, in their order.
struct Held {
    _starting: MutexGuard<'static, ()>,
    _wake: MutexGuard<'static, bool>,
    drain: MutexGuard<'static, Drain>,
    lanes: MutexGuard<'static, Lanes>,
    folder: MutexGuard<'static, RingFolder>,
    _paths: MutexGuard<'static, Known>,
}

/// The recording process that this one was forked from, if it was.
pub(crate) fn parent() -> Option<u32> {
    Some(PARENT.load(Relaxed)).filter(|pid| *pid != 0)
}

/// Registers the handlers, once a process.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    PID.store(std::process::id(), Relaxed);
    ONCE.call_once(|| {
        // SAFETY: the handlers live as long as the program, take no arguments and never unwind.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn before() {
    let Some(recorder) = RECORDER.get().filter(|_| STATE.load(Acquire) == ON) else {
        return;
    };
    let held = Held {
        _starting: STARTING.lock().unwrap_or_else(PoisonError::into_inner),
        _wake: recorder.wake.hold(),
        drain: recorder.drain(),
        lanes: recorder.lanes(),
        folder: recorder.folder(),
        _paths: recorder.paths.lock(),
    };
    HELD.with(|slot| slot.replace(Some(held)));
}

extern "C" fn in_parent() {
    HELD.with(RefCell::take);
}

extern "C" fn in_child() {
    let Some(mut held) = HELD.with(RefCell::take) else {
        return;
    };
    let Some(recorder) = RECORDER.get() else {
        return;
    };
    PARENT.store(PID.swap(std::process::id(), Relaxed), Relaxed);
    STATE.store(FORKED, Release);
    held.drain.abandon();
    held.folder.forget();
    // Sections that are open in the parent do not exist here, and neither do its threads.
    LANE.set(None);
    for lane in held.lanes.all.drain(..) {
        lane.mapping.make_private();
    }
    held.lanes.free.clear();
    held.lanes.shared_bytes = 0;
    recorder.keep_tables_in_private();
}

impl Recorder {
    /// Cuts the `process` mapping off the parent's file. Names and call paths stay, because their numbers are in use everywhere; open
    /// sections and histograms go.
    fn keep_tables_in_private(&self) {
        let words = self.process.words();
        let n_kept = self.layout.slots;
        let kept: Vec<u64> = words[..n_kept].iter().map(|w| w.load(Relaxed)).collect();
        self.process.make_private();
        for (word, value) in words.iter().zip(kept) {
            word.store(value, Relaxed);
        }
        self.header()[super::process_words::N_HISTOGRAMS].store(0, Relaxed);
    }

    /// The child's first record: its own shared files, capture and drain.
    pub(super) fn restart_in_child(&'static self) {
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if STATE.load(Acquire) != FORKED {
            return;
        }
        let config = self.drain().config().clone();
        self.forget_last_run();
        self.share_again(&config);
        if self.drain().open(self, &config).is_err() {
            let in_memory = super::Config {
                output_dir: None,
                ..config
            };
            self.drain().open(self, &in_memory).ok();
        }
        self.start_drain();
        STATE.store(ON, Release);
    }
}
