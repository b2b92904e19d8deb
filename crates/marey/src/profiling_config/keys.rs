//! The one table of keys.

use std::path::PathBuf;

use super::setting::{KeyKind, ReportFormat, Setting};
use crate::value::Attributes;

/// A key: how it is called everywhere, what it may be, what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// In YAML, as a keyword, as an attribute.
    pub name: &'static str,
    /// What its value may be.
    pub kind: KeyKind,
    /// Name under which `marey.cli_args` stores the command line's word for it; `None` when it has no flag.
    pub argument: Option<&'static str>,
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
    ($($(#[doc = $meaning:literal])+ $name:ident: $kind:ident($type:ty) = $default:expr $(, argument $argument:literal)?;)+) => {
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

        /// All keys, in the order in which the guide has them.
        pub const KEYS: &[Key] = &[
            $(Key {
                name: stringify!($name),
                kind: KeyKind::$kind,
                argument: [$(Some($argument),)? None][0],
                meaning: concat!($($meaning),+),
            },)+
        ];

        impl ProfilingConfig {
            /// The values of all keys, in the order of [`KEYS`].
            pub fn settings(&self) -> Vec<(&'static Key, Setting)> {
                KEYS.iter().zip([$(Setting::$kind(self.$name.clone()),)+]).collect()
            }

            /// Sets a key to a value of its kind; another kind changes nothing.
            pub(super) fn set(&mut self, key: &Key, setting: Setting) {
                match (key.name, setting) {
                    $((stringify!($name), Setting::$kind(value)) => self.$name = value,)+
                    _ => {}
                }
            }
        }
    };
}

keys! {
    /// Whether anything is recorded and reported
    enabled: Switch(bool) = false, argument "enable_profiling";
    /// Shows current figures while the program runs
    real_time_display: Switch(bool) = true;
    /// Seconds between two displays
    display_interval: Seconds(f64) = 5.0;
    /// Seconds between two readings of the GPUs
    gpu_monitor_interval: Seconds(f64) = 0.5;
    /// Reads GPU memory, of the device and of this process
    monitor_gpu_memory: Switch(bool) = true;
    /// Reads how busy the GPUs are
    monitor_gpu_utilization: Switch(bool) = true;
    /// Reads GPU temperature
    monitor_gpu_temperature: Switch(bool) = true;
    /// Reads GPU power and energy
    monitor_gpu_power: Switch(bool) = true;
    /// Seconds between two readings of the host
    cpu_monitor_interval: Seconds(f64) = 1.0;
    /// Reads CPU time, of the machine, its cores and this process
    monitor_cpu_usage: Switch(bool) = true;
    /// Reads memory, swap, disk I/O and pressure, of the machine and of this process
    monitor_system_memory: Switch(bool) = true;
    /// Writes reports when the recording ends
    generate_final_report: Switch(bool) = true;
    /// Which reports: `html`, `json` or `both`
    report_format: Format(ReportFormat) = ReportFormat::Both;
    /// Folder that gets captures and reports; `null` is `profiling_results`
    output_dir: Folder(Option<PathBuf>) = None, argument "profiling_output_dir";
    /// Writes every series as JSON besides; the capture stays either way
    save_raw_data: Switch(bool) = false;
    /// Points of a series of which each is one reading; past that, readings share ever longer time buckets
    max_data_points: Points(usize) = 10_000;
    /// Records sections that are named as denoising steps
    profile_inference_steps: Switch(bool) = true;
    /// Records sections that are named as VAE decoding
    profile_vae_decode: Switch(bool) = true;
    /// Records sections that are named as text encoding
    profile_text_encoding: Switch(bool) = true;
    /// Records what `record_diffusion_step` is told
    profile_diffusion_steps: Switch(bool) = true;
    /// Records sections that are named as blocks, and what `record_block_computation` is told
    profile_block_computation: Switch(bool) = true;
    /// Records what `record_model_parameters` is told
    profile_model_parameters: Switch(bool) = true;
    /// Tags that every session gets
    session_tags: Tags(Attributes) = Attributes::new();
    /// Limits of findings that are not as in their table, by name
    thresholds: Limits(Vec<(String, f64)>) = Vec::new();
}
