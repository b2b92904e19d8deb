//! Limits of the rules that look for what is the matter with a run: the one table.

use crate::profiling_config::nearest;
use crate::run::Run;

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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// No rule has a limit of this name.
    #[error("there is no threshold `{name}`; {}", did_you_mean(*.nearest))]
    Unknown {
        /// As it was written.
        name: String,
        /// The name that is spelt most like it; `None` when none is near.
        nearest: Option<&'static str>,
    },
    /// Limits are finite numbers, not below 0.
    #[error("a threshold is a number, 0 or more, not {0}")]
    NotALimit(f64),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map_or_else(|| "none has a similar name".into(), |name| format!("did you mean `{name}`?"))
}

impl Threshold {
    /// The limit of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(name: &str) -> Result<&'static Self, ThresholdError> {
        let found = THRESHOLDS.iter().find(|limit| limit.name == name);
        found.ok_or_else(|| ThresholdError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, THRESHOLDS.iter().map(|limit| limit.name)),
        })
    }

    /// Whether a value can be a limit: finite, and not below 0.
    pub fn allows(value: f64) -> bool {
        value.is_finite() && value >= 0.0
    }

    /// Under which key a capture's facts have it: `profiling.thresholds.<name>`.
    pub fn fact(&self) -> String {
        format!("{FACT}{}", self.name)
    }
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

        /// All limits, in the order in which the documentation has them.
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
                let limit = Threshold::of(name)?;
                if !Threshold::allows(value) {
                    return Err(ThresholdError::NotALimit(value));
                }
                match limit.name {
                    $(stringify!($name) => self.$name = value,)+
                    _ => {}
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
    unused_gpu_ratio = 0.1;
    /// Share of a source's highest reading, above which memory that a finished stage keeps matters
    kept_memory_ratio = 0.2;
    /// Share of what the allocator holds that no tensor ever used, above which it is fragmented
    fragmentation_ratio = 0.3;
    /// Bytes written to swap or read back, above which memory has spilled
    swapped_bytes = 268_435_456.0;
    /// Share of the time in which threads of the program wanted a processor that they had none, above which the host holds it up
    cpu_pressure_ratio = 0.4;
    /// Frames in a second at which a viewer is simulated to play
    playback_frames_per_second = 16.0;
    /// Share of a stage in which somebody waited for a disk, above which the disk holds it up; loading at full speed out of the page
    /// cache stays far below
    io_wait_ratio = 0.2;
    /// Share of the wall time that waiting for a disk has to cost; less is not worth a change
    starved_ratio = 0.05;
    /// Share of the rate at which the same run read elsewhere, below which a stage reads slowly; a tenth is beyond what a cold cache
    /// or other programs do to an SSD
    slow_read_ratio = 0.1;
    /// Bytes that a stage has to read to be judged by their rate; less are no weights
    slow_read_bytes = 1e9;
    /// Share of the wall time that moves between host and device leave the device idle, above which they should be hidden
    exposed_transfer_ratio = 0.05;
    /// Share of a device's time in communication between ranks that no computing hides, above which it matters
    exposed_communication_ratio = 0.1;
    /// Bytes a second over PCI Express, above which a transfer is under way; far above what commands take
    transfer_bytes_per_second = 1e9;
    /// Share of the time in which a GPU works, below which it idles while data moves
    transfer_gpu_ratio = 0.2;
    /// Share of the time of steps, above which waiting in synchronisation points matters
    synchronisation_ratio = 0.05;
    /// Sections with `sync=True` in a step, above which they change what they measure; one a step, around it, is the customary way to time it
    synchronised_per_step = 1.0;
    /// Cores that the process keeps busy, from which on one of its threads works all the time
    busy_thread_cores = 0.9;
    /// Share of the wall time in attention without a fused kernel, above which it matters
    eager_attention_ratio = 0.05;
    /// Lookups that a cache has to answer to be judged; fewer may be its warm-up
    cache_lookups = 10.0;
    /// Share of lookups that hit, below which a cache brings nothing
    cache_hit_ratio = 0.05;
    /// Bytes that a cache holds, above which they have to be earned; less is a few thousandths of a large GPU's memory
    cache_held_bytes = 268_435_456.0;
    /// Share of the wall time that a cache has to save for the bytes that it holds
    cache_saved_ratio = 0.01;
    /// Distance of a score from the threshold, as a share of it, up to which a miss was a near one
    near_miss_ratio = 0.2;
    /// Share of scored lookups that missed nearly, above which the threshold is worth another look
    near_misses_ratio = 0.1;
    /// Share of the wall time that slow steps take beyond the median step, above which they matter
    step_outliers_ratio = 0.02;
    /// Share of the wall time that compiling after the first step takes, above which it is no warm-up
    late_compile_ratio = 0.01;
    /// Share of the time that ranks wait for others, above which they are out of step
    rank_wait_ratio = 0.05;
    /// Share of the median over ranks, by which a rank's own time has to be longer to hold the others up
    straggler_ratio = 0.1;
    /// Share of the fullest GPU's memory, by which another GPU of the job has to use less for their memory to be uneven
    uneven_memory_ratio = 0.2;
    /// Share of the wall time that moving models takes, above which it has to be needed
    offload_ratio = 0.02;
    /// Share of the wall time spent on encoding prompts again, above which their embeddings are worth keeping
    repeated_encoding_ratio = 0.01;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(facts: &[(&str, &str)]) -> Run {
        let facts = facts.iter();
        let mut run = Run::default();
        run.info.facts = facts.map(|(key, value)| ((*key).into(), (*value).into())).collect();
        run
    }

    #[test]
    fn the_last_fact_that_is_a_limit_counts() {
        let limits = Thresholds::of(&run(&[
            ("profiling.thresholds.frames_per_second", "5.0"),
            ("profiling.thresholds.frames_per_second", "6.0"),
            ("profiling.thresholds.block_frames", "many"),
            ("profiling.thresholds.stage_ratio", "NaN"),
            ("profiling.thresholds.of_a_newer_version", "7.0"),
        ]));
        let expected = Thresholds { frames_per_second: 6.0, ..Thresholds::default() };
        assert_eq!(limits, expected);
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_nearest_one() {
        let error = Thresholds::default().set("frame_per_second", 5.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no threshold `frame_per_second`; did you mean `frames_per_second`?"
        );
        let error = Thresholds::default().set("x", 5.0).unwrap_err();
        assert_eq!(error.to_string(), "there is no threshold `x`; none has a similar name");
    }

    #[test]
    fn limits_are_finite_and_not_below_0() {
        let mut limits = Thresholds::default();
        for value in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(limits.set("stage_ratio", value).is_err(), "{value}");
        }
        assert_eq!(limits.set("stage_ratio", 0.0), Ok(()));
    }

    #[test]
    fn every_name_sets_its_own_limit() {
        for limit in THRESHOLDS {
            let mut limits = Thresholds::default();
            limits.set(limit.name, limit.default + 1.0).unwrap();
            let fact = (limit.fact(), format!("{:?}", limit.default + 1.0));
            assert_eq!(limits, Thresholds::of(&run(&[(&fact.0, &fact.1)])), "{}", limit.name);
            assert_ne!(limits, Thresholds::default());
        }
    }
}
