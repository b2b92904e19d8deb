//! AMD GPUs, against made-up files: no machine with one was at hand.

use std::path::Path;

use marey::Source;
use marey_gpu::{GpuOptions, Vendor};

use crate::stand_in::{names, options, read, subjects, value, why};

/// A root without NVIDIA's library, and with files.
fn root(files: &[(&str, &str)]) -> (tempfile::TempDir, GpuOptions) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(root.path(), path, text);
    }
    let mut options = options(root.path());
    options.library = Some(root.path().join("none"));
    (root, options)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join("sys").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("{text}\n")).unwrap();
}

const CARD: [(&str, &str); 20] = [
    ("module/amdgpu/version", "6.8.5"),
    // Intel's graphics of the same machine, and a connector of the card.
    ("class/drm/card0/device/vendor", "0x8086"),
    ("class/drm/card1-DP-1/status", "connected"),
    ("class/drm/card1/device/vendor", "0x1002"),
    ("class/drm/card1/device/device", "0x744c"),
    ("class/drm/card1/device/uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0"),
    ("class/drm/card1/device/unique_id", "8a4e2e9d1d2a3f10"),
    ("class/drm/card1/device/gpu_busy_percent", "75"),
    ("class/drm/card1/device/mem_busy_percent", "5"),
    ("class/drm/card1/device/mem_info_vram_used", "2147483648"),
    ("class/drm/card1/device/mem_info_vram_total", "25753026560"),
    ("class/drm/card1/device/hwmon/hwmon4/temp1_label", "junction"),
    ("class/drm/card1/device/hwmon/hwmon4/temp1_input", "61000"),
    ("class/drm/card1/device/hwmon/hwmon4/temp2_label", "edge"),
    ("class/drm/card1/device/hwmon/hwmon4/temp2_input", "54500"),
    ("class/drm/card1/device/hwmon/hwmon4/power1_average", "213000000"),
    ("class/drm/card1/device/hwmon/hwmon4/power1_cap", "339000000"),
    ("class/drm/card1/device/hwmon/hwmon4/freq1_input", "2304000000"),
    ("class/drm/card1/device/hwmon/hwmon4/freq2_label", "mclk"),
    ("class/drm/card1/device/hwmon/hwmon4/freq2_input", "1249000000"),
];

const CARD_NAME: &str = "GPU-8a4e2e9d1d2a3f10";

#[test]
fn every_reading_is_what_the_files_say_in_the_unit_of_its_series() {
    let (_root, options) = root(&CARD);
    let mut source = marey_gpu::source(&options);
    let expected = [
        ("gpu.memory.used", 2_147_483_648.0),
        ("gpu.memory.total", 25_753_026_560.0),
        ("gpu.utilization", 0.75),
        ("gpu.memory_controller.utilization", 0.05),
        ("gpu.temperature", 54.5),
        ("gpu.power", 213.0),
        ("gpu.power.limit", 339.0),
        ("gpu.clock.sm", 2.304e9),
        ("gpu.clock.memory", 1.249e9),
    ];
    let read = read(&mut source);
    assert_eq!(read.len(), expected.len(), "{read:?}");
    for ((name, value), (expected_name, expected)) in read.into_iter().zip(expected) {
        assert_eq!(name, format!("{expected_name} {CARD_NAME}"));
        assert!((value - expected).abs() < 1e-6, "{name}: {value}");
    }
    // That NVIDIA's library is missing needs no word here.
    assert_eq!(source.unavailable(), []);
    let facts = source.facts();
    for (key, expected) in [
        ("amd.driver", "6.8.5"),
        ("gpu.0.name", "AMD GPU 0x744c"),
        ("gpu.0.uuid", CARD_NAME),
        ("gpu.0.pci", "0000:03:00.0"),
        ("gpu.0.memory_bytes", "25753026560"),
    ] {
        assert!(facts.contains(&(key.to_owned(), expected.to_owned())), "{key}: {facts:?}");
    }
}

#[test]
fn files_are_read_anew_in_every_round() {
    let (root, options) = root(&CARD);
    let mut source = marey_gpu::source(&options);
    let name = format!("gpu.utilization {CARD_NAME}");
    assert_eq!(value(&mut source, &name), 0.75);
    write(root.path(), "class/drm/card1/device/gpu_busy_percent", "0");
    assert_eq!(value(&mut source, &name), 0.0);
    // As the kernel answers while the card sleeps: no number.
    write(root.path(), "class/drm/card1/device/gpu_busy_percent", "");
    assert!(value(&mut source, &name).is_nan());
    assert_eq!(value(&mut source, &format!("gpu.power {CARD_NAME}")), 213.0);
}

