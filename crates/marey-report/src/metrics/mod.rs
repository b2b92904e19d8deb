//! What is known of a process at this moment: for the console block, the postfix of a progress bar, and `get_current_metrics`.

mod pace;
mod text;
mod watch;

pub use pace::Pace;
pub use watch::{Look, Watch};

/// What is known now. What is not known is absent, never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// GPUs that are sampled, in the order in which the sampler has them, which is that of their numbers.
    pub gpus: Vec<GpuNow>,
    /// CPU time of the machine since the look before, as a share of all its cores.
    pub cpu_ratio: Option<f64>,
    /// CPU time of this process since the look before, in cores.
    pub process_cpu_cores: Option<f64>,
    /// Memory of the machine that is in use.
    pub memory_used_bytes: Option<f64>,
    /// Memory of the machine.
    pub memory_total_bytes: Option<f64>,
    /// Resident memory of this process.
    pub process_memory_bytes: Option<f64>,
    /// Frames a second: of those that were delivered if the program reports that, otherwise latent frames of finished blocks.
    pub frames_per_second: Option<f64>,
    /// Blocks so far: as the program reports them, otherwise calls and turns with such names.
    pub blocks: u64,
    /// The same, a second.
    pub blocks_per_second: Option<f64>,
    /// Denoising steps so far: as the program reports them, otherwise calls and turns with such names.
    pub steps: u64,
    /// The same, a second.
    pub steps_per_second: Option<f64>,
    /// Frames that were dropped so far, if any were.
    pub dropped_frames: Option<u64>,
}

/// What is known of one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuNow {
    /// Its UUID, or what else tells it from others.
    pub id: String,
    /// Memory in use, by all processes.
    pub memory_used_bytes: Option<f64>,
    /// Memory that it has.
    pub memory_total_bytes: Option<f64>,
    /// Memory in use by this process.
    pub memory_process_bytes: Option<f64>,
    /// Share of the last sample period with work on the GPU.
    pub utilization_ratio: Option<f64>,
    /// Temperature.
    pub temperature_celsius: Option<f64>,
    /// Power.
    pub power_watts: Option<f64>,
    /// Clock of the multiprocessors.
    pub clock_hertz: Option<f64>,
}

impl GpuNow {
    /// Memory in use as a share of what there is.
    pub fn memory_ratio(&self) -> Option<f64> {
        ratio(self.memory_used_bytes, self.memory_total_bytes)
    }
}

impl Metrics {
    /// Memory in use as a share of what there is.
    pub fn memory_ratio(&self) -> Option<f64> {
        ratio(self.memory_used_bytes, self.memory_total_bytes)
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0.0)?;
    Some(part? / whole)
}
