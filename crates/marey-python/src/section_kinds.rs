//! Kinds of sections that a configuration switches off (`profile_vae_decode: false`), whoever opens them.
//!
//! The fast path knows nothing of this: a name that is switched off is not in its cache, and what is not in its cache comes here.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use marey::ProfilingConfig;
use marey::profiling_config::SectionKind;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::known_names::{KnownNames, forget_section_names};
use crate::under_gil::UnderGil;

const KINDS: [SectionKind; 4] = SectionKind::ALL;

/// A bit for each kind that is switched off.
static OFF: AtomicU8 = AtomicU8::new(0);
static SWITCHES: UnderGil<Switches> = UnderGil::new(Switches {
    n_configs: Cell::new(0),
    counts: [const { Cell::new(0) }; KINDS.len()],
    environment: Cell::new(0),
    names: KnownNames::new(),
});

struct Switches {
    /// Configurations of profilers that count now, and how many of them switch a kind off.
    n_configs: Cell<u32>,
    counts: [Cell<u32>; KINDS.len()],
    /// A bit for each kind that the environment switches off. It counts while no profiler's does: in those it is a layer.
    environment: Cell<u8>,
    /// Names that are switched off, so that they are not cut into words each time.
    names: KnownNames<(), 64>,
}

/// Switches off the kinds that a configuration does not record. Each call wants one of [`switch_on_again`].
pub(crate) fn switch_off(py: Python<'_>, config: &ProfilingConfig) {
    change(py, config, |count| count.saturating_add(1));
}

/// Undoes one [`switch_off`] with the same configuration.
pub(crate) fn switch_on_again(py: Python<'_>, config: &ProfilingConfig) {
    change(py, config, |count| count.saturating_sub(1));
}

/// Says what the environment switches off, for sections of programs without a profiler.
pub(crate) fn follow_environment(py: Python<'_>, config: &ProfilingConfig) {
    let off = mask(|kind| !kind.is_recorded(config));
    SWITCHES.get(py).environment.set(off);
    apply(py);
}

fn change(py: Python<'_>, config: &ProfilingConfig, change: impl Fn(u32) -> u32) {
    let switches = SWITCHES.get(py);
    switches.n_configs.set(change(switches.n_configs.get()));
    for (kind, count) in KINDS.iter().zip(&switches.counts) {
        if !kind.is_recorded(config) {
            count.set(change(count.get()));
        }
    }
    apply(py);
}

fn apply(py: Python<'_>) {
    let switches = SWITCHES.get(py);
    let off = if switches.n_configs.get() > 0 {
        mask(|kind| switches.counts[kind as usize].get() > 0)
    } else {
        switches.environment.get()
    };
    if OFF.swap(off, Relaxed) != off {
        switches.names.clear();
        forget_section_names(py);
    }
}

/// The kind that a name falls under, as a bit; 0 for none.
pub(crate) fn mask_of(name: &Bound<'_, PyAny>) -> u8 {
    let text = name.cast::<PyString>().ok().and_then(|name| name.to_str().ok());
    text.and_then(SectionKind::of).map_or(0, bit)
}

/// As [`mask_of`], for the iterations of a loop, which may be named in the plural: `denoising_steps`.
pub(crate) fn mask_of_turns(loop_name: &str) -> u8 {
    let one = loop_name.strip_suffix('s').unwrap_or(loop_name);
    let kind = SectionKind::of(loop_name).or_else(|| SectionKind::of(one));
    kind.map_or(0, bit)
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
    let names = &SWITCHES.get(name.py()).names;
    if names.get(name).is_some() {
        return true;
    }
    let is_off = is_off(mask_of(name));
    if is_off {
        names.keep(name, ());
    }
    is_off
}

fn mask(is_in: impl Fn(SectionKind) -> bool) -> u8 {
    let kinds = KINDS.into_iter().filter(|kind| is_in(*kind));
    kinds.map(bit).sum()
}

fn bit(kind: SectionKind) -> u8 {
    1 << kind as u8
}
