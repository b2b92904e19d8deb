//! One event, as the bytes of a trace have it.

use super::nanoseconds;
use super::scan::{self, Stop, Text, space, text, value_end};
use super::times::decoded;

/// What is read of an event; everything borrows from the trace's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// `X`, `B`, `E`, `i`, `M`, …; 0 when it has none.
    pub(super) phase: u8,
    pub(super) category: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) pid: Label<'a>,
    pub(super) tid: Label<'a>,
    /// When it began, in nanoseconds of the trace's own clock.
    pub(super) start_ns: Option<i64>,
    /// How long it took.
    pub(super) duration_ns: Option<i64>,
    /// The object `args`, as it is written; empty when there is none.
    pub(super) args: &'a [u8],
}

/// What a trace calls a process or a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Label<'a> {
    #[default]
    None,
    Number(i64),
    Text(Text<'a>),
}

/// An event and the index after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanned<'a> {
    pub(super) event: Event<'a>,
    pub(super) end: usize,
    /// Something in it is written in an unusual way. Its times are not read then: [`super::times`] does.
    pub(super) is_unusual: bool,
}

/// The keys that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Phase,
    Category,
    Name,
    Pid,
    Tid,
    Start,
    Duration,
    Args,
    Other,
}

/// The event whose opening brace is at `at`.
pub(super) fn event(bytes: &[u8], at: usize) -> Result<Scanned<'_>, Stop> {
    let mut scanned = Scanned { event: Event::default(), end: 0, is_unusual: false };
    let mut at = space(bytes, at + 1)?;
    if bytes.get(at) == Some(&b'}') {
        scanned.end = at + 1;
        return Ok(scanned);
    }
    loop {
        if bytes.get(at) != Some(&b'"') {
            return Err(Stop::Broken("a key is missing"));
        }
        let (key, after) = match known_key(bytes, at + 1) {
            Some(known) => known,
            None => any_key(bytes, at + 1, &mut scanned.is_unusual)?,
        };
        at = space(bytes, after)?;
        if bytes.get(at) != Some(&b':') {
            return Err(Stop::Broken("a key is not followed by a colon"));
        }
        at = space(bytes, at + 1)?;
        at = value(bytes, at, key, &mut scanned)?;
        at = space(bytes, at)?;
        match bytes.get(at) {
            Some(b',') => at = space(bytes, at + 1)?,
            Some(b'}') => {
                scanned.end = at + 1;
                return Ok(scanned);
            }
            _ => return Err(Stop::Broken("a value is followed by something else")),
        }
    }
}

/// The key at `at`, after its quote, if it is one of those that are read; and the index after its closing quote. One
/// look at eight bytes.
#[inline]
fn known_key(bytes: &[u8], at: usize) -> Option<(Key, usize)> {
    const fn word(key: &[u8]) -> u64 {
        let mut word = 0;
        let mut at = 0;
        while at < key.len() {
            word |= (key[at] as u64) << (8 * at);
            at += 1;
        }
        word
    }
    const PHASE: u64 = word(b"ph\"");
    const START: u64 = word(b"ts\"");
    const CATEGORY: u64 = word(b"cat\"");
    const PID: u64 = word(b"pid\"");
    const TID: u64 = word(b"tid\"");
    const DURATION: u64 = word(b"dur\"");
    const NAME: u64 = word(b"name\"");
    const ARGS: u64 = word(b"args\"");
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk::<8>()?);
    match word & 0xFF_FFFF {
        PHASE => return Some((Key::Phase, at + 3)),
        START => return Some((Key::Start, at + 3)),
        _ => {}
    }
    match word & 0xFFFF_FFFF {
        CATEGORY => return Some((Key::Category, at + 4)),
        PID => return Some((Key::Pid, at + 4)),
        TID => return Some((Key::Tid, at + 4)),
        DURATION => return Some((Key::Duration, at + 4)),
        _ => {}
    }
    match word & 0xFF_FFFF_FFFF {
        NAME => Some((Key::Name, at + 5)),
        ARGS => Some((Key::Args, at + 5)),
        _ => None,
    }
}

