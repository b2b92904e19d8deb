//! Which section objects are handed out, and whether sections are watched: flags that every section looks at.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// What is watched of a section besides its times, as a bit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Watch {
    GpuTimes = 1,
    Memory = 2,
    Ranges = 4,
}

/// A bit for each [`Watch`] that is on.
static WATCHED: AtomicU8 = AtomicU8::new(0);

/// This Python was proved to take the fast section objects.
static IS_FAST: AtomicBool = AtomicBool::new(false);

/// They are handed out without a look at anything else: nothing is watched.
static IS_DIRECT: AtomicBool = AtomicBool::new(false);

/// Chooses between the fast objects and the plain class.
pub(crate) fn use_fast_sections(is_fast: bool) {
    IS_FAST.store(is_fast, Relaxed);
    follow();
}

pub(crate) fn is_fast() -> bool {
    IS_FAST.load(Relaxed)
}

/// Fast objects are handed out, and nothing is watched.
#[inline]
pub(crate) fn is_direct() -> bool {
    IS_DIRECT.load(Relaxed)
}

/// Switches something on or off; whether it was on before.
pub(crate) fn watch(what: Watch, is_on: bool) -> bool {
    let bit = what as u8;
    let before =
        if is_on { WATCHED.fetch_or(bit, Relaxed) } else { WATCHED.fetch_and(!bit, Relaxed) };
    follow();
    before & bit != 0
}

pub(crate) fn is_watched_for(what: Watch) -> bool {
    WATCHED.load(Relaxed) & what as u8 != 0
}

/// Something is watched.
#[inline]
pub(crate) fn is_watched() -> bool {
    WATCHED.load(Relaxed) != 0
}

fn follow() {
    IS_DIRECT.store(is_fast() && !is_watched(), Relaxed);
}
