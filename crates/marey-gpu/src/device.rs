//! A GPU that is read, whoever made it.

use marey::{SeriesInfo, Unavailable};

/// Who made a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Read through the driver's management library.
    Nvidia,
    /// Read through the kernel's files.
    Amd,
}

/// Who a GPU is. What the driver does not say is `None`.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub vendor: Vendor,
    /// Place in the order of the PCI bus; instances of a GPU have that of the GPU.
    pub index: usize,
    /// What its series are of: the UUID, or the PCI address where there is none.
    pub subject: String,
    pub name: Option<String>,
    pub memory_bytes: Option<u64>,
    /// It has no memory of its own, or a part of the machine's that is set aside for it, and takes the machine's.
    pub shares_memory: bool,
    pub pci: Option<String>,
    pub mig: Option<Mig>,
    /// Compute capability, `9.0`.
    pub capability: Option<String>,
}

/// How a GPU that can be divided stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mig {
    /// Not divided.
    Off,
    /// Divided into instances.
    On,
    /// Is itself an instance.
    Instance,
}

impl Mig {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Instance => "instance",
        }
    }
}

/// Of a GPU that shares memory: it has none of its own, whatever is said to be in use.
pub(crate) const OWN_MEMORY: &str = "gpu.memory.own";
pub(crate) const SHARES_MEMORY: &str = "this GPU uses the machine's memory";

impl Identity {
    /// What a capture keeps of it, under its place among the GPUs that are read.
    pub(crate) fn facts(&self, place: usize) -> Vec<(String, String)> {
        let facts = [
            ("name", self.name.clone()),
            ("uuid", Some(self.subject.clone())),
            ("index", Some(self.index.to_string())),
            ("memory_bytes", self.memory_bytes.map(|bytes| bytes.to_string())),
            ("shares_memory", self.shares_memory.then(|| true.to_string())),
            ("pci", self.pci.clone()),
            ("mig", self.mig.map(|mig| mig.name().to_owned())),
            ("compute_capability", self.capability.clone()),
        ];
        let known = facts.into_iter().filter_map(|(key, value)| Some((key, value?)));
        known.map(|(key, value)| (format!("gpu.{place}.{key}"), value)).collect()
    }
}

/// A GPU that is read.
pub(crate) trait Device: Send {
    fn identity(&self) -> &Identity;

    /// The series, in the order of [`Self::read`].
    fn series(&self) -> Vec<SeriesInfo>;

    /// Reads all series once; leaves NaN where nothing is to be had now.
    fn read(&mut self, values: &mut [f64]);

    /// Series that this GPU does not give, and why.
    fn unavailable(&self) -> Vec<Unavailable>;
}

/// What a vendor's part found.
#[derive(Default)]
pub(crate) struct Found {
    /// The GPUs that are read; `true` for those of this process.
    pub devices: Vec<(Box<dyn Device>, bool)>,
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
