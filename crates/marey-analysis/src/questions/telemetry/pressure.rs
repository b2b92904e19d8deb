//! How long did tasks wait for the machine?

use serde::Serialize;

use super::sampled::Sampled;
use crate::readings::Figures;

/// Shares of the time in which tasks of the machine waited for something (Linux: pressure stall information). *Some* is at
/// least one task, *full* is all of them at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Pressure {
    /// For a processor.
    pub cpu_some: Option<Figures>,
    /// For memory.
    pub memory_some: Option<Figures>,
    /// For memory, all of them.
    pub memory_full: Option<Figures>,
    /// For a disk.
    pub io_some: Option<Figures>,
    /// For a disk, all of them.
    pub io_full: Option<Figures>,
}

pub(super) fn pressure(sampled: &Sampled<'_>) -> Option<Pressure> {
    let share = |name| Some(sampled.growth(name, "")?.per_second.at_most_all());
    let found = Pressure {
        cpu_some: share("pressure.cpu.some"),
        memory_some: share("pressure.memory.some"),
        memory_full: share("pressure.memory.full"),
        io_some: share("pressure.io.some"),
        io_full: share("pressure.io.full"),
    };
    (found != Pressure::default()).then_some(found)
}

#[cfg(test)]
mod tests {
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    use crate::telemetry;

    #[test]
    fn pressure_is_the_share_of_the_time_that_was_waited() {
        // 0.5 s of 2 s, and 0.5 s of the 1 s after that.
        let second = 1_000_000_000;
        let run = RunBuilder::new()
            .series(
                SeriesInfo::cumulative("pressure.io.some", "", Unit::Seconds),
                &[(0, 7.0), (2 * second, 7.5), (3 * second, 8.0)],
            )
            .finish(3 * second);
        let pressure = telemetry(&run).pressure.unwrap();
        let io = pressure.io_some.unwrap();
        assert_eq!((io.min, io.max), (0.25, 0.5));
        assert!((io.mean - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(pressure.io_full, None);
    }
}
