//! Finding where pieces of JSON end, in bytes that may stop anywhere.
//!
//! Tolerant where that loses nothing: control characters in texts, bare words for values (`N/A`, `NaN`), bytes that are not
//! UTF-8. Strict where it shows that something is broken: a text must be followed by what may follow a text.

/// Why a scan did not come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end first.
    More,
    /// It cannot be JSON, whatever follows.
    Broken(&'static str),
}

/// Containers may be nested this deep within an event.
const DEEPEST: usize = 128;

/// A text as it is written, without its quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    /// It has a backslash: what it says is not what is written.
    pub(super) is_escaped: bool,
}

/// The index of the first byte from `at` on that is not white space.
#[inline]
pub(super) fn space(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            Some(_) => return Ok(at),
            None => return Err(Stop::More),
        }
    }
}

/// The text whose opening quote is before `at`, and the index after its closing quote.
#[inline]
pub(super) fn text(bytes: &[u8], at: usize) -> Result<(Text<'_>, usize), Stop> {
    let (end, is_escaped) = text_end(bytes, at)?;
    let text = Text { bytes: bytes.get(at..end).unwrap_or_default(), is_escaped };
    Ok((text, end + 1))
}

/// The index of the closing quote of a text that begins at `at`, and whether there is a backslash before it.
#[inline]
fn text_end(bytes: &[u8], mut at: usize) -> Result<(usize, bool), Stop> {
    let mut is_escaped = false;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += quote_or_backslash(rest).ok_or(Stop::More)?;
        if bytes.get(at) == Some(&b'"') {
            return Ok((at, is_escaped));
        }
        is_escaped = true;
        at += 2;
        if at > bytes.len() {
            return Err(Stop::More);
        }
    }
}

/// Where the first quote or backslash is. Eight bytes at a time for the first 64, since most texts are short; then with
/// the vector instructions of the machine.
#[inline]
fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().take(8).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = bytes_that_are(word, b'"') | bytes_that_are(word, b'\\');
        if found != 0 {
            return Some(number * 8 + (found.trailing_zeros() / 8) as usize);
        }
    }
    let looked_at = words.len().min(8) * 8;
    let rest = bytes.get(looked_at..)?;
    memchr::memchr2(b'"', b'\\', rest).map(|at| looked_at + at)
}

/// The top bit of the lowest byte of `word` that equals `wanted`, perhaps with bits above it.
#[inline]
fn bytes_that_are(word: u64, wanted: u8) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let equal_is_zero = word ^ (LOW * u64::from(wanted));
    equal_is_zero.wrapping_sub(LOW) & !equal_is_zero & HIGH
}

/// The index after the value that begins at `at`.
#[inline]
pub(super) fn value_end(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at) {
        None => Err(Stop::More),
        Some(b'"') => Ok(text(bytes, at + 1)?.1),
        Some(b'{') => object_end(bytes, at),
        Some(b'[') => container_end(bytes, at),
        Some(_) => word_end(bytes, at),
    }
}

/// The index after a number, `true`, or anything else without quotes.
pub(super) fn word_end(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let rest = bytes.get(at..).unwrap_or_default();
    let ends = |byte: &u8| {
        matches!(
            byte,
            b',' | b'}' | b']' | b'{' | b'[' | b'"' | b':' | b' ' | b'\n' | b'\r' | b'\t'
        )
    };
    match rest.iter().position(ends) {
        None => Err(Stop::More),
        Some(0) => Err(Stop::Broken("a value is missing")),
        Some(length) => Ok(at + length),
    }
}

/// How far the end of a flat object is looked for. Few are longer; and what is made of nothing but opening braces is not
/// looked through again from each of them.
const NEAR: usize = 2048;

/// The index after the object that begins at `at`.
///
/// Most objects are flat and without backslashes. Then the first closing brace is the end, if the number of quotes before
/// it is even, since it is in no text then; what is between is not looked at any further.
pub(super) fn object_end(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let inside = bytes.get(at + 1..).unwrap_or_default();
    let near = inside.get(..NEAR).unwrap_or(inside);
    let end = memchr::memchr(b'}', near);
    match end.filter(|end| near.get(..*end).is_some_and(is_flat)) {
        Some(end) => Ok(at + end + 2),
        None => container_end(bytes, at),
    }
}

/// No brace, no backslash, and an even number of quotes.
fn is_flat(bytes: &[u8]) -> bool {
    memchr::memchr2(b'{', b'\\', bytes).is_none()
        && memchr::memchr_iter(b'"', bytes).count().is_multiple_of(2)
}

/// What may come next in a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    ValueOrEnd,
    Value,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
}

