use super::*;
use crate::telemetry;
use marey::{SeriesInfo, Unit};
use marey_testing::RunBuilder;

const SECOND: u64 = 1_000_000_000;

fn drawn(name: &str, uuid: &str, unit: Unit) -> SeriesInfo {
    SeriesInfo::gauge(name, uuid, unit)
}

/// Readings every half second, the first after a quarter of one.
fn every_half_second(values: &[f64]) -> Vec<(u64, f64)> {
    let at = |turn: usize| SECOND / 4 + turn as u64 * SECOND / 2;
    values.iter().enumerate().map(|(i, v)| (at(i), *v)).collect()
}

#[test]
fn a_hundred_readings_of_400_w_every_half_second_are_5_56_watt_hours() {
    let power = every_half_second(&[400.0; 100]);
    let run = RunBuilder::new()
        .series(drawn("gpu.power", "GPU-1", Unit::Watts), &power)
        .finish(50 * SECOND);
    let energy = telemetry(&run).gpus.unwrap().together.energy.unwrap();
    assert_eq!(energy.source, EnergySource::Power);
    assert!((energy.joules - 20_000.0).abs() < 1e-6, "{energy:?}");
    assert!((energy.watt_hours() - 5.555_555_6).abs() < 1e-6);
    assert_eq!(energy.over_ns, 50e9);
}

#[test]
fn what_the_gpu_counts_is_better_than_power_over_time() {
    let run = RunBuilder::new()
        .series(drawn("gpu.power", "GPU-1", Unit::Watts), &every_half_second(&[10.0; 4]))
        .series(
            SeriesInfo::cumulative("gpu.energy", "GPU-1", Unit::Joules),
            &[(0, 1000.0), (2 * SECOND, 1900.0)],
        )
        .finish(2 * SECOND);
    let energy = telemetry(&run).gpus.unwrap().each[0].energy.unwrap();
    assert_eq!((energy.joules, energy.over_ns), (900.0, 2e9));
    assert_eq!(energy.watt_hours(), 0.25);
    assert_eq!(energy.source, EnergySource::Counter);
}

/// The counter is read seldom: it says what was used from 0.5 to 1.5 s, power that of all 2 s.
#[test]
fn a_counter_that_was_read_over_less_of_the_time_than_power_is_not_taken() {
    let read = |energy: &[(u64, f64)]| {
        let run = RunBuilder::new()
            .series(
                drawn("gpu.power", "GPU-1", Unit::Watts),
                &[0, 1, 2, 3, 4].map(|n| (n * SECOND / 2, 10.0)),
            )
            .series(SeriesInfo::cumulative("gpu.energy", "GPU-1", Unit::Joules), energy)
            .finish(2 * SECOND);
        let energy = telemetry(&run).gpus.unwrap().each[0].energy.unwrap();
        (energy.joules, energy.source)
    };
    let half = [(SECOND / 2, 100.0), (3 * SECOND / 2, 112.0)];
    assert_eq!(read(&half), (20.0, EnergySource::Power));
    let whole = [(0, 90.0), (2 * SECOND, 112.0)];
    assert_eq!(read(&whole), (22.0, EnergySource::Counter));
}

#[test]
fn what_was_not_read_is_absent_and_not_zero() {
    let run = RunBuilder::new()
        .series(drawn("gpu.memory.used", "GPU-1", Unit::Bytes), &every_half_second(&[5.0, 7.0]))
        .finish(SECOND);
    let gpus = telemetry(&run).gpus.unwrap();
    let gpu = &gpus.each[0];
    assert_eq!(gpu.memory_used.unwrap().mean, 6.0);
    assert_eq!((gpu.utilization, gpu.well_used_ratio), (None, None));
    assert_eq!((gpu.power, gpu.energy), (None, None));
    assert_eq!((gpu.peak_memory_ratio, gpu.throttling), (None, None));
    assert_eq!(gpus.timeline[0].utilization_ratio, None);
    assert_eq!(telemetry(&RunBuilder::new().finish(10)).gpus, None);
}

#[test]
fn several_gpus_are_added_up_or_their_highest_counts() {
    // Memory 3+1, 5+1 and utilisation 0.2|0.8, 0.4|0.1
    let pair = |a: f64, b: f64| every_half_second(&[a, b]);
    let [memory, total, busy] = ["gpu.memory.used", "gpu.memory.total", "gpu.utilization"];
    let run = RunBuilder::new()
        .with(|run| {
            run.info.facts =
                vec![("gpu.0.uuid".into(), "GPU-b".into()), ("gpu.0.name".into(), "H200".into())];
        })
        .series(drawn(memory, "GPU-a", Unit::Bytes), &pair(3.0, 5.0))
        .series(drawn(memory, "GPU-b", Unit::Bytes), &pair(1.0, 1.0))
        .series(drawn(total, "GPU-a", Unit::Bytes), &pair(8.0, 8.0))
        .series(drawn(total, "GPU-b", Unit::Bytes), &pair(8.0, 8.0))
        .series(drawn(busy, "GPU-a", Unit::Ratio), &pair(0.2, 0.4))
        .series(drawn(busy, "GPU-b", Unit::Ratio), &pair(0.8, 0.1))
        .finish(SECOND);
    let gpus = telemetry(&run).gpus.unwrap();
    let all = &gpus.together;
    assert_eq!(all.memory_used.unwrap().max, 6.0);
    assert_eq!(all.peak_memory_ratio, Some(5.0 / 8.0));
    assert_eq!(all.utilization.unwrap().min, 0.4);
    assert_eq!(all.utilization.unwrap().max, 0.8);
    assert_eq!(all.well_used_ratio, Some(0.5));
    assert_eq!(gpus.n_readings, 2);
    assert_eq!(gpus.each[1].name.as_deref(), Some("H200"));
    assert_eq!(gpus.each[0].name, None);
}

#[test]
fn heat_is_a_risk_above_85_degrees_and_when_it_throttles() {
    let at_risk = |temperature: f64, bits: f64| {
        let run = RunBuilder::new()
            .series(
                drawn("gpu.temperature", "GPU-1", Unit::Celsius),
                &every_half_second(&[60.0, temperature]),
            )
            .series(drawn("gpu.throttle", "GPU-1", Unit::Bits), &every_half_second(&[1.0, bits]))
            .finish(SECOND);
        telemetry(&run).gpus.unwrap().is_any_at_thermal_risk()
    };
    assert_eq!(at_risk(85.0, 1.0), Some(false));
    assert_eq!(at_risk(86.0, 1.0), Some(true));
    assert_eq!(at_risk(60.0, 64.0), Some(true));
    assert_eq!(GpuUse::default().is_at_thermal_risk(), None);
}

#[test]
fn an_idle_gpu_is_not_well_used() {
    // The original said that a GPU that does nothing is 50 % efficient.
    let of = |values: &[f64]| {
        let info = drawn("gpu.utilization", "GPU-1", Unit::Ratio);
        let run = RunBuilder::new().series(info, &every_half_second(values)).finish(2 * SECOND);
        telemetry(&run).gpus.unwrap().together.well_used_ratio
    };
    assert_eq!(of(&[0.0; 4]), Some(0.0));
    assert_eq!(of(&[0.9; 4]), Some(1.0));
    assert_eq!(of(&[0.9]), None);
}
