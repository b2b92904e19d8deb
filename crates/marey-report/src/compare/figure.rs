//! Figures with units, and what one is against another.

use marey_analysis::compare::{Change, Observed};
use marey_analysis::findings::FigureUnit;

pub(crate) use crate::figure::in_unit as figure;
use crate::quantity::{UNKNOWN, change as ratio, known};

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
    }
}
