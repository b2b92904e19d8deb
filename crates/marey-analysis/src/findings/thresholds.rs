//! Limits of the rules: the one table.

use marey::Run;

/// Where a capture keeps a limit that its configuration set: `profiling.thresholds.<name>`.
const FACT: &str = "profiling.thresholds.";

/// A limit that can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its name, in YAML and after `--threshold`.
    pub name: &'static str,
    /// What it is without a word from the user.
    pub default: f64,
    meaning: &'static str,
}

impl Threshold {
    /// What it limits, with its unit.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim_start()
    }
}

/// Why a limit cannot be set.
#[derive(Clone, Debug, PartialEq)]
pub enum ThresholdError {
    /// No rule has a limit of this name.
    Unknown(String),
    /// Limits are finite numbers, not below 0.
    NotALimit(f64),
}

macro_rules! thresholds {
    ($($(#[doc = $meaning:literal])+ $name:ident = $default:expr;)+) => {
        /// Limits of the rules. Fields are the names of [`THRESHOLDS`].
        #[derive(Clone, Debug, PartialEq)]
        pub struct Thresholds {
            $($(#[doc = $meaning])+ pub $name: f64,)+
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        /// All limits, in the order in which the guide has them.
        pub const THRESHOLDS: &[Threshold] = &[
            $(Threshold {
                name: stringify!($name),
                default: $default,
                meaning: concat!($($meaning),+),
            },)+
        ];

        impl Thresholds {
            /// Sets a limit.
            ///
            /// # Errors
            /// When there is none of this name, or the value is no limit.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), ThresholdError> {
                if !value.is_finite() || value < 0.0 {
                    return Err(ThresholdError::NotALimit(value));
                }
                match name {
                    $(stringify!($name) => self.$name = value,)+
                    _ => return Err(ThresholdError::Unknown(name.to_owned())),
                }
                Ok(())
            }
        }
    };
}

thresholds! {
    /// Share of a GPU's or the machine's memory in use, above which memory is short
    memory_ratio = 0.9;
    /// Mean share of the time in which a GPU works, below which it is not used well
    gpu_utilization_ratio = 0.5;
    /// Share of the wall time, above which a stage is a bottleneck
    stage_ratio = 0.3;
    /// Degrees Celsius of a GPU, above which it is at risk of throttling
    gpu_celsius = 85.0;
    /// Share of frames that were dropped, above which drops matter
    dropped_frames_ratio = 0.05;
    /// Parameters of one model, above which it is large
    model_parameters = 1e9;
    /// Denoising steps of a generation, above which they are many
    steps_per_generation = 30.0;
    /// Mean latent frames of a block, above which blocks are large
    block_frames = 8.0;
    /// Delivered frames in a second, below which delivery is slow
    frames_per_second = 10.0;
    /// Blocks in a second, below which block work is slow
    blocks_per_second = 2.0;
    /// Share of the time of all reported layers, above which a layer is a bottleneck
    layer_ratio = 0.3;
    /// Mean share of the time in which a GPU works, below which it is idle beside others
    idle_gpu_ratio = 0.1;
    /// Share of a source's highest reading, above which memory that a finished stage keeps matters
    kept_memory_ratio = 0.2;
    /// Share of what the allocator holds that no tensor ever used, above which it is fragmented
    fragmentation_ratio = 0.3;
    /// Bytes written to swap or read back, above which memory has spilled
    swapped_bytes = 268_435_456.0;
    /// Share of the time in which tasks waited for a processor, above which the host holds the program up
    cpu_pressure_ratio = 0.4;
    /// Frames in a second at which a viewer is simulated to play
    playback_frames_per_second = 16.0;
}

impl Thresholds {
    /// The limits that the run's configuration set, defaults otherwise. What it set and no rule knows is passed over.
    pub fn of(run: &Run) -> Self {
        let mut limits = Self::default();
        for (key, value) in &run.info.facts {
            let name = key.strip_prefix(FACT);
            if let Some((name, value)) = name.zip(value.parse().ok()) {
                // Configuration was checked when it was read; an older capture may know other limits.
                limits.set(name, value).ok();
            }
        }
        limits
    }
}
