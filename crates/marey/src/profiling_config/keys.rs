//! The one table of keys, and which of them a misspelt name was meant to be.

use std::path::PathBuf;

use super::given::Given;
use super::raw_value::ConfigError;
use super::setting::{ReportFormat, Setting};
use crate::value::Attributes;

/// A key: how it is called everywhere, and what it does.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// In YAML, as a keyword, as an attribute.
    pub name: &'static str,
    meaning: &'static str,
}

impl Key {
    /// The key of a name.
    pub fn of(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// What it does, in a sentence.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim_start()
    }

    /// Its variable in the environment.
    pub fn variable(&self) -> String {
        format!("MAREY_{}", self.name.to_ascii_uppercase())
    }
}

macro_rules! keys {
    ($($(#[doc = $meaning:literal])+ $name:ident: $kind:ident($type:ty) = $default:expr;)+) => {
        /// What to record and report. Fields are the keys of [`KEYS`]; times are seconds.
        #[derive(Clone, Debug, PartialEq)]
        pub struct ProfilingConfig {
            $($(#[doc = $meaning])+ pub $name: $type,)+
        }

        impl Default for ProfilingConfig {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        /// All keys, in the order in which the documentation has them.
        pub const KEYS: &[Key] = &[
            $(Key {
                name: stringify!($name),
                meaning: concat!($($meaning),+),
            },)+
        ];

        impl ProfilingConfig {
            /// The values of all keys as YAML writes them, in the order of [`KEYS`].
            pub fn settings(&self) -> Vec<(&'static Key, String)> {
                KEYS.iter().zip([$(self.$name.yaml(),)+]).collect()
            }

            /// Sets a key to what was given for it; nothing changes when that is wrong.
            pub(super) fn set(&mut self, given: Given<'_>) -> Result<(), ConfigError> {
                match given.entry.name.as_str() {
                    $(stringify!($name) => self.$name = given.$kind()?,)+
                    name => return given.unknown(nearest(name, KEYS.iter().map(|key| key.name))),
                }
                Ok(())
            }
        }
    };
}

keys! {
    /// Whether anything is recorded and reported
    enabled: switch(bool) = false;
    /// Shows current figures while the program runs
    real_time_display: switch(bool) = true;
    /// Seconds between two displays
    display_interval: seconds(f64) = 5.0;
    /// Seconds between two readings of the GPUs
    gpu_monitor_interval: seconds(f64) = 0.5;
    /// Reads GPU memory, of the device and of this process
    monitor_gpu_memory: switch(bool) = true;
    /// Reads how busy the GPUs are
    monitor_gpu_utilization: switch(bool) = true;
    /// Reads GPU temperature
    monitor_gpu_temperature: switch(bool) = true;
    /// Reads GPU power and energy
    monitor_gpu_power: switch(bool) = true;
    /// Seconds between two readings of the host
    cpu_monitor_interval: seconds(f64) = 1.0;
    /// Reads CPU time, of the machine, its cores and this process
    monitor_cpu_usage: switch(bool) = true;
    /// Reads memory, swap, disk I/O and pressure, of the machine and of this process
    monitor_system_memory: switch(bool) = true;
    /// Writes reports when the recording ends
    generate_final_report: switch(bool) = true;
    /// Which reports: `html`, `json` or `both`
    report_format: format(ReportFormat) = ReportFormat::Both;
    /// Folder that gets captures and reports; `null` is `profiling_results`
    output_dir: folder(Option<PathBuf>) = None;
    /// Writes every series as JSON besides; the capture stays either way
    save_raw_data: switch(bool) = false;
    /// Points of a series of which each is one reading; past that, readings share ever longer time buckets
    max_data_points: points(usize) = 10_000;
    /// Records sections that are named as denoising steps
    profile_inference_steps: switch(bool) = true;
    /// Records sections that are named as VAE decoding
    profile_vae_decode: switch(bool) = true;
    /// Records sections that are named as text encoding
    profile_text_encoding: switch(bool) = true;
    /// Records what is reported by `record_diffusion_step`
    profile_diffusion_steps: switch(bool) = true;
    /// Records sections that are named as blocks, and what is reported by `record_block_computation`
    profile_block_computation: switch(bool) = true;
    /// Records what is reported by `record_model_parameters`
    profile_model_parameters: switch(bool) = true;
    /// Shows sections to torch's profiler (`record_function`) and to Nsight (NVTX), too
    torch_ranges: switch(bool) = false;
    /// Tags that every session gets
    session_tags: tags(Attributes) = Attributes::new();
    /// Limits of findings that are not as in their table, by name
    thresholds: limits(Vec<(String, f64)>) = Vec::new();
}

/// The candidate that differs from `name` by the fewest edits, letters of either case and `-` for `_` being no difference; `None` when
/// even that differs by more than a quarter of its letters. At least two edits are always allowed.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| {
            let edits = strsim::osa_distance(&name, &candidate.to_lowercase());
            (edits, candidate)
        })
        .filter(|(edits, candidate)| *edits <= (candidate.len() / 4).max(2))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}
