//! What a source gives for a key, as the value that the key has to have.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::raw_value::{ConfigError, Entry, RawValue};
use super::setting::ReportFormat;
use crate::thresholds::{Threshold, ThresholdError};
use crate::value::{Attributes, Value};

/// Shortest and longest interval, seconds.
const INTERVALS: std::ops::RangeInclusive<f64> = 0.01..=86_400.0;

/// Fewest points of a series.
const FEWEST_POINTS: usize = 2;

/// What a source gives. Its methods make values of it, one a kind of keys: a whole number is also a number of seconds, the text of a
/// variable is what it says, and nothing else is converted.
pub(super) struct Given<'a> {
    /// The key and its value; the name of a tag or a limit stands after a point: `session_tags.model`.
    pub entry: Entry,
    /// The file, variable or flag, as a message names it.
    pub place: &'a str,
    /// The file; empty where it is none.
    pub text: &'a str,
}

impl Given<'_> {
    /// True or false.
    pub(super) fn switch(self) -> Result<bool, ConfigError> {
        let given = self.said(|text| truth(text).map(RawValue::Bool));
        let meant = match &given.entry.value {
            RawValue::Bool(v) => return Ok(*v),
            RawValue::Text(text) => truth(text.as_ref()),
            _ => None,
        };
        given.misfit(match meant {
            Some(true) => "true or false; write true, without quotes",
            Some(false) => "true or false; write false, without quotes",
            None => "true or false",
        })
    }

    /// An interval, seconds.
    pub(super) fn seconds(self) -> Result<f64, ConfigError> {
        self.number("a number of seconds from 0.01 to 86400", |v| INTERVALS.contains(&v))
    }

    /// A number of points.
    pub(super) fn points(self) -> Result<usize, ConfigError> {
        let given =
            self.said(|text| text.to_str()?.replace('_', "").parse().ok().map(RawValue::Int));
        let points = match given.entry.value {
            RawValue::Int(v) => usize::try_from(v).ok().filter(|v| *v >= FEWEST_POINTS),
            _ => None,
        };
        points.map_or_else(|| given.misfit("a whole number, at least 2"), Ok)
    }

    /// A format of reports.
    pub(super) fn format(self) -> Result<ReportFormat, ConfigError> {
        let given = self.said(|_| None);
        let format = match &given.entry.value {
            RawValue::Text(name) => ReportFormat::of(name),
            _ => None,
        };
        format.map_or_else(|| given.misfit("html, json or both"), Ok)
    }

    /// A folder, or nothing.
    pub(super) fn folder(self) -> Result<Option<PathBuf>, ConfigError> {
        let given = self.said(|text| Some(RawValue::Path(text.into())));
        match &given.entry.value {
            RawValue::Null => Ok(None),
            RawValue::Text(path) if !path.is_empty() => Ok(Some(path.into())),
            RawValue::Path(path) if !path.as_os_str().is_empty() => Ok(Some(path.clone())),
            _ => given.misfit("the path of a folder as text, or null"),
        }
    }

    /// Names with values. A number in a file stays one where it is written as Marey writes that number: a commit `695e0514`, a version
    /// `1.10` and a code `017` are texts.
    pub(super) fn tags(self) -> Result<Attributes, ConfigError> {
        self.named("value", |_, tag| {
            let given = tag.said(|_| None);
            let written = given.entry.written.clone().and_then(|bytes| given.text.get(bytes));
            let as_written = |number: Value| match written {
                Some(written) if written != number.to_string() => Value::Text(written.into()),
                _ => number,
            };
            match &given.entry.value {
                RawValue::Bool(v) => Ok(Value::Bool(*v)),
                RawValue::Int(v) => Ok(as_written(Value::Int(*v))),
                RawValue::Float(v) => Ok(as_written(Value::Float(*v))),
                RawValue::Text(text) => Ok(Value::Text(text.clone())),
                RawValue::Path(path) => Ok(Value::Text(path.to_string_lossy().into_owned())),
                _ => given.misfit("text, a number, true or false"),
            }
        })
    }

    /// Names of [`THRESHOLDS`](crate::THRESHOLDS) with numbers.
    pub(super) fn limits(self) -> Result<Vec<(String, f64)>, ConfigError> {
        self.named("number", |name, limit| match Threshold::of(name) {
            Err(ThresholdError::Unknown { nearest, .. }) => limit.unknown(nearest),
            _ => limit.number("a number, 0 or more", Threshold::allows),
        })
    }

    fn number(self, expected: &str, fits: impl Fn(f64) -> bool) -> Result<f64, ConfigError> {
        let given = self.said(|text| text.to_str()?.parse().ok().map(RawValue::Float));
        #[expect(
            clippy::cast_precision_loss,
            reason = "what is not exact as f64 is far beyond what anybody means"
        )]
        match given.entry.value {
            RawValue::Int(v) if fits(v as f64) => Ok(v as f64),
            RawValue::Float(v) if fits(v) => Ok(v),
            _ => given.misfit(expected),
        }
    }

    /// The entries of a mapping, each as `read` makes it of its name and what is given.
    fn named<T>(
        self,
        noun: &str,
        read: impl Fn(&str, Given<'_>) -> Result<T, ConfigError>,
    ) -> Result<Vec<(String, T)>, ConfigError> {
        let is_said = matches!(self.entry.value, RawValue::Said(_));
        let expected = if is_said {
            format!("name={noun} pairs with commas between")
        } else {
            format!("a mapping of names to {noun}s")
        };
        let given = self.said(pairs);
        let entries = match &given.entry.value {
            RawValue::Null => &[],
            RawValue::Mapping(entries) => entries.as_slice(),
            _ => return given.misfit(&expected),
        };
        let is_before =
            |at: usize| entries[..at].iter().any(|other| other.name == entries[at].name);
        if let Some(at) = (0..entries.len()).find(|at| is_said && is_before(*at)) {
            let Entry { name, value_at, .. } = &given.entry;
            let problem = format!("`{name}` has `{}` twice", entries[at].name);
            return Err(ConfigError::new(given.place, *value_at, Some(name), problem));
        }
        let of = |entry: &Entry| {
            let key = format!("{}.{}", given.entry.name, entry.name);
            let below = Given { entry: Entry { name: key, ..entry.clone() }, ..given };
            Ok((entry.name.clone(), read(&entry.name, below)?))
        };
        entries.iter().map(of).collect()
    }

    /// The same with the text of a variable as what it says; as text when it says nothing, so that the message can repeat it.
    fn said(mut self, value_of: impl Fn(&OsStr) -> Option<RawValue>) -> Self {
        if let RawValue::Said(text) = &self.entry.value {
            let as_text = || RawValue::Text(text.to_string_lossy().into_owned());
            self.entry.value = value_of(text).unwrap_or_else(as_text);
        }
        self
    }

    /// There is no such key; `nearest` is the valid one that is spelt most like it.
    pub(super) fn unknown<T>(&self, nearest: Option<&str>) -> Result<T, ConfigError> {
        let key = &self.entry.name;
        let advice = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "no valid key has a similar name".into(),
        };
        let problem = format!("unknown key `{key}`; {advice}");
        Err(ConfigError::new(self.place, self.entry.name_at, Some(key), problem))
    }

    /// A value of another type, or out of its range.
    fn misfit<T>(&self, expected: &str) -> Result<T, ConfigError> {
        let Entry { name, value, value_at, .. } = &self.entry;
        let problem = format!("`{name}` is {value}, but must be {expected}");
        Err(ConfigError::new(self.place, *value_at, Some(name), problem))
    }
}

/// What a text means where texts are all there is.
pub(super) fn truth(text: &OsStr) -> Option<bool> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["1", "true", "yes", "on"]) {
        Some(true)
    } else if is_one_of(["0", "false", "no", "off"]) {
        Some(false)
    } else {
        None
    }
}

/// `name=value,name=value` as a mapping. `None` when a pair has no name or no `=`.
fn pairs(text: &OsStr) -> Option<RawValue> {
    let mut entries: Vec<Entry> = Vec::new();
    for pair in text.to_string_lossy().split(',') {
        let (name, value) = pair.split_once('=')?;
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        entries.push(Entry::new(name, RawValue::Said(value.trim().into())));
    }
    Some(RawValue::Mapping(entries))
}
