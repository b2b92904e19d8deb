//! How often the process gave its processor up, and how often it was taken: `getrusage`.
//!
//! `/proc/<pid>/status` counts those of one thread, and those of threads that ended nowhere; only a process itself can ask for all.

#![allow(unsafe_code, reason = "getrusage")]

use std::path::Path;

use super::catalogue::{Catalogue, Part, Round, Slot};
use crate::series::Unit;

const NAMES: [&str; 2] = [
    "process.context_switches.voluntary",
    "process.context_switches.involuntary",
];

/// Opens them for the process that calls; another one has none.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    if catalogue.options.pid.is_some() || catalogue.options.root != Path::new("/") {
        let why = "only a process itself can ask for those of all its threads";
        catalogue.lacks(&NAMES.join(", "), why);
        return;
    }
    let slots = NAMES.map(|name| catalogue.cumulative(name, "", Unit::Count));
    parts.push(Box::new(ContextSwitches { slots }));
}

struct ContextSwitches {
    slots: [Slot; 2],
}

impl Part for ContextSwitches {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        // SAFETY: a `rusage` is numbers, for which zeros are values.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid place for the duration of the call.
        let code = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
        if code != 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "readings are doubles")]
        let counts = [usage.ru_nvcsw as f64, usage.ru_nivcsw as f64];
        for (slot, count) in self.slots.into_iter().zip(counts) {
            slot.put(round.values, count);
        }
        Some(())
    }
}
