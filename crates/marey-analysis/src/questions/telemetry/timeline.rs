//! Readings over time, side by side.

use marey::SeriesPoint;
use serde::Serialize;

use super::cpu::n_cores;
use super::gpu_lanes::GpuLanes;
use super::sampled::Sampled;
use crate::readings::{nearest, rates};
use crate::stats::float;

/// The machine at one reading; what was not read then is absent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CpuPoint {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// Share of the machine's processor time that was spent working since the reading before.
    pub busy_ratio: Option<f64>,
    /// Memory in use on the machine.
    pub memory_used_bytes: Option<f64>,
}

/// All GPUs at one reading; what was not read then is absent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GpuPoint {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// Memory in use.
    pub memory_used_bytes: Option<f64>,
    /// Memory that they have.
    pub memory_total_bytes: Option<f64>,
    /// The highest utilisation.
    pub utilization_ratio: Option<f64>,
    /// The highest, in degrees Celsius.
    pub temperature: Option<f64>,
    /// Watts.
    pub power: Option<f64>,
}

pub(super) fn of_machine(sampled: &Sampled<'_>) -> Vec<CpuPoint> {
    let busy = sampled.points("host.cpu.busy", "").unwrap_or_default();
    let memory = sampled.points("host.memory.used", "").unwrap_or_default();
    let rates = rates(busy);
    let cores = n_cores(sampled).filter(|n| *n > 0).map(float);
    let reference = longest(&[busy, memory]);
    let busy_ratio = |at: usize| {
        let reading = nearest(busy, reference, at)?;
        let index = rates.binary_search_by_key(&reading.last_ns, |rate| rate.end_ns);
        Some((rates[index.ok()?].per_second / cores?).min(1.0))
    };
    (0..reference.len())
        .map(|at| CpuPoint {
            at_ns: reference[at].last_ns,
            busy_ratio: busy_ratio(at),
            memory_used_bytes: nearest(memory, reference, at).map(SeriesPoint::mean),
        })
        .collect()
}

pub(super) fn of_gpus(lanes: &GpuLanes) -> Vec<GpuPoint> {
    let reference =
        longest(&[&lanes.memory_used, &lanes.utilization, &lanes.temperature, &lanes.power]);
    (0..reference.len())
        .map(|at| {
            let value = |lane: &[SeriesPoint]| nearest(lane, reference, at).map(SeriesPoint::mean);
            GpuPoint {
                at_ns: reference[at].last_ns,
                memory_used_bytes: value(&lanes.memory_used),
                memory_total_bytes: value(&lanes.memory_total),
                utilization_ratio: value(&lanes.utilization),
                temperature: value(&lanes.temperature),
                power: value(&lanes.power),
            }
        })
        .collect()
}

/// The first of those with the most points.
fn longest<'a>(series: &[&'a [SeriesPoint]]) -> &'a [SeriesPoint] {
    let longest = series
        .iter()
        .copied()
        .reduce(|best, other| if other.len() > best.len() { other } else { best });
    longest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use marey::{SeriesInfo, Unit};
    use marey_testing::RunBuilder;

    use crate::telemetry;

    #[test]
    fn the_first_reading_of_a_counter_has_memory_and_no_load() {
        let second = 1_000_000_000;
        let run = RunBuilder::new()
            .with(|run| run.info.facts = vec![("host.cpus".into(), "2".into())])
            .series(
                SeriesInfo::cumulative("host.cpu.busy", "", Unit::Seconds),
                &[(0, 0.0), (second, 1.0), (2 * second, 3.0)],
            )
            .series(
                SeriesInfo::gauge("host.memory.used", "", Unit::Bytes),
                &[(0, 5.0), (second, 6.0), (2 * second, 7.0)],
            )
            .finish(2 * second);
        let timeline = telemetry(&run).cpu_timeline;
        let shown: Vec<_> = timeline.iter().map(|p| (p.busy_ratio, p.memory_used_bytes)).collect();
        let expected = [(None, Some(5.0)), (Some(0.5), Some(6.0)), (Some(1.0), Some(7.0))];
        assert_eq!(shown, expected);
    }
}
