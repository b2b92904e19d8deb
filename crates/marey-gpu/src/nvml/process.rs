//! Memory of this process on a GPU.

use nvml_wrapper::Device;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;

use crate::metric::reading;

/// The numbers that a process has: its own, and those in the namespaces around it as far as they can be seen. Drivers list processes by
/// the number that the machine gives them, which a container may not see.
#[derive(Clone, Debug)]
pub(super) struct Pids(Vec<u32>);

impl Pids {
    /// Those of a process, from its `/proc/<pid>/status`.
    pub(super) fn of(pid: u32, status: &str) -> Self {
        let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let mut pids: Vec<u32> = line
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok())
            .collect();
        if !pids.contains(&pid) {
            pids.push(pid);
        }
        Self(pids)
    }

    /// The driver lists the process and does not say what it holds.
    pub(super) fn are_without_memory(&self, device: &Device<'static>) -> bool {
        let listed = device.running_compute_processes().unwrap_or_default();
        listed.iter().any(|process| self.0.contains(&process.pid)) && self.among(&listed).is_none()
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
