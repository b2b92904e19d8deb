//! Readings are what the library says, in the units of the series.

use marey::{SeriesKind, Source, Unit};

use crate::stand_in::{FULL, StandIn, names, read, value};

#[test]
fn every_reading_is_what_the_library_says_in_the_unit_of_its_series() {
    let stand_in = StandIn::new(&format!("gpu GPU-1{FULL}"));
    let mut source = marey_gpu::source(&stand_in.options());
    let series = source.series();
    let units = series.iter().map(|series| (series.unit, series.kind));
    let read: Vec<_> = read(&mut source);
    let read: Vec<_> =
        read.iter().zip(units).map(|((name, value), unit)| (name.as_str(), *value, unit)).collect();
    let gauge = |unit| (unit, SeriesKind::Gauge);
    let expected = [
        ("gpu.memory.used GPU-1", Some(1000.0), gauge(Unit::Bytes)),
        ("gpu.memory.total GPU-1", Some(141_000.0), gauge(Unit::Bytes)),
        // The process is not listed, so nobody knows.
        ("gpu.memory.process GPU-1", None, gauge(Unit::Bytes)),
        ("gpu.utilization GPU-1", Some(0.5), gauge(Unit::Ratio)),
        ("gpu.memory_controller.utilization GPU-1", Some(0.2), gauge(Unit::Ratio)),
        ("gpu.temperature GPU-1", Some(41.0), gauge(Unit::Celsius)),
        ("gpu.power GPU-1", Some(120.5), gauge(Unit::Watts)),
        ("gpu.power.limit GPU-1", Some(700.0), gauge(Unit::Watts)),
        // Millijoules.
        ("gpu.energy GPU-1", Some(5.0), (Unit::Joules, SeriesKind::Cumulative)),
        ("gpu.clock.sm GPU-1", Some(1.98e9), gauge(Unit::Hertz)),
        ("gpu.clock.memory GPU-1", Some(3.201e9), gauge(Unit::Hertz)),
        ("gpu.throttle GPU-1", Some(4.0), gauge(Unit::Bits)),
        ("gpu.pcie.sent GPU-1", Some(12_000.0), gauge(Unit::BytesPerSecond)),
        ("gpu.pcie.received GPU-1", Some(34_000.0), gauge(Unit::BytesPerSecond)),
        ("gpu.ecc.corrected GPU-1", Some(3.0), (Unit::Count, SeriesKind::Cumulative)),
        ("gpu.ecc.uncorrected GPU-1", Some(0.0), (Unit::Count, SeriesKind::Cumulative)),
    ];
    assert_eq!(read.len(), expected.len(), "{read:?}");
    for ((name, value, unit), (expected_name, expected, expected_unit)) in
        read.into_iter().zip(expected)
    {
        assert_eq!((name, unit), (expected_name, expected_unit));
        let is_equal = expected.map_or(value.is_nan(), |expected| (value - expected).abs() < 1e-6);
        assert!(is_equal, "{name}: {value}");
    }
}

#[test]
fn a_call_that_waits_is_not_made_in_every_round() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    // The probe, a call that takes as long as the test lets it, and what would be read if it were asked again.
    let answers = format!("nvmlDeviceGetPcieThroughput.0 1 @{} 2 3", go.display());
    let script = format!("gpu GPU-1\n{answers}\nnvmlDeviceGetPowerUsage 5000");
    let mut source = marey_gpu::source(&StandIn::new(&script).options());
    let waiting = folder.path().join("go.waiting");
    let reading = std::thread::Builder::new()
        .name("reader".into())
        .spawn(move || {
            let first = read(&mut source);
            let rounds = (0..50).map(|_| (read(&mut source), marey::unix_ns()));
            (first, rounds.collect::<Vec<_>>())
        })
        .unwrap();
    while !waiting.exists() {
        assert!(!reading.is_finished());
        std::thread::yield_now();
    }
    let begun = marey::unix_ns();
    while marey::unix_ns() < begun + 20_000_000 {
        std::thread::yield_now();
    }
    std::fs::write(&go, "").unwrap();
    let (first, rounds) = reading.join().unwrap();
    assert_eq!(
        first,
        [("gpu.power GPU-1".to_owned(), 5.0), ("gpu.pcie.sent GPU-1".to_owned(), 2000.0)]
    );
    let mut readings = rounds.iter().map(|(round, _)| round);
    assert!(readings.all(|round| round[0].1 == 5.0));
    // It took 20 ms, so for far longer than these rounds it is not asked again.
    assert!(
        rounds[49].1 > begun + 400_000_000 || rounds.iter().all(|(round, _)| round[1].1.is_nan())
    );
}

#[test]
fn what_is_asked_seldom_is_asked_again() {
    let script = "gpu GPU-1\nnvmlDeviceGetEnforcedPowerLimit 1 1000 2000";
    let mut source = marey_gpu::source(&StandIn::new(script).options());
    assert_eq!(value(&mut source, "gpu.power.limit GPU-1"), 1.0);
    while value(&mut source, "gpu.power.limit GPU-1").is_nan() {}
}

