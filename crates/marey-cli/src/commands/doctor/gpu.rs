//! The GPUs, and what can be read of each.

use std::time::Duration;

use marey::Unavailable;
use marey_gpu::{DeviceDescription, Devices, GpuOptions, Vendor};
use marey_report::quantity::bytes;

use super::State::{Available, Limited, NotAvailable};
use super::{Check, within};

const NAME: &str = "gpu";

/// A driver that has not answered by then hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// One line for each GPU; one that says why where there is none.
pub(super) fn checks() -> Vec<Check> {
    found_within(PATIENCE, || marey_gpu::devices(&GpuOptions::default()))
}

/// The checks of what is found in that time; the search goes on behind it.
fn found_within(patience: Duration, find: impl FnOnce() -> Devices + Send + 'static) -> Vec<Check> {
    match within(patience, find) {
        Ok(Some(found)) => of_devices(&found),
        Ok(None) => missing(format!(
            "the driver has not answered within {} s; nvidia-smi should hang, too, until the driver is loaded anew",
            patience.as_secs()
        )),
        Err(_) => missing("no thread is to be had".into()),
    }
}

fn missing(why: String) -> Vec<Check> {
    vec![Check::new(NAME, (NotAvailable, why))]
}

fn of_devices(found: &Devices) -> Vec<Check> {
    if found.devices.is_empty() {
        let reasons: Vec<&str> = found.unavailable.iter().map(|one| one.why.as_str()).collect();
        return missing(format!(
            "{}; no AMD GPU; GPU utilisation, memory, power and temperature are not measured",
            reasons.join("; ")
        ));
    }
    let devices = found.devices.iter().map(|device| {
        let state = match (device.metrics.is_empty(), device.unavailable.is_empty()) {
            (true, _) => NotAvailable,
            (false, true) => Available,
            (false, false) => Limited,
        };
        Check::new(NAME, (state, format!("{}; {}", identity(device, found), measured(device))))
    });
    let others = found.unavailable.iter();
    devices.chain(others.flat_map(|one| missing(format!("{}: {}", one.what, one.why)))).collect()
}

fn identity(device: &DeviceDescription, found: &Devices) -> String {
    let driver = match device.vendor {
        Vendor::Nvidia => found.fact("nvidia.driver").map(|version| format!("driver {version}")),
        Vendor::Amd => found.fact("amd.driver").map(|version| format!("amdgpu {version}")),
    };
    let mig = match device.mig {
        Some("on") => Some("divided into instances (MIG)"),
        Some("instance") => Some("an instance (MIG)"),
        _ => None,
    };
    let name = device.name.as_deref().unwrap_or("GPU of unknown model");
    let other = "not read by default: CUDA_VISIBLE_DEVICES or the rank leave it to others";
    let parts = [
        Some(format!("{}: {name} {}", device.index, device.subject)),
        device.memory_bytes.map(bytes),
        driver,
        mig.map(str::to_owned),
        (!device.is_own).then(|| other.to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What is measured, and why not the rest; what has the same reason stands together.
fn measured(device: &DeviceDescription) -> String {
    let names = device.metrics.iter().map(|name| short(name));
    let names: Vec<&str> = names.collect();
    let mut parts = Vec::new();
    if !names.is_empty() {
        parts.push(format!("measured: {}", names.join(", ")));
    }
    let mut left: Vec<&Unavailable> = device.unavailable.iter().collect();
    while let Some(why) = left.first().map(|one| one.why.as_str()) {
        let (same, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|one| one.why == why);
        let names: Vec<&str> = same.iter().map(|one| short(first_word(&one.what))).collect();
        parts.push(format!("not {}: {why}", names.join(", ")));
        left = others;
    }
    parts.join("; ")
}

fn first_word(what: &str) -> &str {
    what.split(' ').next().unwrap_or(what)
}

fn short(name: &str) -> &str {
    name.strip_prefix("gpu.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_hangs_is_named_and_not_waited_for() {
        let hang = || loop {
            std::thread::park();
        };
        let checks = found_within(Duration::from_millis(1), hang);
        let text = serde_json::to_string(&checks).unwrap();
        assert_eq!(checks.len(), 1);
        assert!(text.contains("not_available") && text.contains("has not answered"), "{text}");
    }

    fn lacking(what: &str, why: &str) -> Unavailable {
        let (what, why) = (what.into(), why.into());
        Unavailable { what, why }
    }

    fn device() -> DeviceDescription {
        DeviceDescription {
            vendor: Vendor::Nvidia,
            index: 0,
            subject: "GPU-1".into(),
            name: Some("NVIDIA H200".into()),
            memory_bytes: Some(2 << 30),
            shares_memory: false,
            pci: None,
            mig: Some("off"),
            compute_capability: Some("9.0".into()),
            is_own: true,
            metrics: vec!["gpu.memory.used".into(), "gpu.power".into()],
            unavailable: Vec::new(),
        }
    }

    fn lines(devices: Vec<DeviceDescription>, unavailable: Vec<Unavailable>) -> Vec<String> {
        let found = Devices {
            devices,
            facts: vec![("nvidia.driver".into(), "550.54.15".into())],
            unavailable,
        };
        let lines = of_devices(&found);
        lines.iter().map(|check| check.lines(usize::MAX).trim_end().to_owned()).collect()
    }

    #[test]
    fn without_a_gpu_one_line_says_why() {
        let lines = lines(Vec::new(), vec![lacking("nvml", "no NVIDIA driver")]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("not available  no NVIDIA driver; no AMD GPU; "), "{lines:?}");
    }

    #[test]
    fn a_gpu_that_gives_everything_is_named_with_what_it_gives() {
        let lines = lines(vec![device()], Vec::new());
        let expected = "gpu            ok             0: NVIDIA H200 GPU-1, 2.0 GiB, driver 550.54.15; measured: memory.used, power";
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn what_is_missing_for_the_same_reason_stands_together() {
        let mut limited = device();
        limited.unavailable = vec![
            lacking("gpu.energy GPU-1", "too old"),
            lacking("gpm GPU-1", "no counters"),
            lacking("gpu.throttle GPU-1", "too old"),
        ];
        limited.is_own = false;
        let lines = lines(vec![limited], vec![lacking("GPU 1", "no permission")]);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains("limited"), "{lines:?}");
        assert!(lines[0].contains("not read by default"), "{lines:?}");
        let end =
            "measured: memory.used, power; not energy, throttle: too old; not gpm: no counters";
        assert!(lines[0].ends_with(end), "{lines:?}");
        assert!(lines[1].ends_with("GPU 1: no permission"), "{lines:?}");
    }

    #[test]
    fn a_gpu_that_gives_nothing_is_not_available() {
        let mut lost = device();
        lost.metrics.clear();
        lost.unavailable = vec![lacking("GPU-1", "it has fallen off the bus")];
        let lines = lines(vec![lost], Vec::new());
        assert!(lines[0].contains("not available"), "{lines:?}");
        assert!(lines[0].ends_with("not GPU-1: it has fallen off the bus"), "{lines:?}");
    }
}
