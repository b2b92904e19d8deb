//! The general reader of an event, for those that are written in an unusual way: numbers in quotes or with exponents, keys
//! with escapes.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::args::text_of;
use super::event::{Event, Label, label_of_text};
use super::nanoseconds::{Unit, decimal, unit_of};
use super::scan::Text;

/// An event, with each value as it is written.
#[derive(Default)]
pub(super) struct Typed<'a> {
    phase: Option<&'a RawValue>,
    category: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    pid: Option<&'a RawValue>,
    tid: Option<&'a RawValue>,
    start: Option<&'a RawValue>,
    duration: Option<&'a RawValue>,
    args: Option<&'a RawValue>,
}

/// The event in these bytes, or why it cannot be read.
pub(super) fn typed(bytes: &[u8]) -> Result<Typed<'_>, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

impl<'a> Typed<'a> {
    /// As the fast way would have read it; or why not. A time that is no number makes an event unreadable, since it would
    /// be somewhere else otherwise.
    pub(super) fn event(&self) -> Result<Event<'a>, String> {
        let phase = self.phase.and_then(text_in);
        let start = number(self.start);
        let unit = start.map_or(Unit::Microseconds, unit_of);
        Ok(Event {
            phase: match phase.map(|phase| phase.bytes) {
                None => 0,
                Some([phase]) => *phase,
                Some(_) => return Err("its phase is no single letter".to_owned()),
            },
            category: self.category.and_then(text_in).unwrap_or_default(),
            name: self.name.map(text_or_written).unwrap_or_default(),
            pid: label(self.pid),
            tid: label(self.tid),
            start_ns: time(start, unit, "ts")?,
            duration_ns: time(number(self.duration), unit, "dur")?,
            args: match self.args.map(|args| args.get().as_bytes()) {
                Some(object @ [b'{', ..]) => object,
                _ => &[],
            },
        })
    }
}

fn time(written: Option<&str>, unit: Unit, key: &str) -> Result<Option<i64>, String> {
    let Some(written) = written else {
        return Ok(None);
    };
    let read = decimal(written, unit);
    read.map(Some)
        .ok_or_else(|| format!("its {key} is no number that fits"))
}

/// A number, with or without quotes; `None` when it is `null` or not there.
fn number(value: Option<&RawValue>) -> Option<&str> {
    let written = value?.get();
    let inside = written
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    (written != "null").then(|| inside.unwrap_or(written).trim())
}

fn label(value: Option<&RawValue>) -> Label<'_> {
    match value {
        Some(value) if value.get() != "null" => label_of_text(text_or_written(value)),
        _ => Label::None,
    }
}

fn text_in(value: &RawValue) -> Option<Text<'_>> {
    text_of(value.get().as_bytes())
}

/// A text, or what is written when it is something else.
fn text_or_written(value: &RawValue) -> Text<'_> {
    let written = Text {
        bytes: value.get().as_bytes(),
        is_escaped: false,
    };
    text_in(value).unwrap_or(written)
}

impl<'de> Deserialize<'de> for Typed<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Typed<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an event")
    }

    /// Of a key that is there twice the last one counts, as it does in Python.
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut read = Typed::default();
        while let Some(Key(key)) = map.next_key()? {
            let field = match key.as_str() {
                "ph" => &mut read.phase,
                "cat" => &mut read.category,
                "name" => &mut read.name,
                "pid" => &mut read.pid,
                "tid" => &mut read.tid,
                "ts" => &mut read.start,
                "dur" => &mut read.duration,
                "args" => &mut read.args,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = Some(map.next_value()?);
        }
        Ok(read)
    }
}

/// A key, decoded.
#[derive(Deserialize)]
struct Key(String);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<(Option<i64>, Option<i64>), String> {
        let event = typed(json.as_bytes())?.event()?;
        Ok((event.start_ns, event.duration_ns))
    }

    #[test]
    fn numbers_in_quotes_and_with_exponents_are_numbers() {
        let times = read(r#"{"ph": "X", "ts": "12.5", "dur": 1e3}"#);
        assert_eq!(times, Ok((Some(12_500), Some(1_000_000))));
        let times = read(r#"{"ph": "X", "ts": 1694128201426556789, "dur": 250}"#);
        assert_eq!(times, Ok((Some(1_694_128_201_426_556_789), Some(250))));
    }

    #[test]
    fn null_is_absent_and_other_texts_are_errors() {
        assert_eq!(
            read(r#"{"ph": "X", "ts": 1, "dur": null}"#),
            Ok((Some(1_000), None))
        );
        assert!(read(r#"{"ph": "X", "ts": "soon"}"#).is_err());
        assert!(read(r#"{"ph": "X", "ts": 1e400}"#).is_err());
        assert!(read(r#"{"ph": "XX", "ts": 1}"#).is_err());
        assert!(read(r#"{"ph": "X""#).is_err());
    }

    #[test]
    fn keys_with_escapes_and_keys_that_are_there_twice() {
        let json = r#"{"\u0070h": "M", "ph": "X", "name": 7, "pid": "7", "tid": [1], "ts": 2}"#;
        let event = typed(json.as_bytes()).unwrap().event().unwrap();
        assert_eq!((event.phase, event.name.bytes), (b'X', &b"7"[..]));
        assert_eq!(event.pid, Label::Number(7));
        assert!(matches!(event.tid, Label::Text(text) if text.bytes == b"[1]"));
    }
}
