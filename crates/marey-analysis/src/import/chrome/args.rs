//! The object `args` of an event: a few numbers are looked up in it.

use super::event::{Label, label_of_text};
use super::scan::{Text, space, text, value_end};

/// Keys of an object and what they stand for, as written. Ends early where it is broken.
#[derive(Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Of an object as it is written, with its braces.
    pub fn new(object: &'a [u8]) -> Self {
        Self { bytes: object, at: 1 }
    }

    fn step(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let mut at = space(self.bytes, self.at).ok()?;
        if self.bytes.get(at) == Some(&b',') {
            at = space(self.bytes, at + 1).ok()?;
        }
        if self.bytes.get(at) != Some(&b'"') {
            return None;
        }
        let (key, after) = text(self.bytes, at + 1).ok()?;
        at = space(self.bytes, after).ok()?;
        if self.bytes.get(at) != Some(&b':') {
            return None;
        }
        let start = space(self.bytes, at + 1).ok()?;
        self.at = value_end(self.bytes, start).ok()?;
        Some((key.bytes, self.bytes.get(start..self.at)?))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_none() {
            self.at = self.bytes.len();
        }
        step
    }
}

/// What is read of the arguments of work on a device, and of the calls that launch it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments<'a> {
    pub(super) correlation: Option<i64>,
    pub(super) stream: Label<'a>,
    pub(super) bytes: Option<u64>,
    /// The kernel that a call launched, on AMD.
    pub(super) kernel: Option<Text<'a>>,
    /// There is something about a collective.
    pub(super) has_collective: bool,
}

/// What kernels of communication say about their collective.
const COLLECTIVE: [&[u8]; 7] = [
    b"Collective name",
    b"dtype",
    b"In msg nelems",
    b"Out msg nelems",
    b"Group size",
    b"Process Group Name",
    b"Process Group Description",
];

/// Reads them out of the object, as it is written.
pub(super) fn arguments(object: &[u8]) -> Arguments<'_> {
    let mut read = Arguments::default();
    for (key, value) in Fields::new(object) {
        match key {
            b"correlation" => read.correlation = integer(value),
            b"stream" => read.stream = label_of(value),
            b"bytes" => read.bytes = count(value),
            b"kernel" => read.kernel = text_of(value),
            // Most keys of a kernel are in small letters.
            [b'A'..=b'Z' | b'd', ..] => read.has_collective |= COLLECTIVE.contains(&key),
            _ => {}
        }
    }
    read
}

/// The number of an operator; `None` when it has none that fits. It is looked for where nearly all traces have it: as the first
/// of the arguments, or as one of those before the first list.
#[inline]
pub(super) fn operator_number(object: &[u8]) -> Option<u32> {
    let number = Fields::new(object)
        .take_while(|(_, value)| !value.starts_with(b"["))
        .find_map(|(key, value)| key.eq_ignore_ascii_case(b"External id").then_some(value))?;
    u32::try_from(integer(number)?).ok()
}

/// A whole number that is not below zero.
pub(super) fn count(value: &[u8]) -> Option<u64> {
    integer(value).and_then(|number| u64::try_from(number).ok())
}

/// A whole number, with or without quotes.
pub(super) fn integer(value: &[u8]) -> Option<i64> {
    str::from_utf8(unquoted(value)).ok()?.trim().parse().ok()
}

/// A text, without its quotes; `None` when it is something else.
pub(super) fn text_of(value: &[u8]) -> Option<Text<'_>> {
    let is_text = value.len() >= 2 && value.first() == Some(&b'"');
    is_text.then(|| Text {
        bytes: unquoted(value),
        is_escaped: memchr::memchr(b'\\', value).is_some(),
    })
}

fn label_of(value: &[u8]) -> Label<'_> {
    if value == b"null" {
        return Label::None;
    }
    let written = Text { bytes: value, is_escaped: false };
    label_of_text(text_of(value).unwrap_or(written))
}

/// A value as it is written, without its quotes if it has some.
pub fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_among_others() {
        let object = br#"{ "External id": 8230, "device": 2, "stream": 0,
            "correlation": 17375, "grid": [77, {"bytes": 3}], "bytes": "4000" }"#;
        let read = arguments(object);
        assert_eq!(read.correlation, Some(17_375));
        assert_eq!(read.stream, Label::Number(0));
        assert_eq!(read.bytes, Some(4_000));
    }

    #[test]
    fn a_kernel_of_communication_says_its_collective() {
        let object = br#"{"device": 0, "Collective name": "allreduce", "In msg nelems": 6637568}"#;
        assert!(arguments(object).has_collective);
        assert!(!arguments(br#"{"device": 0, "External id": 3}"#).has_collective);
    }

    #[test]
    fn what_is_not_there_or_no_number_is_absent() {
        assert_eq!(arguments(b"{}"), Arguments::default());
        assert_eq!(arguments(b""), Arguments::default());
        let read = arguments(br#"{"bytes": -1, "correlation": 1.5, "stream": null"#);
        assert_eq!(read, Arguments::default());
        let stream = arguments(br#"{"stream": "stream 7"}"#).stream;
        assert!(matches!(stream, Label::Text(text) if text.bytes == b"stream 7"));
    }
}
