//! GPUs that are lost, counters that fail, calls that hang.

use marey::Source;

use crate::stand_in::{FULL, StandIn, names, read, value, why};

#[test]
fn a_lost_gpu_reads_nothing_and_leaves_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let lost = folder.path().join("lost");
    let script = format!(
        "gpu GPU-1\nlost_when {}\nnvmlDeviceGetPowerUsage 1000\nnvmlDeviceGetTemperature 40\ngpu GPU-2\nnvmlDeviceGetPowerUsage 2000",
        lost.display()
    );
    let mut source = marey_gpu::source(&StandIn::new(&script).options());
    let before: Vec<f64> = read(&mut source).into_iter().map(|(_, value)| value).collect();
    assert_eq!(before, [40.0, 1.0, 2.0]);
    std::fs::write(&lost, "").unwrap();
    for _ in 0..3 {
        let after: Vec<f64> = read(&mut source).into_iter().map(|(_, value)| value).collect();
        assert!(after[0].is_nan() && after[1].is_nan(), "{after:?}");
        assert_eq!(after[2], 2.0);
    }
    std::fs::remove_file(&lost).unwrap();
    // It is tried again, rarely.
    assert!(value(&mut source, "gpu.power GPU-1").is_nan());
    let rounds = (0..1000).take_while(|_| value(&mut source, "gpu.power GPU-1").is_nan()).count();
    assert!((100..500).contains(&rounds), "{rounds}");
    assert_eq!(value(&mut source, "gpu.temperature GPU-1"), 40.0);
}

#[test]
fn a_gpu_that_is_lost_from_the_start_has_one_reason() {
    let script = "gpu GPU-1\nnvmlDeviceGetMemoryInfo_v2 !15\nnvmlDeviceGetPowerUsage !15";
    let source = marey_gpu::source(&StandIn::new(script).options());
    assert!(source.is_empty());
    let all = source.unavailable();
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].what == "GPU-1" && all[0].why.contains("fallen off the bus"));
}

#[test]
fn counters_that_fail_for_a_while_come_back() {
    let script = "gpu GPU-1\nnvmlGpmQueryDeviceSupport 1\nnvmlGpmMetricsGet 0 0 !4 !4 0\ngpm.2 50";
    let mut source = marey_gpu::source(&StandIn::new(script).options());
    assert_eq!(names(&source), ["gpu.sm.active", "gpu.pcie.sent", "gpu.pcie.received"][..1]);
    let readings: Vec<f64> = (0..400).map(|_| value(&mut source, "gpu.sm.active GPU-1")).collect();
    assert_eq!(readings[0], 0.5);
    assert!(readings[1].is_nan() && readings[2].is_nan());
    assert_eq!(readings[399], 0.5);
    assert_eq!(why(&source, "gpm GPU-1"), "");
}

#[test]
fn counters_that_go_on_failing_are_given_up_with_a_reason() {
    let script = "gpu GPU-1\nnvmlGpmQueryDeviceSupport 1\nnvmlGpmSampleGet 0 0 0 !4\ngpm.2 50";
    let mut source = marey_gpu::source(&StandIn::new(script).options());
    assert_eq!(value(&mut source, "gpu.sm.active GPU-1"), 0.5);
    let is_known = |source: &marey_gpu::GpuSource| !why(source, "gpm GPU-1").is_empty();
    assert!(!is_known(&source));
    for _ in 0..1000 {
        assert!(value(&mut source, "gpu.sm.active GPU-1").is_nan());
    }
    let why = why(&source, "gpm GPU-1");
    assert!(why.contains("given up after 5 failures") && why.contains("no permission"), "{why:?}");
}

#[test]
fn a_call_that_hangs_holds_up_its_round_only() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let script = format!("gpu GPU-1{FULL}").replace(
        "nvmlDeviceGetPowerUsage 120500",
        &format!("nvmlDeviceGetPowerUsage 1000 @{} 2000", go.display()),
    );
    let mut source = marey_gpu::source(&StandIn::new(&script).options());
    let reading = std::thread::Builder::new()
        .name("reader".into())
        .spawn(move || value(&mut source, "gpu.power GPU-1"))
        .unwrap();
    let waiting = folder.path().join("go.waiting");
    while !waiting.exists() {
        assert!(!reading.is_finished());
        std::thread::yield_now();
    }
    assert!(!reading.is_finished());
    std::fs::write(&go, "").unwrap();
    assert_eq!(reading.join().unwrap(), 2.0);
}
