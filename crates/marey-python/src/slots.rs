//! The recorder's slots that this interpreter uses: one for each section that is open at a time.

use marey::Slot;
use pyo3::prelude::*;

use crate::guarded::guarded;
use crate::under_gil::{Stack, UnderGil};

/// Taken from the recorder at once.
const CHUNK: u32 = 64;

static FREE: UnderGil<Stack<Slot>> = UnderGil::new(Stack::new());

/// A slot; `None` when the recorder has no more or is off.
#[inline]
pub(crate) fn take(py: Python<'_>) -> Option<Slot> {
    match FREE.get(py).pop() {
        Some(slot) => Some(slot),
        None => more(py),
    }
}

/// Gives a slot back.
#[inline]
pub(crate) fn give(py: Python<'_>, slot: Slot) {
    FREE.get(py).push(slot);
}

#[cold]
fn more(py: Python<'_>) -> Option<Slot> {
    let slots = guarded(|| crate::state::recorder()?.take_slots(CHUNK))?;
    let free = FREE.get(py);
    for slot in slots {
        free.push(slot);
    }
    free.pop()
}
