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

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed},
};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};

use super::call_paths::Known;
use super::config::PATIENCE_MS;
use super::drain::Drain;
use super::drain_thread::Order;
use super::identity::set_forked_from;
use super::lanes::LANE;
use super::layout::HEADER_WORDS;
use super::ring_folder::RingFolder;
use super::{FORKED, Lanes, OFF, ON, RECORDER, Recorder, STARTING, STATE, process_words};
use crate::capture::Abandoned;
use crate::clock;
use crate::sampler::Sampler;

/// Own pid, so that the child knows its parent's.
static PID: AtomicU32 = AtomicU32::new(0);

thread_local! {
    // Without a destructor, so that it is there also for a thread that forks while it is torn down.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

/// This process was forked while the drain did not give its locks back, or there is no room for what it would record into: nothing is
/// recorded, and the locks are never asked for.
static IS_CUT_OFF: AtomicBool = AtomicBool::new(false);

/// See [`IS_CUT_OFF`].
pub(crate) fn is_cut_off() -> bool {
    IS_CUT_OFF.load(Relaxed)
}

/// How long a fork waits for a lock: who holds that of the drain may wait for a disk.
fn patience_ns() -> u64 {
    let patience_ms = RECORDER.get().map_or(PATIENCE_MS, |r| r.config.patience_ms);
    patience_ms.saturating_mul(2_000_000)
}

/// A lock that is to be had soon.
pub(super) fn soon<T>(mutex: &'static Mutex<T>) -> Option<MutexGuard<'static, T>> {
    let deadline = clock::monotonic_ns().saturating_add(patience_ns());
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if clock::monotonic_ns() > deadline => return None,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}

/// All locks of the recorder, in their order. Those that are held while a disk is written may not be to be had.
struct Held {
    starting: Option<MutexGuard<'static, ()>>,
    recording: Option<HeldRecorder>,
}

struct HeldRecorder {
    recorder: &'static Recorder,
    samplers: MutexGuard<'static, Vec<Sampler>>,
    _wake: MutexGuard<'static, Order>,
    drain: Option<MutexGuard<'static, Drain>>,
    abandoned: Option<MutexGuard<'static, Abandoned>>,
    lanes: MutexGuard<'static, Lanes>,
    folder: MutexGuard<'static, RingFolder>,
    _paths: MutexGuard<'static, Known>,
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
    // Also with recording off: who holds a lock in the parent does not exist in the child, which may start to record.
    let starting = if is_cut_off() { None } else { soon(&STARTING) };
    let recording = RECORDER.get().filter(|_| !is_cut_off()).map(|recorder| HeldRecorder {
        recorder,
        samplers: recorder.samplers(),
        _wake: recorder.wake.hold(),
        drain: soon(&recorder.drain),
        abandoned: soon(&recorder.abandoned),
        lanes: recorder.lanes(),
        folder: recorder.folder(),
        _paths: recorder.paths.lock(),
    });
    HELD.set(Some(ManuallyDrop::new(Held { starting, recording })));
}

extern "C" fn in_parent() {
    let mut held = HELD.take().map(ManuallyDrop::into_inner);
    let recording = held.as_mut().and_then(|held| held.recording.as_mut());
    if let Some(abandoned) = recording.and_then(|recording| recording.abandoned.as_mut()) {
        abandoned.forked();
    }
}

extern "C" fn in_child() {
    let held = HELD.take().map(ManuallyDrop::into_inner);
    let parent = PID.swap(std::process::id(), Relaxed);
    let Some(Held { starting, recording }) = held else {
        return;
    };
    let was_on = STATE.load(Acquire) == ON;
    let is_whole = starting.is_some() && recording.as_ref().is_none_or(|r| r.drain.is_some());
    if !is_whole {
        IS_CUT_OFF.store(true, Relaxed);
        super::set_state(OFF);
    }
    if let Some(mut recording) = recording.filter(|_| was_on) {
        set_forked_from(parent);
        if is_whole {
            super::set_state(FORKED);
        }
        // Else what is mapped may be the parent's still.
        if !recording.leave_to_parent() {
            IS_CUT_OFF.store(true, Relaxed);
            super::set_state(OFF);
        }
    }
}

impl HeldRecorder {
    /// False when the child has no memory of its own in place of the parent's.
    fn leave_to_parent(&mut self) -> bool {
        if let Some(drain) = &mut self.drain {
            drain.abandon(self.recorder.process.first_words_again(HEADER_WORDS));
        }
        // Their threads are the parent's. The child has none of its own: the parent counts it among its children.
        std::mem::forget(std::mem::take(&mut *self.samplers));
        self.folder.forget();
        // Sections that are open in the parent do not exist here, and neither do its threads.
        LANE.set(None);
        self.lanes.free.clear();
        self.lanes.free_of_samplers.clear();
        self.lanes.shared_bytes = 0;
        let lanes = std::mem::take(&mut self.lanes.all);
        let is_apart = self.recorder.keep_tables_in_private().is_ok()
            && lanes.iter().all(|lane| lane.mapping.make_private(&[]).is_ok());
        if !is_apart {
            // Sections that are open here end sometime, and must not end in the parent.
            self.recorder.process.detach().ok();
            for lane in lanes {
                lane.mapping.detach().ok();
            }
        }
        is_apart
    }
}

impl Recorder {
    /// Cuts the `process` mapping off the parent's file. Names and call paths stay, because their numbers are in use everywhere; open
    /// sections and histograms go.
    fn keep_tables_in_private(&self) -> std::io::Result<()> {
        self.process.make_private(&self.tables_in_use())?;
        self.header()[process_words::N_HISTOGRAMS].store(0, Relaxed);
        // The parent's capture is not this process's to complete.
        self.header()[process_words::CAPTURE_PATH].store(0, Relaxed);
        Ok(())
    }

    /// The child's first record: its own shared files, capture and drain.
    pub(super) fn restart_in_child(&'static self) {
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if STATE.load(Acquire) != FORKED {
            return;
        }
        let config = self.drain().config().clone();
        self.share_again(&config);
        self.forget_last_run();
        if self.drain().open(self, &config).is_err() {
            self.drain().count_with_parent();
            let in_memory = super::Config { output_dir: None, ..config };
            self.drain().open(self, &in_memory).ok();
        }
        self.start_drain();
        super::set_state(ON);
    }
}
