//! Texts that occur again and again, kept once and told by a number.

use super::scan::Text;

/// Every distinct text once. A number a text, in order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    /// Where each name lies in `bytes`.
    places: Vec<Place>,
    /// How names were written. Different spellings (`"a"`, `"\u0061"`) may be of one name.
    spellings: Vec<Spelling>,
    /// Open addressing: 1 + an index into `spellings`, 0 where nothing is. Its length is a power of two.
    table: Vec<u32>,
    /// Names that were no UTF-8, or had half a surrogate pair.
    n_damaged: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Spelling {
    place: Place,
    hash: u64,
    name: u32,
}

/// There are more, or longer, texts than may be kept: this many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full(pub(super) usize);

/// What a name takes beyond its text.
const BYTES_OF_NAME: usize = 48;

/// More texts than this on one place of the table: somebody made them collide.
const MOST_COLLISIONS: usize = 4096;

impl Names {
    /// The text with this number; empty when there is none.
    pub fn get(&self, name: u32) -> &str {
        let place = self.places.get(name as usize).copied();
        let bytes = place.and_then(|place| self.at(place)).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All of them, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.places
            .iter()
            .map(|place| str::from_utf8(self.at(*place).unwrap_or_default()).unwrap_or_default())
    }

    /// How many were no UTF-8; what could not be read in them is shown as U+FFFD.
    pub fn n_damaged(&self) -> u64 {
        self.n_damaged
    }

    /// The number of a text, a new one if it was not there. `most_bytes` is what all of them may take.
    #[inline]
    pub(super) fn number_of(&mut self, text: Text<'_>, most_bytes: usize) -> Result<u32, Full> {
        let hash = hash(text);
        match self.find(text.bytes, hash).ok_or(Full(most_bytes))? {
            Ok(name) => Ok(name),
            Err(free) => self.insert(text, hash, free, most_bytes),
        }
    }

    /// The name that is spelt like this, or the free place in the table where it would be; `None` where too many collide.
    #[inline]
    fn find(&self, bytes: &[u8], hash: u64) -> Option<Result<u32, usize>> {
        let mask = self.table.len().wrapping_sub(1);
        let first = first_place(hash, mask);
        for step in 0..MOST_COLLISIONS {
            let at = (first + step) & mask;
            let Some(entry) = self.table.get(at) else {
                return Some(Err(usize::MAX));
            };
            let Some(spelling) = entry.checked_sub(1) else {
                return Some(Err(at));
            };
            let spelling = self.spellings.get(spelling as usize)?;
            if spelling.hash == hash && self.at(spelling.place) == Some(bytes) {
                return Some(Ok(spelling.name));
            }
        }
        None
    }

    #[cold]
    fn insert(
        &mut self,
        text: Text<'_>,
        hash: u64,
        free: usize,
        most_bytes: usize,
    ) -> Result<u32, Full> {
        let decoded = match str::from_utf8(text.bytes) {
            Ok(_) if !text.is_escaped => None,
            _ => Some(self.decoded(text)),
        };
        let full = Full(most_bytes);
        let place = self.keep(text.bytes, most_bytes).ok_or(full)?;
        let name = match decoded {
            None => {
                self.places.push(place);
                u32::try_from(self.places.len() - 1).map_err(|_| full)?
            }
            Some(decoded) => {
                let plain = Text { bytes: decoded.as_bytes(), is_escaped: false };
                self.number_of(plain, most_bytes)?
            }
        };
        self.spellings.push(Spelling { place, hash, name });
        let entry = u32::try_from(self.spellings.len()).map_err(|_| full)?;
        // At most half of the table is in use.
        if self.spellings.len() * 2 > self.table.len() {
            self.grow();
        } else {
            // What decoding inserted may have taken the place.
            let at = match self.table.get(free) {
                Some(0) => Some(free),
                _ => self.free_place(hash),
            };
            if let Some(slot) = at.and_then(|at| self.table.get_mut(at)) {
                *slot = entry;
            }
        }
        Ok(name)
    }

    fn decoded(&mut self, text: Text<'_>) -> String {
        let mut is_damaged = false;
        let decoded = said(text, &mut is_damaged);
        self.n_damaged += u64::from(is_damaged);
        decoded
    }

    fn keep(&mut self, bytes: &[u8], most_bytes: usize) -> Option<Place> {
        let end = self.bytes.len().saturating_add(bytes.len());
        let others = self.spellings.len().saturating_mul(BYTES_OF_NAME);
        if end.saturating_add(others) > most_bytes {
            return None;
        }
        let place = Place {
            start: u32::try_from(self.bytes.len()).ok()?,
            length: u32::try_from(bytes.len()).ok()?,
        };
        self.bytes.extend_from_slice(bytes);
        Some(place)
    }

    fn grow(&mut self) {
        let length = (self.table.len() * 4).max(1024);
        self.table.clear();
        self.table.resize(length, 0);
        for (entry, index) in (1_u32..).zip(0..self.spellings.len()) {
            let Some(hash) = self.spellings.get(index).map(|spelling| spelling.hash) else {
                continue;
            };
            let place = self.free_place(hash);
            if let Some(slot) = place.and_then(|at| self.table.get_mut(at)) {
                *slot = entry;
            }
        }
    }

    fn free_place(&self, hash: u64) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let first = first_place(hash, mask);
        let mut places = (0..self.table.len()).map(|step| (first + step) & mask);
        places.find(|at| self.table.get(*at) == Some(&0))
    }

    fn at(&self, place: Place) -> Option<&[u8]> {
        let start = place.start as usize;
        self.bytes.get(start..start + place.length as usize)
    }
}

/// Where a text with this hash is looked for first.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
fn first_place(hash: u64, mask: usize) -> usize {
    hash as usize & mask
}

/// A hash of the bytes and of whether they are escaped: products of 64 bits folded to 64, eight bytes at a time.
#[inline]
fn hash(text: Text<'_>) -> u64 {
    const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
    const SECOND: u64 = 0xD6E8_FEB8_6659_FD93;
    let mut hash = FIRST ^ text.bytes.len() as u64 ^ (u64::from(text.is_escaped) << 63);
    let (words, rest) = text.bytes.as_chunks::<8>();
    for word in words {
        hash = folded(hash ^ u64::from_le_bytes(*word), SECOND);
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    folded(hash ^ u64::from_le_bytes(last), FIRST)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves of the product are taken")]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
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

/// What names mean, each looked at once, when it is first asked for.
pub(crate) struct Meanings<'a, T> {
    names: &'a Names,
    known: Vec<Option<T>>,
}

impl<'a, T: Copy> Meanings<'a, T> {
    pub(crate) fn new(names: &'a Names) -> Self {
        Self { names, known: vec![None; names.len()] }
    }

    /// What `look` finds in a name; `None` when there is no such name.
    #[inline]
    pub(crate) fn of(&mut self, name: u32, look: impl FnOnce(&'a str) -> T) -> Option<T> {
        let known = self.known.get_mut(name as usize)?;
        Some(*known.get_or_insert_with(|| look(self.names.get(name))))
    }
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
