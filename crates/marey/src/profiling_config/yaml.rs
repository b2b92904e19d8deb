//! A YAML file as a layer.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde_core::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, NonFiniteFloatPolicy, Spanned};

use super::layers::Layers;
use super::raw_value::{ConfigError, Entry, Position, RawValue};

/// Largest file. A configuration has some hundred bytes.
const MAX_BYTES: u64 = 1 << 20;

impl Layers {
    /// A YAML file. With nothing in it, or nothing below the root key, it says nothing.
    pub fn yaml(mut self, path: &Path) -> Self {
        let place = path.to_string_lossy();
        match read(path, &place).and_then(|text| Ok((parse(&text, &place)?, text))) {
            Ok((document, text)) => return self.document(document, &place, &text),
            Err(error) => self.errors.push(error),
        }
        self
    }
}

/// What is in a file, without a byte order mark.
fn read(path: &Path, place: &str) -> Result<String, ConfigError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    let problem = match (read, str::from_utf8(&bytes)) {
        (Err(error), _) => format!("cannot be read: {error}"),
        (Ok(len), _) if len as u64 > MAX_BYTES => "not usable as YAML: larger than 1 MiB".into(),
        (Ok(_), Err(_)) => "not usable as YAML: not UTF-8".into(),
        (Ok(_), Ok(text)) => return Ok(text.trim_start_matches('\u{feff}').to_owned()),
    };
    Err(ConfigError::new(place, None, None, problem))
}

/// The document as values with places. YAML 1.2: only `true` and `false` are booleans. Aliases are followed within the library's budgets; several documents and keys that
/// stand twice are refused.
fn parse(text: &str, place: &str) -> Result<RawValue, ConfigError> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let (key, problem) = match error.without_snippet() {
            serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
                (Some(key.as_str()), format!("`{key}` stands here for the second time"))
            }
            serde_saphyr::Error::MultipleDocuments { .. } => {
                (None, "not usable as YAML: a second document begins here".into())
            }
            other => (None, format!("not usable as YAML: {}", without_place(&other.to_string()))),
        };
        ConfigError::new(place, error.location().and_then(position), key, problem)
    })
}

/// The library's message in one line and without its place, which stands in front of ours.
fn without_place(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.rsplit_once(" at line ").map_or(line, |(text, _)| text).to_owned()
}

fn position(location: Location) -> Option<Position> {
    let (line, column) = (location.line(), location.column());
    (line > 0 && column > 0).then_some(Position { line, column })
}

fn bytes(location: Location) -> Option<Range<usize>> {
    let from = usize::try_from(location.span().byte_offset()?).ok()?;
    let len = usize::try_from(location.span().byte_len()?).ok()?;
    Some(from..from + len)
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

/// Makes values of whatever YAML has.
struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(v))
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<RawValue, E> {
        Ok(RawValue::Int(v))
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<RawValue, E> {
        Ok(i64::try_from(v).map_or_else(|_| RawValue::too_large(), RawValue::Int))
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<RawValue, E> {
        Ok(RawValue::Float(v))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawValue, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RawValue::Other("a list".into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some((name, value)) = items.next_entry::<Spanned<String>, Spanned<RawValue>>()? {
            entries.push(Entry {
                name_at: position(name.referenced),
                name: name.value,
                value_at: position(value.referenced),
                written: bytes(value.defined),
                value: value.value,
            });
        }
        Ok(RawValue::Mapping(entries))
    }
}
