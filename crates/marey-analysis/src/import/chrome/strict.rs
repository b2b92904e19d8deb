//! An event as every program reads it.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::args::{Fields, text_of};
use super::names::said;
use super::scan::{Text, space, value_end};

/// An event as it is written where that is JSON, otherwise as JSON that means the same to [`super::read`]: texts have their escapes, bytes
/// that are no UTF-8 become U+FFFD, bare words (`NaN`, `007`) texts, and what is broken in arguments ends them.
pub(super) fn strict(event: &[u8]) -> Cow<'_, str> {
    as_it_is(event).map_or_else(|| Cow::Owned(value(event)), Cow::Borrowed)
}

fn as_it_is(written: &[u8]) -> Option<&str> {
    let text = str::from_utf8(written).ok()?;
    serde_json::from_str::<IgnoredAny>(text).is_ok().then_some(text)
}

fn value(written: &[u8]) -> String {
    match written {
        [b'{', ..] => {
            let field = |(key, of)| format!("{}:{}", text(key), value(of));
            let fields: Vec<String> = Fields::new(written).map(field).collect();
            format!("{{{}}}", fields.join(","))
        }
        [b'[', ..] => format!("[{}]", items(written).join(",")),
        [b'"', ..] => text(text_of(written).unwrap_or_default().bytes),
        _ => as_it_is(written).map_or_else(|| text(written), str::to_owned),
    }
}

fn text(written: &[u8]) -> String {
    let is_escaped = written.contains(&b'\\');
    serde_json::Value::from(said(Text { bytes: written, is_escaped }, &mut false)).to_string()
}

/// Those of a list, as far as it is not broken.
fn items(list: &[u8]) -> Vec<String> {
    let (mut items, mut at) = (Vec::new(), 1);
    while let Ok(start) = space(list, at) {
        at = match value_end(list, start) {
            _ if list[start] == b',' => start + 1,
            Ok(end) => {
                items.push(value(&list[start..end]));
                end
            }
            Err(_) => break,
        };
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_as_it_is_written() {
        let event = r#"{ "name" : "\u0061", "x": [1.50, {}] }"#;
        assert!(matches!(strict(event.as_bytes()), Cow::Borrowed(same) if same == event));
    }

    #[test]
    fn what_only_tolerant_programs_read_becomes_json_that_means_the_same() {
        for (event, expected) in [
            (
                &br#"{"a": NaN, "b": -Infinity, "c": 007}"#[..],
                r#"{"a":"NaN","b":"-Infinity","c":"007"}"#,
            ),
            (b"{\"a\": \"x\ty\x01\", \"b\": 1.50}", r#"{"a":"x\ty\u0001","b":1.50}"#),
            (b"{\"a\xff\": \"b\xfe\"}", "{\"a\u{fffd}\":\"b\u{fffd}\"}"),
            (br#"{"a": "C:\Users", "b": "\u0061\\n"}"#, r#"{"a":"C:\\Users","b":"a\\n"}"#),
            (
                br#"{"a": [1, N/A, [true, "\q"]], "b": null}"#,
                r#"{"a":[1,"N/A",[true,"\\q"]],"b":null}"#,
            ),
            (br#"{"args": {"a": 1, 'b': 7, "c": 2}, "ph": "X"}"#, r#"{"args":{"a":1},"ph":"X"}"#),
        ] {
            assert_eq!(strict(event), expected);
            assert!(as_it_is(expected.as_bytes()).is_some(), "{expected}");
        }
    }
}
