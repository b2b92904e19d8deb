//! What a device can do at most, as its maker says.

use marey::Run;
use serde::Serialize;

use crate::model::{NumberFormat, peaks};

/// What a device can do.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PeakFlops {
    /// Operations in a second.
    pub flops_per_second: f64,
    /// The device and the number format: "NVIDIA H200, dense BF16".
    pub of: String,
}

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
    let device = peaks(name)?;
    // Models compute in 16 bits; some devices have no BF16.
    let (format, flops_per_second) = device.formats().next()?;
    let format = if format == NumberFormat::Fp16 { "FP16" } else { "BF16" };
    Some(PeakFlops { flops_per_second, of: format!("{}, dense {format}", device.name) })
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
}
