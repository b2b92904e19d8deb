//! What one source says: values for some of the keys.

use std::collections::BTreeMap;

use super::error::{ConfigError, Origin, Problem};
use super::keys::{KEYS, Key};
use super::nearest::nearest;
use super::raw_value::{Entry, Position, RawValue};
use super::setting::{KeyKind, Setting};
use crate::thresholds::{Threshold, ThresholdError};

/// Name under which `marey.cli_args` stores the path of the YAML file.
pub const FILE_ARGUMENT: &str = "profiling_config";

/// The key below which all others stand in a file.
pub(super) const ROOT: &str = "profiling";

/// Values for some of the keys, with the place that each comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    given: BTreeMap<&'static str, (Setting, Origin)>,
}

impl Layer {
    /// This layer on top of another one: what both give is as this one gives it.
    #[must_use]
    pub fn over(mut self, below: Self) -> Self {
        for (name, given) in below.given {
            self.given.entry(name).or_insert(given);
        }
        self
    }

    /// The value of a key and where it comes from; `None` when this layer says nothing about it.
    pub fn get(&self, key: &Key) -> Option<(&Setting, &Origin)> {
        self.given.get(key.name).map(|(setting, origin)| (setting, origin))
    }

    /// Whether it has a value for every key, so that nothing below it matters.
    pub fn is_complete(&self) -> bool {
        self.given.len() == KEYS.len()
    }
}

/// A layer without what is wrong in its source, and what that is.
#[derive(Debug, Default)]
pub struct CheckedLayer {
    /// What fits.
    pub layer: Layer,
    /// What does not, in the order of the source.
    pub errors: Vec<ConfigError>,
}

impl CheckedLayer {
    /// The layer, if nothing is wrong. For what was asked for in code: the user's program has not begun yet.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn strict(self) -> Result<Layer, ConfigError> {
        match self.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(self.layer),
        }
    }

    /// A YAML file. This build cannot read any.
    #[cfg(not(feature = "yaml"))]
    pub fn of_yaml(path: &std::path::Path) -> Self {
        let mut checked = Self::default();
        let reason = "marey was built without the feature `yaml`";
        let problem = Problem::Unreadable(std::io::Error::other(reason));
        checked.refuse(Origin::File(path.into(), None), problem);
        checked
    }

    /// A mapping in the program, with the root key or without it.
    pub fn of_mapping(mapping: &RawValue) -> Self {
        let mut checked = Self::default();
        let origin = |_| Origin::Mapping;
        let below_root = match mapping {
            RawValue::Mapping(entries) => entries.iter().find(|entry| entry.name == ROOT),
            _ => None,
        };
        match (below_root, mapping) {
            (Some(_), RawValue::Mapping(entries)) => checked.take_document(entries, &origin),
            _ => checked.take_keys(mapping, None, &origin),
        }
        checked
    }

    /// Keyword arguments of a call.
    pub fn of_keywords(keywords: &[Entry]) -> Self {
        let mut checked = Self::default();
        for keyword in keywords {
            checked.take(keyword, &|_| Origin::Keyword);
        }
        checked
    }

    /// Arguments of a command line by the names under which `marey.cli_args` stores them. Nothing, and false, is a flag that was not
    /// given; names without a key are somebody else's.
    pub fn of_arguments(arguments: &[Entry]) -> Self {
        let mut checked = Self::default();
        let is_given =
            |entry: &&Entry| !matches!(entry.value, RawValue::Null | RawValue::Bool(false));
        for argument in arguments.iter().filter(is_given) {
            let key = KEYS.iter().find(|key| key.argument == Some(argument.name.as_str()));
            if let Some(key) = key {
                let flag = format!("--{}", argument.name.replace('_', "-"));
                checked.put(key, argument, &|_| Origin::Argument(flag.clone()));
            }
        }
        checked
    }

    /// A document with the root key. Other keys beside it belong to somebody else, unless they are ours and only lack their indent.
    pub(super) fn take_document(
        &mut self,
        entries: &[Entry],
        origin: &dyn Fn(Option<Position>) -> Origin,
    ) {
        let Some(first) = entries.first() else { return };
        if !entries.iter().any(|entry| entry.name == ROOT) {
            let found = format!("`{}`", first.name);
            self.refuse(origin(first.name_at), Problem::NoRoot { found });
            return;
        }
        for entry in entries {
            if entry.name == ROOT {
                self.take_keys(&entry.value, entry.value_at, origin);
            } else if Key::of(&entry.name).is_some() {
                let key = entry.name.clone();
                self.refuse(origin(entry.name_at), Problem::Misplaced { key });
            }
        }
    }

    /// What stands below the root.
    pub(super) fn take_keys(
        &mut self,
        mapping: &RawValue,
        at: Option<Position>,
        origin: &dyn Fn(Option<Position>) -> Origin,
    ) {
        match mapping {
            RawValue::Null => {}
            RawValue::Mapping(entries) => {
                for entry in entries {
                    self.take(entry, origin);
                }
            }
            other => {
                let problem = Problem::NoMapping {
                    found: other.clone(),
                    expected: "a mapping of keys to values",
                };
                self.refuse(origin(at), problem);
            }
        }
    }

    fn take(&mut self, entry: &Entry, origin: &dyn Fn(Option<Position>) -> Origin) {
        if let Some(key) = Key::of(&entry.name) {
            self.put(key, entry, origin);
            return;
        }
        let problem = Problem::UnknownKey {
            key: entry.name.clone(),
            nearest: nearest(&entry.name, KEYS.iter().map(|key| key.name)),
        };
        self.refuse(origin(entry.name_at), problem);
    }

    /// Takes the value of a key, if it fits.
    pub(super) fn put(
        &mut self,
        key: &'static Key,
        entry: &Entry,
        origin: &dyn Fn(Option<Position>) -> Origin,
    ) {
        if let Some((limit, nearest)) = unknown_limit(key, entry) {
            let problem =
                Problem::UnknownKey { key: format!("{}.{}", key.name, limit.name), nearest };
            self.refuse(origin(limit.name_at), problem);
            return;
        }
        match key.kind.accept(&entry.value) {
            Ok(setting) => {
                let given = (setting, origin(entry.value_at));
                self.layer.given.insert(key.name, given);
            }
            Err(misfit) => {
                let wrong = misfit.tag.unwrap_or(entry);
                let tag = misfit.tag.map(|tag| format!(".{}", tag.name));
                let problem = Problem::Misfit {
                    key: format!("{}{}", key.name, tag.unwrap_or_default()),
                    found: wrong.value.clone(),
                    expected: misfit.expected,
                };
                self.refuse(origin(wrong.value_at), problem);
            }
        }
    }

    pub(super) fn refuse(&mut self, origin: Origin, problem: Problem) {
        self.errors.push(ConfigError::new(origin, problem));
    }
}

/// A limit that no rule has, with the one that is spelt most like it.
fn unknown_limit<'a>(key: &Key, entry: &'a Entry) -> Option<(&'a Entry, Option<&'static str>)> {
    let RawValue::Mapping(limits) = &entry.value else {
        return None;
    };
    let limits = limits.iter().filter(|_| key.kind == KeyKind::Limits);
    limits.into_iter().find_map(|limit| match Threshold::of(&limit.name) {
        Err(ThresholdError::Unknown { nearest, .. }) => Some((limit, nearest)),
        _ => None,
    })
}
