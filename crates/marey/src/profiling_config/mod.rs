//! What to record and report: `ProfilingConfig`, from a YAML file, the environment, arguments and keywords.
//!
//! The table of keys is in [`KEYS`]; files, variables, keywords and the documentation all follow it. [`Layers`] reads one source after another:
//! defaults < file < environment < arguments < keywords. A key that a stronger one gives replaces the weaker one's value as a whole,
//! tags too.
//!
//! Two policies for what is wrong in a source: what was asked for in code refuses to start ([`Layers::strict`]), what the environment
//! switched on warns and goes on.

mod given;
mod keys;
mod kinds;
mod layers;
mod raw_value;
mod setting;
#[cfg(feature = "yaml")]
mod yaml;

pub(crate) use keys::nearest;
pub use keys::{KEYS, Key, ProfilingConfig};
pub use kinds::{Preparation, SectionKind, words_of_name};
pub use layers::{FILE_VARIABLE, Layers};
pub(crate) use layers::{asks_to_record, is_known_variable};
pub use raw_value::{ConfigError, Entry, Position, RawValue};
pub use setting::ReportFormat;

use std::path::{Path, PathBuf};

/// Where reports and captures go when nobody says: `profiling_results` in the working directory.
pub fn default_output_dir() -> PathBuf {
    PathBuf::from("profiling_results")
}

impl ProfilingConfig {
    /// A YAML file and, above it, the environment.
    ///
    /// # Errors
    /// When the file or a variable has an unknown key or a value that does not fit.
    pub fn from_yaml(path: &Path) -> Result<Self, ConfigError> {
        Layers::default().yaml(path).environment().strict()
    }

    /// What the environment says, with the file that `MAREY_PROFILING_CONFIG` names below it.
    ///
    /// # Errors
    /// As [`Self::from_yaml`].
    pub fn from_env() -> Result<Self, ConfigError> {
        Layers::default().environments_file().environment().strict()
    }

    /// As [`Self::from_env`], for a recorder that the environment switches on: what is wrong is left out and named.
    pub fn from_env_tolerant() -> (Self, Vec<ConfigError>) {
        let layers = Layers::default().environments_file().environment();
        (layers.config, layers.errors)
    }

    /// Whether the values of fields that a program set by itself are in their ranges.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let number = |name: &str, v| Entry::new(name, RawValue::Float(v));
        let points = i64::try_from(self.max_data_points).unwrap_or(i64::MAX);
        let limits = self.thresholds.iter().map(|(name, limit)| number(name, *limit)).collect();
        let entries = [
            number("display_interval", self.display_interval),
            number("gpu_monitor_interval", self.gpu_monitor_interval),
            number("cpu_monitor_interval", self.cpu_monitor_interval),
            Entry::new("max_data_points", RawValue::Int(points)),
            Entry::new("thresholds", RawValue::Mapping(limits)),
        ];
        Layers::default().keys("keyword", entries).strict().map(drop)
    }

    /// Folder that gets reports and captures: `output_dir`, else `profiling_results`.
    pub fn output_folder(&self) -> PathBuf {
        self.output_dir.clone().unwrap_or_else(default_output_dir)
    }

    /// Whether no kind of section is switched off.
    pub fn records_all_kinds(&self) -> bool {
        SectionKind::ALL.iter().all(|kind| kind.is_recorded(self))
    }

    /// Whether sections of a name are recorded, as the switches by kind say. `enabled` is not asked.
    pub fn records(&self, name: &str) -> bool {
        SectionKind::of(name).is_none_or(|kind| kind.is_recorded(self))
    }
}
