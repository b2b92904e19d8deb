//! What devices can do at most, as their makers say.

use super::NumberFormat::{self, Bf16, Fp8, Fp16, Fp32, Int8, Tf32};

/// What a device can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DevicePeaks {
    /// As its driver names it.
    pub(crate) name: &'static str,
    /// Bytes that its own memory moves in a second.
    pub(crate) bytes_per_second: f64,
    /// 10¹² operations in a second by format.
    tera: &'static [(NumberFormat, f64)],
}

/// Dense products, accumulated in 32 bits, at the boost clock of the data sheet; FP32 without tensor cores.
type Formats = &'static [(NumberFormat, f64)];

/// "NVIDIA A100 Tensor Core GPU" (1758950): 1,410 MHz.
const A100: Formats = &[(Bf16, 312.0), (Fp16, 312.0), (Tf32, 156.0), (Int8, 624.0), (Fp32, 19.5)];
/// "NVIDIA H100 Tensor Core GPU Architecture", SXM5: 1,830 MHz, FP32 1,980 MHz. H200 has the same chip and other memory.
const H100: Formats =
    &[(Bf16, 989.5), (Fp16, 989.5), (Tf32, 494.7), (Fp8, 1_978.9), (Int8, 1_978.9), (Fp32, 66.9)];
/// "NVIDIA L4" gives figures with sparsity: half of them.
const L4: Formats =
    &[(Bf16, 121.0), (Fp16, 121.0), (Tf32, 60.0), (Fp8, 242.0), (Int8, 242.0), (Fp32, 30.3)];
/// "NVIDIA L40S": 2,520 MHz.
const L40S: Formats =
    &[(Bf16, 362.05), (Fp16, 362.05), (Tf32, 183.0), (Fp8, 733.0), (Int8, 733.0), (Fp32, 91.6)];
/// "NVIDIA Ada GPU Architecture", appendix A: 2,520 MHz.
const RTX_4090: Formats =
    &[(Bf16, 165.2), (Fp16, 165.2), (Tf32, 82.6), (Fp8, 330.3), (Int8, 660.6), (Fp32, 82.6)];
/// "NVIDIA T4 Tensor Core GPU": 1,590 MHz.
const T4: Formats = &[(Fp16, 65.0), (Int8, 130.0), (Fp32, 8.1)];
/// "NVIDIA A10" gives figures with sparsity: half of them.
const A10: Formats = &[(Bf16, 125.0), (Fp16, 125.0), (Tf32, 62.5), (Int8, 250.0), (Fp32, 31.2)];
/// "NVIDIA A40": accumulated in 32 bits.
const A40: Formats = &[(Bf16, 149.7), (Fp16, 149.7), (Tf32, 74.8), (Int8, 299.3), (Fp32, 37.4)];
/// "NVIDIA V100 Tensor Core GPU", SXM2.
const V100: Formats = &[(Fp16, 125.0), (Fp32, 15.7)];
/// "AMD Instinct MI300X": 2,100 MHz; its whole numbers of 8 bits are as fast as FP8.
const MI300X: Formats = &[(Bf16, 1_307.4), (Fp16, 1_307.4), (Fp8, 2_614.9), (Int8, 2_614.9)];

/// "AMD Instinct MI250X": 383.0 of its two dies, each of which is a device.
const MI250X: Formats = &[(Bf16, 191.5), (Fp16, 191.5)];

/// Devices as their drivers name them, with 10⁹ bytes and 10¹² operations in a second.
///
/// Only figures that were compared with a published copy or citation of the maker's; where that has only one "with sparsity", half of
/// it. A device in another housing or with another limit of power has a name of its own; slices (MIG) and shares (vGPU) do, too. A device
/// that is not listed has no peak, so that its MFU and its roofline are absent.
const DEVICES: &[(&str, f64, Formats)] = &[
    ("NVIDIA H200", 4_800.0, H100),
    ("NVIDIA H100 80GB HBM3", 3_350.0, H100),
    ("NVIDIA H100 PCIe", 2_000.0, &[(Bf16, 756.5), (Fp16, 756.5)]),
    ("NVIDIA A100-SXM4-40GB", 1_555.0, A100),
    ("NVIDIA A100-SXM4-80GB", 2_039.0, A100),
    ("NVIDIA A100-PCIE-40GB", 1_555.0, A100),
    ("NVIDIA A100 80GB PCIe", 1_935.0, A100),
    ("NVIDIA L4", 300.0, L4),
    ("NVIDIA L40S", 864.0, L40S),
    ("NVIDIA GeForce RTX 4090", 1_008.0, RTX_4090),
    ("Tesla T4", 300.0, T4),
    ("NVIDIA A10", 600.0, A10),
    ("NVIDIA A40", 696.0, A40),
    ("Tesla V100-SXM2-16GB", 900.0, V100),
    ("Tesla V100-SXM2-32GB", 900.0, V100),
    ("AMD Instinct MI300X", 5_300.0, MI300X),
    // The same chip with other memory.
    ("AMD Instinct MI325X", 6_000.0, MI300X),
    ("AMD Instinct MI250X", 1_638.4, MI250X),
    // All of it, handed on to a virtual machine.
    ("AMD Instinct MI300X VF", 5_300.0, MI300X),
];

/// Of a device by its whole name; `None` when it is not listed.
pub(crate) fn peaks(name: &str) -> Option<DevicePeaks> {
    let name = name.trim();
    let listed = DEVICES.iter().find(|(listed, ..)| listed.eq_ignore_ascii_case(name));
    listed.map(|(name, giga, tera)| DevicePeaks { name, bytes_per_second: giga * 1e9, tera })
}

impl DevicePeaks {
    /// Operations in a second with numbers of a format; `None` when it is not said.
    pub(crate) fn flops_per_second(&self, format: NumberFormat) -> Option<f64> {
        let found = self.tera.iter().find(|(listed, _)| *listed == format);
        found.map(|(_, tera)| tera * 1e12)
    }

    /// Formats with operations in a second, the format of most models first.
    pub(crate) fn formats(&self) -> impl Iterator<Item = (NumberFormat, f64)> + use<> {
        self.tera.iter().map(|(format, tera)| (*format, tera * 1e12))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_device_is_listed_twice() {
        let mut names: Vec<String> = DEVICES.iter().map(|(name, ..)| name.to_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), DEVICES.len());
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "figures of the table are exact")]
    fn a_device_has_the_formats_of_its_data_sheet_alone() {
        let h100 = peaks(" NVIDIA H100 80GB HBM3").unwrap();
        assert_eq!(h100.flops_per_second(Bf16), Some(989.5e12));
        assert_eq!(h100.bytes_per_second, 3.35e12);
        assert_eq!(peaks("Tesla T4").unwrap().flops_per_second(Bf16), None);
        assert_eq!(peaks("NVIDIA H100"), None);
    }
}
