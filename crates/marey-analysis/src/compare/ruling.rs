//! What becomes of a measure, why, and how sure that is.

use super::floors::distance;
use super::measure::Change;
use super::pair::Pair;
use super::verdict::Verdict;
use crate::findings::Confidence;
use crate::quantity::signed_percent;

/// What became of a measure, and why.
pub(super) struct Ruling {
    pub(super) verdict: Verdict,
    pub(super) confidence: Confidence,
    pub(super) reason: String,
}

impl Ruling {
    pub(super) fn new(verdict: Verdict, confidence: Confidence, reason: impl Into<String>) -> Self {
        Self { verdict, confidence, reason: reason.into() }
    }
}

/// How the figures of the sides lie to each other.
pub(super) struct Both {
    a: f64,
    b: f64,
    /// No value of one side lies between values of the other.
    pub(super) is_apart: bool,
}

impl Both {
    pub(super) fn new(pair: &Pair) -> Self {
        let (a, b) = (&pair.baseline, &pair.candidate);
        Self {
            a: a.figure().unwrap_or(0.0),
            b: b.figure().unwrap_or(0.0),
            is_apart: are_apart(&a.figures, &b.figures) && are_apart(&a.calls, &b.calls),
        }
    }

    pub(super) fn distance(&self) -> f64 {
        distance(self.a, self.b)
    }

    pub(super) fn is_beyond(&self, ratio: f64) -> bool {
        self.distance() >= ratio.ln()
    }

    pub(super) fn exact(&self, direction: Verdict) -> Ruling {
        if (self.a - self.b).abs() > 0.0 && self.is_apart {
            return Ruling::new(
                direction,
                Confidence::High,
                "a number that does not change by chance",
            );
        }
        Ruling::new(Verdict::Same, Confidence::High, "the repeats have the same numbers")
    }

    pub(super) fn beyond(&self, direction: Verdict, ratio: f64, absolute: f64) -> Ruling {
        let is_beyond = self.is_beyond(ratio) && (self.a - self.b).abs() >= absolute;
        if !is_beyond {
            let reason = "within the floor for such values";
            return Ruling::new(Verdict::Same, Confidence::Medium, reason);
        }
        if !self.is_apart {
            let reason = "beyond the floor for such values, but the repeats overlap";
            return Ruling::new(Verdict::CannotTell, Confidence::Low, reason);
        }
        Ruling::new(direction, Confidence::Medium, "beyond the floor for such values")
    }
}

/// All values of one list lie above all of the other; true when one is empty.
fn are_apart(a: &[f64], b: &[f64]) -> bool {
    let lowest = |values: &[f64]| values.iter().copied().min_by(f64::total_cmp);
    let highest = |values: &[f64]| values.iter().copied().max_by(f64::total_cmp);
    let is_above = |high: &[f64], low: &[f64]| match (lowest(high), highest(low)) {
        (Some(lowest), Some(highest)) => lowest > highest,
        _ => true,
    };
    is_above(a, b) || is_above(b, a)
}

/// Not significant: the same when a large change is ruled out.
pub(super) fn open(change: &Change, floor: f64, chance: &str) -> Ruling {
    let limit = (2.0 * floor).ln_1p();
    match change.interval {
        Some((low, high)) if low.ln().abs().max(high.ln().abs()) <= limit => {
            let reason = format!(
                "{chance}; between {} and {}",
                signed_percent(low - 1.0),
                signed_percent(high - 1.0),
            );
            Ruling::new(Verdict::Same, Confidence::Medium, reason)
        }
        Some((low, high)) => {
            let reason = format!(
                "{chance}; anything between {} and {} is possible",
                signed_percent(low - 1.0),
                signed_percent(high - 1.0),
            );
            Ruling::new(Verdict::CannotTell, Confidence::Low, reason)
        }
        None => Ruling::new(Verdict::CannotTell, Confidence::Low, chance),
    }
}

pub(super) fn chance(p: f64) -> String {
    if p < 0.0001 { "below 0.0001".into() } else { format!("{p:.4}") }
}