#[test]
fn a_card_with_few_files_has_few_series() {
    let (_root, options) = root(&[
        ("class/drm/card0/device/vendor", "0x1002"),
        ("class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:0c:00.0"),
        ("class/drm/card0/device/gpu_busy_percent", "10"),
        ("class/drm/card0/device/hwmon/hwmon0/power1_input", "90000000"),
        ("class/drm/card0/device/hwmon/hwmon0/temp1_input", "40000"),
    ]);
    let mut source = marey_gpu::source(&options);
    assert_eq!(names(&source), ["gpu.utilization", "gpu.temperature", "gpu.power"]);
    assert_eq!(value(&mut source, "gpu.power 0000:0c:00.0"), 90.0);
    assert!(why(&source, "gpu.memory.used 0000:0c:00.0").contains("amdgpu has no file"));
}

#[test]
fn cards_are_chosen_in_the_order_of_the_bus() {
    let (_root, options) = root(&[
        ("class/drm/card0/device/vendor", "0x1002"),
        ("class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:c3:00.0"),
        ("class/drm/card0/device/gpu_busy_percent", "1"),
        ("class/drm/card1/device/vendor", "0x1002"),
        ("class/drm/card1/device/uevent", "PCI_SLOT_NAME=0000:03:00.0"),
        ("class/drm/card1/device/gpu_busy_percent", "2"),
        ("class/drm/card2/device/vendor", "0x1002"),
        ("class/drm/card2/device/uevent", "PCI_SLOT_NAME=0000:43:00.0"),
        ("class/drm/card2/device/unique_id", "77"),
        ("class/drm/card2/device/gpu_busy_percent", "3"),
    ]);
    let (first, second, third) = ("0000:03:00.0", "GPU-77", "0000:c3:00.0");
    let cases: [(Option<&str>, Option<&str>, Option<u32>, &[&str]); 7] = [
        (None, None, None, &[first, second, third]),
        (Some("2"), None, None, &[third]),
        (Some("GPU-77"), None, None, &[second]),
        // HIP counts what the runtime left.
        (Some("1,2"), Some("1"), None, &[third]),
        (None, Some("0,2"), Some(1), &[third]),
        (None, None, Some(1), &[second]),
        (Some(""), None, None, &[]),
    ];
    for (rocr, hip, rank, expected) in cases {
        let options = GpuOptions {
            rocr_visible_devices: rocr.map(str::to_owned),
            hip_visible_devices: hip.map(str::to_owned),
            local_rank: rank,
            ..options.clone()
        };
        let source = marey_gpu::source(&options);
        assert_eq!(subjects(&source), expected, "{rocr:?} {hip:?} {rank:?}");
        let own = marey_gpu::devices(&options).devices;
        assert_eq!(own.len(), 3);
        assert!(own.iter().all(|one| one.vendor == Vendor::Amd
            && one.is_own == expected.contains(&one.subject.as_str())));
    }
}

#[test]
fn what_a_gpu_borrows_of_the_machine_stands_beside_its_own_memory() {
    let (vram, gtt) = ((4_187_593_113.0, 4_294_967_296.0), (21_474_836_480.0, 30_064_771_072.0));
    let files = [
        ("class/drm/card0/device/vendor", "0x1002"),
        ("class/drm/card0/device/device", "0x150e"),
        ("class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:c4:00.0"),
        ("class/drm/card0/device/mem_info_vram_used", "4187593113"),
        ("class/drm/card0/device/mem_info_vram_total", "4294967296"),
        ("class/drm/card0/device/mem_info_gtt_used", "21474836480"),
        ("class/drm/card0/device/mem_info_gtt_total", "30064771072"),
        ("class/drm/card0/device/gpu_busy_percent", "97"),
    ];
    let (root, options) = root(&files);
    let read_all = || {
        let mut source = marey_gpu::source(&options);
        for (name, bytes) in
            [("used", vram.0), ("total", vram.1), ("borrowed", gtt.0), ("borrowable", gtt.1)]
        {
            assert_eq!(value(&mut source, &format!("gpu.memory.{name} 0000:c4:00.0")), bytes);
        }
        let fact = ("gpu.0.shares_memory".to_owned(), "true".to_owned());
        (why(&source, "gpu.memory.own 0000:c4:00.0"), source.facts().contains(&fact))
    };
    assert_eq!(read_all(), ("this GPU uses the machine's memory".to_owned(), true));
    // The driver counts how busy memory is of cards only.
    write(root.path(), "class/drm/card0/device/mem_busy_percent", "5");
    assert_eq!(read_all(), (String::new(), false));
}
