//! Attribute values, and text of what may not be text.

use std::fmt::{self, Write};

/// One value of an attribute or a tag.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number; may be NaN or infinite, because users pass such numbers. Readers show those as absent.
    Float(f64),
    /// Text. Bytes that are not UTF-8 were replaced by `\xNN` when the capture was read.
    Text(String),
    /// No value: Python's `None`.
    Null,
    /// Values in order: a shape, say.
    List(Vec<Self>),
}

/// Named values of a section, an event or a session, in the order in which they were given.
pub type Attributes = Vec<(String, Value)>;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float(v) => write!(f, "{v}"),
            Self::Text(v) => f.write_str(v),
            Self::Null => f.write_str("none"),
            Self::List(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Text of any bytes: what is not UTF-8 is shown as `\xNN`.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("a String takes all");
        }
    }
    text
}

macro_rules! value_from {
    ($($from:ty => $variant:ident as $to:ty),* $(,)?) => {$(
        impl From<$from> for Value {
            fn from(v: $from) -> Self {
                Self::$variant(<$to>::from(v))
            }
        }
    )*};
}

value_from! {
    bool => Bool as bool,
    i8 => Int as i64, i16 => Int as i64, i32 => Int as i64, i64 => Int as i64,
    u8 => Int as i64, u16 => Int as i64, u32 => Int as i64,
    f32 => Float as f64, f64 => Float as f64,
    &str => Text as String, String => Text as String,
}

impl From<usize> for Value {
    /// A number beyond `i64::MAX` becomes its text.
    fn from(v: usize) -> Self {
        i64::try_from(v).map_or_else(|_| Self::Text(v.to_string()), Self::Int)
    }
}

impl From<u64> for Value {
    /// A number beyond `i64::MAX` becomes its text.
    fn from(v: u64) -> Self {
        i64::try_from(v).map_or_else(|_| Self::Text(v.to_string()), Self::Int)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_do_not_fit_stay_exact_as_text() {
        let most = i64::MAX.cast_unsigned();
        assert_eq!(Value::from(most), Value::Int(i64::MAX));
        let beyond = Value::Text("9223372036854775808".into());
        assert_eq!(Value::from(most + 1), beyond);
    }

    #[test]
    fn lists_are_written_as_such() {
        let shape = [3, 480, 832].map(Value::Int).to_vec();
        let nested = Value::List(vec![Value::List(shape), Value::Null]);
        assert_eq!(nested.to_string(), "[[3, 480, 832], none]");
    }
}