/// The index after the container that begins at `at`. Every byte is looked at: what is broken shows here, and not some
/// events later.
fn container_end(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    let mut depth = 0_usize;
    // A bit for each level: 1 for an object.
    let mut objects = 0_u128;
    let mut next = Next::Value;
    loop {
        at = space(bytes, at)?;
        let byte = *bytes.get(at).ok_or(Stop::More)?;
        let is_object = objects & 1 == 1;
        match (byte, next) {
            (b'{' | b'[', Next::Value | Next::ValueOrEnd) => {
                if depth == DEEPEST {
                    return Err(Stop::Broken("nested too deep"));
                }
                depth += 1;
                objects = objects << 1 | u128::from(byte == b'{');
                next = if byte == b'{' { Next::KeyOrEnd } else { Next::ValueOrEnd };
                at += 1;
                continue;
            }
            (b'}', Next::KeyOrEnd | Next::CommaOrEnd) if is_object => {}
            (b']', Next::ValueOrEnd | Next::CommaOrEnd) if !is_object => {}
            (b',', Next::CommaOrEnd) => {
                next = if is_object { Next::Key } else { Next::Value };
                at += 1;
                continue;
            }
            (b':', Next::Colon) => {
                next = Next::Value;
                at += 1;
                continue;
            }
            (b'"', Next::Key | Next::KeyOrEnd) => {
                at = text(bytes, at + 1)?.1;
                next = Next::Colon;
                continue;
            }
            (b'"', Next::Value | Next::ValueOrEnd) => {
                at = text(bytes, at + 1)?.1;
                next = Next::CommaOrEnd;
                continue;
            }
            (b'}' | b']' | b',' | b':', _) | (_, Next::Key | Next::KeyOrEnd | Next::Colon) => {
                return Err(Stop::Broken("a container is not well formed"));
            }
            (_, Next::CommaOrEnd) => {
                return Err(Stop::Broken("a value is followed by something else"));
            }
            (_, Next::Value | Next::ValueOrEnd) => {
                at = word_end(bytes, at)?;
                next = Next::CommaOrEnd;
                continue;
            }
        }
        // The container ends.
        at += 1;
        depth -= 1;
        objects >>= 1;
        if depth == 0 {
            return Ok(at);
        }
        next = Next::CommaOrEnd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(json: &str) -> Result<usize, Stop> {
        value_end(json.as_bytes(), 0)
    }

    #[test]
    fn a_value_ends_where_its_text_ends() {
        for value in [
            r#""a""#,
            r#""a \" } b""#,
            r#""\\""#,
            r#""a text that is longer than the sixty-four bytes of the first look, so that the second one is needed""#,
            r"12.5e3",
            r"N/A",
            r"{}",
            r#"{"a": 1, "b": [1, [2, {"c": "}"}]], "d": "\"{"}"#,
            r#"{"a": "} } ", "b": 1}"#,
            r#"[{}, [], "]", null]"#,
        ] {
            let followed = format!("{value}, \"next\": 1");
            assert_eq!(end(&followed), Ok(value.len()), "{value}");
        }
    }

    #[test]
    fn a_value_that_is_cut_anywhere_needs_more() {
        let value = r#"{"a": 1, "b": [1, [2, {"c": "}\""}]], "d": "\"{"}"#;
        for length in 0..value.len() {
            assert_eq!(end(&value[..length]), Err(Stop::More), "{length}");
        }
    }

    #[test]
    fn a_quote_that_is_not_escaped_shows_where_it_is() {
        let followed = Stop::Broken("a value is followed by something else");
        assert_eq!(end(r#"{"a": "say "hi", "b": {}}"#), Err(followed));
        let shape = Stop::Broken("a container is not well formed");
        assert_eq!(end(r#"{"a": {"b" "c"}, "d": 1}"#), Err(shape));
        assert_eq!(end(r#"[{"a": [1}, "b": {}}]"#), Err(shape));
        assert_eq!(end("[,]"), Err(shape));
    }

    #[test]
    fn deep_nesting_is_broken_and_does_not_recurse() {
        let deepest = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(end(&deepest), Ok(256));
        let deeper = format!("[{deepest}]");
        assert_eq!(end(&deeper), Err(Stop::Broken("nested too deep")));
        assert_eq!(end(&"[".repeat(1_000_000)), Err(Stop::Broken("nested too deep")));
    }

    #[test]
    fn the_first_quote_or_backslash_is_found_at_every_place() {
        for length in 0..200 {
            for place in 0..length {
                for mark in [b'"', b'\\'] {
                    let mut bytes = vec![b'!'; length];
                    bytes[place] = mark;
                    // A second one behind it is not taken for the first.
                    bytes.push(b'"');
                    assert_eq!(quote_or_backslash(&bytes), Some(place));
                }
            }
            assert_eq!(quote_or_backslash(&vec![0xA2; length]), None);
        }
    }
}
