//! A number with its unit, as findings and tables have it.

use std::fmt;

use serde::Serialize;

use super::{bytes_of, duration, number, percent};

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Figure {
    /// The number, always finite.
    pub value: f64,
    /// What it counts.
    pub unit: FigureUnit,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// Things.
    Count,
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    BytesPerSecond,
    /// A share, 1 is all.
    Ratio,
    /// Things in a second: frames, blocks, steps.
    PerSecond,
    /// Degrees Celsius.
    Celsius,
    /// Watts.
    Watts,
    /// Joules.
    Joules,
    /// Hertz.
    Hertz,
    /// A score or another number without a unit.
    Number,
}

impl Figure {
    /// What it is more than another one, with its sign: `+4.0 KiB`, `-2.00 ms`.
    pub fn difference(self) -> String {
        let sign = if self.value > 0.0 { "+" } else { "" };
        format!("{sign}{self}")
    }
}

/// With its unit: `48.1 ms`, `95.0 %`, `14 billion`.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unit.text(self.value))
    }
}

impl FigureUnit {
    /// What documents call it, which have seconds, and how many of it one of theirs is.
    pub fn in_documents(self) -> (&'static str, f64) {
        match self {
            Self::Count => ("count", 1.0),
            Self::Ns => ("seconds", 1e9),
            Self::Bytes => ("bytes", 1.0),
            Self::BytesPerSecond => ("bytes_per_second", 1.0),
            Self::Ratio => ("ratio", 1.0),
            Self::PerSecond => ("per_second", 1.0),
            Self::Celsius => ("celsius", 1.0),
            Self::Watts => ("watts", 1.0),
            Self::Joules => ("joules", 1.0),
            Self::Hertz => ("hertz", 1.0),
            Self::Number => ("number", 1.0),
        }
    }

    /// A number of it; what is rounded away has no sign.
    pub fn text(self, value: f64) -> String {
        if value < 0.0 {
            let shown = self.text(-value);
            let is_nothing = !shown.contains(|c| matches!(c, '1'..='9'));
            return if is_nothing { shown } else { format!("-{shown}") };
        }
        // Not the negative zero.
        let value = value + 0.0;
        match self {
            Self::Count => count(value),
            Self::Ns => duration(value),
            Self::Bytes => bytes_of(value),
            Self::BytesPerSecond => format!("{}/s", bytes_of(value)),
            Self::Ratio => percent(value),
            Self::PerSecond => format!("{}/s", short(value)),
            Self::Celsius => format!("{} °C", short(value)),
            Self::Watts => format!("{} W", short(value)),
            Self::Joules => format!("{} J", short(value)),
            Self::Hertz => hertz(value),
            Self::Number => number(value),
        }
    }
}

/// From a million on in words, as nobody counts digits.
fn count(value: f64) -> String {
    match value {
        n if n >= 1e9 => format!("{} billion", short(n / 1e9)),
        n if n >= 1e6 => format!("{} million", short(n / 1e6)),
        n => number(n),
    }
}

fn hertz(value: f64) -> String {
    match value {
        n if n >= 1e9 => format!("{} GHz", short(n / 1e9)),
        n if n >= 1e6 => format!("{} MHz", short(n / 1e6)),
        n => format!("{} Hz", short(n)),
    }
}

/// At most two decimals.
fn short(value: f64) -> String {
    number((value * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, unit: FigureUnit) -> String {
        Figure { value, unit }.to_string()
    }

    #[test]
    fn figures_have_the_unit_that_people_read() {
        assert_eq!(shown(14_000_000_000.0, FigureUnit::Count), "14 billion");
        assert_eq!(shown(28_500_000.0, FigureUnit::Count), "28.5 million");
        assert_eq!(shown(50.0, FigureUnit::Count), "50");
        assert_eq!(shown(48_123_000.0, FigureUnit::Ns), "48.1 ms");
        assert_eq!(shown(4096.0, FigureUnit::Bytes), "4.0 KiB");
        assert_eq!(shown(4096.0, FigureUnit::BytesPerSecond), "4.0 KiB/s");
        assert_eq!(shown(0.951, FigureUnit::Ratio), "95.1 %");
        assert_eq!(shown(5.0 / 3.0, FigureUnit::PerSecond), "1.67/s");
        assert_eq!(shown(86.0, FigureUnit::Celsius), "86 °C");
        assert_eq!(shown(412.345, FigureUnit::Watts), "412.35 W");
        assert_eq!(shown(1234.5, FigureUnit::Joules), "1234.5 J");
        assert_eq!(shown(1_980_000_000.0, FigureUnit::Hertz), "1.98 GHz");
        assert_eq!(shown(1.5, FigureUnit::Number), "1.5");
        assert_eq!(shown(-2e6, FigureUnit::Ns), "-2.00 ms");
        assert_eq!(shown(-0.001, FigureUnit::Watts), "0 W");
        assert_eq!(shown(-0.0, FigureUnit::Ratio), "0.0 %");
    }

    #[test]
    fn a_difference_has_its_sign() {
        let shown = |value, unit| Figure { value, unit }.difference();
        assert_eq!(shown(4096.0, FigureUnit::Bytes), "+4.0 KiB");
        assert_eq!(shown(-2e6, FigureUnit::Ns), "-2.00 ms");
        assert_eq!(shown(0.0, FigureUnit::Ratio), "0.0 %");
    }
}
