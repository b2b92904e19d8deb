//! Converts ticks to nanoseconds of the run, piecewise between anchors.
//!
//! ```text
//! ns │            ╱· after the last anchor: last slope
//!    │        ╱·A2
//!    │    ╱·A1          between anchors: straight line
//!    │ ·A0
//!    └──────────────── ticks
//! ```

use crate::clock::{Anchor, ClockKind};
use crate::warning::Warning;

/// A jump of the wall clock against the monotonic clock that is worth a warning, ns.
const JUMP_NS: u64 = 500_000_000;

/// Ticks to nanoseconds since the first anchor, which is the start of the run.
#[derive(Clone, Debug)]
pub(crate) struct ClockMap {
    kind: ClockKind,
    anchors: Vec<Anchor>,
}

impl ClockMap {
    /// Anchors in any order; those that contradict an earlier one are left out.
    pub(crate) fn new(kind: ClockKind, mut anchors: Vec<Anchor>) -> Self {
        anchors.sort_by_key(|a| a.ticks);
        anchors.dedup_by(|later, earlier| {
            later.ticks == earlier.ticks || later.monotonic_ns <= earlier.monotonic_ns
        });
        Self { kind, anchors }
    }

    /// Wall clock at the start of the run; 0 without any anchor.
    pub(crate) fn start_unix_ns(&self) -> u64 {
        self.anchors.first().map_or(0, |a| a.unix_ns)
    }

    /// Nanoseconds since the start of the run; 0 for what lies before it.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        let Some(origin) = self.anchors.first() else {
            return 0;
        };
        if self.kind == ClockKind::Monotonic {
            return ticks.saturating_sub(origin.monotonic_ns);
        }
        if self.anchors.len() < 2 || ticks <= origin.ticks {
            return 0;
        }
        let right =
            self.anchors.partition_point(|a| a.ticks < ticks).clamp(1, self.anchors.len() - 1);
        let (a, b) = (self.anchors[right - 1], self.anchors[right]);
        (a.monotonic_ns - origin.monotonic_ns).saturating_add(scale(ticks - a.ticks, a, b))
    }

    /// Lies before the run, by more than what anchors and processors differ by.
    pub(crate) fn precedes_run(&self, ticks: u64) -> bool {
        const LEAST_TICKS: u64 = 10_000;
        let origin = self.anchors.first().map_or(0, |origin| match self.kind {
            ClockKind::Monotonic => origin.monotonic_ns,
            ClockKind::Tsc => origin.ticks,
        });
        ticks.saturating_add(LEAST_TICKS) < origin
    }

    /// Length of a time that was summed up in ticks, by the mean slope over the whole run.
    pub(crate) fn duration_ns(&self, ticks: u64) -> u64 {
        if self.kind == ClockKind::Monotonic {
            return ticks;
        }
        match (self.anchors.first(), self.anchors.last()) {
            (Some(a), Some(b)) if b.ticks > a.ticks => scale(ticks, *a, *b),
            _ => 0,
        }
    }

    /// Moments at which the wall clock jumped against the monotonic clock.
    pub(crate) fn jumps(&self) -> Vec<Warning> {
        self.anchors
            .windows(2)
            .filter_map(|pair| {
                let step = |clock: fn(&Anchor) -> u64| {
                    i128::from(clock(&pair[1])) - i128::from(clock(&pair[0]))
                };
                let by = step(|a| a.unix_ns) - step(|a| a.monotonic_ns);
                let by_ns = i64::try_from(by).unwrap_or(if by < 0 { i64::MIN } else { i64::MAX });
                (by_ns.unsigned_abs() > JUMP_NS)
                    .then(|| Warning::ClockJump { at_ns: self.ns(pair[1].ticks), by_ns })
            })
            .collect()
    }
}

/// `ticks` along the line from `a` to `b`, in nanoseconds.
fn scale(ticks: u64, a: Anchor, b: Anchor) -> u64 {
    let (run, rise) = (b.ticks - a.ticks, b.monotonic_ns - a.monotonic_ns);
    // As a rule the product has room in 64 bits, of which a division takes a fraction of the time.
    if let Some(product) = ticks.checked_mul(rise) {
        return product / run;
    }
    let ns = u128::from(ticks) * u128::from(rise) / u128::from(run);
    u64::try_from(ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(ticks: u64, monotonic_ns: u64) -> Anchor {
        Anchor { ticks, monotonic_ns, unix_ns: 1_000_000 + monotonic_ns }
    }

    // ticks   1000     3000     5000        7000
    // ns       500     1500     3500  (then 1 ns a tick)
    #[test]
    fn time_runs_straight_between_anchors_and_on_at_the_last_slope() {
        let map = ClockMap::new(
            ClockKind::Tsc,
            vec![anchor(5000, 3500), anchor(1000, 500), anchor(3000, 1500)],
        );
        assert_eq!(map.ns(1000), 0);
        assert_eq!(map.ns(2000), 500);
        assert_eq!(map.ns(4000), 2000);
        assert_eq!(map.ns(5000), 3000);
        assert_eq!(map.ns(7000), 5000);
        assert_eq!(map.ns(10), 0);
        assert_eq!(map.duration_ns(4000), 3000);
    }

    #[test]
    fn monotonic_ticks_need_no_slope() {
        let map = ClockMap::new(ClockKind::Monotonic, vec![anchor(500, 500)]);
        assert_eq!(map.ns(750), 250);
        assert_eq!(map.duration_ns(9), 9);
    }

    #[test]
    fn a_set_wall_clock_is_a_warning_and_changes_no_time() {
        let mut late = anchor(2000, 2000);
        late.unix_ns += 3_000_000_000;
        let map = ClockMap::new(ClockKind::Tsc, vec![anchor(1000, 1000), late]);
        assert_eq!(map.jumps(), vec![Warning::ClockJump { at_ns: 1000, by_ns: 3_000_000_000 }]);
        assert_eq!(map.ns(1500), 500);
    }
}
