//! Texts that occur again and again, kept once under a number.

use std::sync::Arc;

use hashbrown::HashMap;

use super::scan::Text;

/// Every distinct text once. A number a text, in order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub struct Names {
    each: Vec<Arc<str>>,
    /// Which name is written like this: without escapes, and with some. Different spellings (`"a"`, `"\u0061"`) may be of one name.
    spellings: [HashMap<Arc<[u8]>, u32>; 2],
    /// Bytes of all spellings.
    n_bytes: usize,
    /// Names that were no UTF-8, or had half a surrogate pair.
    n_damaged: u64,
}

/// There are more, or longer, texts than may be kept: this many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full(pub(super) usize);

/// What a name takes beyond its text.
const BYTES_OF_NAME: usize = 48;

impl Names {
    /// The text with this number; empty when there is none.
    pub fn get(&self, name: u32) -> &str {
        self.each.get(name as usize).map_or("", |name| name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// All of them, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.each.iter().map(|name| &**name)
    }

    /// How many were no UTF-8; what could not be read in them is shown as U+FFFD.
    pub fn n_damaged(&self) -> u64 {
        self.n_damaged
    }

    /// The number of a text, a new one if it was not there. `most_bytes` is what all of them may take.
    #[inline]
    pub(super) fn number_of(&mut self, text: Text<'_>, most_bytes: usize) -> Result<u32, Full> {
        match self.spellings[usize::from(text.is_escaped)].get(text.bytes) {
            Some(name) => Ok(*name),
            None => self.insert(text, most_bytes),
        }
    }

    /// The number of a text of another trace, which may be a new one.
    pub(crate) fn adopt(&mut self, text: &str) -> u32 {
        let text = Text { bytes: text.as_bytes(), is_escaped: false };
        self.number_of(text, usize::MAX).unwrap_or(u32::MAX)
    }

    #[cold]
    fn insert(&mut self, text: Text<'_>, most_bytes: usize) -> Result<u32, Full> {
        let full = Full(most_bytes);
        let n_spellings: usize = self.spellings.iter().map(HashMap::len).sum();
        self.n_bytes = self.n_bytes.saturating_add(text.bytes.len());
        if self.n_bytes.saturating_add(n_spellings.saturating_mul(BYTES_OF_NAME)) > most_bytes {
            self.n_bytes -= text.bytes.len();
            return Err(full);
        }
        let (name, spelling) = match str::from_utf8(text.bytes) {
            Ok(plain) if !text.is_escaped => {
                let name = u32::try_from(self.each.len()).map_err(|_| full)?;
                let kept: Arc<str> = plain.into();
                self.each.push(Arc::clone(&kept));
                (name, kept.into())
            }
            _ => {
                let mut is_damaged = false;
                let said = said(text, &mut is_damaged);
                self.n_damaged += u64::from(is_damaged);
                let plain = Text { bytes: said.as_bytes(), is_escaped: false };
                (self.number_of(plain, most_bytes)?, text.bytes.into())
            }
        };
        self.spellings[usize::from(text.is_escaped)].insert(spelling, name);
        Ok(name)
    }
}

/// What a text says; bytes that are no UTF-8 become U+FFFD.
pub(super) fn said(text: Text<'_>, is_damaged: &mut bool) -> String {
    let bytes =
        if text.is_escaped { unescaped(text.bytes, is_damaged) } else { text.bytes.to_vec() };
    String::from_utf8(bytes).unwrap_or_else(|error| {
        *is_damaged = true;
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

/// What a text with escapes says. What cannot be understood stays as it is written, half a surrogate pair becomes U+FFFD.
fn unescaped(bytes: &[u8], is_damaged: &mut bool) -> Vec<u8> {
    let mut said = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        said.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some((escape, after)) = rest.split_first() else {
            said.push(b'\\');
            break;
        };
        rest = after;
        match escape {
            b'n' => said.push(b'\n'),
            b't' => said.push(b'\t'),
            b'r' => said.push(b'\r'),
            b'b' => said.push(8),
            b'f' => said.push(12),
            b'"' | b'\\' | b'/' => said.push(*escape),
            b'u' => {
                let (character, after) = unicode(rest);
                *is_damaged |= character.is_none();
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                said.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
            }
            other => said.extend_from_slice(&[b'\\', *other]),
        }
    }
    said.extend_from_slice(rest);
    said
}

/// The character of the hexadecimal digits after `\u`, with a second escape where it needs one; and what is left.
fn unicode(bytes: &[u8]) -> (Option<char>, &[u8]) {
    let Some((first, rest)) = hexadecimal(bytes) else {
        return (None, bytes);
    };
    if let Some(character) = char::from_u32(first) {
        return (Some(character), rest);
    }
    let second = rest.strip_prefix(b"\\u").and_then(hexadecimal);
    match second {
        Some((second, rest)) if first < 0xDC00 && (0xDC00..0xE000).contains(&second) => {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code), rest)
        }
        _ => (None, rest),
    }
}

fn hexadecimal(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let digits = str::from_utf8(digits).ok()?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok()?;
    are_digits.then_some((code, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(bytes: &[u8]) -> Text<'_> {
        Text { bytes, is_escaped: false }
    }

    fn escaped(bytes: &[u8]) -> Text<'_> {
        Text { bytes, is_escaped: true }
    }

    fn number(names: &mut Names, text: Text<'_>) -> u32 {
        names.number_of(text, 1 << 20).unwrap()
    }

    #[test]
    fn equal_texts_have_one_number_and_others_have_others() {
        let mut names = Names::default();
        let numbers: Vec<u32> = (0..5_000)
            .map(|n| number(&mut names, plain(format!("kernel_{}", n % 1_700).as_bytes())))
            .collect();
        assert_eq!(names.len(), 1_700);
        for (n, name) in numbers.iter().enumerate() {
            assert_eq!(names.get(*name), format!("kernel_{}", n % 1_700));
        }
    }

    #[test]
    fn spellings_of_one_name_have_one_number() {
        let mut names = Names::default();
        let first = number(&mut names, escaped(br#"say \"\u0061\u00e4\" \ud83d\ude00"#));
        let second = number(&mut names, plain("say \"aä\" 😀".as_bytes()));
        assert_eq!(first, second);
        assert_eq!(names.get(first), "say \"aä\" 😀");
        assert_eq!((names.len(), names.n_damaged()), (1, 0));
        // A backslash that is there, and one that only escapes.
        let path = number(&mut names, escaped(br"C:\\new"));
        let line = number(&mut names, escaped(br"C:\new"));
        let written = number(&mut names, plain(br"C:\new"));
        assert_eq!(names.get(path), r"C:\new");
        assert_eq!(names.get(line), "C:\new");
        assert_eq!(written, path);
    }

    #[test]
    fn what_is_no_text_is_shown_as_such_and_counted() {
        let mut names = Names::default();
        let invalid = number(&mut names, plain(b"a\xFFb"));
        let half = number(&mut names, escaped(br"\ud800x"));
        let short = number(&mut names, escaped(br"\u00"));
        assert_eq!(names.get(invalid), "a\u{FFFD}b");
        assert_eq!(names.get(half), "\u{FFFD}x");
        assert_eq!(names.get(short), "\u{FFFD}00");
        assert_eq!(names.n_damaged(), 3);
        assert_eq!(names.get(77), "");
    }

    #[test]
    fn more_than_may_be_kept_is_refused() {
        let mut names = Names::default();
        // 48 bytes for the first name beyond its text.
        let most_bytes = 12 + 48;
        let mut number_of = |text| names.number_of(plain(text), most_bytes);
        assert_eq!(number_of(b"0123456789"), Ok(0));
        assert_eq!(number_of(b"abc"), Err(Full(most_bytes)));
        assert_eq!(number_of(b"ab"), Ok(1));
        assert_eq!(number_of(b"c"), Err(Full(most_bytes)));
        assert_eq!(number_of(b"0123456789"), Ok(0));
    }
}
