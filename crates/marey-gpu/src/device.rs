//! The GPUs of a machine, and what is read of one, whoever made it.

use marey::{SeriesInfo, Unavailable};

use crate::GpuOptions;
use crate::source::find;

/// Who made a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Read through the driver's management library.
    Nvidia,
    /// Read through the kernel's files.
    Amd,
}

/// One GPU, or an instance of one. What the driver does not say is `None`.
#[derive(Clone, Debug)]
pub struct DeviceDescription {
    /// Who made it.
    pub vendor: Vendor,
    /// Place in the order of the PCI bus; instances of a GPU have that of the GPU.
    pub index: usize,
    /// The UUID, which its series carry; the PCI address where there is none.
    pub subject: String,
    /// The model.
    pub name: Option<String>,
    /// All its memory.
    pub memory_bytes: Option<u64>,
    /// It has no memory of its own, or a part of the machine's that is set aside for it, and takes the machine's.
    pub shares_memory: bool,
    /// Its address on the bus.
    pub pci: Option<String>,
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

impl Devices {
    pub(crate) fn look(options: &GpuOptions) -> Self {
        let options = GpuOptions { all_devices: true, ..options.clone() };
        let found = find(&options);
        let describe = |device: &dyn Device| DeviceDescription {
            metrics: device.series().into_iter().map(|series| series.name).collect(),
            unavailable: device.unavailable(),
            ..device.description().clone()
        };
        Self {
            devices: found.devices.iter().map(|device| describe(device.as_ref())).collect(),
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

/// Of a GPU that shares memory: it has none of its own, whatever is said to be in use.
pub(crate) const OWN_MEMORY: &str = "gpu.memory.own";
pub(crate) const SHARES_MEMORY: &str = "this GPU uses the machine's memory";

impl DeviceDescription {
    /// What a capture keeps of it, under its place among the GPUs that are read.
    pub(crate) fn facts(&self, place: usize) -> Vec<(String, String)> {
        let facts = [
            ("name", self.name.clone()),
            ("uuid", Some(self.subject.clone())),
            ("index", Some(self.index.to_string())),
            ("memory_bytes", self.memory_bytes.map(|bytes| bytes.to_string())),
            ("shares_memory", self.shares_memory.then(|| true.to_string())),
            ("pci", self.pci.clone()),
            ("mig", self.mig.map(str::to_owned)),
            ("compute_capability", self.compute_capability.clone()),
        ];
        let known = facts.into_iter().filter_map(|(key, value)| Some((key, value?)));
        known.map(|(key, value)| (format!("gpu.{place}.{key}"), value)).collect()
    }

    /// Keeps why it does not give a series.
    pub(crate) fn is_without(&mut self, what: &str, why: impl Into<String>) {
        let what = format!("{what} {}", self.subject);
        self.unavailable.push(Unavailable { what, why: why.into() });
    }
}

/// A GPU that is read.
pub(crate) trait Device: Send {
    /// What it is; its series are not in there.
    fn description(&self) -> &DeviceDescription;

    /// The series, in the order of [`Self::read`].
    fn series(&self) -> Vec<SeriesInfo>;

    /// Reads all series once; leaves NaN where nothing is to be had now.
    fn read(&mut self, values: &mut [f64]);

    /// Series that this GPU does not give, and why.
    fn unavailable(&self) -> Vec<Unavailable> {
        self.description().unavailable.clone()
    }
}

/// What a vendor's part found.
#[derive(Default)]
pub(crate) struct Found {
    /// The GPUs that are read.
    pub devices: Vec<Box<dyn Device>>,
    pub facts: Vec<(String, String)>,
    pub unavailable: Vec<Unavailable>,
}

impl Found {
    pub(crate) fn nothing(what: &str, why: impl Into<String>) -> Self {
        let mut found = Self::default();
        found.is_without(what, why);
        found
    }

    pub(crate) fn is_without(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let (what, why) = (what.into(), why.into());
        self.unavailable.push(Unavailable { what, why });
    }

    pub(crate) fn fact(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.facts.push((key.into(), value.into()));
    }
}
