//! What is read, and of which GPUs.

use std::path::PathBuf;

/// What is read, and of which GPUs. The default reads everything of the GPUs that the environment gives this process.
#[derive(Clone, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with each other"
)]
pub struct GpuOptions {
    /// Memory of the device and of this process, memory errors.
    pub memory: bool,
    /// Utilisation of the device, of its memory controller and of its units; clocks, throttling, traffic on the bus.
    pub utilization: bool,
    /// Temperature.
    pub temperature: bool,
    /// Power, its limit, energy.
    pub power: bool,
    /// All GPUs of the machine; otherwise only those of this process, or of its rank.
    pub all_devices: bool,
    /// The process whose memory on the GPU is read.
    pub pid: u32,
    /// Path of NVIDIA's library; `None` takes `MAREY_NVML_LIBRARY`, else looks for it where drivers put it.
    pub library: Option<PathBuf>,
    /// Where `/sys` and `/proc` are found.
    pub sys_root: PathBuf,
    /// NVIDIA GPUs that the process may use, as `CUDA_VISIBLE_DEVICES` writes it; `None` means all.
    pub visible_devices: Option<String>,
    /// Whether CUDA numbers GPUs as the PCI bus does (`CUDA_DEVICE_ORDER=PCI_BUS_ID`); otherwise it puts the fastest first.
    pub pci_bus_order: bool,
    /// AMD GPUs that the runtime may use, as `ROCR_VISIBLE_DEVICES` writes it; `None` means all.
    pub rocr_visible_devices: Option<String>,
    /// Which of those the process may use, as `HIP_VISIBLE_DEVICES` writes it; `None` means all.
    pub hip_visible_devices: Option<String>,
    /// Place of this process among those of its job on this machine.
    pub local_rank: Option<u32>,
    /// Processes of the job on this machine. A single one may use all its GPUs.
    pub local_world_size: Option<u32>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        let text = |name: &str| std::env::var(name).ok();
        let (local_rank, local_world_size) = place_on_machine(text);
        Self {
            memory: true,
            utilization: true,
            temperature: true,
            power: true,
            all_devices: false,
            pid: std::process::id(),
            library: None,
            sys_root: PathBuf::from("/"),
            visible_devices: text("CUDA_VISIBLE_DEVICES"),
            pci_bus_order: text("CUDA_DEVICE_ORDER").is_some_and(|order| order == "PCI_BUS_ID"),
            rocr_visible_devices: text("ROCR_VISIBLE_DEVICES"),
            // HIP takes CUDA's variable for its own where it has none.
            hip_visible_devices: text("HIP_VISIBLE_DEVICES").or(text("CUDA_VISIBLE_DEVICES")),
            local_rank,
            local_world_size,
        }
    }
}

/// Variables in which launchers say which of the job's processes on this machine this one is, and how many there are.
const LAUNCHERS: [(&str, &str); 3] = [
    ("LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"),
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
];

/// Rank and number of processes, both from the first launcher that says a rank.
fn place_on_machine(variable: impl Fn(&str) -> Option<String>) -> (Option<u32>, Option<u32>) {
    // Slurm writes `4(x2)` for four on each of two machines; where machines differ it says nothing about this one.
    let number = |name: &str| {
        let text = variable(name)?;
        let (first, rest) = text.split_once('(').unwrap_or((&text, ""));
        if rest.contains(',') {
            return None;
        }
        first.trim().parse().ok()
    };
    let mut launchers = LAUNCHERS.into_iter();
    let found = launchers.find_map(|(rank, size)| Some((number(rank)?, number(size))));
    found.map_or((None, None), |(rank, size)| (Some(rank), size))
}

/// A switch of [`GpuOptions`], as what is read names it.
pub(crate) type Switch = fn(&GpuOptions) -> bool;
pub(crate) const MEMORY: Switch = |options| options.memory;
pub(crate) const UTILIZATION: Switch = |options| options.utilization;
pub(crate) const TEMPERATURE: Switch = |options| options.temperature;
pub(crate) const POWER: Switch = |options| options.power;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_and_number_of_processes_come_from_one_launcher() {
        let place = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let mut given = variables.iter();
                given.find_map(|(key, value)| (*key == name).then(|| (*value).to_owned()))
            };
            place_on_machine(variable)
        };
        assert_eq!(place(&[]), (None, None));
        let torchrun = [("LOCAL_RANK", "3"), ("LOCAL_WORLD_SIZE", "4")];
        assert_eq!(place(&torchrun), (Some(3), Some(4)));
        let slurm = [("SLURM_LOCALID", "1"), ("SLURM_STEP_TASKS_PER_NODE", "2(x3)")];
        assert_eq!(place(&slurm), (Some(1), Some(2)));
        let unequal = [("SLURM_LOCALID", "1"), ("SLURM_STEP_TASKS_PER_NODE", "2(x3),1")];
        assert_eq!(place(&unequal), (Some(1), None));
        // One task of Slurm that starts a launcher of its own: its size is not Slurm's.
        let nested =
            [("LOCAL_RANK", "2"), ("SLURM_LOCALID", "0"), ("SLURM_STEP_TASKS_PER_NODE", "1")];
        assert_eq!(place(&nested), (Some(2), None));
        assert_eq!(place(&[("LOCAL_RANK", "one")]), (None, None));
    }
}
