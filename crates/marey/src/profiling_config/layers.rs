//! The layers on top of one another, the environment among them: a variable for every key.

use std::ffi::OsString;
use std::path::Path;

use super::given::{Given, truth};
use super::keys::{KEYS, Key, ProfilingConfig};
use super::raw_value::{ConfigError, Entry, RawValue};

/// The key below which all others stand in a file.
const ROOT: &str = "profiling";

/// The defaults and, above them, one source after another, the weakest first. Of a key the last value that fits counts.
#[derive(Debug, Default)]
#[must_use]
pub struct Layers {
    /// The values.
    pub config: ProfilingConfig,
    /// What is wrong in the sources, in their order; none of it is in the values.
    pub errors: Vec<ConfigError>,
}

impl Layers {
    /// The values, if nothing is wrong. For what was asked for in code: the user's program has not begun yet.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn strict(self) -> Result<ProfilingConfig, ConfigError> {
        match self.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.config),
        }
    }

    /// A YAML file. This build cannot read any.
    #[cfg(not(feature = "yaml"))]
    pub fn yaml(mut self, path: &Path) -> Self {
        let problem = "cannot be read: marey was built without the feature `yaml`";
        let error = ConfigError::new(&path.to_string_lossy(), None, None, problem.into());
        self.errors.push(error);
        self
    }

    /// A mapping in the program, with the root key or without it.
    pub fn mapping(self, mapping: RawValue) -> Self {
        let rooted = match mapping {
            RawValue::Mapping(entries) if entries.iter().any(is_root) => RawValue::Mapping(entries),
            keys => RawValue::Mapping(vec![Entry::new(ROOT, keys)]),
        };
        self.document(rooted, "mapping", "")
    }

    /// Keys with their values. `place` is the variable, the flag or the word that a message names the source by.
    pub fn keys(self, place: &str, entries: impl IntoIterator<Item = Entry>) -> Self {
        self.take(entries, place, "")
    }

    fn take(mut self, entries: impl IntoIterator<Item = Entry>, place: &str, text: &str) -> Self {
        for entry in entries {
            self.errors.extend(self.config.set(Given { entry, place, text }).err());
        }
        self
    }

    /// A document with the root key. Other keys beside it belong to somebody else, unless they are ours and only lack their indent.
    /// `text` is the file that it is in.
    pub(super) fn document(mut self, document: RawValue, place: &str, text: &str) -> Self {
        let wrong = |at, key: Option<&str>, problem| ConfigError::new(place, at, key, problem);
        let no_root = |found: String| {
            format!("the key `profiling:` is missing, below which all others stand; found {found}")
        };
        let entries = match document {
            RawValue::Null => Vec::new(),
            RawValue::Mapping(entries) => entries,
            other => {
                self.errors.push(wrong(None, None, no_root(other.to_string())));
                Vec::new()
            }
        };
        if let Some(first) = entries.first().filter(|_| !entries.iter().any(is_root)) {
            self.errors.push(wrong(first.name_at, None, no_root(format!("`{}`", first.name))));
            return self;
        }
        for Entry { name, name_at, value, value_at, .. } in entries {
            match value {
                _ if name != ROOT && Key::of(&name).is_none() => {}
                _ if name != ROOT => {
                    let problem = "stands beside `profiling:`, not below it; indent it";
                    self.errors.push(wrong(name_at, Some(&name), format!("`{name}` {problem}")));
                }
                RawValue::Null => {}
                RawValue::Mapping(keys) => self = self.take(keys, place, text),
                other => {
                    let problem = "the keys must be a mapping of keys to values, found";
                    self.errors.push(wrong(value_at, None, format!("{problem} {other}")));
                }
            }
        }
        self
    }
}

fn is_root(entry: &Entry) -> bool {
    entry.name == ROOT
}

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
