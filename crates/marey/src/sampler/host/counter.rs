//! Counters that only grow, kept from saying what cannot be.
//!
//! ```text
//! time       10     11     12     13  s
//! read     1.00   1.02   5.31   5.33  s waited: 2³² ns too many at once, a fault of kernels with pressure stall information
//! kept     1.00   1.02     ·    1.04
//! ```

use crate::series::{SeriesInfo, SeriesKind};

/// A counter may be so much ahead of the clock: the kernel puts it together from what each processor counts.
const AHEAD_S: f64 = 0.1;

/// What is known of a counter from its readings so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    highest: f64,
    /// When the round of the last reading began.
    read_ns: u64,
    /// It counts seconds of the clock, that tasks waited: no more than have passed.
    is_of_the_clock: bool,
    /// Growth that could not be, which all later readings have in them.
    left_out: f64,
}

impl Counter {
    /// That of a series, if it only grows; it was never read.
    pub(super) fn of(series: &SeriesInfo) -> Option<Self> {
        let is_of_the_clock = series.name.starts_with("pressure.");
        let counter = Self { highest: f64::NAN, read_ns: 0, is_of_the_clock, left_out: 0.0 };
        (series.kind == SeriesKind::Cumulative).then_some(counter)
    }

    /// What a reading stands for, of a round that began at a moment and has ended at another. One that is less than those before stands
    /// still until it is past them; where it jumped it is not known, and the jump is in none of those after it.
    pub(super) fn kept(&mut self, began_ns: u64, ended_ns: u64, reading: f64) -> f64 {
        if reading.is_nan() {
            return reading;
        }
        let value = reading - self.left_out;
        let growth = value - self.highest;
        let passed = std::time::Duration::from_nanos(ended_ns.saturating_sub(self.read_ns));
        self.read_ns = began_ns;
        if self.is_of_the_clock && growth > passed.as_secs_f64() + AHEAD_S {
            self.left_out += growth;
            return f64::NAN;
        }
        self.highest = self.highest.max(value);
        self.highest
    }
}