#[test]
fn two_gpus_have_series_of_their_own() {
    let script = "
gpu GPU-1
nvmlDeviceGetPciInfo_v3 0/1/0
nvmlDeviceGetPowerUsage 100000
gpu GPU-2
nvmlDeviceGetPciInfo_v3 0/2/0
nvmlDeviceGetPowerUsage 200000 210000 220000
";
    let stand_in = StandIn::new(script);
    let mut source = marey_gpu::source(&stand_in.options());
    // The first answer went to the probe at the start.
    for expected in [210.0, 220.0, 220.0] {
        let found =
            [("gpu.power GPU-1".to_owned(), 100.0), ("gpu.power GPU-2".to_owned(), expected)];
        assert_eq!(read(&mut source), found);
    }
}

#[test]
fn no_power_is_a_reading_and_an_error_is_none() {
    let stand_in = StandIn::new("gpu GPU-1\nnvmlDeviceGetPowerUsage 0 0 !999 !10 0 7000");
    let mut source = marey_gpu::source(&stand_in.options());
    let readings: Vec<f64> = (0..5).map(|_| value(&mut source, "gpu.power GPU-1")).collect();
    assert!(readings[1].is_nan() && readings[2].is_nan(), "{readings:?}");
    assert_eq!((readings[0], readings[3], readings[4]), (0.0, 0.0, 7.0));
}

#[test]
fn an_error_at_the_start_that_may_pass_leaves_the_series() {
    let stand_in = StandIn::new("gpu GPU-1\nnvmlDeviceGetPowerUsage !10 5000");
    let mut source = marey_gpu::source(&stand_in.options());
    assert_eq!(read(&mut source), [("gpu.power GPU-1".to_owned(), 5.0)]);
}

#[test]
fn memory_of_this_process_is_found_under_the_number_outside_its_container() {
    let processes = "nvmlDeviceGetComputeRunningProcesses_v3 -";
    let drawing = "nvmlDeviceGetGraphicsRunningProcesses_v3 -";
    let memory = |processes: &str, drawing: &str| {
        let stand_in = StandIn::new(&format!("gpu GPU-1\n{processes}\n{drawing}"));
        std::fs::create_dir_all(stand_in.path("proc/17")).unwrap();
        std::fs::write(stand_in.path("proc/17/status"), "Name:\tpython\nNSpid:\t4711\t17\n")
            .unwrap();
        let mut options = stand_in.options();
        options.pid = 17;
        value(&mut marey_gpu::source(&options), "gpu.memory.process GPU-1")
    };
    assert!(memory(processes, drawing).is_nan());
    let listed = "nvmlDeviceGetComputeRunningProcesses_v3 99=5,4711=1000";
    assert_eq!(memory(listed, drawing), 1000.0);
    // Both lists give the same figure of a process that computes and draws.
    let drawn = "nvmlDeviceGetGraphicsRunningProcesses_v3 4711=1000";
    assert_eq!(memory(listed, drawn), 1000.0);
    assert_eq!(memory(processes, drawn), 1000.0);
    // The driver lists the process and does not say what it holds.
    assert!(memory("nvmlDeviceGetComputeRunningProcesses_v3 4711=?", drawing).is_nan());
    assert!(memory("nvmlDeviceGetComputeRunningProcesses_v3 99=5", drawing).is_nan());
}

#[test]
fn what_is_switched_off_has_no_series() {
    let stand_in = StandIn::new(&format!("gpu GPU-1{FULL}"));
    let mut options = stand_in.options();
    (options.memory, options.utilization) = (false, false);
    let source = marey_gpu::source(&options);
    assert_eq!(names(&source), ["gpu.temperature", "gpu.power", "gpu.power.limit", "gpu.energy"]);
    assert_eq!(source.unavailable(), []);
    (options.temperature, options.power) = (false, false);
    assert!(marey_gpu::source(&options).is_empty());
}

const GPM: &str = "
gpu GPU-1
nvmlGpmQueryDeviceSupport 1
gpm.2 10 50
gpm.3 10 25.5
gpm.5 0
gpm.10 nan
gpm.11 !3
gpm.12 101
gpm.13 -7
gpm.20 1 2
gpm.21 1 3
nvmlDeviceGetPcieThroughput.0 9999
nvmlDeviceGetPcieThroughput.1 9999
";

#[test]
fn counters_of_units_are_shares_and_stand_for_the_slow_call() {
    let stand_in = StandIn::new(GPM);
    let mut source = marey_gpu::source(&stand_in.options());
    let expected = [
        ("gpu.sm.active GPU-1", 0.5),
        ("gpu.sm.occupancy GPU-1", 0.255),
        ("gpu.tensor.active GPU-1", 0.0),
        ("gpu.dram.active GPU-1", f64::NAN),
        ("gpu.fp16.active GPU-1", f64::NAN),
        ("gpu.fp32.active GPU-1", 1.0),
        ("gpu.pcie.sent GPU-1", 2.0 * 1024.0 * 1024.0),
        ("gpu.pcie.received GPU-1", 3.0 * 1024.0 * 1024.0),
    ];
    // Far more rounds than the stand-in gives samples, if they were not handed back.
    for _ in 0..200 {
        let read = read(&mut source);
        assert_eq!(read.len(), expected.len(), "{read:?}");
        for ((name, value), (expected_name, expected)) in read.iter().zip(expected) {
            assert_eq!(name, expected_name);
            let is_equal = (value - expected).abs() < 1e-9 || value.is_nan() && expected.is_nan();
            assert!(is_equal, "{name}: {value}");
        }
    }
}
