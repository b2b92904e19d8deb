//! What is known of devices, and which calls are watched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use marey::Allowance;
use marey::{Lane, NameId};
use marey_gpu::{PeakLedger, ReadingAllowance};
use pyo3::prelude::*;

use crate::flow;

/// A level that is never watched; sections further down are not told from it.
const TOO_DEEP: usize = 64;
const MAX_OPEN: usize = 64;
/// Looks at all devices at the beginning of outermost sections, at once and a second; in between only those in use are read.
const LOOKS: u64 = 10;

static STATE: Mutex<State> = Mutex::new(State::new());
/// When the first call was looked at; 0 before.
static FIRST_TICKS: AtomicU64 = AtomicU64::new(0);

/// All that is known of devices and of calls that are watched. Locked only while no Python runs.
#[derive(Debug)]
pub(super) struct State {
    pub(super) epoch: u32,
    /// Number of each section that is open.
    open: Vec<u64>,
    n_begun: u64,
    pub(super) devices: BTreeMap<u32, PeakLedger>,
    /// Devices that held something when they were read.
    pub(super) in_use: BTreeSet<u32>,
    /// Places of the peaks in the ledgers, by their names in torch.
    places: BTreeMap<String, usize>,
    allowance: ReadingAllowance,
    looks: Allowance,
}

/// A call that is to be watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Which call path it is of.
    path: u64,
    /// 1 for an outermost section.
    level: usize,
    now_ns: u64,
}

/// A call that is watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted {
    pub(super) epoch: u32,
    pub(super) number: u64,
    /// All devices are looked at.
    pub(super) is_look: bool,
}

impl State {
    const fn new() -> Self {
        Self {
            epoch: 0,
            open: Vec::new(),
            n_begun: 0,
            devices: BTreeMap::new(),
            in_use: BTreeSet::new(),
            places: BTreeMap::new(),
            allowance: ReadingAllowance::new(),
            looks: Allowance::new(),
        }
    }

    /// The recording ends: what is open is not ended any more.
    pub(super) fn end(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.open.clear();
        self.allowance = ReadingAllowance::new();
        self.looks = Allowance::new();
        FIRST_TICKS.store(0, Relaxed);
        for ledger in self.devices.values_mut() {
            ledger.forget_open();
        }
    }

    /// `None` for one that comes too soon.
    pub(super) fn admit(&mut self, call: &Call) -> Option<Admitted> {
        let Call { path, level, now_ns } = *call;
        if self.open.len() >= MAX_OPEN || !self.allowance.take(path, level, now_ns) {
            return None;
        }
        let number = self.n_begun;
        self.n_begun += 1;
        self.open.push(number);
        Some(Admitted {
            epoch: self.epoch,
            number,
            is_look: level == 1 && self.looks.take(now_ns, (LOOKS, LOOKS)),
        })
    }

    /// Whether it was open.
    pub(super) fn leave(&mut self, epoch: u32, number: u64) -> bool {
        let at = self.open.iter().position(|open| *open == number);
        if let Some(at) = at.filter(|_| self.epoch == epoch) {
            self.open.swap_remove(at);
            return true;
        }
        false
    }

    /// The place of a peak; those of all allocated and all reserved bytes come first.
    pub(super) fn place(&mut self, name: &str) -> usize {
        if self.places.is_empty() {
            self.places.insert("allocated_bytes.all.".into(), 0);
            self.places.insert("reserved_bytes.all.".into(), 1);
        }
        if let Some(known) = self.places.get(name) {
            return *known;
        }
        let next = self.places.len();
        self.places.insert(name.to_owned(), next);
        next
    }
}

impl Call {
    /// `None` for one that lies too deep.
    pub(super) fn of(py: Python<'_>, lane: &Lane, name: NameId) -> Option<Self> {
        let parent = flow::parent(py, lane).node();
        let level = lane.level(parent, TOO_DEEP) + 1;
        ReadingAllowance::has_level(level).then(|| Self {
            path: u64::from(parent) << 32 | u64::from(name.number()),
            level,
            now_ns: since_first_ns(lane),
        })
    }
}

/// Time since the first call of the recording that was looked at. Counted from there, because the length of a tick is known ever better.
fn since_first_ns(lane: &Lane) -> u64 {
    let now = marey::ticks();
    let first = match FIRST_TICKS.compare_exchange(0, now, Relaxed, Relaxed) {
        Ok(_) => now,
        Err(first) => first,
    };
    lane.recorder().duration_ns(now.saturating_sub(first))
}

pub(super) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
