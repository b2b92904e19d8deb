//! Figures of findings as every format shows them.

use marey_analysis::findings::{Evidence, Figure, FigureUnit, Saving, Severity};

use crate::quantity::{bytes, bytes_of, duration, duration_ns, number, percent};

/// The figure with its unit: `48.1 ms`, `95.0 %`, `14 billion`.
pub fn figure(shown: Figure) -> String {
    in_unit(shown.value, shown.unit)
}

/// A number with its unit; what is rounded away has no sign.
pub fn in_unit(value: f64, unit: FigureUnit) -> String {
    if value < 0.0 {
        let shown = in_unit(-value, unit);
        let is_nothing = !shown.contains(|c| matches!(c, '1'..='9'));
        return if is_nothing {
            shown
        } else {
            format!("-{shown}")
        };
    }
    // Not the negative zero.
    let value = value + 0.0;
    match unit {
        FigureUnit::Count => count(value),
        FigureUnit::Ns => duration(value),
        FigureUnit::Bytes => bytes_of(value),
        FigureUnit::BytesPerSecond => format!("{}/s", bytes_of(value)),
        FigureUnit::Ratio => percent(value),
        FigureUnit::PerSecond => format!("{}/s", short(value)),
        FigureUnit::Celsius => format!("{} °C", short(value)),
        FigureUnit::Watts => format!("{} W", short(value)),
        FigureUnit::Joules => format!("{} J", short(value)),
        FigureUnit::Hertz => hertz(value),
        FigureUnit::Number => number(value),
    }
}

/// What a figure is more than another one, with its sign and unit: `+4.0 KiB`, `-2.00 ms`.
pub fn difference(shown: Figure) -> String {
    let sign = if shown.value > 0.0 { "+" } else { "" };
    sign.to_owned() + &figure(shown)
}

/// What was measured, its figure, and the limit that it was compared with. What a user named in it is as it was given.
///
/// ```text
/// peak share in use 95.0 % (limit 90.0 %)
/// ```
pub fn evidence(shown: &Evidence) -> String {
    let limit = shown.limit.map(|value| {
        let unit = shown.figure.unit;
        format!(" (limit {})", figure(Figure { value, unit }))
    });
    let limit = limit.unwrap_or_default();
    format!("{} {}{limit}", shown.what, figure(shown.figure))
}

/// What could be saved, in short: `about 200 ms, at most 530 ms`. `None` when it is neither time nor memory.
pub fn saving(shown: &Saving) -> Option<String> {
    let about = shown
        .estimate_ns
        .map(|ns| format!("about {}", duration_ns(ns)));
    let time = shown
        .at_most_ns
        .map(|ns| format!("at most {}", duration_ns(ns)));
    let memory = shown
        .at_most_bytes
        .map(|size| format!("at most {} of memory", bytes(size)));
    let parts: Vec<String> = about.into_iter().chain(time).chain(memory).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How much a finding matters, in a word.
pub fn severity(shown: Severity) -> &'static str {
    match shown {
        Severity::High => "High",
        Severity::Medium => "Medium",
        Severity::Low => "Low",
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
        figure(Figure { value, unit })
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
        let shown = |value, unit| difference(Figure { value, unit });
        assert_eq!(shown(4096.0, FigureUnit::Bytes), "+4.0 KiB");
        assert_eq!(shown(-2e6, FigureUnit::Ns), "-2.00 ms");
        assert_eq!(shown(0.0, FigureUnit::Ratio), "0.0 %");
    }

    #[test]
    fn evidence_names_its_limit() {
        let one = Evidence::new("peak share in use", 0.95, FigureUnit::Ratio);
        assert_eq!(evidence(&one), "peak share in use 95.0 %");
        assert_eq!(
            evidence(&one.against(0.9)),
            "peak share in use 95.0 % (limit 90.0 %)"
        );
    }

    #[test]
    fn a_saving_says_what_is_known() {
        let of_time = Saving::of_time(Some(200), 530, "");
        assert_eq!(
            saving(&of_time).as_deref(),
            Some("about 200 ns, at most 530 ns")
        );
        let of_memory = Saving::of_memory(4096, "");
        assert_eq!(
            saving(&of_memory).as_deref(),
            Some("at most 4.0 KiB of memory")
        );
        let neither = Saving {
            at_most_bytes: None,
            ..of_memory
        };
        assert_eq!(saving(&neither), None);
    }
}
