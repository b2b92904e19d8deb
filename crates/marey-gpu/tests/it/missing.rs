//! What is not there is absent, with a reason, and takes nothing else with it.

use marey::Source;

use crate::stand_in::{FULL, StandIn, names, options, value, why};

/// A script of a GPU with everything, one line changed.
fn full_but(function: &str, answer: &str) -> String {
    let lines = FULL.lines().map(|line| {
        if line.starts_with(function) { format!("{function} {answer}") } else { line.to_owned() }
    });
    format!("gpu GPU-1\n{}", lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn one_metric_that_is_not_supported_leaves_the_others() {
    let all = names(&marey_gpu::source(&StandIn::new(&format!("gpu GPU-1{FULL}")).options()));
    let cases = [
        ("nvmlDeviceGetMemoryInfo_v2", "gpu.memory.used"),
        ("nvmlDeviceGetComputeRunningProcesses_v3", "gpu.memory.process"),
        ("nvmlDeviceGetUtilizationRates", "gpu.utilization"),
        ("nvmlDeviceGetTemperature", "gpu.temperature"),
        ("nvmlDeviceGetPowerUsage", "gpu.power"),
        ("nvmlDeviceGetEnforcedPowerLimit", "gpu.power.limit"),
        ("nvmlDeviceGetTotalEnergyConsumption", "gpu.energy"),
        ("nvmlDeviceGetClockInfo.1", "gpu.clock.sm"),
        ("nvmlDeviceGetClockInfo.2", "gpu.clock.memory"),
        ("nvmlDeviceGetCurrentClocksThrottleReasons", "gpu.throttle"),
        ("nvmlDeviceGetPcieThroughput.0", "gpu.pcie.sent"),
        ("nvmlDeviceGetTotalEccErrors.0", "gpu.ecc.corrected"),
    ];
    for (function, metric) in cases {
        let stand_in = StandIn::new(&full_but(function, "!3"));
        let source = marey_gpu::source(&stand_in.options());
        // Two values of one answer are missing together.
        let missing: &[&str] = match metric {
            "gpu.memory.used" => &["gpu.memory.used", "gpu.memory.total"],
            "gpu.utilization" => &["gpu.utilization", "gpu.memory_controller.utilization"],
            one => &[one],
        };
        let left: Vec<_> = all.iter().filter(|name| !missing.contains(&name.as_str())).collect();
        assert_eq!(names(&source).iter().collect::<Vec<_>>(), left, "{function}");
        for metric in missing {
            let why = why(&source, &format!("{metric} GPU-1"));
            assert!(why.contains("not supported"), "{metric}: {why:?}");
        }
    }
}

#[test]
fn a_symbol_that_an_old_library_lacks_leaves_the_others() {
    let all = names(&marey_gpu::source(&StandIn::new(&format!("gpu GPU-1{FULL}")).options()));
    let lacks = ["nvmlDeviceGetTotalEnergyConsumption", "nvmlGpmQueryDeviceSupport"];
    let stand_in = StandIn::without(&lacks, &format!("gpu GPU-1{FULL}"));
    let source = marey_gpu::source(&stand_in.options());
    let left: Vec<_> = all.iter().filter(|name| *name != "gpu.energy").collect();
    assert_eq!(names(&source).iter().collect::<Vec<_>>(), left);
    for what in ["gpu.energy GPU-1", "gpm GPU-1"] {
        let why = why(&source, what);
        assert!(why.contains("a newer driver"), "{what}: {why:?}");
    }
}

#[test]
fn what_wants_more_rights_says_so() {
    let script = full_but("nvmlDeviceGetPowerUsage", "!4")
        + "\nnvmlGpmQueryDeviceSupport 1\nnvmlGpmSampleGet !4";
    let source = marey_gpu::source(&StandIn::new(&script).options());
    assert!(why(&source, "gpu.power GPU-1").contains("no permission"));
    assert!(why(&source, "gpm GPU-1").contains("SYS_ADMIN"));
    assert!(!names(&source).contains(&"gpu.power".to_owned()));
}

#[test]
fn without_a_library_there_are_no_series_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let nowhere = folder.path().join("libnvidia-ml.so.1");
    options.library = Some(nowhere.clone());
    let mut source = marey_gpu::source(&options);
    assert!(source.is_empty());
    assert_eq!((source.series(), source.facts()), (vec![], vec![]));
    assert!(why(&source, "nvml").contains(nowhere.to_str().unwrap()));
    source.read(&mut []);
    assert!(marey_gpu::devices(&options).devices.is_empty());
}

#[test]
fn a_library_of_something_else_is_no_driver() {
    let stand_in = StandIn::without(&["nvmlInit_v2"], "");
    let source = marey_gpu::source(&stand_in.options());
    assert!(source.is_empty());
    assert!(why(&source, "nvml").contains("nvmlInit_v2"));
    std::fs::write(stand_in.path("other.so"), "no library at all").unwrap();
    let mut options = stand_in.options();
    options.library = Some(stand_in.path("other.so"));
    assert!(why(&marey_gpu::source(&options), "nvml").contains("other.so"));
}

#[test]
fn a_driver_that_cannot_be_asked_says_why() {
    for (code, expected) in [
        (9, "not loaded"),
        (18, "different versions"),
        (4, "no permission"),
        (999, "cannot be asked"),
    ] {
        let stand_in = StandIn::new(&format!("nvmlInit_v2 !{code}\ngpu GPU-1{FULL}"));
        let source = marey_gpu::source(&stand_in.options());
        assert!(source.is_empty());
        let why = why(&source, "nvml");
        assert!(why.contains(expected), "{code}: {why:?}");
    }
}

#[test]
fn a_driver_that_comes_later_is_found_then() {
    let stand_in = StandIn::new("nvmlInit_v2 !9");
    assert!(marey_gpu::source(&stand_in.options()).is_empty());
    std::fs::write(stand_in.script(), format!("gpu GPU-1{FULL}")).unwrap();
    assert!(!marey_gpu::source(&stand_in.options()).is_empty());
}

#[test]
fn a_driver_without_a_gpu_says_so() {
    let source = marey_gpu::source(&StandIn::new("nvmlSystemGetDriverVersion 550.54.15").options());
    assert!(why(&source, "nvml").contains("has no GPU"));
    assert_eq!(source.facts(), [("nvidia.driver".to_owned(), "550.54.15".to_owned())]);
}

#[test]
fn a_gpu_that_may_not_be_opened_leaves_the_others() {
    let script = "
gpu GPU-1
nvmlDeviceGetHandleByIndex_v2 !4
gpu GPU-2
nvmlDeviceGetPowerUsage 1000
";
    let source = marey_gpu::source(&StandIn::new(script).options());
    assert_eq!(names(&source), ["gpu.power"]);
    assert!(why(&source, "GPU 0").contains("control group"));
}

#[test]
fn what_a_driver_of_wsl_does_not_say_has_a_reason_and_is_no_number() {
    let listed = format!("{}=?", std::process::id());
    let script = full_but("nvmlDeviceGetUtilizationRates", "!3")
        .replace(
            "nvmlDeviceGetComputeRunningProcesses_v3 -",
            &format!("nvmlDeviceGetComputeRunningProcesses_v3 {listed}"),
        )
        .replace("141000/1000/139000", "17171480576/15057551360/2113929216");
    let mut source = marey_gpu::source(&StandIn::new(&script).options());
    assert_eq!(value(&mut source, "gpu.memory.used GPU-1"), 15_057_551_360.0);
    assert_eq!(value(&mut source, "gpu.memory.total GPU-1"), 17_171_480_576.0);
    assert!(value(&mut source, "gpu.memory.process GPU-1").is_nan());
    assert!(why(&source, "gpu.memory.process GPU-1").contains("does not say"));
    assert!(!names(&source).contains(&"gpu.utilization".to_owned()));
    assert!(why(&source, "gpu.utilization GPU-1").contains("not supported"));
}

/// What is known of a GPU's own memory: its series, why there is none, and whether a capture keeps it.
fn own_memory(script: &str, machine: &str) -> (Vec<String>, [String; 2], bool) {
    let stand_in = StandIn::new(script);
    std::fs::create_dir_all(stand_in.path("proc")).unwrap();
    std::fs::write(stand_in.path("proc/meminfo"), machine).unwrap();
    let source = marey_gpu::source(&stand_in.options());
    let of_memory =
        |name: &String| ["gpu.memory.used", "gpu.memory.total"].contains(&name.as_str());
    let reasons = ["gpu.memory.own GPU-1", "gpu.memory.used GPU-1"].map(|what| why(&source, what));
    let fact = ("gpu.0.shares_memory".to_owned(), "true".to_owned());
    let names = names(&source).into_iter().filter(of_memory).collect();
    (names, reasons, source.facts().contains(&fact))
}

#[test]
fn a_gpu_that_uses_the_machines_memory_says_so() {
    let shares = "this GPU uses the machine's memory".to_owned();
    let machine = "MemTotal:       127600748 kB\nMemFree: 1 kB\n";
    // The driver of a GB10 says nothing of memory.
    let silent = full_but("nvmlDeviceGetMemoryInfo_v2", "!3").replace("NVIDIA H200", "NVIDIA GB10");
    assert_eq!(own_memory(&silent, machine), (vec![], [shares.clone(), shares.clone()], true));
    // Others say what the machine has, 121.7 GiB.
    let whole = full_but("nvmlDeviceGetMemoryInfo_v2", "130663165952/9250000000/121413165952");
    let both = vec!["gpu.memory.used".to_owned(), "gpu.memory.total".to_owned()];
    assert_eq!(own_memory(&whole, machine), (both.clone(), [shares, String::new()], true));
    // A card of its own, in a machine with nearly as much.
    let near = "MemTotal:       127600744 kB\n";
    assert_eq!(own_memory(&whole, near), (both, [String::new(), String::new()], false));
}
