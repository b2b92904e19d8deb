//! Values that fit their key.

use std::fmt;
use std::path::PathBuf;

use super::raw_value::{Entry, RawValue};
use crate::thresholds::Threshold;
use crate::value::{Attributes, Value};

/// Shortest and longest interval, seconds.
const INTERVALS: std::ops::RangeInclusive<f64> = 0.01..=86_400.0;

/// Fewest points of a series.
const FEWEST_POINTS: usize = 2;

/// Which reports are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReportFormat {
    /// One HTML file.
    Html,
    /// One JSON document.
    Json,
    /// Both of them.
    #[default]
    Both,
}

impl ReportFormat {
    /// How a configuration writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Both => "both",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Html, Self::Json, Self::Both].into_iter().find(|format| format.name() == name)
    }
}

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// True or false.
    Switch,
    /// An interval, seconds.
    Seconds,
    /// A number of points.
    Points,
    /// A format of reports.
    Format,
    /// A folder, or nothing.
    Folder,
    /// Names with values.
    Tags,
    /// Names of [`THRESHOLDS`](crate::THRESHOLDS) with numbers.
    Limits,
}

/// A value that fits its key's kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// Of [`KeyKind::Switch`].
    Switch(bool),
    /// Of [`KeyKind::Seconds`].
    Seconds(f64),
    /// Of [`KeyKind::Points`].
    Points(usize),
    /// Of [`KeyKind::Format`].
    Format(ReportFormat),
    /// Of [`KeyKind::Folder`].
    Folder(Option<PathBuf>),
    /// Of [`KeyKind::Tags`].
    Tags(Attributes),
    /// Of [`KeyKind::Limits`].
    Limits(Vec<(String, f64)>),
}

/// A value that does not fit.
pub(super) struct Misfit<'a> {
    /// The tag or limit that does not fit; `None` when it is the value itself.
    pub tag: Option<&'a Entry>,
    pub expected: &'static str,
}

impl KeyKind {
    /// What a value has to be, in words.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Switch => "true or false",
            Self::Seconds => "a number of seconds from 0.01 to 86400",
            Self::Points => "a whole number, at least 2",
            Self::Format => "html, json or both",
            Self::Folder => "the path of a folder as text, or null",
            Self::Tags => "a mapping of names to values",
            Self::Limits => "a mapping of names to numbers",
        }
    }

    /// The value, if it fits. A whole number is also a number of seconds; nothing else is converted.
    pub(super) fn accept(self, raw: &RawValue) -> Result<Setting, Misfit<'_>> {
        let setting = match (self, raw) {
            (Self::Switch, RawValue::Bool(v)) => Some(Setting::Switch(*v)),
            (Self::Seconds, RawValue::Float(v)) => seconds(*v),
            (Self::Seconds, RawValue::Int(v)) => seconds(float(*v)),
            (Self::Points, RawValue::Int(v)) => {
                usize::try_from(*v).ok().filter(|v| *v >= FEWEST_POINTS).map(Setting::Points)
            }
            (Self::Format, RawValue::Text(name)) => ReportFormat::of(name).map(Setting::Format),
            (Self::Folder, RawValue::Null) => Some(Setting::Folder(None)),
            (Self::Folder, RawValue::Text(path)) => folder(path.into()),
            (Self::Folder, RawValue::Path(path)) => folder(path.clone()),
            (Self::Tags, RawValue::Null) => Some(Setting::Tags(Attributes::new())),
            (Self::Tags, RawValue::Mapping(entries)) => return tags(entries),
            (Self::Limits, RawValue::Null) => Some(Setting::Limits(Vec::new())),
            (Self::Limits, RawValue::Mapping(entries)) => return limits(entries),
            _ => None,
        };
        setting.ok_or_else(|| Misfit { tag: None, expected: self.hint(raw) })
    }

    /// What a value has to be, said for one that seems to mean a boolean.
    fn hint(self, raw: &RawValue) -> &'static str {
        match raw {
            RawValue::Text(text) if self == Self::Switch => match truth(text) {
                Some(true) => "true or false; write true, without quotes",
                Some(false) => "true or false; write false, without quotes",
                None => self.expected(),
            },
            _ => self.expected(),
        }
    }
}

/// What a text means where texts are all there is.
pub(super) fn truth(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_one_of(["1", "true", "yes", "on"]) {
        Some(true)
    } else if is_one_of(["0", "false", "no", "off"]) {
        Some(false)
    } else {
        None
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "what is not exact as f64 is far beyond what anybody means"
)]
fn float(v: i64) -> f64 {
    v as f64
}

fn seconds(v: f64) -> Option<Setting> {
    INTERVALS.contains(&v).then_some(Setting::Seconds(v))
}

fn folder(path: PathBuf) -> Option<Setting> {
    (!path.as_os_str().is_empty()).then_some(Setting::Folder(Some(path)))
}

fn tags(entries: &[Entry]) -> Result<Setting, Misfit<'_>> {
    let value_of = |entry| {
        let misfit = || Misfit { tag: Some(entry), expected: "text, a number, true or false" };
        tag(&entry.value).ok_or_else(misfit)
    };
    entries
        .iter()
        .map(|entry| Ok((entry.name.clone(), value_of(entry)?)))
        .collect::<Result<_, _>>()
        .map(Setting::Tags)
}

/// Names that no threshold has are not looked for here.
fn limits(entries: &[Entry]) -> Result<Setting, Misfit<'_>> {
    let value_of = |entry: &Entry| match entry.value {
        RawValue::Float(v) => Some(v).filter(|v| Threshold::allows(*v)),
        RawValue::Int(v) => Some(float(v)).filter(|v| Threshold::allows(*v)),
        _ => None,
    };
    entries
        .iter()
        .map(|entry| {
            let misfit = || Misfit { tag: Some(entry), expected: "a number, 0 or more" };
            Ok((entry.name.clone(), value_of(entry).ok_or_else(misfit)?))
        })
        .collect::<Result<_, _>>()
        .map(Setting::Limits)
}

fn tag(raw: &RawValue) -> Option<Value> {
    match raw {
        RawValue::Bool(v) => Some(Value::Bool(*v)),
        RawValue::Int(v) => Some(Value::Int(*v)),
        RawValue::Float(v) => Some(Value::Float(*v)),
        RawValue::Text(text) => Some(Value::Text(text.clone())),
        RawValue::Path(path) => Some(Value::Text(path.to_string_lossy().into_owned())),
        RawValue::Null | RawValue::Mapping(_) | RawValue::Other(_) => None,
    }
}

impl fmt::Display for Setting {
    /// As YAML writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(v) => write!(f, "{v}"),
            Self::Seconds(v) => write!(f, "{v:?}"),
            Self::Points(v) => write!(f, "{v}"),
            Self::Format(format) => f.write_str(format.name()),
            Self::Folder(None) => f.write_str("null"),
            Self::Folder(Some(path)) => write!(f, "{:?}", path.to_string_lossy()),
            Self::Tags(tags) => {
                let items = tags.iter().map(|(name, value)| match value {
                    Value::Text(text) => format!("{name:?}: {text:?}"),
                    value => format!("{name:?}: {value}"),
                });
                write!(f, "{{{}}}", items.collect::<Vec<_>>().join(", "))
            }
            Self::Limits(limits) => {
                let items = limits.iter().map(|(name, value)| format!("{name}: {value:?}"));
                write!(f, "{{{}}}", items.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
