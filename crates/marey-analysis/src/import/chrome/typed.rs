//! The general reader of an event, for those that are written in an unusual way: numbers in quotes or with exponents, keys
//! with escapes.

use std::borrow::Cow;

use super::args::{Fields, text_of, unquoted};
use super::event::{Event, Label, label_of_text};
use super::nanoseconds::Unit;
use super::scan::Text;

/// An event, with each value as it is written.
#[derive(Default)]
pub(super) struct Typed<'a> {
    phase: Option<&'a [u8]>,
    category: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    pid: Option<&'a [u8]>,
    tid: Option<&'a [u8]>,
    start: Option<&'a [u8]>,
    duration: Option<&'a [u8]>,
    args: Option<&'a [u8]>,
}

/// The event in these bytes, which the fast way found to be one whole object; as tolerant as that in everything that is not a
/// time. Of a key that is there twice the last one counts, as it does in Python.
pub(super) fn typed(bytes: &[u8]) -> Typed<'_> {
    let mut read = Typed::default();
    for (key, value) in Fields::new(bytes) {
        let field = match &*decoded(key) {
            b"ph" => &mut read.phase,
            b"cat" => &mut read.category,
            b"name" => &mut read.name,
            b"pid" => &mut read.pid,
            b"tid" => &mut read.tid,
            b"ts" => &mut read.start,
            b"dur" => &mut read.duration,
            b"args" => &mut read.args,
            _ => continue,
        };
        *field = Some(value);
    }
    read
}

impl<'a> Typed<'a> {
    /// As the fast way would have read it; or why not. A time that is no number makes an event unreadable, since it would
    /// be somewhere else otherwise.
    pub(super) fn event(&self) -> Result<Event<'a>, String> {
        let phase = self.phase.and_then(text_of);
        let unit = self.unit();
        Ok(Event {
            phase: match phase.map(|phase| phase.bytes) {
                None => 0,
                Some([phase]) => *phase,
                Some(_) => return Err("its phase is no single letter".to_owned()),
            },
            category: self.category.and_then(text_of).unwrap_or_default(),
            name: self.name.map(text_or_written).unwrap_or_default(),
            pid: label(self.pid),
            tid: label(self.tid),
            start_ns: time(self.start, unit, "ts")?,
            duration_ns: time(self.duration, unit, "dur")?,
            args: self.args.filter(|args| args.starts_with(b"{")).unwrap_or_default(),
        })
    }

    /// The unit of its times.
    pub(super) fn unit(&self) -> Unit {
        let start = number(self.start).and_then(|start| str::from_utf8(start).ok());
        start.map_or(Unit::Microseconds, Unit::of_start)
    }
}

fn time(value: Option<&[u8]>, unit: Unit, key: &str) -> Result<Option<i64>, String> {
    let Some(written) = number(value) else {
        return Ok(None);
    };
    let read = str::from_utf8(written).ok().and_then(|written| unit.ns(written));
    read.map(Some).ok_or_else(|| format!("its {key} is no number that fits"))
}

/// What writers put where they have no number; in any case, with or without a sign.
const NOTHING: [&[u8]; 7] = [b"null", b"none", b"nan", b"n/a", b"inf", b"infinity", b"undefined"];

/// A number as it is written, without quotes; `None` when it is not there, or is a word for that.
fn number(value: Option<&[u8]>) -> Option<&[u8]> {
    let written = unquoted(value?).trim_ascii();
    let word = written.strip_prefix(b"-").unwrap_or(written);
    let is_nothing = NOTHING.iter().any(|nothing| word.eq_ignore_ascii_case(nothing));
    (!is_nothing).then_some(written)
}

fn label(value: Option<&[u8]>) -> Label<'_> {
    match value {
        Some(value) if value != b"null" => label_of_text(text_or_written(value)),
        _ => Label::None,
    }
}

/// A text, or what is written when it is something else.
fn text_or_written(value: &[u8]) -> Text<'_> {
    let written = Text { bytes: value, is_escaped: false };
    text_of(value).unwrap_or(written)
}

/// What a key says that may have escapes; as it is written when they cannot be read.
fn decoded(key: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', key).is_none() {
        return Cow::Borrowed(key);
    }
    let quoted = [b"\"", key, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(decoded) => Cow::Owned(decoded.into_bytes()),
        Err(_) => Cow::Borrowed(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<(Option<i64>, Option<i64>), String> {
        let event = typed(json.as_bytes()).event()?;
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
        assert_eq!(read(r#"{"ph": "X", "ts": 1, "dur": null}"#), Ok((Some(1_000), None)));
        assert!(read(r#"{"ph": "X", "ts": "soon"}"#).is_err());
        assert!(read(r#"{"ph": "X", "ts": 1e400}"#).is_err());
        assert!(read(r#"{"ph": "XX", "ts": 1}"#).is_err());
        for nothing in ["N/A", "NaN", "-nan", "Infinity", "None", r#""n/a""#, "null"] {
            let json = format!(r#"{{"ph": "X", "ts": 1, "dur": {nothing}}}"#);
            assert_eq!(read(&json), Ok((Some(1_000), None)), "{json}");
        }
    }

    #[test]
    fn keys_with_escapes_and_keys_that_are_there_twice() {
        let json = r#"{"\u0070h": "M", "ph": "X", "name": 7, "pid": "7", "tid": [1], "ts": 2}"#;
        let event = typed(json.as_bytes()).event().unwrap();
        assert_eq!((event.phase, event.name.bytes), (b'X', &b"7"[..]));
        assert_eq!(event.pid, Label::Number(7));
        assert!(matches!(event.tid, Label::Text(text) if text.bytes == b"[1]"));
    }
}
