//! Figures as they stand in a finding's sentences.

/// A share of 0 to 1 in percent, with one decimal where there is one: `43 %`, `49.6 %`.
pub(super) fn percent(ratio: f64) -> String {
    format!("{} %", short(ratio * 100.0))
}

/// A number with one decimal where there is one, two below 1: `8`, `8.5`, `0.25`.
pub(super) fn short(number: f64) -> String {
    let decimals = if number.abs() < 1.0 { 2 } else { 1 };
    let shown = format!("{number:.decimals$}");
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    // What rounds to nothing has no sign.
    if shown == "-0" { "0" } else { shown }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_no_zeros_at_their_ends() {
        assert_eq!(percent(0.43), "43 %");
        assert_eq!(percent(0.496), "49.6 %");
        assert_eq!(short(30.0), "30");
        assert_eq!(short(8.54), "8.5");
        assert_eq!(short(0.254), "0.25");
        assert_eq!(short(-0.001), "0");
    }
}
