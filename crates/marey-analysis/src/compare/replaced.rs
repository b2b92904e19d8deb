//! Attention by another path: what one takes more and the other less is not slower and faster, but replaced.

use super::verdict::Verdict;
use super::{Measure, MeasureKind};
use crate::findings::Confidence;
use crate::quantity::signed_percent;

/// Paths of attention of which one took the place of another are different; whether all attention takes longer, the reason says.
pub(super) fn mark(measures: &mut [Measure]) {
    let is_it = |m: &Measure| m.kind == MeasureKind::AttentionTime;
    let paths = || measures.iter().filter(|m| is_it(m));
    let is_less = paths().any(|m| matches!(m.verdict, Verdict::Gone | Verdict::Better));
    let is_more = paths().any(|m| matches!(m.verdict, Verdict::New | Verdict::Worse));
    if !(is_less && is_more) {
        return;
    }
    let before: f64 = paths().filter_map(|m| m.baseline).map(|o| o.value).sum();
    let after: f64 = paths().filter_map(|m| m.candidate).map(|o| o.value).sum();
    let reason = format!(
        "another path took its place or gave it up; attention of all paths {}",
        signed_percent(after / before - 1.0)
    );
    for measure in measures.iter_mut().filter(|m| is_it(m)) {
        if matches!(measure.verdict, Verdict::Worse | Verdict::Better) {
            measure.verdict = Verdict::Different;
            measure.confidence = Confidence::High;
            measure.reason.clone_from(&reason);
        }
    }
}
