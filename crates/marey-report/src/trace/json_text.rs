//! Pieces of JSON text.

use std::fmt;
use std::io::{self, Write};

use super::slice::Fact;
use crate::escape;

/// A text with its quotation marks; nothing in it means anything to a terminal or a browser.
pub(super) fn string(text: &str) -> String {
    escape::json(&serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())).into_owned()
}

/// Nanoseconds as microseconds with three decimals: exact, whatever the number.
pub(super) struct Micros(pub(super) u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

/// A finite number.
pub(super) fn float(out: &mut impl Write, value: f64) -> io::Result<()> {
    serde_json::to_writer(out, &value).map_err(io::Error::from)
}

pub(super) fn fact(out: &mut impl Write, fact: Fact<'_>) -> io::Result<()> {
    match fact {
        Fact::Bool(value) => write!(out, "{value}"),
        Fact::Int(value) => write!(out, "{value}"),
        Fact::Unsigned(value) => write!(out, "{value}"),
        Fact::Float(value) => float(out, value),
        Fact::Text(text) => out.write_all(string(text).as_bytes()),
        Fact::List(values) => write!(out, "{}", crate::model::json_value(values)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_beyond_what_a_float_holds() {
        let micros = |ns| Micros(ns).to_string();
        assert_eq!(micros(0), "0.000");
        assert_eq!(micros(1_050), "1.050");
        assert_eq!(micros((1 << 53) + 1), "9007199254740.993");
        assert_eq!(micros(u64::MAX), "18446744073709551.615");
    }
}
