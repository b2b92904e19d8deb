//! The GPUs that the driver has, and the instances that they are divided into.

use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use super::reason;
use crate::choice::Choosable;
use crate::device::{DeviceDescription, Found, Vendor};

/// What is said of an instance in place of whether it is divided.
pub(super) const INSTANCE: &str = "instance";

/// A GPU, and its instances.
pub(super) struct Gpu {
    device: Device<'static>,
    identity: DeviceDescription,
    instances: Vec<(Device<'static>, DeviceDescription)>,
    /// Domain, bus and device.
    address: (u32, u32, u32),
}

/// All GPUs, in the order of the PCI bus. One that cannot be asked who it is has a reason instead.
pub(super) fn list(nvml: &'static Nvml, found: &mut Found) -> Vec<Gpu> {
    let count = match nvml.device_count() {
        Ok(count) => count,
        Err(error) => {
            found.is_without("nvml", reason::of_opening(&error));
            return Vec::new();
        }
    };
    let mut gpus = Vec::new();
    for number in 0..count {
        match nvml.device_by_index(number).and_then(Gpu::new) {
            Ok(gpu) => gpus.push(gpu),
            Err(error) => {
                let why = match error {
                    NvmlError::NoPermission => {
                        "this process may not use it, as a container or control group says".into()
                    }
                    error => reason::of_reading(&error, false),
                };
                found.is_without(format!("GPU {number}"), why);
            }
        }
    }
    gpus.sort_by_key(|gpu| gpu.address);
    for (index, gpu) in gpus.iter_mut().enumerate() {
        gpu.identity.index = index;
        for (_, identity) in &mut gpu.instances {
            identity.index = index;
        }
    }
    gpus
}

impl Gpu {
    fn new(device: Device<'static>) -> Result<Self, NvmlError> {
        let mut identity = identity(&device)?;
        let is_divided = device.mig_mode().ok().map(|mode| mode.current == 1);
        identity.mig = is_divided.map(|is_divided| if is_divided { "on" } else { "off" });
        let instances =
            if is_divided == Some(true) { instances(&device, &identity) } else { Vec::new() };
        let pci = device.pci_info().ok();
        Ok(Self {
            address: pci.map_or((u32::MAX, 0, 0), |pci| (pci.domain, pci.bus, pci.device)),
            device,
            identity,
            instances,
        })
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.identity.name.as_deref()
    }

    pub(super) fn choosable(&self) -> Choosable {
        let instances = self.instances.iter();
        Choosable {
            uuid: self.identity.subject.clone(),
            instances: instances.map(|(_, identity)| identity.subject.clone()).collect(),
        }
    }

    /// The GPU itself, then its instances with their places.
    pub(super) fn parts(
        self,
    ) -> impl Iterator<Item = (Option<usize>, Device<'static>, DeviceDescription)> {
        let instances = self.instances.into_iter().enumerate();
        let instances =
            instances.map(|(place, (device, identity))| (Some(place), device, identity));
        std::iter::once((None, self.device, self.identity)).chain(instances)
    }
}

fn instances(
    gpu: &Device<'static>,
    whole: &DeviceDescription,
) -> Vec<(Device<'static>, DeviceDescription)> {
    let most = gpu.mig_device_count().unwrap_or(0);
    // Places may be empty between two that are not.
    let found = (0..most).filter_map(|place| {
        let device = gpu.mig_device_by_index(place).ok()?;
        let of_its_own = identity(&device).ok()?;
        let identity = DeviceDescription {
            mig: Some(INSTANCE),
            pci: whole.pci.clone(),
            compute_capability: of_its_own
                .compute_capability
                .clone()
                .or_else(|| whole.compute_capability.clone()),
            ..of_its_own
        };
        Some((device, identity))
    });
    found.collect()
}

/// Who a GPU is. Without a UUID it is nobody.
fn identity(device: &Device<'static>) -> Result<DeviceDescription, NvmlError> {
    let capability = device.cuda_compute_capability().ok();
    Ok(DeviceDescription {
        vendor: Vendor::Nvidia,
        index: 0,
        subject: device.uuid()?,
        name: device.name().ok(),
        memory_bytes: device.memory_info().ok().map(|memory| memory.total),
        shares_memory: false,
        pci: device.pci_info().ok().map(|pci| pci.bus_id),
        mig: None,
        compute_capability: capability
            .map(|version| format!("{}.{}", version.major, version.minor)),
        is_own: false,
        metrics: Vec::new(),
        unavailable: Vec::new(),
    })
}
