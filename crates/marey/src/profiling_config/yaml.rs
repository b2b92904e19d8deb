//! A YAML file as a layer.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_core::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, NonFiniteFloatPolicy, Spanned};

use super::error::{Origin, Problem};
use super::layer::{CheckedLayer, ROOT};
use super::raw_value::{Entry, Position, RawValue};

/// Largest file. A configuration has some hundred bytes.
const MAX_BYTES: u64 = 1 << 20;

impl CheckedLayer {
    /// A YAML file. Nothing in it, or nothing below the root key, is a layer that says nothing.
    pub fn of_yaml(path: &Path) -> Self {
        let mut checked = Self::default();
        let document = read(path).and_then(|text| {
            let mut document = parse(&text)?;
            keep_tags_as_written(&mut document, &text);
            Ok(document)
        });
        match document {
            Ok(document) => checked.take_file(path, &document),
            Err((at, problem)) => checked.refuse(Origin::File(path.into(), at), problem),
        }
        checked
    }

    fn take_file(&mut self, path: &Path, document: &RawValue) {
        let origin = |at| Origin::File(path.into(), at);
        match document {
            RawValue::Null => {}
            RawValue::Mapping(entries) => self.take_document(entries, &origin),
            other => {
                let found = other.to_string();
                self.refuse(origin(None), Problem::NoRoot { found });
            }
        }
    }
}

type Refusal = (Option<Position>, Problem);

fn read(path: &Path) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| (None, Problem::Unreadable(error)))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err((None, Problem::Yaml("larger than 1 MiB".into())));
    }
    String::from_utf8(bytes).map_err(|_| (None, Problem::Yaml("not UTF-8".into())))
}

/// The document as values with places. YAML 1.2: only `true` and `false` are booleans. Aliases are followed within the library's
/// budgets; several documents and keys that stand twice are refused.
fn parse(text: &str) -> Result<RawValue, Refusal> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    serde_saphyr::from_str_with_options::<RawValue>(text, options).map_err(|error| {
        let at = error.location().and_then(position);
        let problem = match error.without_snippet() {
            serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
                Problem::Duplicate { key: key.clone() }
            }
            serde_saphyr::Error::MultipleDocuments { .. } => {
                Problem::Yaml("a second document begins here".into())
            }
            other => Problem::Yaml(without_place(&other.to_string())),
        };
        (at, problem)
    })
}

/// A tag is a number where it is written as Marey writes that number: a commit `695e0514`, a version `1.10` and a code `017` are texts.
fn keep_tags_as_written(document: &mut RawValue, text: &str) {
    let tags = below(document, ROOT).and_then(|root| below(root, "session_tags"));
    let Some(RawValue::Mapping(tags)) = tags else {
        return;
    };
    for tag in tags {
        let plain = match &tag.value {
            RawValue::Int(value) => value.to_string(),
            RawValue::Float(value) => value.to_string(),
            _ => continue,
        };
        let written = tag.value_at.and_then(|at| scalar(text, at));
        if let Some(written) = written.filter(|written| *written != plain) {
            tag.value = RawValue::Text(written.into());
        }
    }
}

fn below<'a>(value: &'a mut RawValue, key: &str) -> Option<&'a mut RawValue> {
    let RawValue::Mapping(entries) = value else {
        return None;
    };
    let entry = entries.iter_mut().find(|entry| entry.name == key);
    entry.map(|entry| &mut entry.value)
}

/// What is written at a place up to the end of the number that begins there.
fn scalar(text: &str, at: Position) -> Option<&str> {
    let line = text.lines().nth(at.line - 1)?;
    let (from, _) = line.char_indices().nth(at.column - 1)?;
    let end = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']');
    line[from..].split(end).next()
}

/// The library's message in one line and without its place, which stands in front of ours.
fn without_place(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.rsplit_once(" at line ").map_or(line, |(text, _)| text).to_owned()
}

fn position(location: Location) -> Option<Position> {
    let number = |v| usize::try_from(v).ok().filter(|v| *v > 0);
    Some(Position { line: number(location.line())?, column: number(location.column())? })
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

    fn visit_none<E: Error>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawValue, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<RawValue, E> {
        Ok(RawValue::Bool(v))
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<RawValue, E> {
        Ok(RawValue::Int(v))
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<RawValue, E> {
        Ok(i64::try_from(v).map_or_else(|_| too_large(), RawValue::Int))
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<RawValue, E> {
        Ok(too_large())
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<RawValue, E> {
        Ok(too_large())
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
                value: value.value,
            });
        }
        Ok(RawValue::Mapping(entries))
    }
}

fn too_large() -> RawValue {
    RawValue::Other("a whole number of more than 64 bits".into())
}