/// Likewise for a key that [`known_key`] does not know, or that is near the end of the bytes.
fn any_key(bytes: &[u8], at: usize, is_unusual: &mut bool) -> Result<(Key, usize), Stop> {
    let (key, end) = text(bytes, at)?;
    *is_unusual |= key.is_escaped;
    let key = match &*decoded(key.bytes) {
        b"ph" => Key::Phase,
        b"cat" => Key::Category,
        b"name" => Key::Name,
        b"pid" => Key::Pid,
        b"tid" => Key::Tid,
        b"ts" => Key::Start,
        b"dur" => Key::Duration,
        b"args" => Key::Args,
        _ => Key::Other,
    };
    Ok((key, end))
}

/// Reads the value at `at` into the event; the index after it.
#[inline]
fn value<'a>(
    bytes: &'a [u8],
    at: usize,
    key: Key,
    scanned: &mut Scanned<'a>,
) -> Result<usize, Stop> {
    let first = bytes.get(at).ok_or(Stop::More)?;
    let event = &mut scanned.event;
    match (key, first) {
        (Key::Phase | Key::Category | Key::Name, b'"') => {
            let (text, end) = text(bytes, at + 1)?;
            match key {
                Key::Phase => match text.bytes {
                    [phase] => event.phase = *phase,
                    _ => return Err(Stop::Broken("its phase is no single letter")),
                },
                Key::Category => event.category = text,
                _ => event.name = text,
            }
            Ok(end)
        }
        (Key::Pid, _) => {
            let end;
            (event.pid, end) = label(bytes, at)?;
            Ok(end)
        }
        (Key::Tid, _) => {
            let end;
            (event.tid, end) = label(bytes, at)?;
            Ok(end)
        }
        (Key::Start | Key::Duration, _) => {
            let Some(read) = nanoseconds::common(bytes, at) else {
                scanned.is_unusual = true;
                return value_end(bytes, at);
            };
            match key {
                Key::Start => event.start_ns = Some(read.nanoseconds),
                _ => event.duration_ns = Some(read.nanoseconds),
            }
            Ok(read.end)
        }
        (Key::Args, b'{') => {
            let end = scan::object_end(bytes, at)?;
            event.args = bytes.get(at..end).unwrap_or_default();
            Ok(end)
        }
        (Key::Other, _) => value_end(bytes, at),
        _ => {
            scanned.is_unusual = true;
            let end = value_end(bytes, at)?;
            match key {
                Key::Phase => event.phase = 0,
                Key::Category => event.category = Text::default(),
                Key::Name => {
                    let bytes = bytes.get(at..end).unwrap_or_default();
                    event.name = Text { bytes, is_escaped: false };
                }
                _ => event.args = &[],
            }
            Ok(end)
        }
    }
}

#[inline]
fn label(bytes: &[u8], at: usize) -> Result<(Label<'_>, usize), Stop> {
    if bytes.get(at) == Some(&b'"') {
        let (text, end) = text(bytes, at + 1)?;
        return Ok((label_of_text(text), end));
    }
    let mut end = at;
    let mut number = 0_i64;
    while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0')) {
        if digit >= 10 || end - at == 18 {
            break;
        }
        number = number * 10 + i64::from(digit);
        end += 1;
    }
    if end > at && matches!(bytes.get(end), Some(b',' | b' ' | b'\n' | b'}')) {
        return Ok((Label::Number(number), end));
    }
    let end = scan::value_end(bytes, at)?;
    let text = Text { bytes: bytes.get(at..end).unwrap_or_default(), is_escaped: false };
    let label = match text.bytes {
        b"null" => Label::None,
        _ => label_of_text(text),
    };
    Ok((label, end))
}

