//! Kinds of sections that a configuration switches off (`profile_vae_decode: false`), whoever opens them.
//!
//! The fast path knows nothing of this: a name that is switched off is not in its cache, and what is not in its cache comes here.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use marey::ProfilingConfig;
use marey::profiling_config::SectionKind;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::section_pool;
use crate::under_gil::UnderGil;

const KINDS: [SectionKind; 4] = SectionKind::ALL;
const N_NAMES: usize = 64;

/// A bit for each kind that is switched off.
static OFF: AtomicU8 = AtomicU8::new(0);
static SWITCHES: UnderGil<Switches> = UnderGil::new(Switches {
    counts: [0; KINDS.len()],
    names: [const { None }; N_NAMES],
});

struct Switches {
    /// How many configurations switch a kind off.
    counts: [u32; KINDS.len()],
    /// Names that are switched off, by the address of the `str` object, so that they are not cut into words each time.
    names: [Option<Py<PyAny>>; N_NAMES],
}

/// Switches off the kinds that a configuration does not record. Each call wants one of [`switch_on_again`].
pub(crate) fn switch_off(py: Python<'_>, config: &ProfilingConfig) {
    change(py, config, |count| count.saturating_add(1));
}

/// Undoes one [`switch_off`] with the same configuration.
pub(crate) fn switch_on_again(py: Python<'_>, config: &ProfilingConfig) {
    change(py, config, |count| count.saturating_sub(1));
}

fn change(py: Python<'_>, config: &ProfilingConfig, change: impl Fn(u32) -> u32) {
    if config.records_all_kinds() {
        return;
    }
    let switches = SWITCHES.get(py);
    for (kind, count) in KINDS.iter().zip(&mut switches.counts) {
        if !kind.is_recorded(config) {
            *count = change(*count);
        }
    }
    let on = |(kind, count): (&SectionKind, &u32)| if *count > 0 { bit(*kind) } else { 0 };
    let off = KINDS.iter().zip(&switches.counts).map(on).sum();
    OFF.store(off, Relaxed);
    switches.names = [const { None }; N_NAMES];
    section_pool::forget_names(py);
}

/// The kind that a name falls under, as a bit; 0 for none.
pub(crate) fn mask_of(name: &Bound<'_, PyAny>) -> u8 {
    let text = name
        .cast::<PyString>()
        .ok()
        .and_then(|name| name.to_str().ok());
    text.and_then(SectionKind::of).map_or(0, bit)
}

/// Whether the kind of that bit is switched off.
#[inline]
pub(crate) fn is_off(mask: u8) -> bool {
    OFF.load(Relaxed) & mask != 0
}

/// Whether sections of this name are switched off.
pub(crate) fn is_off_by_name(name: &Bound<'_, PyAny>) -> bool {
    if OFF.load(Relaxed) == 0 {
        return false;
    }
    let at = (name.as_ptr() as usize >> 4) % N_NAMES;
    let known = &mut SWITCHES.get(name.py()).names[at];
    if known.as_ref().is_some_and(|known| known.is(name)) {
        return true;
    }
    let is_off = is_off(mask_of(name));
    if is_off && name.is_exact_instance_of::<PyString>() {
        *known = Some(name.clone().unbind());
    }
    is_off
}

fn bit(kind: SectionKind) -> u8 {
    1 << kind as u8
}
