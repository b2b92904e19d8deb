//! The inputs of an operator, in the object `args` of its event.

use memchr::memmem::Finder;

use super::scan::{space, value_end};

/// Finds what operators say about their inputs.
///
/// An operator says a dozen things, and most of them in long lists. Only what is looked for is read: its key is searched as
/// bytes, and is a key where a colon follows. Nothing within a text looks like that, since quotes are escaped there.
///
/// ```text
/// { "External id": 3, "Input type": ["float", ""], "Input Strides": [[77, 1], []], "Input Dims": [[1, 77], []] }
///                     ╰─ found     ╰─ as written   ╰─ found, not wanted            ╰─ found     ╰─ as written
/// ```
pub(super) struct InputFinder {
    keys: Finder<'static>,
    values: Finder<'static>,
}

/// What an operator says about its inputs, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenInputs<'a> {
    pub(super) shapes: &'a [u8],
    pub(super) types: Option<&'a [u8]>,
}

/// How the keys begin.
const KEYS: &[u8] = b"\"Input ";
/// The key of the values of inputs that are no tensors.
const VALUES: &[u8] = b"\"Concrete Inputs\"";

/// Parts of the names of operators whose work depends on such values: a stride, a mask, a dimension, how many values a kernel goes through. Those of others are not kept.
const WITH_VALUES: &str = "conv attention attn fmha mha_ scaled_mm softmax mean sum amax amin prod argm vector_norm index_select upsample triton_";

/// Whether the values of an operator of this name are kept.
pub(super) fn has_values(name: &str) -> bool {
    WITH_VALUES.split(' ').any(|part| name.contains(part))
}

impl InputFinder {
    pub(super) fn new() -> Self {
        Self { keys: Finder::new(KEYS), values: Finder::new(VALUES) }
    }

    /// The values in an object as it is written: `["", "[1, 1]", "False"]`; `None` when it does not say them.
    pub(super) fn values<'a>(&self, object: &'a [u8]) -> Option<&'a [u8]> {
        let mut ends = self.values.find_iter(object).map(|at| at + VALUES.len());
        ends.find_map(|end| value_behind(object, end)).map(|(value, _)| value)
    }

    /// In an object as it is written; `None` when it does not say the shapes.
    pub(super) fn find<'a>(&self, object: &'a [u8]) -> Option<WrittenInputs<'a>> {
        let (mut shapes, mut types) = (None, None);
        let mut at = 0;
        while let Some(found) = self.keys.find(object.get(at..).unwrap_or_default()) {
            at += found + KEYS.len();
            let key = object.get(at..).unwrap_or_default();
            let (into, length) = if key.starts_with(b"Dims\"") || key.starts_with(b"dims\"") {
                (&mut shapes, 5)
            } else if key.starts_with(b"type\"") {
                (&mut types, 5)
            } else if key.starts_with(b"types\"") {
                (&mut types, 6)
            } else {
                continue;
            };
            if let Some((value, end)) = value_behind(object, at + length) {
                *into = Some(value);
                at = end;
            }
        }
        shapes.map(|shapes| WrittenInputs { shapes, types })
    }
}

/// The value behind the key that ends at `at`, and the index after it.
fn value_behind(object: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let at = space(object, at).ok()?;
    if object.get(at) != Some(&b':') {
        return None;
    }
    let start = space(object, at + 1).ok()?;
    let end = value_end(object, start).ok()?;
    Some((object.get(start..end)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(object: &str) -> Option<(&str, Option<&str>)> {
        let text = |bytes| str::from_utf8(bytes).unwrap();
        let found = InputFinder::new().find(object.as_bytes())?;
        Some((text(found.shapes), found.types.map(text)))
    }

    #[test]
    fn shapes_and_types_are_found_in_any_order_and_as_they_are_written() {
        let kineto = r#"{"External id": 8195,"Concrete Inputs": ["[1, 77]", "4"], "Input type": ["long int", ""],
            "Input Strides": [[77, 1], []], "Input Dims": [[1, 77], [ ]], "Ev Idx": 2}"#;
        let types = Some(r#"["long int", ""]"#);
        assert_eq!(found(kineto), Some(("[[1, 77], [ ]]", types)));
        let turned = r#"{"Input Dims" : [[[2], []]],"Input type":["TensorList"]}"#;
        assert_eq!(found(turned), Some(("[[[2], []]]", Some(r#"["TensorList"]"#))));
        assert_eq!(found(r#"{"Input dims": "[[3]]"}"#), Some((r#""[[3]]""#, None)));
    }

    #[test]
    fn what_only_looks_like_a_key_is_none() {
        for object in [
            "",
            "{}",
            r#"{"Input Strides": [[1]], "Input type": ["float"]}"#,
            r#"{"a": "\"Input Dims\": [[1]]"}"#,
            r#"{"a": "Input Dims", "b": 1}"#,
            r#"{"a": ["Input Dims", "Input Dims"]}"#,
            r#"{"Input Dimsx": 1}"#,
        ] {
            assert_eq!(found(object), None, "{object}");
        }
    }

    #[test]
    fn values_are_found_before_and_behind_the_others() {
        let values = |object: &'static str| InputFinder::new().values(object.as_bytes());
        let before = r#"{"Concrete Inputs": ["", "[1, 1]"], "Input Dims": [[2], []]}"#;
        assert_eq!(values(before), Some(&br#"["", "[1, 1]"]"#[..]));
        let behind = r#"{"a": "Concrete Inputs", "Input Dims": [[2]], "Concrete Inputs" : []}"#;
        assert_eq!(values(behind), Some(&b"[]"[..]));
        assert_eq!(values(r#"{"Input Dims": [[2]]}"#), None);
    }

    #[test]
    fn of_a_key_that_is_there_twice_the_last_counts() {
        let twice = r#"{"Input Dims": [[1]], "Input Dims": [[2]]}"#;
        assert_eq!(found(twice), Some(("[[2]]", None)));
    }
}
