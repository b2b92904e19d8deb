//! Which GPUs are read, and what is said about them.

use marey::Source;
use marey_gpu::Vendor;

use crate::stand_in::{FULL, StandIn, names, subjects, why};

/// Three GPUs, listed in another order than that of the bus; the second is divided.
const THREE: &str = "
nvmlSystemGetDriverVersion 550.54.15
nvmlSystemGetNVMLVersion 12.550.54.15
nvmlSystemGetCudaDriverVersion_v2 12040
gpu GPU-cc
nvmlDeviceGetName NVIDIA H100
nvmlDeviceGetPciInfo_v3 1/1/0
nvmlDeviceGetPowerUsage 3000
gpu GPU-aa
nvmlDeviceGetName NVIDIA H100
nvmlDeviceGetPciInfo_v3 0/1/0
nvmlDeviceGetMigMode 0/0
nvmlDeviceGetPowerUsage 1000
gpu GPU-bb
nvmlDeviceGetName NVIDIA H100
nvmlDeviceGetPciInfo_v3 0/200/0
nvmlDeviceGetMigMode 1/1
nvmlDeviceGetPowerUsage 2000
mig MIG-b1
nvmlDeviceGetName NVIDIA H100 MIG 1g.10gb
nvmlDeviceGetMemoryInfo_v2 10000/500/9500
nvmlDeviceGetPowerUsage !2
mig MIG-b2
nvmlDeviceGetMemoryInfo_v2 20000/600/19400
";

#[test]
fn a_process_reads_the_gpus_that_its_variables_give_it() {
    let stand_in = StandIn::new(THREE);
    let cases: [(Option<&str>, Option<u32>, Option<u32>, &[&str]); 11] = [
        (None, None, None, &["GPU-aa", "MIG-b1", "GPU-cc"]),
        (Some("2"), None, None, &["GPU-cc"]),
        (Some("GPU-cc,GPU-aa"), None, None, &["GPU-aa", "GPU-cc"]),
        (Some("MIG-b2"), None, None, &["MIG-b2"]),
        (Some("1"), None, None, &["MIG-b1"]),
        (Some(""), None, None, &[]),
        (Some("7"), None, None, &[]),
        (None, Some(0), Some(2), &["GPU-aa"]),
        // The numbers of a list are places of a rank's.
        (Some("2,0"), Some(0), Some(2), &["GPU-cc"]),
        (Some("0,2"), Some(3), None, &["GPU-cc"]),
        (Some("0,2"), Some(0), Some(1), &["GPU-aa", "GPU-cc"]),
    ];
    for (list, rank, size, expected) in cases {
        let mut options = stand_in.options();
        options.visible_devices = list.map(str::to_owned);
        (options.local_rank, options.local_world_size) = (rank, size);
        let source = marey_gpu::source(&options);
        assert_eq!(subjects(&source), expected, "{list:?} {rank:?} {size:?}");
    }
}

#[test]
fn none_left_is_said() {
    let stand_in = StandIn::new(THREE);
    let mut options = stand_in.options();
    options.visible_devices = Some("-1".into());
    let reason = why(&marey_gpu::source(&options), "nvml");
    assert!(
        reason.contains("CUDA_VISIBLE_DEVICES=\"-1\"") && reason.contains("3 GPUs"),
        "{reason}"
    );
}

#[test]
fn all_devices_are_all_gpus_and_their_instances() {
    let stand_in = StandIn::new(THREE);
    let mut options = stand_in.options();
    options.visible_devices = Some("0".into());
    options.all_devices = true;
    let source = marey_gpu::source(&options);
    assert_eq!(subjects(&source), ["GPU-aa", "GPU-bb", "MIG-b1", "MIG-b2", "GPU-cc"]);
}

#[test]
fn an_instance_says_what_only_the_whole_gpu_has() {
    let stand_in = StandIn::new(THREE);
    let mut options = stand_in.options();
    options.visible_devices = Some("MIG-b1".into());
    let source = marey_gpu::source(&options);
    assert_eq!(names(&source), ["gpu.memory.used", "gpu.memory.total"]);
    for what in ["gpu.power MIG-b1", "gpu.utilization MIG-b1", "gpm MIG-b1"] {
        assert!(why(&source, what).contains("MIG"), "{what}: {:?}", why(&source, what));
    }
}

#[test]
fn facts_name_the_gpus_and_the_versions() {
    let stand_in = StandIn::new(&format!(
        "nvmlSystemGetDriverVersion 550.54.15\nnvmlSystemGetNVMLVersion 12.550.54.15\nnvmlSystemGetCudaDriverVersion_v2 12040\ngpu GPU-1{FULL}"
    ));
    let facts = marey_gpu::source(&stand_in.options()).facts();
    let facts: Vec<(&str, &str)> =
        facts.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let expected = [
        ("nvidia.driver", "550.54.15"),
        ("nvidia.nvml", "12.550.54.15"),
        ("nvidia.cuda", "12.4"),
        ("gpu.0.name", "NVIDIA H200"),
        ("gpu.0.uuid", "GPU-1"),
        ("gpu.0.index", "0"),
        ("gpu.0.memory_bytes", "141000"),
        ("gpu.0.pci", "00000000:01:00.0"),
        ("gpu.0.compute_capability", "9.0"),
    ];
    assert_eq!(facts, expected);
}

#[test]
fn models_that_differ_make_the_order_a_matter() {
    let fact = |script: &str, pci_bus_order| {
        let stand_in = StandIn::new(script);
        let mut options = stand_in.options();
        options.pci_bus_order = pci_bus_order;
        let facts = marey_gpu::source(&options).facts();
        facts.into_iter().find(|(key, _)| key == "nvidia.order").map(|(_, value)| value)
    };
    let mixed = THREE.replacen("NVIDIA H100", "NVIDIA L4", 1);
    assert!(fact(&mixed, false).unwrap().contains("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
    assert_eq!(fact(&mixed, true), None);
    assert_eq!(fact(THREE, false), None);
}

#[test]
fn a_description_has_all_gpus_and_says_which_are_the_processes_own() {
    let stand_in = StandIn::new(THREE);
    let mut options = stand_in.options();
    options.visible_devices = Some("GPU-cc,MIG-b2".into());
    options.local_rank = Some(1);
    let found = marey_gpu::devices(&options);
    assert_eq!(found.fact("nvidia.driver"), Some("550.54.15"));
    assert_eq!(found.unavailable, []);
    let brief = |device: &marey_gpu::DeviceDescription| {
        (device.subject.clone(), device.index, device.mig, device.is_own)
    };
    let briefs: Vec<_> = found.devices.iter().map(brief).collect();
    let expected = [
        ("GPU-aa", 0, Some("off"), false),
        ("GPU-bb", 1, Some("on"), false),
        ("MIG-b1", 1, Some("instance"), false),
        ("MIG-b2", 1, Some("instance"), true),
        ("GPU-cc", 2, None, false),
    ];
    assert_eq!(briefs, expected.map(|(uuid, index, mig, own)| (uuid.to_owned(), index, mig, own)));
    let instance = &found.devices[3];
    assert_eq!((instance.vendor, instance.memory_bytes), (Vendor::Nvidia, Some(20_000)));
    assert_eq!(instance.metrics, ["gpu.memory.used", "gpu.memory.total"]);
    assert!(!instance.unavailable.is_empty());
}
