//! The environment as a layer: a variable for every key.

use std::ffi::OsString;
use std::path::Path;

use super::given::truth;
use super::keys::KEYS;
use super::layers::Layers;
use super::raw_value::{Entry, RawValue};

/// Names a YAML file.
pub const FILE_VARIABLE: &str = "MAREY_PROFILING_CONFIG";

/// Switches recording on and off.
const ENABLED: &str = "MAREY_ENABLED";

/// What else switches recording on, where [`ENABLED`] is not set.
const ENABLED_ALIAS: &str = "FRAMEPACK_ENABLE_PROFILING";

/// Whether a variable stands for a key or names the file.
pub(crate) fn is_known_variable(name: &str) -> bool {
    name == FILE_VARIABLE || KEYS.iter().any(|key| key.variable() == name)
}

/// Whether the environment asks for a recording.
pub(crate) fn asks_to_record() -> bool {
    is_enabled(&|name| std::env::var_os(name)).unwrap_or(false)
}

impl Layers {
    /// The process's variables.
    pub fn environment(self) -> Self {
        self.variables(&|name| std::env::var_os(name))
    }

    /// The file that [`FILE_VARIABLE`] names; nothing when it names none.
    pub fn environments_file(self) -> Self {
        match std::env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => self.yaml(Path::new(&path)),
            None => self,
        }
    }

    /// Variables by name. One that is empty counts as not set, but `MAREY_ENABLED`: that is off.
    pub fn variables(self, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        KEYS.iter().fold(self, |layers, key| {
            let name = key.variable();
            let value = if name == ENABLED {
                is_enabled(variable).map(RawValue::Bool)
            } else {
                variable(&name).filter(|text| !text.is_empty()).map(RawValue::Said)
            };
            layers.keys(&name, value.map(|value| Entry::new(key.name, value)))
        })
    }
}

/// What `MAREY_ENABLED` says, and where it is not set, its alias; `None` when neither says anything. Everything but a word for no, and
/// nothing at all, is a yes.
fn is_enabled(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<bool> {
    match variable(ENABLED) {
        Some(text) => Some(truth(&text).unwrap_or(!text.is_empty())),
        None => truth(&variable(ENABLED_ALIAS)?),
    }
}
