//! What GPUs a machine has, for people.

use marey::Unavailable;

use crate::GpuOptions;
use crate::device::{Device, Mig, Vendor};
use crate::source::find;

/// The GPUs of a machine.
#[derive(Clone, Debug)]
pub struct Devices {
    /// All of them, in the order of the PCI bus; instances follow the GPU that they are parts of.
    pub devices: Vec<DeviceDescription>,
    /// Versions: `nvidia.driver`, `nvidia.nvml`, `nvidia.cuda`, `amd.driver`.
    pub facts: Vec<(String, String)>,
    /// Why there are none, or not all.
    pub unavailable: Vec<Unavailable>,
}

/// One GPU, or an instance of one.
#[derive(Clone, Debug)]
pub struct DeviceDescription {
    /// Who made it.
    pub vendor: Vendor,
    /// Place in the order of the PCI bus.
    pub index: usize,
    /// The UUID, which its series carry; the PCI address where there is none.
    pub subject: String,
    /// The model.
    pub name: Option<String>,
    /// All its memory.
    pub memory_bytes: Option<u64>,
    /// `on`: divided into instances; `off`: can be divided; `instance`: is one. `None` if it cannot be divided.
    pub mig: Option<&'static str>,
    /// Compute capability of an NVIDIA GPU, `9.0`.
    pub compute_capability: Option<String>,
    /// Whether it is read by default: the process, or its rank, works with it.
    pub is_own: bool,
    /// Names of the series that it gives.
    pub metrics: Vec<String>,
    /// What it does not give, and why.
    pub unavailable: Vec<Unavailable>,
}

impl Devices {
    pub(crate) fn look(options: &GpuOptions) -> Self {
        let options = GpuOptions { all_devices: true, ..options.clone() };
        let found = find(&options);
        let describe =
            |(device, is_own): &(Box<dyn Device>, bool)| describe(device.as_ref(), *is_own);
        Self {
            devices: found.devices.iter().map(describe).collect(),
            facts: found.facts,
            unavailable: found.unavailable,
        }
    }

    /// The value of a fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        let mut facts = self.facts.iter();
        facts.find_map(|(name, value)| (name == key).then_some(value.as_str()))
    }
}

fn describe(device: &dyn Device, is_own: bool) -> DeviceDescription {
    let identity = device.identity().clone();
    DeviceDescription {
        vendor: identity.vendor,
        index: identity.index,
        subject: identity.subject,
        name: identity.name,
        memory_bytes: identity.memory_bytes,
        mig: identity.mig.map(Mig::name),
        compute_capability: identity.capability,
        is_own,
        metrics: device.series().into_iter().map(|series| series.name).collect(),
        unavailable: device.unavailable(),
    }
}