/// A number is a number, also in quotes: older traces have the same thread in both forms.
pub(super) fn label_of_text(text: Text<'_>) -> Label<'_> {
    let number = str::from_utf8(text.bytes).ok().and_then(|text| text.parse().ok());
    number.map_or(Label::Text(text), Label::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Text<'_> {
        Text { bytes: text.as_bytes(), is_escaped: false }
    }

    const KERNEL: &str = r#"{
    "ph": "X", "cat": "kernel", "name": "gemm<4, f32>(a}, b)", "pid": 0, "tid": 7,
    "ts": 4458676983543.183, "dur": 41.407,
    "args": { "stream": 7, "grid": [512, 1, 1], "correlation": 57541 }
  }"#;

    #[test]
    fn an_event_is_read_field_by_field() {
        let scanned = event(KERNEL.as_bytes(), 0).unwrap();
        assert_eq!((scanned.end, scanned.is_unusual), (KERNEL.len(), false));
        let args = r#"{ "stream": 7, "grid": [512, 1, 1], "correlation": 57541 }"#;
        let expected = Event {
            phase: b'X',
            category: plain("kernel"),
            name: plain("gemm<4, f32>(a}, b)"),
            pid: Label::Number(0),
            tid: Label::Number(7),
            start_ns: Some(4_458_676_983_543_183),
            duration_ns: Some(41_407),
            args: args.as_bytes(),
        };
        assert_eq!(scanned.event, expected);
    }

    #[test]
    fn an_event_that_is_cut_anywhere_needs_more() {
        for length in 1..KERNEL.len() {
            let cut = &KERNEL.as_bytes()[..length];
            assert_eq!(event(cut, 0), Err(Stop::More), "{length}");
        }
    }

    #[test]
    fn the_order_of_keys_and_unknown_ones_do_not_matter() {
        let json = br#"{".file":"a.rs","args":{},"dur":1,"name":"step","ph":"B","pid":"Spans","s":[1],"tid":"12","ts":8.5}"#;
        let scanned = event(json, 0).unwrap();
        assert!(!scanned.is_unusual);
        let read = scanned.event;
        assert_eq!(read.pid, Label::Text(plain("Spans")));
        assert_eq!(read.tid, Label::Number(12));
        assert_eq!((read.start_ns, read.duration_ns), (Some(8_500), Some(1_000)));
        assert_eq!(read.args, b"{}");
    }

    #[test]
    fn what_is_written_in_an_unusual_way_is_told() {
        for json in [
            r#"{"ph": "X", "ts": "12.5"}"#,
            r#"{"ph": "X", "ts": 1e3}"#,
            r#"{"ph": "X", "dur": null}"#,
            r#"{"\u0070h": "X"}"#,
            r#"{"name": 7}"#,
            r#"{"args": [1]}"#,
        ] {
            let scanned = event(json.as_bytes(), 0).unwrap();
            assert!(scanned.is_unusual, "{json}");
            assert_eq!(scanned.end, json.len(), "{json}");
        }
        let broken = event(br#"{"ph": "XX", "ts": 1}"#, 0);
        assert_eq!(broken, Err(Stop::Broken("its phase is no single letter")));
    }

    #[test]
    fn keys_with_escapes_and_keys_that_are_there_twice() {
        let json = r#"{"\u0070h": "M", "ph": "X", "name": 7, "pid": "7", "tid": [1], "ts": 2}"#;
        let event = event(json.as_bytes(), 0).unwrap().event;
        assert_eq!((event.phase, event.name.bytes), (b'X', &b"7"[..]));
        assert_eq!(event.pid, Label::Number(7));
        assert!(matches!(event.tid, Label::Text(text) if text.bytes == b"[1]"));
    }

    #[test]
    fn what_is_broken_is_told_where_it_breaks() {
        for (json, why) in [
            (r#"{"name": "say "hi"", "ph": "X"}"#, "a value is followed by something else"),
            (r#"{"name" "hi"}"#, "a key is not followed by a colon"),
            (r#"{"name": }"#, "a value is missing"),
            (r#"{"a": 1, }"#, "a key is missing"),
            (r#"{"a": 1 "b": 2}"#, "a value is followed by something else"),
        ] {
            let broken = event(json.as_bytes(), 0);
            assert!(matches!(broken, Err(Stop::Broken(_))), "{json} {why} {broken:?}");
        }
    }
}
