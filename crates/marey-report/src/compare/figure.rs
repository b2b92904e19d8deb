//! Figures with units, and what one is against another.

use marey_analysis::compare::{Change, Observed};
use marey_analysis::findings::FigureUnit;

use crate::quantity::{UNKNOWN, bytes_of, duration, known, number, percent};

/// A number with its unit, as people read it.
pub(crate) fn figure(value: f64, unit: FigureUnit) -> String {
    if value < 0.0 {
        let shown = figure(-value, unit);
        // What is rounded away has no sign.
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
        FigureUnit::Ns => duration(value),
        FigureUnit::Bytes => bytes_of(value),
        FigureUnit::BytesPerSecond => format!("{}/s", bytes_of(value)),
        FigureUnit::Ratio => percent(value),
        FigureUnit::PerSecond => format!("{}/s", number(rounded(value))),
        FigureUnit::Celsius => format!("{value:.1} °C"),
        FigureUnit::Watts => format!("{value:.1} W"),
        FigureUnit::Joules => format!("{value:.1} J"),
        FigureUnit::Hertz => format!("{:.0} MHz", value / 1e6),
        FigureUnit::Count | FigureUnit::Number => number(value),
    }
}

/// The value of one side, or that there is none.
pub(crate) fn observed(side: Option<&Observed>, unit: FigureUnit) -> String {
    known(side, |side| figure(side.value, unit))
}

/// What the candidate is against the baseline: `+5.2 %`, `-98.6 %`, from twice as much on `×8.56`; the difference where
/// there is no ratio.
pub(crate) fn change(change: Option<&Change>, unit: FigureUnit) -> String {
    let Some(change) = change else {
        return UNKNOWN.into();
    };
    match change.ratio {
        Some(by) => ratio(by),
        None if change.difference > 0.0 => format!("+{}", figure(change.difference, unit)),
        None => figure(change.difference, unit),
    }
}

/// Where the change lies with 95 % confidence.
pub(crate) fn interval(change: Option<&Change>) -> String {
    let interval = change.and_then(|change| change.interval);
    known(interval, |(low, high)| {
        format!("{} … {}", ratio(low), ratio(high))
    })
}

/// A ratio as a change.
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio >= 9.995 {
        return format!("×{ratio:.1}");
    }
    if ratio >= 1.995 {
        return format!("×{ratio:.2}");
    }
    let percent = (ratio - 1.0) * 100.0;
    // What is rounded away has no sign.
    if percent.abs() < 0.05 {
        return "0.0 %".into();
    }
    format!("{percent:+.1} %")
}

/// With three digits behind the point.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_percentage_until_it_is_a_multiple() {
        assert_eq!(ratio(1.052), "+5.2 %");
        assert_eq!(ratio(0.014), "-98.6 %");
        assert_eq!(ratio(1.0), "0.0 %");
        assert_eq!(ratio(0.9999), "0.0 %");
        assert_eq!(ratio(1.99), "+99.0 %");
        assert_eq!(ratio(2.9), "×2.90");
        assert_eq!(ratio(120.0), "×120.0");
    }

    #[test]
    fn a_change_from_nothing_is_a_difference() {
        let from_nothing = Change {
            difference: 4096.0,
            ..Change::default()
        };
        assert_eq!(change(Some(&from_nothing), FigureUnit::Bytes), "+4.0 KiB");
        let to_less = Change {
            difference: -2e6,
            ..Change::default()
        };
        assert_eq!(change(Some(&to_less), FigureUnit::Ns), "-2.00 ms");
        assert_eq!(change(None, FigureUnit::Ns), "-");
        assert_eq!(figure(-0.001, FigureUnit::Watts), "0.0 W");
        assert_eq!(figure(-0.0, FigureUnit::Ratio), "0.0 %");
    }
}
