//! NVIDIA GPUs, through the driver's management library.

mod call;
mod gpm;
mod gpu;
mod library;
mod machine;
mod process;
mod reader;
mod reason;

use nvml_wrapper::Nvml;

use crate::GpuOptions;
use crate::choice::{self, Chosen};
use crate::device::Found;
use gpu::Gpu;
use machine::Machine;
use reader::NvidiaReader;

/// The NVIDIA GPUs that the options choose.
pub(crate) fn find(options: &GpuOptions) -> Found {
    let nvml = match library::open(options) {
        Ok(nvml) => nvml,
        Err(why) => return Found::nothing("nvml", why),
    };
    let mut found = Found::default();
    versions(nvml, &mut found);
    let gpus = gpu::list(nvml, &mut found);
    if gpus.is_empty() {
        if found.unavailable.is_empty() {
            found.is_without("nvml", "the driver is loaded and has no GPU");
        }
        return found;
    }
    let choosable: Vec<_> = gpus.iter().map(Gpu::choosable).collect();
    let visible = choice::visible(options.visible_devices.as_deref(), &choosable);
    let own = choice::own(visible, options.local_rank, options.local_world_size);
    if own.is_empty() && !options.all_devices {
        let list = options.visible_devices.as_deref().unwrap_or_default();
        found.is_without(
            "nvml",
            format!(
                "CUDA_VISIBLE_DEVICES={list:?} leaves this process none of the {} GPUs",
                gpus.len()
            ),
        );
    }
    if !options.pci_bus_order && gpus.iter().any(|gpu| gpu.name() != gpus[0].name()) {
        found.fact(
            "nvidia.order",
            "GPUs are numbered as the PCI bus does; their models differ, so CUDA may number them otherwise unless CUDA_DEVICE_ORDER=PCI_BUS_ID",
        );
    }
    let machine = Machine::of(options);
    for (gpu, listed) in gpus.into_iter().enumerate() {
        for (instance, device, mut identity) in listed.parts() {
            identity.shares_memory = machine.shares_memory_with(&identity);
            identity.is_own = own.contains(&Chosen { gpu, instance });
            if identity.is_own || options.all_devices {
                let reader = NvidiaReader::open(device, identity, &machine.pids, options);
                found.devices.push(Box::new(reader));
            }
        }
    }
    found
}

fn versions(nvml: &Nvml, found: &mut Found) {
    if let Ok(driver) = nvml.sys_driver_version() {
        found.fact("nvidia.driver", driver);
    }
    if let Ok(version) = nvml.sys_nvml_version() {
        found.fact("nvidia.nvml", version);
    }
    if let Ok(cuda) = nvml.sys_cuda_driver_version() {
        found.fact("nvidia.cuda", format!("{}.{}", cuda / 1000, cuda % 1000 / 10));
    }
}
