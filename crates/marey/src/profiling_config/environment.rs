//! The environment as a layer: a variable for every key.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::error::{Origin, Problem};
use super::keys::{KEYS, Key};
use super::layer::CheckedLayer;
use super::raw_value::{Entry, RawValue};
use super::setting::{KeyKind, truth};

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

impl CheckedLayer {
    /// The process's variables.
    pub fn of_environment() -> Self {
        Self::of_variables(&|name| std::env::var_os(name))
    }

    /// The file that [`FILE_VARIABLE`] names; empty when it names none.
    pub fn of_environments_file() -> Self {
        match std::env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::of_yaml(Path::new(&path)),
            None => Self::default(),
        }
    }

    /// Variables by name. One that is empty counts as not set, but `MAREY_ENABLED`: that is off.
    pub fn of_variables(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let mut checked = Self::default();
        for key in KEYS {
            let name = key.variable();
            let Some((name, value)) = (if name == ENABLED {
                enabled(variable)
            } else {
                given(variable, &name).map(|text| (name, raw_value(key, &text)))
            }) else {
                continue;
            };
            let entry = Entry::new(key.name, value);
            let origin = Origin::Variable(name);
            if let (Some(expected), false) =
                (pairs_of(key.kind), matches!(entry.value, RawValue::Mapping(_)))
            {
                let problem =
                    Problem::Misfit { key: key.name.into(), found: entry.value, expected };
                checked.refuse(origin, problem);
            } else {
                checked.put(key, &entry, &|_| origin.clone());
            }
        }
        checked
    }
}

fn given(variable: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    variable(name).filter(|text| !text.is_empty())
}

fn enabled(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<(String, RawValue)> {
    let name = if variable(ENABLED).is_some() { ENABLED } else { ENABLED_ALIAS };
    is_enabled(variable).map(|is_on| (name.to_owned(), RawValue::Bool(is_on)))
}

/// What `MAREY_ENABLED` says, and where it is not set, its alias; `None` when neither says anything. Everything but a word for no, and
/// nothing at all, is a yes.
fn is_enabled(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<bool> {
    if let Some(text) = variable(ENABLED) {
        let word = text.to_str().and_then(truth);
        return Some(word.unwrap_or(!text.is_empty()));
    }
    variable(ENABLED_ALIAS)?.to_str().and_then(truth)
}

/// A variable's text as the key's kind reads it; as text when it does not fit, so that the message can repeat it.
fn raw_value(key: &Key, text: &OsStr) -> RawValue {
    if key.kind == KeyKind::Folder {
        return RawValue::Path(text.into());
    }
    let text = text.to_string_lossy();
    let value = match key.kind {
        KeyKind::Switch => truth(&text).map(RawValue::Bool),
        KeyKind::Seconds => text.parse().ok().map(RawValue::Float),
        KeyKind::Points => text.replace('_', "").parse().ok().map(RawValue::Int),
        KeyKind::Tags => tags(&text).map(RawValue::Mapping),
        KeyKind::Limits => {
            tags(&text).map(|limits| RawValue::Mapping(limits.into_iter().map(number).collect()))
        }
        KeyKind::Format | KeyKind::Folder => None,
    };
    value.unwrap_or_else(|| RawValue::Text(text.into_owned()))
}

/// What a variable has to be for a key whose value is a mapping; `None` for another key.
fn pairs_of(kind: KeyKind) -> Option<&'static str> {
    match kind {
        KeyKind::Tags => Some("name=value pairs with commas between"),
        KeyKind::Limits => Some("name=number pairs with commas between"),
        _ => None,
    }
}

/// The entry with its text as a number, where it is one.
fn number(entry: Entry) -> Entry {
    let parsed = match &entry.value {
        RawValue::Text(text) => text.parse().ok(),
        _ => None,
    };
    match parsed {
        Some(v) => Entry::new(entry.name, RawValue::Float(v)),
        None => entry,
    }
}

/// `name=value,name=value`; values are text. `None` when a pair has no name or no `=`, or a name stands twice.
fn tags(text: &str) -> Option<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for pair in text.split(',') {
        let (name, value) = pair.split_once('=')?;
        let name = name.trim();
        if name.is_empty() || entries.iter().any(|entry| entry.name == name) {
            return None;
        }
        entries.push(Entry::new(name, RawValue::Text(value.trim().into())));
    }
    Some(entries)
}
