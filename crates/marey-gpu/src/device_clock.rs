//! Where moments of a GPU lie on the host's clock, from what can be known without waiting for the GPU.
//!
//! The driver tells only how long after another event an event was reached. Two moments of the host enclose each event: it
//! cannot be reached before it was queued, nor after it was found done. So each event bounds by how much the two clocks
//! differ, and the narrowest bounds of all are kept:
//!
//! ```text
//! host     queued A ·  queued B ···················· queued C · ·  C found done
//! GPU               A ├──────────── busy ──────────┤B           C
//!                   |<──────── elapsed(A, B) ──────>|
//!                   |<──────────── elapsed(A, C) ──────────────>|
//!
//! A = queued − elapsed of the event that waited least        (here A itself or C: the GPU was idle)
//!     at the earliest; found done − elapsed at the latest
//! ```
//!
//! Clocks drift apart: [`DeviceClock::moved_to`] takes another event as the reference and widens the bounds.

/// By how much two crystals may differ: 50 millionths each.
const DRIFT: f64 = 100e-6;

/// Bounds of the moment of one event of a device, its reference, on the host's clock. Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceClock {
    earliest_ns: f64,
    latest_ns: f64,
}

/// A moment of the device on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// The earliest moment that it can be; the true one where the GPU was idle once, but for the time that a launch takes.
    pub at_ns: f64,
    /// It is at most so much later.
    pub error_ns: f64,
}

impl DeviceClock {
    /// Of an event that was queued and found done at these times.
    pub fn new(queued_ns: f64, done_ns: f64) -> Self {
        Self { earliest_ns: queued_ns, latest_ns: done_ns.max(queued_ns) }
    }

    /// Learns from an event that was reached so long after the reference (negative: before it).
    ///
    /// What contradicts the bounds is newer than they are: the clocks have drifted further than was thought.
    pub fn learn(&mut self, elapsed_ns: f64, queued_ns: f64, done_ns: f64) {
        let (earliest, latest) = (queued_ns - elapsed_ns, done_ns - elapsed_ns);
        if latest < earliest || !(earliest.is_finite() && latest.is_finite()) {
            return;
        }
        if earliest > self.latest_ns || latest < self.earliest_ns {
            (self.earliest_ns, self.latest_ns) = (earliest, latest);
            return;
        }
        self.earliest_ns = self.earliest_ns.max(earliest);
        self.latest_ns = self.latest_ns.min(latest);
    }

    /// The same clock with a reference that was reached so long after this one, and with times of the host that are counted from
    /// `host_ns` on.
    #[must_use]
    pub fn moved_to(&self, elapsed_ns: f64, host_ns: f64) -> Self {
        let drift = elapsed_ns.abs() * DRIFT;
        Self {
            earliest_ns: self.earliest_ns + elapsed_ns - host_ns - drift,
            latest_ns: self.latest_ns + elapsed_ns - host_ns + drift,
        }
    }

    /// The moment so long after the reference.
    pub fn place(&self, elapsed_ns: f64) -> Placed {
        Placed { at_ns: self.earliest_ns + elapsed_ns, error_ns: self.latest_ns - self.earliest_ns }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers")]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_waited_for_nothing_places_all_others() {
        // host   100 queued A            2000 queued C   2020 found all done
        // GPU                 A 700 ····· B 1700       C 2005
        // A waited 600 behind other work: known by itself within 1920 only. C waited 5.
        let mut clock = DeviceClock::new(100.0, 2020.0);
        assert_eq!(clock.place(0.0), Placed { at_ns: 100.0, error_ns: 1920.0 });
        clock.learn(1000.0, 200.0, 2020.0);
        clock.learn(1305.0, 2000.0, 2020.0);
        let a = clock.place(0.0);
        assert_eq!((a.at_ns, a.error_ns), (695.0, 20.0));
        assert!(a.at_ns <= 700.0 && 700.0 <= a.at_ns + a.error_ns);
        assert_eq!(clock.place(1000.0).at_ns, 1695.0);
    }

    #[test]
    fn bounds_never_widen_by_what_is_learned() {
        let mut clock = DeviceClock::new(0.0, 50.0);
        clock.learn(1_000.0, 200.0, 900_000.0);
        assert_eq!(clock.place(0.0), Placed { at_ns: 0.0, error_ns: 50.0 });
    }

    #[test]
    fn another_reference_widens_the_bounds_by_the_drift() {
        let clock = DeviceClock::new(1_000.0, 1_010.0);
        // One second later, 100 µs either way.
        let moved = clock.moved_to(1e9, 1e9 + 400.0);
        let placed = moved.place(0.0);
        assert!((placed.at_ns - (600.0 - 1e5)).abs() < 1.0);
        assert!((placed.error_ns - 200_010.0).abs() < 1.0);
    }

    #[test]
    fn what_contradicts_the_bounds_replaces_them() {
        // The clocks were 100 apart at the beginning, and are 400 apart now.
        let mut clock = DeviceClock::new(100.0, 110.0);
        clock.learn(1e6, 1e6 + 400.0, 1e6 + 430.0);
        assert_eq!(clock.place(0.0), Placed { at_ns: 400.0, error_ns: 30.0 });
    }

    #[test]
    fn what_makes_no_sense_is_not_learned() {
        let mut clock = DeviceClock::new(100.0, 110.0);
        clock.learn(f64::NAN, 0.0, 1.0);
        clock.learn(0.0, 50.0, 40.0);
        assert_eq!(clock, DeviceClock::new(100.0, 110.0));
    }
}
