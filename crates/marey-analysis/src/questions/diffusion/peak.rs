//! What a device can do at most, from its maker's data sheet.

use marey::Run;
use serde::Serialize;

/// What a device can do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakFlops {
    /// Operations in a second.
    pub flops_per_second: f64,
    /// The device and the number format: "NVIDIA H200, dense BF16".
    pub of: String,
}

/// A number format.
#[derive(Clone, Copy)]
enum Format {
    /// BF16, which is as fast as FP16.
    Bf16,
    /// FP16, on devices without BF16 in hardware.
    Fp16,
}

use Format::{Bf16, Fp16};

/// Devices as their drivers name them, with 10¹² dense operations in a second of matrices in 16 bits, accumulated in 32.
///
/// From the makers' data sheets and architecture white papers (NVIDIA: V100, T4, A100, GA102, H100, H200, L4, L40S, Ada, Blackwell; AMD:
/// CDNA 2 and 3). Where a sheet has only figures "with sparsity", half of them. A device in another housing or with another limit of power
/// has a name of its own; slices (MIG) and shares (vGPU) do, too, and are not listed.
const DEVICES: [(&str, f64, Format); 43] = [
    ("NVIDIA GB200", 2500.0, Bf16),
    ("NVIDIA B200", 2250.0, Bf16),
    ("NVIDIA H200", 989.5, Bf16),
    ("NVIDIA H200 NVL", 835.5, Bf16),
    ("NVIDIA GH200 480GB", 989.5, Bf16),
    ("NVIDIA H100 80GB HBM3", 989.5, Bf16),
    ("NVIDIA H100 NVL", 835.5, Bf16),
    ("NVIDIA H100 PCIe", 756.5, Bf16),
    ("NVIDIA H800", 989.5, Bf16),
    ("NVIDIA H20", 148.0, Bf16),
    ("NVIDIA A100-SXM4-40GB", 312.0, Bf16),
    ("NVIDIA A100-SXM4-80GB", 312.0, Bf16),
    ("NVIDIA A100-PCIE-40GB", 312.0, Bf16),
    ("NVIDIA A100 80GB PCIe", 312.0, Bf16),
    ("NVIDIA A800-SXM4-40GB", 312.0, Bf16),
    ("NVIDIA A800-SXM4-80GB", 312.0, Bf16),
    ("NVIDIA A800 80GB PCIe", 312.0, Bf16),
    ("NVIDIA A30", 165.0, Bf16),
    ("NVIDIA A40", 149.7, Bf16),
    ("NVIDIA A10", 125.0, Bf16),
    ("NVIDIA RTX A6000", 154.8, Bf16),
    ("NVIDIA L4", 121.0, Bf16),
    ("NVIDIA L40", 181.05, Bf16),
    ("NVIDIA L40S", 362.05, Bf16),
    ("NVIDIA RTX 6000 Ada Generation", 364.25, Bf16),
    ("NVIDIA GeForce RTX 5090", 209.5, Bf16),
    ("NVIDIA GeForce RTX 5080", 112.6, Bf16),
    ("NVIDIA GeForce RTX 4090", 165.2, Bf16),
    ("NVIDIA GeForce RTX 4080", 97.5, Bf16),
    ("NVIDIA GeForce RTX 3090", 71.0, Bf16),
    ("Tesla T4", 65.0, Fp16),
    ("Tesla V100-SXM2-16GB", 125.0, Fp16),
    ("Tesla V100-SXM2-32GB", 125.0, Fp16),
    ("Tesla V100-SXM3-32GB", 125.0, Fp16),
    ("Tesla V100-PCIE-16GB", 112.0, Fp16),
    ("Tesla V100-PCIE-32GB", 112.0, Fp16),
    ("Tesla V100S-PCIE-32GB", 130.0, Fp16),
    ("AMD Instinct MI355X", 2516.6, Bf16),
    ("AMD Instinct MI325X", 1307.4, Bf16),
    ("AMD Instinct MI300X", 1307.4, Bf16),
    ("AMD Instinct MI300A", 980.6, Bf16),
    ("AMD Instinct MI250X", 383.0, Bf16),
    ("AMD Instinct MI210", 181.0, Bf16),
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
    let is_it = |(listed, _, _): &&(&str, f64, Format)| listed.eq_ignore_ascii_case(name);
    let (listed, tera, format) = DEVICES.iter().find(is_it)?;
    let format = match format {
        Bf16 => "BF16",
        Fp16 => "FP16",
    };
    Some(PeakFlops {
        flops_per_second: tera * 1e12,
        of: format!("{listed}, dense {format}"),
    })
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
        let mut names: Vec<String> = DEVICES
            .iter()
            .map(|(name, _, _)| name.to_lowercase())
            .collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), DEVICES.len());
    }
}
