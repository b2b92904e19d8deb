//! What a figure was lately, as a row of bars.

use std::collections::VecDeque;

/// Values that are kept: enough for a wide screen.
const KEPT: usize = 240;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The newest values of a figure, one a look; a gap where it was not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    values: VecDeque<Option<f64>>,
}

impl History {
    /// Takes the value of a look.
    pub(super) fn push(&mut self, value: Option<f64>) {
        if self.values.len() == KEPT {
            self.values.pop_front();
        }
        self.values
            .push_back(value.filter(|value| value.is_finite()));
    }

    /// The newest `width` values, the last one at the right end. A full bar is `whole`, or the highest of all values that are kept
    /// when that is not known.
    pub(super) fn bars(&self, width: usize, whole: Option<f64>) -> String {
        let highest = || self.values.iter().flatten().copied().fold(0.0, f64::max);
        let whole = whole.filter(|whole| *whole > 0.0).unwrap_or_else(highest);
        let shown = self.values.len().saturating_sub(width);
        let bars = self.values.iter().skip(shown).map(|value| match value {
            None => ' ',
            Some(value) => BARS[level(*value, whole)],
        });
        let gap = std::iter::repeat_n(' ', width.saturating_sub(self.values.len()));
        gap.chain(bars).collect()
    }
}

/// 0 to 7: a value has an eighth of `whole` to each.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=7 before"
)]
fn level(value: f64, whole: f64) -> usize {
    if whole > 0.0 {
        (value / whole * 8.0).clamp(0.0, 7.0) as usize
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(values: &[Option<f64>]) -> History {
        let mut history = History::default();
        for value in values {
            history.push(*value);
        }
        history
    }

    #[test]
    fn the_newest_value_is_at_the_right_and_a_gap_is_empty() {
        let history = history(&[Some(0.0), Some(0.5), None, Some(1.0)]);
        assert_eq!(history.bars(6, Some(1.0)), "  ▁▅ █");
        assert_eq!(history.bars(2, Some(1.0)), " █");
        assert_eq!(history.bars(0, Some(1.0)), "");
    }

    #[test]
    fn without_a_whole_the_highest_value_is_a_full_bar() {
        assert_eq!(history(&[Some(1.0), Some(4.0)]).bars(2, None), "▃█");
        assert_eq!(history(&[Some(0.0), Some(0.0)]).bars(2, None), "▁▁");
        assert_eq!(history(&[Some(f64::NAN), Some(-1.0)]).bars(2, None), " ▁");
    }

    #[test]
    fn old_values_are_forgotten() {
        let mut history = History::default();
        for value in 0..1000 {
            history.push(Some(f64::from(value)));
        }
        assert_eq!(history.bars(1000, None).trim_start().chars().count(), KEPT);
    }
}
