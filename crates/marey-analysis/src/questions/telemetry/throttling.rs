//! Was a GPU slowed down, and by what?

use marey::SeriesPoint;
use serde::Serialize;

use crate::readings::weights;
use crate::stats::whole;

/// Clocks go down because nothing is to be done: no throttling (NVML: `GpuIdle`).
const IDLE: u64 = 0x1;
/// Clocks are where the user wants them: no throttling (`ApplicationsClocksSetting`, `DisplayClockSetting`).
const CHOSEN: u64 = 0x2 | 0x100;
/// Too warm (`SwThermalSlowdown`, `HwThermalSlowdown`).
const THERMAL: u64 = 0x20 | 0x40;
/// Too much power (`SwPowerCap`, `HwPowerBrakeSlowdown`).
const POWER: u64 = 0x4 | 0x80;

/// Time in which the driver said that it held clocks down, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Throttling {
    /// For heat.
    pub thermal_ns: f64,
    /// For power.
    pub power_ns: f64,
    /// For any reason but idleness and clocks that the user chose.
    pub any_ns: f64,
    /// Time that these are about: each reading stands for the time half way to its neighbours. Readings that differ and were
    /// put together are in none of them.
    pub known_ns: f64,
    /// Heat was a reason at one reading at least.
    pub was_thermal: bool,
}

/// Throttling by readings of the mask of reasons; `None` without readings.
pub(super) fn throttling(points: &[SeriesPoint], wall_ns: u64) -> Option<Throttling> {
    if points.is_empty() {
        return None;
    }
    let mut found = Throttling {
        thermal_ns: 0.0,
        power_ns: 0.0,
        any_ns: 0.0,
        known_ns: 0.0,
        was_thermal: false,
    };
    for (point, weight) in points.iter().zip(weights(points, wall_ns)) {
        let seen = [point.min, point.max, point.last].map(whole);
        found.was_thermal |= seen.iter().any(|bits| bits & THERMAL != 0);
        if seen[0] != seen[1] {
            continue;
        }
        let time_of = |mask: u64| if seen[0] & mask != 0 { weight } else { 0.0 };
        found.thermal_ns += time_of(THERMAL);
        found.power_ns += time_of(POWER);
        found.any_ns += time_of(!(IDLE | CHOSEN));
        found.known_ns += weight;
    }
    Some(found)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    fn of(drawn: &[(u64, f64)], wall_ns: u64) -> Throttling {
        let info = SeriesInfo::gauge("gpu.throttle", "GPU-1", Unit::Bits);
        let run = RunBuilder::new().series(info, drawn).finish(wall_ns);
        throttling(&run.series[0].points, wall_ns).unwrap()
    }

    #[test]
    fn an_idle_gpu_is_not_throttled() {
        // Idle, then clocks that the user chose.
        let found = of(&[(5, 1.0), (15, 1.0), (25, 2.0)], 30);
        assert_eq!((found.any_ns, found.known_ns), (0.0, 30.0));
        assert!(!found.was_thermal);
    }

    #[test]
    fn each_reason_has_its_time() {
        // 0    10    20    30    40
        //   4     36    32    0         power, both, thermal, none
        let found = of(&[(5, 4.0), (15, 36.0), (25, 32.0), (35, 0.0)], 40);
        assert_eq!((found.power_ns, found.thermal_ns), (20.0, 20.0));
        assert_eq!((found.any_ns, found.known_ns), (30.0, 40.0));
        assert!(found.was_thermal);
    }

    #[test]
    fn the_time_of_readings_that_differ_and_were_put_together_is_not_known() {
        let point = |first_ns, last_ns, min: f64, max: f64| SeriesPoint {
            first_ns,
            last_ns,
            count: 2,
            min,
            max,
            sum: min + max,
            last: min,
        };
        let found = throttling(&[point(0, 10, 0.0, 64.0), point(20, 30, 4.0, 4.0)], 30).unwrap();
        assert_eq!((found.thermal_ns, found.power_ns), (0.0, 15.0));
        assert_eq!(found.known_ns, 15.0);
        assert!(found.was_thermal);
    }

    #[test]
    fn without_readings_nothing_is_known() {
        assert_eq!(throttling(&[], 10), None);
    }
}
