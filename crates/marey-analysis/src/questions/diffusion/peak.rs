//! What a device can do at most, as its maker says.

use marey::Run;
use serde::Serialize;

/// What a device can do.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PeakFlops {
    /// Operations in a second.
    pub flops_per_second: f64,
    /// The device and the number format: "NVIDIA H200, dense BF16".
    pub of: String,
}

/// As fast as FP16.
const BF16: &str = "BF16";
/// On devices without BF16 in hardware.
const FP16: &str = "FP16";

/// Devices as their drivers name them, with 10¹² dense operations in a second of matrices in 16 bits, accumulated in 32.
///
/// Only devices whose figure was compared with a published copy of the maker's; where that has only one "with sparsity", half of
/// it. A device in another housing or with another limit of power has a name of its own; slices (MIG) and shares (vGPU) do,
/// too. A device that is not listed has no peak, and no utilisation is said of it.
const DEVICES: [(&str, f64, &str); 11] = [
    ("NVIDIA H200", 989.5, BF16),
    ("NVIDIA H100 80GB HBM3", 989.5, BF16),
    ("NVIDIA H100 PCIe", 756.5, BF16),
    ("NVIDIA A100-SXM4-40GB", 312.0, BF16),
    ("NVIDIA A100-SXM4-80GB", 312.0, BF16),
    ("NVIDIA A100-PCIE-40GB", 312.0, BF16),
    ("NVIDIA A100 80GB PCIe", 312.0, BF16),
    ("NVIDIA L4", 121.0, BF16),
    ("NVIDIA L40S", 362.05, BF16),
    ("NVIDIA GeForce RTX 4090", 165.2, BF16),
    ("Tesla T4", 65.0, FP16),
];

/// Of one of the run's GPUs, from the facts `gpu.<number>.name`. `None` when there is none, they are not all alike, or it is not listed.
pub(super) fn peak(run: &Run) -> Option<PeakFlops> {
    let facts = run.info.facts.iter();
    let mut names = facts.filter_map(|(key, name)| {
        let number = key.strip_prefix("gpu.")?.strip_suffix(".name")?;
        (!number.contains('.')).then_some(name.trim())
    });
    let name = names.next()?;
    if names.any(|other| other != name) {
        return None;
    }
    let is_it = |(listed, _, _): &&(&str, f64, &str)| listed.eq_ignore_ascii_case(name);
    let (listed, tera, format) = DEVICES.iter().find(is_it)?;
    Some(PeakFlops { flops_per_second: tera * 1e12, of: format!("{listed}, dense {format}") })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Option<PeakFlops> {
        let mut run = Run::default();
        for (number, name) in names.iter().enumerate() {
            let fact = (format!("gpu.{number}.name"), (*name).to_owned());
            run.info.facts.push(fact);
        }
        peak(&run)
    }

    #[test]
    fn a_device_is_known_by_its_whole_name() {
        let h200 = of(&["NVIDIA H200"]).unwrap();
        assert_eq!(h200.flops_per_second, 989.5e12);
        assert_eq!(h200.of, "NVIDIA H200, dense BF16");
        assert_eq!(of(&["Tesla T4"]).unwrap().of, "Tesla T4, dense FP16");
        for unknown in [
            "NVIDIA H200 MIG 1g.18gb",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA GeForce RTX 4090 D",
            "NVIDIA A100-40C",
            "",
        ] {
            assert_eq!(of(&[unknown]), None, "{unknown}");
        }
    }

    #[test]
    fn several_devices_have_a_peak_when_they_are_alike() {
        assert!(of(&["NVIDIA L4", "NVIDIA L4"]).is_some());
        assert_eq!(of(&["NVIDIA L4", "NVIDIA L40"]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn no_device_is_listed_twice() {
        let mut names: Vec<String> =
            DEVICES.iter().map(|(name, _, _)| name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), DEVICES.len());
    }
}
