//! What to record and report: `ProfilingConfig`, from a YAML file, the environment, arguments and keywords.
//!
//! The table of keys is in [`KEYS`]; files, variables, keywords and the guide all follow it. Every source is read into a [`Layer`], and
//! [`Layers`] puts them on top of one another: defaults < file < environment < arguments < keywords. A key that a stronger layer gives
//! replaces the weaker one's value as a whole, tags too.
//!
//! Two policies for what is wrong in a layer, see [`CheckedLayer`]: what was asked for in code refuses to start, what the environment
//! switched on warns and goes on.

mod environment;
mod error;
mod keys;
mod kinds;
mod layer;
mod layers;
mod nearest;
mod raw_value;
mod setting;
#[cfg(feature = "yaml")]
mod yaml;

pub use environment::FILE_VARIABLE;
pub(crate) use environment::{asks_to_record, is_known_variable};
pub use error::{ConfigError, Origin, Problem};
pub use keys::{KEYS, Key, ProfilingConfig};
pub use kinds::{Preparation, SectionKind, words_of_name};
pub use layer::{CheckedLayer, FILE_ARGUMENT, Layer};
pub use layers::Layers;
pub(crate) use nearest::nearest;
pub use raw_value::{Entry, Position, RawValue};
pub use setting::{KeyKind, ReportFormat, Setting};

use std::path::{Path, PathBuf};

use crate::output_dir::default_output_dir;

impl ProfilingConfig {
    /// A YAML file and, above it, the environment.
    ///
    /// # Errors
    /// When the file or a variable has an unknown key or a value that does not fit.
    pub fn from_yaml(path: &Path) -> Result<Self, ConfigError> {
        let layers = Layers {
            file: CheckedLayer::of_yaml(path).strict()?,
            environment: CheckedLayer::of_environment().strict()?,
            ..Layers::default()
        };
        Ok(layers.config())
    }

    /// What the environment says, with the file that `MAREY_PROFILING_CONFIG` names below it.
    ///
    /// # Errors
    /// As [`Self::from_yaml`].
    pub fn from_env() -> Result<Self, ConfigError> {
        let layers = Layers {
            file: CheckedLayer::of_environments_file().strict()?,
            environment: CheckedLayer::of_environment().strict()?,
            ..Layers::default()
        };
        Ok(layers.config())
    }

    /// As [`Self::from_env`], for a recorder that the environment switches on: what is wrong is left out and named.
    pub fn from_env_tolerant() -> (Self, Vec<ConfigError>) {
        let file = CheckedLayer::of_environments_file();
        let environment = CheckedLayer::of_environment();
        let layers =
            Layers { file: file.layer, environment: environment.layer, ..Layers::default() };
        let errors = file.errors.into_iter().chain(environment.errors);
        (layers.config(), errors.collect())
    }

    /// Whether the values of fields that a program set by itself are in their ranges.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let ranged = |(key, setting): (&Key, Setting)| match setting {
            Setting::Seconds(v) => Some(Entry::new(key.name, RawValue::Float(v))),
            Setting::Points(v) => {
                let v = i64::try_from(v).unwrap_or(i64::MAX);
                Some(Entry::new(key.name, RawValue::Int(v)))
            }
            Setting::Limits(limits) => {
                let limits = limits.into_iter();
                let limits = limits.map(|(name, v)| Entry::new(name, RawValue::Float(v)));
                Some(Entry::new(key.name, RawValue::Mapping(limits.collect())))
            }
            _ => None,
        };
        let entries: Vec<_> = self.settings().into_iter().filter_map(ranged).collect();
        CheckedLayer::of_keywords(&entries).strict().map(drop)
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
