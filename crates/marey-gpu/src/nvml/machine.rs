//! What has to be known of the machine to understand what the library says.

use super::process::Pids;
use crate::GpuOptions;
use crate::device::DeviceDescription;

/// The machine around the GPUs.
pub(super) struct Machine {
    pub pids: Pids,
    memory_bytes: Option<u64>,
}

/// GPUs on one chip with the processors, by a word of their names: those whose driver may say nothing of memory.
const ON_ONE_CHIP: [&str; 4] = ["GB10", "Thor", "Orin", "Xavier"];

impl Machine {
    pub(super) fn of(options: &GpuOptions) -> Self {
        let paths = [format!("proc/{}/status", options.pid), "proc/meminfo".to_owned()];
        let read = |path: String| std::fs::read_to_string(options.sys_root.join(path));
        let texts = marey::apart(|| paths.map(|path| read(path).unwrap_or_default()));
        let [status, memory] = texts.unwrap_or_default();
        let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kibibytes =
            total.and_then(|total| total.trim().strip_suffix("kB")?.trim().parse().ok());
        Self {
            pids: Pids::of(options.pid, &status),
            memory_bytes: kibibytes.map(|kibibytes: u64| kibibytes * 1024),
        }
    }

    /// The GPU has no memory of its own: what the driver says of it, if anything, is the machine's, to the byte.
    pub(super) fn shares_memory_with(&self, gpu: &DeviceDescription) -> bool {
        let mut words = gpu.name.iter().flat_map(|name| name.split_whitespace());
        words.any(|word| ON_ONE_CHIP.contains(&word))
            || (gpu.memory_bytes.is_some() && gpu.memory_bytes == self.memory_bytes)
    }
}
