//! Memory of this process on a GPU.

use nvml_wrapper::Device;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;

use crate::GpuOptions;
use crate::metric::reading;

/// The numbers that a process has: its own, and those in the namespaces around it as far as they can be seen. Drivers list processes by
/// the number that the machine gives them, which a container may not see.
#[derive(Clone, Debug)]
pub(super) struct Pids(Vec<u32>);

impl Pids {
    pub(super) fn of(options: &GpuOptions) -> Self {
        let path = options.sys_root.join(format!("proc/{}/status", options.pid));
        let status = marey::apart(|| std::fs::read_to_string(path).unwrap_or_default());
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let mut pids: Vec<u32> = line
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect();
        if !pids.contains(&options.pid) {
            pids.push(options.pid);
        }
        Self(pids)
    }

    /// Bytes that the process holds on a GPU; NaN where the driver does not list it, or does not say.
    pub(super) fn memory(&self, device: &Device<'static>) -> Result<f64, NvmlError> {
        let computing = device.running_compute_processes()?;
        if let Some(bytes) = self.among(&computing) {
            return Ok(bytes);
        }
        // A process that does both is in both lists with the same figure.
        let drawing = device.running_graphics_processes().unwrap_or_default();
        Ok(self.among(&drawing).unwrap_or(f64::NAN))
    }

    fn among(&self, processes: &[ProcessInfo]) -> Option<f64> {
        let own = processes.iter().filter(|process| self.0.contains(&process.pid));
        // Instances of a divided GPU are listed apart.
        own.filter_map(|process| match process.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some(reading(bytes)),
            UsedGpuMemory::Unavailable => None,
        })
        .reduce(|sum, bytes| sum + bytes)
    }
}
