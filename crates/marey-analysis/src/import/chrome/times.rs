//! Times of an event that are written in an unusual way: in quotes, with exponents, in nanoseconds, under keys with escapes.

use std::borrow::Cow;

use super::args::{Fields, unquoted};
use super::nanoseconds::Unit;

/// When an event was, as [`super::event::Event`] has it, and the unit that its times are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) start_ns: Option<i64>,
    pub(super) duration_ns: Option<i64>,
    pub(super) unit: Unit,
}

impl Times {
    /// Of the event in these bytes, which were found to be one whole object; or why not: a time that is no number makes an event
    /// unreadable, since it would be somewhere else otherwise. Of a key that is there twice the last one counts, as it does in Python.
    pub(super) fn of(event: &[u8]) -> Result<Self, String> {
        let (mut start, mut duration) = (None, None);
        for (key, value) in Fields::new(event) {
            match &*decoded(key) {
                b"ts" => start = number(value),
                b"dur" => duration = number(value),
                _ => {}
            }
        }
        let unit = start.and_then(|start| str::from_utf8(start).ok());
        let unit = unit.map_or(Unit::Microseconds, Unit::of_start);
        let (start_ns, duration_ns) = (time(start, unit, "ts")?, time(duration, unit, "dur")?);
        Ok(Self { start_ns, duration_ns, unit })
    }
}

fn time(written: Option<&[u8]>, unit: Unit, key: &str) -> Result<Option<i64>, String> {
    let Some(written) = written else {
        return Ok(None);
    };
    let read = str::from_utf8(written).ok().and_then(|written| unit.ns(written));
    read.map(Some).ok_or_else(|| format!("its {key} is no number that fits"))
}

/// What writers put where they have no number; in any case, with or without a sign.
const NOTHING: [&[u8]; 7] = [b"null", b"none", b"nan", b"n/a", b"inf", b"infinity", b"undefined"];

/// A number as it is written, without quotes; `None` when it is a word for none.
fn number(value: &[u8]) -> Option<&[u8]> {
    let written = unquoted(value).trim_ascii();
    let word = written.strip_prefix(b"-").unwrap_or(written);
    let is_nothing = NOTHING.iter().any(|nothing| word.eq_ignore_ascii_case(nothing));
    (!is_nothing).then_some(written)
}

/// What a key says that may have escapes; as it is written when they cannot be read.
pub(super) fn decoded(key: &[u8]) -> Cow<'_, [u8]> {
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
        let times = Times::of(json.as_bytes())?;
        Ok((times.start_ns, times.duration_ns))
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
        for nothing in ["N/A", "NaN", "-nan", "Infinity", "None", r#""n/a""#, "null"] {
            let json = format!(r#"{{"ph": "X", "ts": 1, "dur": {nothing}}}"#);
            assert_eq!(read(&json), Ok((Some(1_000), None)), "{json}");
        }
    }
}
