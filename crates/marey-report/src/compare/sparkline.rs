//! A row of figures as a line of bars, each an eighth of a character high.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One bar a value, the lowest at the bottom and the highest at the top; bars of the same height where they are all the same.
/// Of more than `width` values the last ones.
///
/// ```text
/// 1 1 1 1 4 4    ▁▁▁▁██
/// ```
pub(crate) fn sparkline(values: &[f64], width: usize) -> String {
    let shown = &values[values.len().saturating_sub(width)..];
    let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    shown.iter().map(|value| bar(*value, low, high)).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
fn bar(value: f64, low: f64, high: f64) -> char {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return BARS[3];
    }
    let height = ((value - low) / span * 7.0).round().clamp(0.0, 7.0);
    BARS[height as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_beyond_all_bounds_have_bars_too() {
        assert_eq!(sparkline(&[f64::MAX, f64::MIN], 9).chars().count(), 2);
        assert_eq!(sparkline(&[f64::NAN], 9).chars().count(), 1);
    }
}
